/* Durable bench: messages sent, handled and committed per second in a state
 * directory, in a burst and for a while with folding.
 *
 *     durable_bench [--full]
 *
 * Yardsticks: Redis Streams with appendfsync always doing publish, consume and
 * acknowledge; and bare write + fdatasync of the same bytes, 100 messages each.
 * Layer: bench. Thread: the loop's, and the writer. */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "redis.h"
#include "stage.h"
#include "store/record.h"

#define CIRCLE         1000  /* workers */
#define ROUND          10000 /* messages under way at a time */
#define BATCH          100
#define REPEATS        3
#define BURST_QUICK    200000
#define BURST_FULL     1000000
#define STEADY_QUICK_S 10
#define STEADY_FULL_S  60
#define BURST_TARGET   150000
#define REDIS_RATIO    3
#define REDIS_COUNT    50000
#define BARE_COUNT     2000 /* batches */

struct burst {
    char directory[MEASURE_PATH_BYTES];
    int64_t count;
    int64_t us; /* instead of a count */
    double rate;
    double cpu_us; /* of both threads, for one message */
};

static void measure_burst(void *shared)
{
    struct burst *burst = shared;
    struct stage stage = {0};
    stage_open(&stage, "ring", burst->directory, CIRCLE, ROUND);
    stage_run_until(&stage, "processed", ROUND);
    stage_settle(&stage);
    int64_t before = stage_count(&stage, "processed");
    int64_t begin_us = measure_now_us();
    int64_t begin_cpu_us = measure_cpu_us();
    if (burst->us > 0)
        stage_run_for(&stage, burst->us);
    else
        stage_run_until(&stage, "processed", before + burst->count);
    stage_settle(&stage);
    double handled = (double)(stage_count(&stage, "processed") - before);
    burst->rate = handled * 1e6 / (double)(measure_now_us() - begin_us);
    burst->cpu_us = (double)(measure_cpu_us() - begin_cpu_us) / handled;
}

static struct burst run_burst(int64_t count, int64_t us)
{
    struct burst burst = {.count = count, .us = us};
    char parent[MEASURE_PATH_BYTES];
    measure_make_directory(parent);
    snprintf(burst.directory, sizeof(burst.directory), "%.400s/state", parent);
    measure_in_child(measure_burst, &burst, sizeof(burst));
    measure_remove_directory(parent);
    return burst;
}

/* What the journal keeps of one message that was sent and handled. */
static size_t journal_bytes(void)
{
    struct soc_buf batch = {0};
    struct soc_record record = {.type = SOC_RECORD_MESSAGE};
    char payload[200] = {0};
    record.message = (struct soc_record_message){
        .key = 1u << 20,
        .time_ms = UINT64_C(1) << 40,
        .priority = 2,
        .attempt = 1,
        .hops = 1000,
        .from = SOC_SLICE("w100"),
        .to = SOC_SLICE("w101"),
        .type = SOC_SLICE("general"),
        .payload = soc_slice(payload, sizeof(payload)),
    };
    soc_record_put(&batch, &record);
    struct soc_record end = {.type = SOC_RECORD_MESSAGE_END};
    end.message_end.key = record.message.key;
    end.message_end.time_ms = record.message.time_ms;
    soc_record_put(&batch, &end);
    size_t bytes = batch.length;
    soc_buf_fini(&batch);
    return bytes;
}

static double measure_bare(void)
{
    char directory[MEASURE_PATH_BYTES];
    double total_us = 0;
    double *each_us = calloc(BARE_COUNT, sizeof(*each_us));
    measure_require(each_us != NULL, "no memory");
    measure_make_directory(directory);
    measure_bare_writes(directory, journal_bytes() * BATCH, BARE_COUNT, each_us);
    measure_remove_directory(directory);
    for (int i = 0; i < BARE_COUNT; i++)
        total_us += each_us[i];
    free(each_us);
    return BARE_COUNT * BATCH * 1e6 / total_us;
}

static double measure_redis(void)
{
    char directory[MEASURE_PATH_BYTES];
    measure_make_directory(directory);
    double rate = redis_messages_per_second(directory, REDIS_COUNT);
    measure_remove_directory(directory);
    return rate;
}

static void print_rate(const char *name, double rate, const char *compared, double yardstick,
                       double target)
{
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "/s",
        .value = rate,
        .yardstick_name = compared,
        .yardstick = yardstick,
        .goal = target > 0 ? MEASURE_AT_LEAST : MEASURE_NONE,
        .target = target,
        .is_ratio_meant = target == REDIS_RATIO,
    });
}

int main(int argc, char **argv)
{
    bool is_full = measure_begin(argc, argv);
    struct burst best = {0};
    double bare = 0;
    double redis = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct burst burst = run_burst(is_full ? BURST_FULL : BURST_QUICK, 0);
        double rate = measure_bare();
        best = burst.rate > best.rate ? burst : best;
        bare = rate > bare ? rate : bare;
        rate = measure_redis();
        redis = rate > redis ? rate : redis;
    }
    print_rate("durable burst, 1,000 agents", best.rate, "write + fdatasync", bare, BURST_TARGET);
    if (redis > 0)
        print_rate("durable burst against Redis Streams", best.rate, "Redis", redis, REDIS_RATIO);
    else
        printf("durable burst against Redis Streams: there is no redis-server\n");
    measure_print(&(struct measure_figure){
        .name = "CPU of both threads for one durable message", .unit = "us", .value = best.cpu_us});
    struct burst steady =
        run_burst(0, INT64_C(1000000) * (is_full ? STEADY_FULL_S : STEADY_QUICK_S));
    print_rate(is_full ? "durable, 60 s with folding" : "durable, 10 s with folding", steady.rate,
               "write + fdatasync", bare, 0);
    return EXIT_SUCCESS;
}
