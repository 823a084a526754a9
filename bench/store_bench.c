/* Store bench: how fast batches are appended, loaded and folded, beside a bare
 * append with fdatasync of the same bytes.
 *
 *     store_bench [--full]
 *
 * Layer: bench. Thread: one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "env/clock.h"
#include "measure.h"
#include "store/memory.h"
#include "store/sqlite/sqlite.h"

#define COUNT_QUICK   40000
#define COUNT_FULL    400000
#define PAYLOAD_BYTES 200
#define FOLD_BYTES    (256u << 10)

/* Rates in messages per second. */
struct rates {
    double append;
    double load;
    double fold;
};

static void put_messages(struct soc_buf *batch, uint64_t *key, int count)
{
    char payload[PAYLOAD_BYTES + 1];
    snprintf(payload, sizeof(payload), "{\"text\":\"%0*d\"}", PAYLOAD_BYTES - 11, 7);
    batch->length = 0;
    for (int i = 0; i < count; i++) {
        struct soc_record record = {.type = SOC_RECORD_MESSAGE};
        record.message = (struct soc_record_message){
            .key = ++*key,
            .time_ms = SOC_CLOCK_VIRTUAL_START_MS + *key / 100,
            .priority = 2,
            .attempt = 1,
            .hops = 1,
            .from = SOC_SLICE("researcher-17"),
            .to = SOC_SLICE("coordinator-3"),
            .type = SOC_SLICE("status_report"),
            .payload = soc_slice_text(payload),
            .task_id = SOC_SLICE("task-000042"),
        };
        soc_record_put(batch, &record);
        struct soc_record end = {.type = SOC_RECORD_MESSAGE_END};
        end.message_end.key = *key;
        end.message_end.time_ms = record.message.time_ms + 3;
        end.message_end.outcome = SOC_OUTCOME_PROCESSED;
        soc_record_put(batch, &end);
    }
}

static double rate_since(int64_t begin_us, int count)
{
    return (double)count * 1e6 / (double)(measure_now_us() - begin_us);
}

static double measure_file(const char *directory, int count, int per_batch)
{
    char path[MEASURE_PATH_BYTES + 8];
    struct soc_buf batch = {0};
    uint64_t key = 0;
    snprintf(path, sizeof(path), "%s/bare", directory);
    int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    measure_require(file >= 0, "cannot make a file");
    int64_t begin_us = measure_now_us();
    for (int i = 0; i < count / per_batch; i++) {
        put_messages(&batch, &key, per_batch);
        measure_require(write(file, batch.data, batch.length) == (ssize_t)batch.length, "write");
        measure_require(fdatasync(file) == 0, "fdatasync");
    }
    double rate = rate_since(begin_us, count);
    close(file);
    unlink(path);
    soc_buf_fini(&batch);
    return rate;
}

static int count_record(const struct soc_record *record, void *user)
{
    (void)record;
    ++*(uint64_t *)user;
    return 0;
}

static struct rates measure_store(const char *directory, int count, int per_batch)
{
    struct rates rates;
    struct soc_store *store;
    struct soc_detail detail = {0};
    struct soc_buf batch = {0};
    uint64_t key = 0;
    uint64_t records = 0;
    struct soc_sqlite_options options = {.directory = directory};
    if (directory == NULL)
        store = soc_memory_open(NULL);
    else
        measure_require(soc_sqlite_open(&store, &options, &detail) == SOC_OK, detail.text);
    int64_t begin_us = measure_now_us();
    for (int i = 0; i < count / per_batch; i++) {
        put_messages(&batch, &key, per_batch);
        uint64_t sequence = soc_store_sequence(store) + 1;
        struct soc_slice bytes = soc_buf_slice(&batch);
        int rc = soc_store_commit(store, sequence, &bytes, 1, &detail);
        measure_require(rc == SOC_OK, detail.text);
    }
    rates.append = rate_since(begin_us, count);
    begin_us = measure_now_us();
    measure_require(soc_store_load(store, count_record, &records, &detail) == SOC_OK, detail.text);
    rates.load = rate_since(begin_us, count);
    begin_us = measure_now_us();
    int rc;
    do
        rc = soc_store_fold(store, FOLD_BYTES, &detail);
    while (rc > 0);
    measure_require(rc == 0, detail.text);
    rates.fold = rate_since(begin_us, count);
    soc_buf_fini(&batch);
    soc_store_close(store);
    return rates;
}

static void print_rate(const char *what, int per_batch, double rate, double bare)
{
    char name[64];
    snprintf(name, sizeof(name), "%s, batches of %d", what, per_batch);
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "/s",
        .value = rate,
        .yardstick_name = bare > 0 ? "write + fdatasync" : NULL,
        .yardstick = bare,
    });
}

int main(int argc, char **argv)
{
    static const int sizes[] = {10, 100, 1000};
    int count = measure_begin(argc, argv) ? COUNT_FULL : COUNT_QUICK;
    struct rates rates;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char directory[MEASURE_PATH_BYTES];
        char state[MEASURE_PATH_BYTES + 8];
        measure_make_directory(directory);
        snprintf(state, sizeof(state), "%s/state", directory);
        double bare = measure_file(directory, count, sizes[i]);
        rates = measure_store(state, count, sizes[i]);
        print_rate("append", sizes[i], rates.append, bare);
        print_rate("load, nothing folded", sizes[i], rates.load, 0);
        print_rate("fold", sizes[i], rates.fold, bare);
        measure_remove_directory(directory);
    }
    rates = measure_store(NULL, count, sizes[1]);
    print_rate("append in memory", sizes[1], rates.append, 0);
    return EXIT_SUCCESS;
}
