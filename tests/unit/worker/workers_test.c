/* Worker processes: the list of system calls, parcels, and a host that outlives its workers.
 *
 * The test program is its own zygote: started with the argument of one, it becomes one.
 * Covers: core/worker/guard.c, core/worker/parcel.c, core/worker/zygote.c
 * Covers: core/worker/workers.c, core/worker/job.c, core/script/calls/errand.c */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "script/calls/errand.h"
#include "worker/guard.h"
#include "worker/job.h"
#include "worker/parcel.h"
#include "worker/workers.h"
#include "worker/zygote.h"

#define SYSCALLS 600 /* beyond the highest number there is */

static struct soc_guard_filter filter;

/* Makes the system call behind the guard, in a process of its own; returns how that ended. */
static int status_behind_guard(int number)
{
    struct soc_guard_limits limits = {1u << 30, 10};
    pid_t pid = fork();
    if (pid == 0) {
        if (!soc_guard_enter(&filter, &limits))
            _exit(77);
        syscall(number, -1L, 0L, 0L, 0L, 0L, 0L);
        syscall(SYS_exit_group, 0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
}

/* Linux shows these two to no filter, because it makes them itself for probes, and refuses
 * them to anybody else. */
static bool is_unfiltered(int number)
{
#ifdef __x86_64__
    return number == 335 || number == 336;
#else
    (void)number;
    return false;
#endif
}

static void every_system_call_outside_the_list_is_denied(void)
{
    int denied = 0;
    CHECK(soc_guard_compile(&filter));
    for (int number = 0; number < SYSCALLS; number++) {
        if (soc_guard_allows(number) || is_unfiltered(number))
            continue;
        int status = status_behind_guard(number);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
            CHECK_INT(number, -1);
        denied++;
    }
    CHECK(denied > SYSCALLS - 20);
}

static void the_list_has_nothing_but_memory_and_the_socket(void)
{
    static const int wanted[] = {SYS_read,    SYS_write,       SYS_brk,  SYS_mmap,
                                 SYS_munmap,  SYS_mremap,      SYS_exit, SYS_exit_group,
                                 SYS_madvise, SYS_rt_sigreturn};
    int count = 0;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        CHECK(soc_guard_allows(wanted[i]));
    for (int number = 0; number < SYSCALLS; number++)
        count += soc_guard_allows(number);
    /* An instrumented build needs a few more. */
    CHECK(count == sizeof(wanted) / sizeof(wanted[0]) || soc_guard_allows(SYS_futex));
    CHECK(!soc_guard_allows(SYS_openat) && !soc_guard_allows(SYS_socket) &&
          !soc_guard_allows(SYS_clone) && !soc_guard_allows(SYS_execve) &&
          !soc_guard_allows(SYS_recvmsg) && !soc_guard_allows(SYS_kill) &&
          !soc_guard_allows(SYS_ioctl) && !soc_guard_allows(SYS_ptrace));
}

/* Maps memory behind the guard, of a file if that is open; returns how the process ended. */
static int status_of_mmap(long protection, long flags, long fd)
{
    struct soc_guard_limits limits = {1u << 30, 10};
    pid_t pid = fork();
    if (pid == 0) {
        if (!soc_guard_enter(&filter, &limits))
            _exit(77);
        syscall(SYS_mmap, 0L, 4096L, protection, flags, fd, 0L);
        syscall(SYS_exit_group, 0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
}

static void executable_memory_and_that_of_files_is_denied(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int executable =
        status_of_mmap(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    int of_file = status_of_mmap(PROT_READ, MAP_PRIVATE, fd);
    int shared = status_of_mmap(PROT_READ, MAP_SHARED, fd);
    int allowed = status_of_mmap(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    CHECK(fd >= 0);
    CHECK(WIFSIGNALED(executable) && WTERMSIG(executable) == SIGSYS);
    CHECK(WIFSIGNALED(of_file) && WTERMSIG(of_file) == SIGSYS);
    CHECK(WIFSIGNALED(shared) && WTERMSIG(shared) == SIGSYS);
    CHECK(WIFEXITED(allowed) && WEXITSTATUS(allowed) == 0);
    close(fd);
}

#ifdef __x86_64__

#define X32_BIT 0x40000000 /* of the numbers of the x32 interface */

/* Calls by the gate for programs of 32 bits, where calls have other numbers. */
static long call_as_32_bits(long number)
{
    long result = number;
    __asm__ volatile("int $0x80"
                     : "+a"(result)
                     : "b"(0L), "c"(0L), "d"(0L)
                     : "memory", "r8", "r9", "r10", "r11");
    return result;
}

/* Returns how a process ended that made the call, `is_guarded` behind the guard. */
static int status_of_32_bits(long number, bool is_guarded)
{
    struct soc_guard_limits limits = {1u << 30, 10};
    pid_t pid = fork();
    if (pid == 0) {
        if (is_guarded && !soc_guard_enter(&filter, &limits))
            _exit(77);
        call_as_32_bits(number);
        syscall(SYS_exit_group, 0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
}

static void the_other_ways_into_the_system_are_denied(void)
{
    static const int numbers[] = {SYS_read,   SYS_write, SYS_brk,        SYS_mmap,    SYS_munmap,
                                  SYS_mremap, SYS_exit,  SYS_exit_group, SYS_madvise, SYS_getpid};
    int plain = status_of_32_bits(20 /* getpid */, false);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        int status = status_behind_guard(numbers[i] | X32_BIT);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
    }
    if (!WIFEXITED(plain)) {
        printf("# this machine has no gate for programs of 32 bits\n");
        return;
    }
    for (int number = 1; number < 32; number++) {
        int status = status_of_32_bits(number, true);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
    }
}

#endif

static void every_descriptor_but_one_is_closed(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        int kept = fcntl(STDIN_FILENO, F_DUPFD, 50);
        int open_count = 0;
        bool is_done =
            kept >= 50 && fcntl(STDIN_FILENO, F_DUPFD, 200) >= 200 && soc_guard_close_others(kept);
        for (int fd = 0; fd < 1024; fd++)
            open_count += fcntl(fd, F_GETFD) >= 0;
        _exit(is_done && open_count == 1 && fcntl(kept, F_GETFD) >= 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_parcel_comes_whole_or_not_at_all(void)
{
    struct soc_buf in = {0};
    struct soc_buf out = {0};
    struct soc_slice content;
    soc_parcel_put(&out, SOC_SLICE("hello"));
    for (size_t i = 0; i < out.length; i++) {
        CHECK_INT(soc_parcel_look(&in, &content), SOC_PARCEL_PART);
        soc_buf_put_byte(&in, out.data[i]);
    }
    CHECK_INT(soc_parcel_look(&in, &content), SOC_PARCEL_WHOLE);
    CHECK(soc_slice_equal(content, SOC_SLICE("hello")));
    soc_buf_put_byte(&in, '!');
    CHECK_INT(soc_parcel_look(&in, &content), SOC_PARCEL_WRONG);
    soc_buf_fini(&in);
    soc_buf_fini(&out);
}

static void a_parcel_that_is_empty_or_too_long_is_refused_by_its_head(void)
{
    static const unsigned char heads[][4] = {{0, 0, 0, 0}, {1, 0, 0x28, 0}, {255, 255, 255, 255}};
    struct soc_slice content;
    for (int i = 0; i < 3; i++) {
        struct soc_buf in = {0};
        soc_buf_put(&in, heads[i], 4);
        CHECK_INT(soc_parcel_look(&in, &content), SOC_PARCEL_WRONG);
        soc_buf_fini(&in);
    }
}

/* What a worker may say, and what becomes of it. */
static void forged_answers_are_told_from_true_ones(void)
{
    static const char died[] = "worker_died";
    static const struct {
        const char *said;
        const char *expected; /* a part of the answer */
    } cases[] = {
        {"[{\"result\":1}]", "[{\"result\":1}]"},
        {"[{\"more\":2,\"result\":1}]", "[{\"result\":1}]"},
        {"{\"error\":\"script_error\",\"message\":\"x\"}", "\"script_error\""},
        {"[{\"printed\":1}]", died},
        {"[{\"result\":1},{\"result\":2}]", died},
        {"[]", died},
        {"[1]", died},
        {"{}", died},
        {"[", died},
        {"[{\"result\":1}", died},
        {"\"x\"", died},
        {"{\"error\":\"in_doubt\",\"message\":\"x\"}", died},
        {"{\"error\":\"budget_exceeded\",\"message\":\"x\"}", died},
        {"{\"error\":\"script_error\",\"message\":[]}", died},
        {"[{\"result\":\"\xff\"}]", died},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct soc_buf answer = {0};
        soc_errand_judge(soc_slice_text(cases[i].said), &answer);
        if (strstr(soc_buf_text(&answer), cases[i].expected) == NULL)
            CHECK_TEXT(soc_buf_text(&answer), cases[i].said);
        soc_buf_fini(&answer);
    }
}

static const char *run_steps(struct soc_buf *answer, const char *script)
{
    struct soc_buf request = {0};
    soc_buf_printf(&request, "{\"memory_bytes\":8000000,\"script\":\"%s\",\"steps\":1000000}",
                   script);
    soc_job_run(soc_buf_slice(&request), answer, NULL, NULL);
    soc_buf_fini(&request);
    return soc_buf_text(answer);
}

static void a_job_inside_the_program_is_bounded_by_steps(void)
{
    struct soc_buf answer = {0};
    CHECK_TEXT(run_steps(&answer, "return 1 + 1"), "[{\"result\":2}]");
    CHECK(strstr(run_steps(&answer, "while true do end"), "\"which\":\"steps\"") != NULL);
    CHECK(strstr(run_steps(&answer, "while true do pcall(error) end"), "\"steps\"") != NULL);
    CHECK(strstr(run_steps(&answer, "coroutine.wrap(function() while true do end end)()"),
                 "\"steps\"") != NULL);
    CHECK(strstr(run_steps(&answer, "local t = {} for i = 1, 1e9 do t[i] = {i} end"), "budget") !=
          NULL);
    CHECK(strstr(run_steps(&answer, "return os.time()"), "script_error") != NULL);
    CHECK(strstr(run_steps(&answer, "local m = {} local t = setmetatable({}, m) "
                                    "m.__concat = function() return 'x' .. t end return t .. 'x'"),
                 "__concat corrupts memory") != NULL);
    CHECK(strstr(run_steps(&answer, "return function() end"), "script_error") != NULL);
    soc_buf_fini(&answer);
}

/* A loop with workers. */
struct scene {
    struct soc_loop *loop;
    struct soc_workers *workers;
    int answers;
    int deaths;
    struct soc_buf last;
};

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.loop = soc_loop_new()};
    scene->workers = soc_workers_new(scene->loop, "/proc/self/exe");
}

static void close_scene(struct scene *scene)
{
    soc_workers_free(scene->workers);
    soc_loop_free(scene->loop);
    soc_buf_fini(&scene->last);
}

static void take(void *user, struct soc_slice answer)
{
    struct scene *scene = user;
    scene->answers++;
    scene->deaths += answer.data == NULL;
    scene->last.length = 0;
    if (answer.data != NULL)
        soc_buf_put_slice(&scene->last, answer);
}

static struct soc_worker *start(struct scene *scene, const char *script)
{
    struct soc_buf request = {0};
    soc_buf_printf(&request, "{\"memory_bytes\":8000000,\"script\":\"%s\"}", script);
    struct soc_worker *worker =
        soc_workers_start(scene->workers, soc_buf_slice(&request), take, scene);
    soc_buf_fini(&request);
    CHECK(worker != NULL);
    return worker;
}

/* Polls until there are so many answers. */
static void wait_for(struct scene *scene, int answers)
{
    for (int i = 0; i < 6000 && scene->answers < answers; i++)
        soc_loop_poll(scene->loop, 10);
    CHECK_INT(scene->answers, answers);
}

static int wait_for_pid(struct scene *scene, const struct soc_worker *worker)
{
    for (int i = 0; i < 6000 && soc_workers_pid(worker) == 0; i++)
        soc_loop_poll(scene->loop, 10);
    return soc_workers_pid(worker);
}

static void a_worker_runs_a_script_and_answers(void)
{
    struct scene scene;
    open_scene(&scene);
    start(&scene, "local t = {} for i = 1, 3000 do t['k' .. i] = i end return #'abc'");
    wait_for(&scene, 1);
    CHECK_TEXT(soc_buf_text(&scene.last), "[{\"result\":3}]");
    start(&scene, "local t = {} while true do t[#t + 1] = {} end");
    wait_for(&scene, 2);
    CHECK(strstr(soc_buf_text(&scene.last), "\"which\":\"memory\"") != NULL);
    close_scene(&scene);
}

static void a_killed_worker_ends_its_job_and_nothing_else(void)
{
    struct scene scene;
    open_scene(&scene);
    const struct soc_worker *worker = start(&scene, "while true do end");
    int pid = wait_for_pid(&scene, worker);
    CHECK(pid > 0 && kill(pid, SIGKILL) == 0);
    wait_for(&scene, 1);
    CHECK_INT(scene.deaths, 1);
    start(&scene, "return 1");
    wait_for(&scene, 2);
    CHECK_INT(scene.deaths, 1);
    close_scene(&scene);
}

static void a_stopped_worker_is_gone(void)
{
    struct scene scene;
    open_scene(&scene);
    struct soc_worker *worker = start(&scene, "while true do end");
    int pid = wait_for_pid(&scene, worker);
    for (int i = 0; i < 6000 && soc_workers_cpu_ms(worker) < 20; i++)
        soc_loop_poll(scene.loop, 1);
    CHECK(soc_workers_cpu_ms(worker) >= 20);
    soc_workers_stop(worker);
    soc_workers_stop(start(&scene, "while true do end")); /* before its process is known */
    bool is_gone = false;
    for (int i = 0; i < 6000 && !is_gone; i++) {
        soc_loop_poll(scene.loop, 10);
        is_gone = kill(pid, 0) < 0;
    }
    CHECK(is_gone);
    CHECK_INT(scene.answers, 0);
    close_scene(&scene);
}

static int find_zygote(int worker)
{
    char path[64];
    char line[512] = "";
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", worker);
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(line, sizeof(line), file) != NULL && strrchr(line, ')') != NULL)
        sscanf(strrchr(line, ')'), ") %*c %d", &parent);
    if (file != NULL)
        fclose(file);
    return parent;
}

static void a_stopped_zygote_blocks_nobody_and_a_dead_one_is_replaced(void)
{
    struct scene scene;
    open_scene(&scene);
    int pid = wait_for_pid(&scene, start(&scene, "while true do end"));
    int zygote = find_zygote(pid);
    CHECK(zygote > 0 && kill(zygote, SIGSTOP) == 0);
    struct soc_slice request = SOC_SLICE("{\"script\":\"return 1\"}");
    int started = 1;
    while (started < 10000 && soc_workers_start(scene.workers, request, take, &scene) != NULL)
        started++;
    CHECK(started < 10000); /* refused at last, never waited */
    CHECK(kill(zygote, SIGKILL) == 0);
    wait_for(&scene, started);
    CHECK_INT(scene.deaths, started);
    start(&scene, "return 1");
    wait_for(&scene, started + 1);
    CHECK_TEXT(soc_buf_text(&scene.last), "[{\"result\":1}]");
    close_scene(&scene);
}

static void the_process_of_a_worker_is_forgotten_with_its_zygote(void)
{
    struct scene scene;
    open_scene(&scene);
    struct soc_worker *worker = soc_workers_converse(
        scene.workers, SOC_SLICE("{\"script\":\"while true do end\"}"), take, &scene);
    int pid = wait_for_pid(&scene, worker);
    int zygote = find_zygote(pid);
    CHECK(zygote > 0 && kill(zygote, SIGKILL) == 0);
    wait_for(&scene, 1); /* the worker is not stopped yet */
    for (int i = 0; i < 6000 && soc_workers_pid(worker) > 0; i++)
        soc_loop_poll(scene.loop, 10);
    CHECK_INT(soc_workers_pid(worker), 0);
    CHECK_INT(soc_workers_cpu_ms(worker), 0);
    soc_workers_stop(worker);
    close_scene(&scene);
}

/* Looks for the text in whatever of the process can be read. */
static bool has_in_memory(int pid, const char *name, const char *text)
{
    char path[64];
    static char bytes[1 << 16];
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));
    if (fd >= 0)
        close(fd);
    return got > 0 && memmem(bytes, (size_t)got, text, strlen(text)) != NULL;
}

static void a_worker_has_no_environment_and_no_rights(void)
{
    struct scene scene;
    setenv("SOCIETY_TEST_SECRET", "swordfish-4711", 1);
    open_scene(&scene);
    const struct soc_worker *worker = start(&scene, "while true do end");
    int pid = wait_for_pid(&scene, worker);
    CHECK(!has_in_memory(pid, "environ", "swordfish"));
    CHECK(!has_in_memory(pid, "cmdline", "swordfish"));
    for (int i = 0; i < 6000 && !has_in_memory(pid, "status", "Seccomp:\t2"); i++)
        soc_loop_poll(scene.loop, 10);
    CHECK(has_in_memory(pid, "status", "Seccomp:\t2"));
    CHECK(has_in_memory(pid, "status", "NoNewPrivs:\t1"));
    CHECK(has_in_memory(pid, "status", "CapEff:\t0000000000000000"));
    close_scene(&scene);
    unsetenv("SOCIETY_TEST_SECRET");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], SOC_ZYGOTE_ARGUMENT) == 0)
        return soc_zygote_main(STDIN_FILENO);
    RUN(every_system_call_outside_the_list_is_denied);
    RUN(the_list_has_nothing_but_memory_and_the_socket);
    RUN(executable_memory_and_that_of_files_is_denied);
#ifdef __x86_64__
    RUN(the_other_ways_into_the_system_are_denied);
#endif
    RUN(every_descriptor_but_one_is_closed);
    RUN(a_parcel_comes_whole_or_not_at_all);
    RUN(a_parcel_that_is_empty_or_too_long_is_refused_by_its_head);
    RUN(forged_answers_are_told_from_true_ones);
    RUN(a_job_inside_the_program_is_bounded_by_steps);
    RUN(a_worker_runs_a_script_and_answers);
    RUN(a_killed_worker_ends_its_job_and_nothing_else);
    RUN(a_stopped_worker_is_gone);
    RUN(a_stopped_zygote_blocks_nobody_and_a_dead_one_is_replaced);
    RUN(the_process_of_a_worker_is_forgotten_with_its_zygote);
    RUN(a_worker_has_no_environment_and_no_rights);
    return check_done();
}
