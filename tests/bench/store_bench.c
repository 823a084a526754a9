/* Store bench: how fast batches are appended and folded, beside a bare append
 * with fdatasync of the same bytes.
 *
 *     store_bench [DIRECTORY]     works in a new directory inside it, default .
 *
 * Layer: tests. Thread: one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "env/clock.h"
#include "store/store.h"

#define MESSAGES_TOTAL 400000
#define PAYLOAD_BYTES  200

static int64_t put_messages(struct soc_buf *batch, uint64_t *key, int count)
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
    return (int64_t)batch->length;
}

static void print_rate(const char *what, int per_batch, int64_t bytes, int64_t started_us)
{
    double seconds = (double)(soc_clock_monotonic_us() - started_us) / 1e6;
    printf("%-24s batches of %5d: %9.0f messages/s %7.1f MB/s\n", what, per_batch,
           MESSAGES_TOTAL / seconds, (double)bytes / 1e6 / seconds);
    fflush(stdout);
}

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "store_bench: %s\n", what);
    exit(EXIT_FAILURE);
}

static void measure_file(const char *path, int per_batch)
{
    struct soc_buf batch = {0};
    uint64_t key = 0;
    int64_t bytes = 0;
    int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    require(file >= 0, "cannot make a file");
    int64_t started_us = soc_clock_monotonic_us();
    for (int i = 0; i < MESSAGES_TOTAL / per_batch; i++) {
        bytes += put_messages(&batch, &key, per_batch);
        require(write(file, batch.data, batch.length) == (ssize_t)batch.length, "write");
        require(fdatasync(file) == 0, "fdatasync");
    }
    print_rate("bare write + fdatasync", per_batch, bytes, started_us);
    close(file);
    unlink(path);
    soc_buf_fini(&batch);
}

static int count_record(const struct soc_record *record, void *user)
{
    (void)record;
    ++*(uint64_t *)user;
    return 0;
}

static void measure_store(const char *directory, int per_batch)
{
    struct soc_store *store;
    struct soc_detail detail = {0};
    struct soc_store_options options = {.directory = directory};
    require(soc_store_open(&store, &options, &detail) == SOC_OK, detail.text);
    struct soc_buf batch = {0};
    uint64_t key = 0;
    int64_t bytes = 0;
    int64_t started_us = soc_clock_monotonic_us();
    for (int i = 0; i < MESSAGES_TOTAL / per_batch; i++) {
        bytes += put_messages(&batch, &key, per_batch);
        uint64_t sequence = soc_store_sequence(store) + 1;
        require(soc_store_append(store, sequence, soc_buf_slice(&batch), &detail) == SOC_OK,
                detail.text);
    }
    print_rate("append", per_batch, bytes, started_us);
    uint64_t count = 0;
    started_us = soc_clock_monotonic_us();
    require(soc_store_load(store, count_record, &count, &detail) == SOC_OK, detail.text);
    print_rate("load, nothing folded", per_batch, bytes, started_us);
    started_us = soc_clock_monotonic_us();
    int rc;
    do
        rc = soc_store_fold(store, 256u << 10, &detail);
    while (rc > 0);
    require(rc == 0, detail.text);
    print_rate("fold", per_batch, bytes, started_us);
    soc_buf_fini(&batch);
    soc_store_close(store);
}

static void remove_files(const char *directory)
{
    static const char *const names[] = {"society.db", "society.db-wal", "society.db-shm", "lock"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        unlink(path);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {100, 1000, 10};
    char directory[2048];
    char path[4096];
    snprintf(directory, sizeof(directory), "%s/store_bench.XXXXXX", argc > 1 ? argv[1] : ".");
    require(mkdtemp(directory) != NULL, "cannot make a directory");
    snprintf(path, sizeof(path), "%s/bare", directory);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        measure_file(path, sizes[i]);
        measure_store(directory, sizes[i]);
        remove_files(directory);
    }
    measure_store(NULL, sizes[0]);
    require(rmdir(directory) == 0, "cannot remove the directory");
    return EXIT_SUCCESS;
}
