/* Looks bench: what looks at a long history cost those who work.
 *
 *     looks_bench [--full]
 *
 * A circle of agents runs in a state directory with a history of many lines. Four clients
 * of the control socket ask for the last 20 lines of the activity log, over and over, in
 * every second stretch of time. Yardstick: the stretches without them.
 * Layer: bench. Thread: the loop's, the writer and the reader; each client is a process. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "bridge/control/client.h"
#include "bridge/control/control.h"
#include "measure.h"
#include "stage.h"
#include "store/lookup.h"
#include "store/sqlite/sqlite.h"
#include "store/tables/past.h"

#define CIRCLE       1000  /* workers */
#define ROUND        10000 /* messages under way at a time */
#define CLIENTS      4
#define LINES_QUICK  400000
#define LINES_FULL   5000000
#define STRETCHES    4 /* of each kind */
#define STRETCH_US   2000000
#define RATIO        0.9
#define PAUSE_US     1000
#define TRIES_US_MAX 60000000
#define PASTS        40                       /* places at which the past is looked at */
#define PAST_LINES   (2 * SOC_SNAPSHOT_LINES) /* of so many agents, snapshots are further apart */

/* What the clients and the society share. */
struct shared {
    char directory[MEASURE_PATH_BYTES];
    atomic_bool is_asking;
    atomic_llong looks;
    atomic_llong look_us;
};

/* A client: asks while it is told to, until it is killed. */
static void be_client(struct shared *shared)
{
    static const char request[] = "{\"id\":1,\"op\":\"activity\",\"limit\":20}";
    struct soc_control_client *client = NULL;
    struct soc_buf answer = {0};
    struct soc_detail detail = {0};
    int64_t until_us = measure_now_us() + TRIES_US_MAX;
    while (soc_control_client_open(&client, shared->directory, &detail) != SOC_OK) {
        measure_require(measure_now_us() < until_us, "no society to look at");
        usleep(PAUSE_US);
    }
    for (;;) {
        if (!atomic_load(&shared->is_asking)) {
            usleep(PAUSE_US);
            continue;
        }
        int64_t begin_us = measure_now_us();
        if (soc_control_client_ask(client, soc_slice_text(request), &answer, &detail) != SOC_OK)
            break;
        if (soc_json_member(soc_buf_slice(&answer), "ok").length <= 2)
            break; /* it ends */
        atomic_fetch_add(&shared->looks, 1);
        atomic_fetch_add(&shared->look_us, measure_now_us() - begin_us);
    }
    _exit(0);
}

/* Rates and CPU time of the stretches of one kind, in total. */
struct total {
    double rate;
    double cpu_us; /* of all threads, for one message */
};

/* Measures the messages processed and durable in one stretch of time. */
static void measure_stretch(struct stage *stage, struct shared *shared, bool is_asking,
                            struct total *total)
{
    atomic_store(&shared->is_asking, is_asking);
    int64_t before = stage_count(stage, "processed");
    int64_t begin_us = measure_now_us();
    int64_t begin_cpu_us = measure_cpu_us();
    stage_run_for(stage, STRETCH_US);
    stage_settle(stage);
    int64_t count = stage_count(stage, "processed") - before;
    total->rate += (double)count * 1e6 / (double)(measure_now_us() - begin_us);
    total->cpu_us += (double)(measure_cpu_us() - begin_cpu_us) / (double)count;
    atomic_store(&shared->is_asking, false);
}

static void measure_looks(struct shared *shared, int64_t lines)
{
    struct stage stage = {0};
    struct soc_control *control = NULL;
    struct soc_detail detail = {0};
    struct total without = {0};
    struct total with = {0};
    stage_open(&stage, "ring", shared->directory, CIRCLE, ROUND);
    struct soc_control_options options = {.society = {.host = stage.parts.host},
                                          .loop = stage.parts.loop,
                                          .directory = shared->directory};
    measure_require(soc_control_open(&control, &options, &detail) == SOC_OK, detail.text);
    stage_run_until(&stage, "processed", lines / 2); /* sent and processed: two lines each */
    stage_settle(&stage);
    for (int i = 0; i < STRETCHES; i++) {
        measure_stretch(&stage, shared, false, &without);
        measure_stretch(&stage, shared, true, &with);
    }
    measure_print(&(struct measure_figure){
        .name = "durable messages beside four clients that look",
        .unit = "/s",
        .value = with.rate / STRETCHES,
        .yardstick_name = "nobody looks",
        .yardstick = without.rate / STRETCHES,
        .goal = MEASURE_AT_LEAST,
        .target = RATIO,
        .is_ratio_meant = true,
    });
    measure_print(&(struct measure_figure){
        .name = "CPU of a message beside them",
        .unit = "us",
        .value = with.cpu_us / STRETCHES,
        .yardstick_name = "nobody looks",
        .yardstick = without.cpu_us / STRETCHES,
    });
    long long looks = atomic_load(&shared->looks);
    measure_print(&(struct measure_figure){.name = "looks of theirs",
                                           .unit = "/s",
                                           .value = (double)looks * 1e6 / STRETCHES / STRETCH_US});
    measure_print(&(struct measure_figure){
        .name = "time of such a look",
        .unit = "us",
        .value = looks == 0 ? 0 : (double)atomic_load(&shared->look_us) / (double)looks});
    soc_control_stop(control);
    soc_host_crash(stage.parts.host);
    stage.parts.host = NULL;
    soc_control_close(control);
    soc_assembly_free(&stage.parts);
}

/* Looks at the past as of a line. Returns the lines that were fed; adds the CPU time. */
static uint64_t look_at_past(struct soc_store *store, uint64_t line, double *cpu_us)
{
    struct soc_query query = {.what = "at", .upto = line};
    struct soc_lookup *lookup = soc_lookup_new(&query, NULL, NULL);
    struct soc_detail detail = {0};
    int rc;
    do {
        int64_t begin_us = measure_cpu_us();
        rc = soc_lookup_step(lookup, store, SOC_PAGE_US_MAX, &detail);
        *cpu_us += (double)(measure_cpu_us() - begin_us);
        while (rc > 0 && lookup->snapshots != NULL)
            measure_require(soc_lookup_keep(store, &lookup->snapshots, &detail) == SOC_OK,
                            detail.text);
    } while (rc > 0);
    measure_require(rc == SOC_OK, detail.text);
    uint64_t fed = lookup->query.past->fed;
    soc_lookup_free(lookup);
    return fed;
}

/* Looks at the past of the history that was left in the directory. */
static void measure_pasts(const char *directory)
{
    struct soc_sqlite_options options = {.directory = directory};
    struct soc_store *store = NULL;
    struct soc_detail detail = {0};
    double first_us = 0;
    double later_us = 0;
    uint64_t fed_max = 0;
    measure_require(soc_sqlite_open(&store, &options, &detail) == SOC_OK, detail.text);
    while (soc_store_fold(store, 8u << 20, &detail) > 0)
        continue;
    uint64_t lines = store->at.lines;
    uint64_t fed_first = look_at_past(store, lines, &first_us);
    for (uint64_t i = 1; i <= PASTS; i++) {
        uint64_t fed = look_at_past(store, lines / PASTS * i, &later_us);
        fed_max = fed > fed_max ? fed : fed_max;
    }
    measure_print(&(struct measure_figure){.name = "CPU of a later look at the past",
                                           .unit = "us",
                                           .value = later_us / PASTS,
                                           .yardstick_name = "the first look",
                                           .yardstick = first_us});
    measure_print(&(struct measure_figure){.name = "lines it takes, at most",
                                           .unit = "",
                                           .value = (double)fed_max,
                                           .yardstick_name = "the first look",
                                           .yardstick = (double)fed_first,
                                           .goal = MEASURE_AT_MOST,
                                           .target = PAST_LINES});
    soc_store_close(store);
}

int main(int argc, char **argv)
{
    int64_t lines = measure_begin(argc, argv) ? LINES_FULL : LINES_QUICK;
    char parent[MEASURE_PATH_BYTES];
    pid_t clients[CLIENTS];
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    measure_require(shared != MAP_FAILED, "no memory");
    measure_make_directory(parent);
    snprintf(shared->directory, sizeof(shared->directory), "%.400s/state", parent);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = fork();
        if (clients[i] == 0)
            be_client(shared);
    }
    measure_looks(shared, lines);
    for (int i = 0; i < CLIENTS; i++) {
        kill(clients[i], SIGKILL);
        waitpid(clients[i], NULL, 0);
    }
    measure_pasts(shared->directory);
    measure_remove_directory(parent);
    return EXIT_SUCCESS;
}
