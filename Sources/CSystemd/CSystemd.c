#define _GNU_SOURCE
#include "CSystemd.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int CSystemd_watch_network(void)
{
    const int watch = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    const struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (watch < 0 || bind(watch, (const struct sockaddr *)&address, sizeof address) == 0) return watch;
    const int reason = errno;
    close(watch);
    errno = reason;
    return -1;
}

bool CSystemd_take_changes(int socket)
{
    char messages[8192];
    bool is_changed = false;
    // ENOBUFS: the kernel had more to say than the socket holds.
    while (recv(socket, messages, sizeof messages, MSG_DONTWAIT) >= 0 || errno == ENOBUFS)
        is_changed = true;
    return is_changed;
}

int CSystemd_adopt_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int CSystemd_use_small_pages(void)
{
    return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

int CSystemd_forbid_dumps(void)
{
    static const int crashes[] = {SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction action;
        if (sigaction(crashes[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(crashes[i], SIG_DFL);
    }
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// What the kernel reads of a file to tell how to run it (BINPRM_BUF_SIZE), and how many interpreters it starts for one
// (exec_binprm).
enum { HEAD = 256, INTERPRETERS = 4 };

// Whether a file that begins so is a binary of this machine, as this program is.
static int is_binary(const char *head, size_t count)
{
    extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
    ElfW(Ehdr) header;
    if (count < sizeof header) return 0;
    memcpy(&header, head, sizeof header);
    return memcmp(header.e_ident, __ehdr_start.e_ident, EI_VERSION) == 0 && header.e_machine == __ehdr_start.e_machine;
}

// Returns the errno with which execve(2) would refuse a file, as far as that can be told beforehand; 0 if none. choom(1)
// would give what the kernel refuses to a shell. An interpreter may be a script itself, `depth` times.
static int unfit(const char *path, int depth)
{
    struct stat status;
    if (stat(path, &status) != 0 || access(path, X_OK) != 0) return errno;
    if (!S_ISREG(status.st_mode)) return EACCES;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    // Who may not read a program may run it all the same.
    if (file < 0) return 0;
    char head[HEAD + 1] = {0};
    const ssize_t count = read(file, head, HEAD);
    close(file);
    if (count > 2 && memcmp(head, "#!", 2) == 0) {
        char *interpreter = head + 2 + strspn(head + 2, " \t");
        interpreter[strcspn(interpreter, " \t\n")] = 0;
        return *interpreter && depth > 0 ? unfit(interpreter, depth - 1) : ENOEXEC;
    }
    return count > 0 && is_binary(head, (size_t)count) ? 0 : ENOEXEC;
}

int CSystemd_spawn(const char *path, const char *argument, const char *variable, pid_t *id)
{
    const int unfitness = unfit(path, INTERPRETERS);
    if (unfitness) return unfitness;
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error) return error;
    posix_spawn_file_actions_t actions;
    error = posix_spawn_file_actions_init(&actions);
    if (error) {
        posix_spawnattr_destroy(&attributes);
        return error;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    // Signals that this process ignores or blocks would be ignored and blocked there too: SIGTERM above all.
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (!error) error = posix_spawn_file_actions_addchdir_np(&actions, "/");
    if (!error) {
        // choom writes its own score, then becomes the program. A forked child could write its score itself, but it would
        // hold a copy of this process's memory, which other programs of the same user could read.
        char *arguments[] = {"choom", "-n", "1000", "--", (char *)path, (char *)argument, NULL};
        char *environment[] = {(char *)variable, NULL};
        error = posix_spawn(id, "/usr/bin/choom", &actions, &attributes, arguments, environment);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

int CSystemd_systemctl(const char *first, const char *second, const char *third)
{
    posix_spawnattr_t attributes;
    if (posix_spawnattr_init(&attributes)) return -1;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) {
        posix_spawnattr_destroy(&attributes);
        return -1;
    }
    // This process blocks the signals that it waits for.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
    pid_t id;
    if (!error) {
        char *arguments[] = {
            "systemctl", "--quiet", "--no-ask-password", (char *)first, (char *)second, (char *)third, NULL};
        error = posix_spawnp(&id, arguments[0], &actions, &attributes, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error) return -1;
    int status;
    while (waitpid(id, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int unmap_unwritable(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size, (void)context;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        const uintptr_t start = object->dlpi_addr + segment->p_vaddr, first = start - start % page;
        // A kernel that refuses leaves everything as it is.
        madvise((void *)first, start - first + segment->p_memsz, MADV_DONTNEED);
    }
    return 0;
}

void CSystemd_unmap_unwritable(void)
{
    dl_iterate_phdr(unmap_unwritable, NULL);
}
