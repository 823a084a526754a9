/* Isolation bench: what budgets cost handlers that stay inside them, and what worker
 * processes cost.
 *
 *     isolation_bench [--full]
 *     isolation_bench --count N on|off   handles N messages, with budgets or without, and
 *                                        exits: to be counted
 *
 * Budgets: the same circle of workers as in the memory bench, in a directory, so that the
 * timer runs; windows with and without budgets take turns, and the best of each count. CPU
 * time of the loop's thread; and, which no busy machine disturbs, instructions of the same
 * circle in memory, with the timer of a real run. Worker processes: guests of core/worker/guest.h,
 * spoken to as the host speaks to isolated agents. The yardstick of an effect is a bare ping-pong
 * of the same bytes over a socket pair. Layer: bench. Thread: one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure.h"
#include "script/turns/box.h"
#include "script/turns/budget.h"
#include "stage.h"
#include "worker/workers.h"

#define CIRCLE        100
#define ROUND         2000
#define WINDOW        5000
#define WINDOWS       15
#define COST_TARGET   1.03
#define FEW           3000
#define MANY          9000
#define EFFECTS       5000
#define EFFECT_ROUNDS 5
#define EFFECT_TARGET 60
#define HOST_BYTES    ((size_t)1 << 30)
#define STARTS        40
#define START_TARGET  2000
#define PSS_TARGET    300
#define CROWD         1000
#define CROWD_STARTS  32 /* at once */
#define WAIT_US       30000000
#define SETTLE_MS     10
#define HOST_PAGE     4096
#define LINE_BYTES    256

static const char open_part[] =
    "{\"open\":{\"app\":{\"arguments\":[],\"path\":\"app.lua\",\"text\":"
    "\"require('society').role{id='r',behaviour=function() while true do os.time() end end}\"},"
    "\"id\":\"a\",\"looks\":[],\"methods\":[\"send_message\"],\"role\":\"r\",\"role_name\":\"r\"},"
    "\"run\":{\"is_of_host\":false,\"message\":{\"type\":\"general\",\"payload\":{}}}}";
static const char answer[] = "[\"ok\",[1767225600]]";
static const char question[] = "[\"time\",[]]";

/* CPU time of a message in this stretch, in us. */
static double window(struct stage *stage)
{
    int64_t before = stage_count(stage, "processed");
    int64_t began_us = soc_workers_own_cpu_us();
    stage_run_until(stage, "processed", before + WINDOW);
    int64_t count = stage_count(stage, "processed") - before;
    return (double)(soc_workers_own_cpu_us() - began_us) / (double)count;
}

static void measure_budgets(int windows)
{
    char directory[MEASURE_PATH_BYTES];
    struct stage stage = {0};
    double with = 1e9;
    double without = 1e9;
    measure_make_directory(directory);
    stage_open(&stage, "ring", directory, CIRCLE, ROUND);
    stage_run_until(&stage, "processed", 3 * ROUND);
    for (int i = 0; i < windows; i++) {
        soc_budget_set_off(stage.parts.script, true);
        double bare = window(&stage);
        soc_budget_set_off(stage.parts.script, false);
        double bounded = window(&stage);
        without = bare < without ? bare : without;
        with = bounded < with ? bounded : with;
    }
    stage_close(&stage, 0);
    measure_remove_directory(directory);
    measure_print(&(struct measure_figure){
        .name = "a message whose turn has a budget",
        .unit = "us",
        .value = with,
        .yardstick_name = "without one",
        .yardstick = without,
        .goal = MEASURE_AT_MOST,
        .target = COST_TARGET,
        .is_ratio_meant = true,
    });
}

/* Handles messages in memory as a real run does, by the clock instead of by steps. */
static void handle(int64_t messages, bool is_off)
{
    struct stage stage = {0};
    stage_open(&stage, "ring", NULL, CIRCLE, ROUND);
    stage.parts.script->is_simulated = false;
    soc_budget_set_off(stage.parts.script, is_off);
    stage_run_until(&stage, "processed", 3 * ROUND + messages);
    exit(EXIT_SUCCESS); /* what it holds goes with the process: that is not counted */
}

/* Returns the instructions that `messages` messages take, 0 if they cannot be counted. */
static double count(const char *program, const char *how, int messages)
{
    char command[4 * LINE_BYTES];
    char line[2 * LINE_BYTES];
    double instructions = 0;
    snprintf(command, sizeof(command),
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' --count %d %s 2>&1",
             program, messages, how);
    FILE *output = popen(command, "r");
    if (output == NULL)
        return 0;
    while (fgets(line, sizeof(line), output) != NULL) {
        const char *found = strstr(line, "Collected :");
        if (found != NULL)
            instructions = strtod(found + strlen("Collected :"), NULL);
    }
    return pclose(output) == 0 ? instructions : 0;
}

/* Instructions of one message: the difference of two runs leaves the start out. */
static double count_message(const char *program, const char *how)
{
    double few = count(program, how, FEW);
    double many = count(program, how, MANY);
    return few > 0 && many > few ? (many - few) / (MANY - FEW) : 0;
}

static void count_budgets(const char *program)
{
    double with = count_message(program, "on");
    double without = count_message(program, "off");
    if (with == 0 || without == 0) {
        printf("instructions cannot be counted: is valgrind installed?\n");
        return;
    }
    measure_print(&(struct measure_figure){
        .name = "a message whose turn has a budget, counted",
        .unit = "instructions",
        .value = with,
        .yardstick_name = "without one",
        .yardstick = without,
        .goal = MEASURE_AT_MOST,
        .target = COST_TARGET,
        .is_ratio_meant = true,
    });
}

static void ignore(void *user, struct soc_slice nothing)
{
    (void)user, (void)nothing;
}

/* Listens until the guest has asked, and lets the loop take note of processes. */
static void hear(struct soc_loop *loop, struct soc_worker *worker)
{
    struct soc_slice frame;
    int64_t end_us = measure_now_us() + WAIT_US;
    enum soc_workers_heard heard = SOC_WORKERS_NOTHING;
    while (heard == SOC_WORKERS_NOTHING && measure_now_us() < end_us) {
        heard = soc_workers_listen(worker, SETTLE_MS * 1000, &frame);
        if (heard == SOC_WORKERS_NOTHING)
            soc_loop_poll(loop, 0);
    }
    measure_require(heard == SOC_WORKERS_FRAME, "a guest does not speak");
}

static struct soc_worker *start(struct soc_workers *workers)
{
    struct soc_worker *worker =
        soc_workers_converse(workers, soc_slice(open_part, sizeof(open_part) - 1), ignore, NULL);
    measure_require(worker != NULL, "the system gives no worker");
    return worker;
}

/* A question that is answered, and the next one heard, in us: the best of some rounds. */
static double measure_effect(struct soc_loop *loop, struct soc_workers *workers)
{
    struct soc_worker *worker = start(workers);
    double best = 1e9;
    hear(loop, worker);
    for (int round = 0; round < EFFECT_ROUNDS; round++) {
        int64_t began_us = measure_now_us();
        for (int i = 0; i < EFFECTS; i++) {
            struct soc_slice frame;
            soc_workers_say(worker, soc_slice(answer, sizeof(answer) - 1));
            measure_require(soc_workers_listen(worker, WAIT_US, &frame) == SOC_WORKERS_FRAME,
                            "a guest does not speak");
        }
        double each_us = (double)(measure_now_us() - began_us) / EFFECTS;
        best = each_us < best ? each_us : best;
    }
    soc_workers_stop(worker);
    return best;
}

static void pass_on(int socket, const char *said, size_t said_length, size_t heard_length)
{
    char room[sizeof(open_part)];
    measure_require(write(socket, said, said_length) == (ssize_t)said_length, "ping-pong");
    measure_require(recv(socket, room, heard_length, MSG_WAITALL) == (ssize_t)heard_length,
                    "ping-pong");
}

/* The same bytes to and fro, without anything else. */
static double measure_bare(void)
{
    int pair[2];
    char room[sizeof(open_part)];
    double best = 1e9;
    measure_require(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        while (recv(pair[1], room, sizeof(answer), MSG_WAITALL) == (ssize_t)sizeof(answer))
            if (write(pair[1], question, sizeof(question)) < 0)
                break;
        _exit(0);
    }
    close(pair[1]);
    for (int round = 0; round < EFFECT_ROUNDS; round++) {
        int64_t began_us = measure_now_us();
        for (int i = 0; i < EFFECTS; i++)
            pass_on(pair[0], answer, sizeof(answer), sizeof(question));
        double each_us = (double)(measure_now_us() - began_us) / EFFECTS;
        best = each_us < best ? each_us : best;
    }
    close(pair[0]);
    waitpid(pid, NULL, 0);
    return best;
}

/* From the wish for a worker to its first question, with a host of 1 GB: the median. */
static double measure_start_us(struct soc_loop *loop, struct soc_workers *workers)
{
    double each_us[STARTS];
    char *heap = soc_alloc_zero(HOST_BYTES);
    for (size_t i = 0; i < HOST_BYTES; i += HOST_PAGE)
        heap[i] = 1;
    for (int i = 0; i < STARTS; i++) {
        int64_t began_us = measure_now_us();
        struct soc_worker *worker = start(workers);
        hear(loop, worker);
        each_us[i] = (double)(measure_now_us() - began_us);
        soc_workers_stop(worker);
        soc_loop_poll(loop, 1);
    }
    free(heap);
    return measure_quantile(each_us, STARTS, 0.5);
}

/* Memory of the process that is its own, or its share of what it has with others, in KB. */
static double pss_kb(int pid)
{
    char line[LINE_BYTES];
    double kb = 0;
    snprintf(line, sizeof(line), "/proc/%d/smaps_rollup", pid);
    FILE *file = fopen(line, "r");
    measure_require(file != NULL, "smaps_rollup cannot be read: run as root");
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "Pss:", 4) == 0)
            kb = atof(line + 4);
    fclose(file);
    return kb;
}

/* So many at once: all of them ask, then all are answered and ask again. */
static void measure_crowd(struct soc_loop *loop, struct soc_workers *workers)
{
    static struct soc_worker *crowd[CROWD];
    double kb = 0;
    int64_t began_us = measure_now_us();
    for (int i = 0; i < CROWD; i++) {
        while (soc_workers_are_busy(workers))
            soc_loop_poll(loop, SETTLE_MS);
        crowd[i] = start(workers);
    }
    for (int i = 0; i < CROWD; i++)
        hear(loop, crowd[i]);
    double all_us = (double)(measure_now_us() - began_us);
    for (int i = 0; i < CROWD; i++)
        soc_workers_say(crowd[i], soc_slice(answer, sizeof(answer) - 1));
    for (int i = 0; i < CROWD; i++)
        hear(loop, crowd[i]);
    for (int i = 0; i < CROWD; i++)
        while (soc_workers_pid(crowd[i]) == 0)
            soc_loop_poll(loop, SETTLE_MS);
    for (int i = 0; i < CROWD; i++)
        kb += pss_kb(soc_workers_pid(crowd[i])) / CROWD;
    for (int i = 0; i < CROWD; i++)
        soc_workers_stop(crowd[i]);
    measure_print(&(struct measure_figure){
        .name = "workers at once",
        .unit = "agents",
        .value = CROWD,
        .goal = MEASURE_AT_LEAST,
        .target = CROWD,
    });
    measure_print(&(struct measure_figure){
        .name = "the same, until all have begun",
        .unit = "ms",
        .value = all_us / 1000,
    });
    measure_print(&(struct measure_figure){
        .name = "memory of a worker (PSS), of a thousand",
        .unit = "KB",
        .value = kb,
        .goal = MEASURE_AT_MOST,
        .target = PSS_TARGET,
    });
}

/* The same as agents of one society: each is in the middle of a message when the last one
 * has come. */
static void measure_society(const char *program)
{
    char directory[MEASURE_PATH_BYTES];
    char line[3 * MEASURE_PATH_BYTES];
    int come = 0;
    int all_ms = 0;
    measure_make_directory(directory);
    snprintf(line, sizeof(line), "%s run bench/apps/crowd.lua --quiet --state %s -- %d", program,
             directory, CROWD);
    FILE *said = popen(line, "r");
    measure_require(said != NULL, "the society cannot be started");
    measure_require(fscanf(said, "%d %d", &come, &all_ms) == 2, "the society says no figures");
    pclose(said);
    measure_print(&(struct measure_figure){
        .name = "isolated agents of one society at once",
        .unit = "agents",
        .value = come,
        .goal = MEASURE_AT_LEAST,
        .target = CROWD,
    });
    measure_print(&(struct measure_figure){
        .name = "the same, until all have spoken",
        .unit = "ms",
        .value = all_ms,
    });
    measure_remove_directory(directory);
}

int main(int argc, char **argv)
{
    const char *program = getenv("SOCIETY") == NULL ? "build/society" : getenv("SOCIETY");
    if (argc == 4 && strcmp(argv[1], "--count") == 0)
        handle(atoll(argv[2]), strcmp(argv[3], "off") == 0);
    bool is_full = measure_begin(argc, argv);
    measure_budgets(is_full ? 4 * WINDOWS : WINDOWS);
    count_budgets(argv[0]);
    struct soc_loop *loop = soc_loop_new();
    struct soc_workers *workers = soc_workers_new(loop, program);
    double effect_us = measure_effect(loop, workers);
    double bare_us = measure_bare();
    measure_print(&(struct measure_figure){
        .name = "an effect of a worker, beyond a ping-pong",
        .unit = "us",
        .value = effect_us - bare_us,
        .yardstick_name = "bare ping-pong",
        .yardstick = bare_us,
        .goal = MEASURE_AT_MOST,
        .target = EFFECT_TARGET,
    });
    measure_print(&(struct measure_figure){
        .name = "starting a worker, host of 1 GB",
        .unit = "us",
        .value = measure_start_us(loop, workers),
        .goal = MEASURE_AT_MOST,
        .target = START_TARGET,
    });
    measure_crowd(loop, workers);
    soc_workers_free(workers);
    soc_loop_free(loop);
    measure_society(program);
    return 0;
}
