#define _GNU_SOURCE
#include "CSystemd.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

// Where the child reports why it could not become the program: the first descriptor after the standard streams.
enum { REPORT = STDERR_FILENO + 1 };

// Runs in the child, a copy of this process with one thread: async-signal-safe calls alone. Returns if one of them fails.
static void become(const char *path, char *const arguments[], char *const environment[])
{
    // The files of a process that allows no dumps belong to root. The memory is this child's own copy, which is gone in
    // a moment; only the same user's programs can look into it, as they can into the queue.
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    // Before the program has any memory of its own. Where that cannot be written it stays what the gateway has.
    if (score >= 0 && write(score, "1000", 4) < 0) {}

    // Signals that this process ignores or blocks would be ignored and blocked there too: SIGTERM above all. Some may not
    // be changed.
    for (int number = 1; number <= SIGRTMAX; number++) signal(number, SIG_DFL);

    const int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0) return;
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (dup2(nowhere, stream) < 0) return;
    closefrom(REPORT + 1);
    if (setpgid(0, 0) != 0 || chdir("/") != 0) return;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(path, arguments, environment);
}

int CSystemd_spawn(const char *path, const char *argument, const char *variable, pid_t *id)
{
    char *arguments[] = {(char *)path, (char *)argument, NULL};
    char *environment[] = {(char *)variable, NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    // No handler of this process may run in the child.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *id = _Fork();
    if (*id == 0) {
        if (ends[1] != REPORT && dup3(ends[1], REPORT, O_CLOEXEC) < 0) _exit(127);
        become(path, arguments, environment);
        const int error = errno;
        if (write(REPORT, &error, sizeof error) < 0) {}
        _exit(127);
    }
    int error = *id < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (*id > 0) {
        // The end of the pipe comes when the program runs, because it is closed there.
        ssize_t count;
        while ((count = read(ends[0], &error, sizeof error)) < 0 && errno == EINTR) {}
        if (count != sizeof error) error = 0;
        // The child ends at once.
        if (error)
            while (waitpid(*id, NULL, 0) < 0 && errno == EINTR) {}
    }
    close(ends[0]);
    return error;
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
