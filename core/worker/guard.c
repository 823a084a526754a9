#include "worker/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

/* Instrumented builds map memory in their own ways. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_INSTRUMENTED 1
#endif
#endif
#ifndef IS_INSTRUMENTED
#define IS_INSTRUMENTED 0
#endif

/* Reading and writing the one socket, memory, and ending. mmap is bound by its arguments, and
 * mprotect is not there: what is mapped stays as it is. */
static const int allowed[] = {
    SCMP_SYS(read),        SCMP_SYS(write),          SCMP_SYS(brk),           SCMP_SYS(mmap),
    SCMP_SYS(munmap),      SCMP_SYS(mremap),         SCMP_SYS(exit),          SCMP_SYS(exit_group),
    SCMP_SYS(madvise),     SCMP_SYS(rt_sigreturn),
#if IS_INSTRUMENTED
    SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigprocmask), SCMP_SYS(futex),         SCMP_SYS(getpid),
    SCMP_SYS(gettid),      SCMP_SYS(sched_yield),    SCMP_SYS(clock_gettime),
#endif
};

bool soc_guard_allows(int number)
{
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (allowed[i] == number)
            return true;
    return false;
}

/* Memory is never executable, and never that of a file. */
static int allow_mmap(scmp_filter_ctx context)
{
    return seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
                            SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                            SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));
}

static bool add_rules(scmp_filter_ctx context)
{
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        int rc = allowed[i] == SCMP_SYS(mmap)
                     ? allow_mmap(context)
                     : seccomp_rule_add(context, SCMP_ACT_ALLOW, allowed[i], 0);
        if (rc < 0)
            return false;
    }
    return true;
}

static bool export_filter(scmp_filter_ctx context, struct soc_guard_filter *filter)
{
    _Static_assert(sizeof(filter->instructions[0]) == sizeof(struct sock_filter), "same layout");
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t bytes = -1;
    if (seccomp_export_bpf(context, fd) == 0 && lseek(fd, 0, SEEK_SET) == 0)
        bytes = read(fd, filter->instructions, sizeof(filter->instructions));
    close(fd);
    if (bytes <= 0 || (size_t)bytes == sizeof(filter->instructions))
        return false;
    filter->count = (unsigned short)((size_t)bytes / sizeof(struct sock_filter));
    return true;
}

bool soc_guard_compile(struct soc_guard_filter *filter)
{
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (context == NULL)
        return false;
    bool is_done = add_rules(context) && export_filter(context, filter);
    seccomp_release(context);
    return is_done;
}

bool soc_guard_drop_rights(void)
{
    if (geteuid() != 0)
        return true;
    return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
           setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

bool soc_guard_close_others(int kept)
{
    unsigned fd = (unsigned)kept;
    bool is_done = fd == 0 || syscall(SYS_close_range, 0u, fd - 1, 0u) == 0;
    return is_done && syscall(SYS_close_range, fd + 1, ~0u, 0u) == 0;
}

static bool set_limit(__rlimit_resource_t what, rlim_t value)
{
    struct rlimit limit = {value, value};
    return setrlimit(what, &limit) == 0;
}

/* Returns the size of the address space now, in bytes. */
static rlim_t address_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    int count = fscanf(file, "%lu", &pages);
    fclose(file);
    return count == 1 ? pages * (rlim_t)sysconf(_SC_PAGESIZE) : 0;
}

bool soc_guard_enter(const struct soc_guard_filter *filter, const struct soc_guard_limits *limits)
{
    struct sock_fprog program = {filter->count, (struct sock_filter *)filter->instructions};
    rlim_t used = address_bytes();
    bool is_limited = used > 0 && set_limit(RLIMIT_CPU, limits->cpu_seconds) &&
                      set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_FSIZE, 0) &&
                      set_limit(RLIMIT_NPROC, 0) && set_limit(RLIMIT_NOFILE, 0);
    /* An instrumented build reserves most of the address space. */
    if (is_limited && !IS_INSTRUMENTED)
        is_limited = set_limit(RLIMIT_AS, used + limits->memory_bytes);
    return is_limited && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &program, 0, 0) == 0;
}
