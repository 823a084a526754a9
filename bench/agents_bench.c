/* Agents bench: many idle agents, many pending messages, and what is left of messages that
 * are over.
 *
 *     agents_bench [--full]
 *
 * Each step runs in a process of its own, so that memory is measured from zero and
 * a restart finds nothing but the state directory. Spawning is compared with bare
 * write + fdatasync, restarts with reading the database's file.
 * Layer: bench. Thread: the loop's, and the writer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure.h"
#include "stage.h"

#define AGENTS_QUICK   100000
#define AGENTS_FULL    1000000
#define PENDING_QUICK  200000
#define PENDING_FULL   1000000
#define LEFT_QUICK     100000
#define LEFT_FULL      500000
#define LETTER_BYTES   16  /* of memory for a dead letter: it lives on disk */
#define KEY_BYTES      128 /* of memory for a dedupe key, with what SQLite caches of it */
#define SLEEPERS       100
#define FOLD_MS_MAX    600000
#define AGENT_BYTES    1024
#define SPAWN_TARGET   100000
#define RESTART_S      10 /* with all agents of the full size */
#define RECOVERY_S     5  /* with all messages of the full size */
#define OWN_AGENTS     2  /* user and root */
#define READ_BYTES     (1u << 20)
#define SPAWN_BYTES    200 /* of the journal, about */
#define BARE_COUNT     200
#define BARE_PER_WRITE 5000

struct step {
    char directory[MEASURE_PATH_BYTES];
    const char *app;
    int64_t first;
    int64_t second;
    const char *counter; /* that has to be at least */
    int64_t goal;
    int64_t fold_ms_max; /* at the end; < 0: ends as by kill -9 */
    double seconds;
    double bytes; /* of memory gained */
};

/* Opens the state, has its work done and makes it durable. */
static void run_step(void *shared)
{
    struct step *step = shared;
    struct stage stage = {0};
    double bytes = measure_resident_bytes();
    int64_t begin_us = measure_now_us();
    stage_open(&stage, step->app, step->directory, step->first, step->second);
    stage_run_until(&stage, step->counter, step->goal);
    stage_settle(&stage);
    step->seconds = (double)(measure_now_us() - begin_us) / 1e6;
    step->bytes = measure_resident_bytes() - bytes;
    if (step->fold_ms_max >= 0)
        stage_close(&stage, step->fold_ms_max);
}

/* Reads the database once, as any recovery has to. */
static double read_seconds(const char *directory)
{
    char path[MEASURE_PATH_BYTES + 16];
    char *bytes = malloc(READ_BYTES);
    int64_t begin_us = measure_now_us();
    snprintf(path, sizeof(path), "%s/society.db", directory);
    int file = open(path, O_RDONLY);
    measure_require(bytes != NULL && file >= 0, "no database");
    while (read(file, bytes, READ_BYTES) > 0)
        continue;
    close(file);
    free(bytes);
    return (double)(measure_now_us() - begin_us) / 1e6;
}

static void print_restart(const char *name, const struct step *step, double target)
{
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "s",
        .value = step->seconds,
        .yardstick_name = "reading the file",
        .yardstick = read_seconds(step->directory),
        .goal = MEASURE_AT_MOST,
        .target = target,
    });
}

static void print_memory(const char *name, const struct step *step)
{
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "bytes",
        .value = step->bytes / (double)step->first,
        .goal = MEASURE_AT_MOST,
        .target = AGENT_BYTES,
    });
}

static void measure_agents(const char *parent, int64_t count)
{
    double each_us[BARE_COUNT];
    struct step step = {
        .app = "idle",
        .first = count,
        .counter = "agents",
        .goal = count + OWN_AGENTS,
    };
    snprintf(step.directory, sizeof(step.directory), "%.400s/agents", parent);
    measure_in_child(run_step, &step, sizeof(step));
    measure_bare_writes(parent, BARE_PER_WRITE * SPAWN_BYTES, BARE_COUNT, each_us);
    measure_print(&(struct measure_figure){
        .name = "agents spawned, durable",
        .unit = "/s",
        .value = (double)count / step.seconds,
        .yardstick_name = "write + fdatasync",
        .yardstick = BARE_PER_WRITE * 1e6 / measure_quantile(each_us, BARE_COUNT, 0.5),
        .goal = MEASURE_AT_LEAST,
        .target = SPAWN_TARGET,
    });
    print_memory("memory of an agent, after spawning", &step);
    step.fold_ms_max = FOLD_MS_MAX;
    measure_in_child(run_step, &step, sizeof(step));
    print_restart("restart with all agents, nothing folded", &step,
                  RESTART_S * (double)count / AGENTS_FULL);
    measure_in_child(run_step, &step, sizeof(step));
    print_restart("restart with all agents, all folded", &step,
                  RESTART_S * (double)count / AGENTS_FULL);
    print_memory("memory of an agent, after a restart", &step);
}

static void measure_pending(const char *parent, int64_t count)
{
    struct step step = {
        .app = "fill",
        .first = SLEEPERS,
        .second = count,
        .counter = "pending",
        .goal = count,
        .fold_ms_max = -1,
    };
    snprintf(step.directory, sizeof(step.directory), "%.400s/pending", parent);
    measure_in_child(run_step, &step, sizeof(step));
    measure_print(&(struct measure_figure){
        .name = "messages sent and left pending, durable",
        .unit = "/s",
        .value = (double)count / step.seconds,
    });
    step.fold_ms_max = FOLD_MS_MAX;
    measure_in_child(run_step, &step, sizeof(step));
    print_restart("recovery of all pending, after kill -9", &step,
                  RECOVERY_S * (double)count / PENDING_FULL);
    measure_in_child(run_step, &step, sizeof(step));
    print_restart("recovery of all pending, all folded", &step,
                  RECOVERY_S * (double)count / PENDING_FULL);
}

/* What a message leaves behind in memory: dead letters and dedupe keys, compared with
 * messages that leave nothing. */
static void measure_left(const char *parent, int64_t count)
{
    static const char *const counters[] = {"processed", "expired", "processed"};
    static const char *const names[] = {"nothing", "memory of a dead letter",
                                        "memory of a dedupe key"};
    static const double targets[] = {0, LETTER_BYTES, KEY_BYTES};
    static const char *const restarted[] = {NULL, "memory of a dead letter, after a restart",
                                            "memory of a dedupe key, after a restart"};
    double base[2] = {0, 0};
    for (int kind = 0; kind < 3; kind++) {
        struct step step = {
            .app = "leave",
            .first = kind,
            .second = count,
            .counter = counters[kind],
            .goal = count,
            .fold_ms_max = FOLD_MS_MAX,
        };
        snprintf(step.directory, sizeof(step.directory), "%.400s/left%d", parent, kind);
        for (int start = 0; start < 2; start++) {
            measure_in_child(run_step, &step, sizeof(step));
            if (kind == 0)
                base[start] = step.bytes;
            else
                measure_print(&(struct measure_figure){
                    .name = start == 0 ? names[kind] : restarted[kind],
                    .unit = "bytes",
                    .value = (step.bytes - base[start]) / (double)count,
                    .goal = MEASURE_AT_MOST,
                    .target = targets[kind],
                });
        }
    }
}

int main(int argc, char **argv)
{
    char parent[MEASURE_PATH_BYTES];
    bool is_full = measure_begin(argc, argv);
    measure_make_directory(parent);
    printf("%d agents, %d pending messages; targets of restarts in proportion\n",
           is_full ? AGENTS_FULL : AGENTS_QUICK, is_full ? PENDING_FULL : PENDING_QUICK);
    measure_agents(parent, is_full ? AGENTS_FULL : AGENTS_QUICK);
    measure_pending(parent, is_full ? PENDING_FULL : PENDING_QUICK);
    measure_left(parent, is_full ? LEFT_FULL : LEFT_QUICK);
    measure_remove_directory(parent);
    return EXIT_SUCCESS;
}
