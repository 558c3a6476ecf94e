#ifndef CSYSTEMD_H
#define CSYSTEMD_H

// mallopt, which Swift's module of glibc leaves out.
#include <malloc.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

// Has descendants whose parent has ended become children of this process. Returns 0, or -1 with errno.
// prctl is variadic.
int CSystemd_adopt_orphans(void);

// Has the kernel give this process no huge pages, nor those that it starts (prctl(2), PR_SET_THP_DISABLE). Returns 0, or
// -1 with errno. prctl is variadic.
int CSystemd_use_small_pages(void);

// Has the kernel write no core of this process, to a file or a program, and let no process of the same user look into
// its memory (prctl(2), PR_SET_DUMPABLE), and takes the handlers of crashes away that the language's runtime has set.
// Returns 0, or -1 with errno. prctl is variadic.
int CSystemd_forbid_dumps(void);

// Starts a program with one argument and one environment variable (posix_spawn). It leads its own process group and runs
// in /, with /dev/null as its standard streams, no other descriptor, and all signals as a new process has them. choom(1)
// starts it, so that the kernel kills it first when memory runs short. Returns 0 and its process ID, or an errno. Here
// because Swift does not see glibc's extensions (_np), and because an array of C strings is plainer in C.
int CSystemd_spawn(const char *path, const char *argument, const char *variable, pid_t *id);

// Runs systemctl(1), which the PATH finds, with up to three words, of which NULL ends the list; it asks nothing and has
// /dev/null as its standard streams. Waits for its end. Returns its exit status, or -1 if it cannot be run or was killed.
int CSystemd_systemctl(const char *first, const char *second, const char *third);

// Opens a socket that can be read once an address, a route or a link of this box has changed (rtnetlink(7)). Returns it,
// or -1 with errno. Here because Swift sees neither the groups nor sockaddr_nl.
int CSystemd_watch_network(void);

// Takes what the socket holds, without a look at it. Returns whether there was something; too much for it is something,
// too.
bool CSystemd_take_changes(int socket);

// Unmaps the pages of the program's file and its libraries' that cannot be written (madvise(2)). What is touched again
// comes back out of the kernel's cache. dl_iterate_phdr is a GNU extension, which Swift does not see.
void CSystemd_unmap_unwritable(void);

#endif
