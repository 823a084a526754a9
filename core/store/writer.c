#include "store/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "store/tables/snapshots.h"

#define GROUP_BYTES_MAX  (8u << 20)  /* committed at once */
#define GROUP_COUNT_MAX  256         /* batches committed at once */
#define FOLD_AGE_US_MAX  1000000     /* of the oldest unfolded batch while nothing waits */
#define PEAK_AGE_US_MAX  5000000     /* the same while there is much */
#define PEAK_SHARE       2           /* of the backlog that is allowed, for a peak */
#define RETENTION_SHARE  4           /* of a database of limited size, for unfolded batches */
#define CHECK_US         1000000     /* how often an idle store is checked */
#define MUCH_BYTES       (16u << 20) /* of unfolded batches … */
#define SOME_BYTES       (2u << 20)
#define MUCH_SLICE_BYTES (4u << 20) /* … and what is folded at once then */
#define SOME_SLICE_BYTES (1u << 20)
#define SPARE_COUNT_MAX  16 /* empty buffers kept for the next batches */

static void free_batches(struct soc_batch *batch)
{
    while (batch != NULL) {
        struct soc_batch *next = batch->next;
        soc_buf_fini(&batch->bytes);
        free(batch);
        batch = next;
    }
}

void soc_writer_add_batch(struct soc_writer *writer, struct soc_buf *batch)
{
    struct soc_batch *entry = writer->spares;
    assert(batch->length > 0);
    if (entry != NULL) {
        writer->spares = entry->next;
        writer->spare_count--;
    } else {
        entry = soc_alloc_zero(sizeof(*entry));
    }
    struct soc_buf spare = entry->bytes;
    entry->bytes = *batch;
    entry->next = NULL;
    *batch = spare;
    *writer->batches_end = entry;
    writer->batches_end = &entry->next;
}

void soc_writer_recycle(struct soc_writer *writer, struct soc_batch *batch)
{
    batch->next = NULL;
    assert(writer->spare_count <= SPARE_COUNT_MAX);
    if (writer->spare_count == SPARE_COUNT_MAX || batch->bytes.capacity > 2 * SOC_BATCH_BYTES_MAX) {
        free_batches(batch);
        return;
    }
    batch->bytes.length = 0;
    batch->next = writer->spares;
    writer->spares = batch;
    writer->spare_count++;
}

/* Waits until the loop has something, or for `wait_us` (< 0: forever). With the mutex
 * held. */
static void wait_for_change(struct soc_writer *writer, int64_t wait_us)
{
    if (wait_us < 0) {
        pthread_cond_wait(&writer->changed, &writer->mutex);
        return;
    }
    int64_t until_us = soc_clock_monotonic_us() + wait_us;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_cond_timedwait(&writer->changed, &writer->mutex, &until);
}

static void fail(struct soc_writer *writer, const struct soc_detail *detail)
{
    pthread_mutex_lock(&writer->mutex);
    writer->is_failed = true;
    writer->failure = *detail;
    pthread_mutex_unlock(&writer->mutex);
}

/* Takes the batches for one transaction off the queue. With the mutex held. */
static size_t take_group(struct soc_writer *writer, struct soc_batch **group)
{
    size_t count = 0;
    size_t bytes = 0;
    while (writer->batches != NULL && count < GROUP_COUNT_MAX && bytes < GROUP_BYTES_MAX) {
        struct soc_batch *batch = writer->batches;
        writer->batches = batch->next;
        bytes += batch->bytes.length;
        group[count++] = batch;
    }
    if (writer->batches == NULL)
        writer->batches_end = &writer->batches;
    return count;
}

/* Reports that the disk is full, waits, and tells whether to try again. Who closes does not wait
 * for space: there is one more try, then the journal has failed. */
static bool wait_for_room(struct soc_writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    bool is_new = !writer->is_full;
    bool was_closing = writer->is_closing;
    writer->is_full = true;
    if (is_new)
        soc_loop_wake(writer->loop);
    int64_t until_us = soc_clock_monotonic_us() + (SOC_FULL_RETRY_MS * 1000);
    int64_t left_us = (SOC_FULL_RETRY_MS * 1000);
    while (!writer->is_crashed && !writer->is_closing && left_us > 0) {
        wait_for_change(writer, left_us);
        left_us = until_us - soc_clock_monotonic_us();
    }
    bool may_retry = !writer->is_crashed && !was_closing;
    pthread_mutex_unlock(&writer->mutex);
    return may_retry;
}

/* Ends a journal that is being closed though not everything is stored. */
static void give_up_full(struct soc_writer *writer)
{
    struct soc_detail detail;
    pthread_mutex_lock(&writer->mutex);
    bool is_crashed = writer->is_crashed;
    pthread_mutex_unlock(&writer->mutex);
    if (is_crashed)
        return;
    soc_fail(&detail, SOC_EDISKFULL,
             "stopped while the disk was full; what was not stored is done again at the next "
             "start");
    fail(writer, &detail);
}

/* Reports a group as durable and recycles its buffers. */
static void report_group(struct soc_writer *writer, struct soc_batch **group, size_t count)
{
    pthread_mutex_lock(&writer->mutex);
    writer->is_full = false;
    writer->durable += count;
    writer->durable_line = writer->store->at.last_line;
    for (size_t i = 0; i < count; i++) {
        writer->durable_bytes += group[i]->bytes.length;
        soc_writer_recycle(writer, group[i]);
    }
    pthread_mutex_unlock(&writer->mutex);
    soc_loop_wake(writer->loop);
}

static void note_work(struct soc_writer *writer, bool begins)
{
    if (writer->reader != NULL)
        soc_reader_note_work(writer->reader, begins);
}

static void commit_group(struct soc_writer *writer, struct soc_batch **group, size_t count)
{
    struct soc_slice slices[GROUP_COUNT_MAX];
    struct soc_detail detail = {0};
    bool had_backlog = soc_store_backlog(writer->store) > 0;
    for (size_t i = 0; i < count; i++)
        slices[i] = soc_buf_slice(&group[i]->bytes);
    int rc;
    note_work(writer, true);
    do
        rc = soc_store_commit(writer->store, soc_store_sequence(writer->store) + 1, slices, count,
                              &detail);
    while (rc == SOC_EDISKFULL && wait_for_room(writer));
    note_work(writer, false);
    if (rc == SOC_OK) {
        writer->committed_us = soc_clock_monotonic_us();
        if (!had_backlog)
            writer->unfolded_us = writer->committed_us;
        report_group(writer, group, count);
        return;
    }
    if (rc == SOC_EDISKFULL)
        give_up_full(writer);
    else
        fail(writer, &detail);
    for (size_t i = 0; i < count; i++) {
        group[i]->next = NULL;
        free_batches(group[i]);
    }
}

/* How much to fold at once. A message that ends in the window it began in is written once, and
 * pages that many messages share are: in large windows folding costs half. Small ones keep a
 * commit waiting for less, which counts while there is little to do. */
static size_t slice_bytes(const struct soc_store *store)
{
    uint64_t backlog = soc_store_backlog(store);
    if (backlog > MUCH_BYTES)
        return MUCH_SLICE_BYTES;
    return backlog > SOME_BYTES ? SOME_SLICE_BYTES : SOC_FOLD_SLICE_BYTES;
}

/* Folds one slice. Returns false if the disk is full. */
static bool fold_slice(struct soc_writer *writer)
{
    struct soc_detail detail = {0};
    note_work(writer, true);
    int rc = soc_store_check(writer->store, &detail);
    if (rc == SOC_OK)
        rc = soc_store_fold(writer->store, slice_bytes(writer->store), &detail);
    note_work(writer, false);
    if (rc == SOC_EDISKFULL)
        writer->committed_us = writer->unfolded_us = soc_clock_monotonic_us();
    else if (rc < 0)
        fail(writer, &detail);
    return rc != SOC_EDISKFULL;
}

/* Tells whether everything that the lookup has to include is there to be read. */
static bool is_ready(const struct soc_writer *writer, const struct soc_lookup *lookup)
{
    return soc_store_folded(writer->store) >= lookup->sequence ||
           (soc_store_sequence(writer->store) >= lookup->sequence &&
            soc_lookup_sees_journal(lookup));
}

/* Letters are the business of an order, which reads and then changes. */
static bool is_for_reader(const struct soc_writer *writer, const struct soc_lookup *lookup)
{
    return writer->reader != NULL && strcmp(lookup->query.what, "letters") != 0;
}

/* Passes the lookups that can be answered on to the reader. With the mutex held. */
static void pass_on(struct soc_writer *writer)
{
    struct soc_lookup **at = &writer->lookups;
    writer->lookups_end = &writer->lookups;
    while (*at != NULL) {
        struct soc_lookup *lookup = *at;
        if (is_for_reader(writer, lookup) && (lookup->is_dropped || is_ready(writer, lookup))) {
            *at = lookup->next;
            soc_reader_add(writer->reader, lookup);
        } else {
            at = &lookup->next;
            writer->lookups_end = at;
        }
    }
}

/* Folds a slice on the way to an answer, or answers. Returns 1 if there is more to do,
 * SOC_OK if it is answered, or an error. Without the mutex. */
static int try_lookup(struct soc_writer *writer, struct soc_lookup *lookup)
{
    struct soc_detail detail = {0};
    int rc;
    if (is_for_reader(writer, lookup) && is_ready(writer, lookup)) {
        rc = 1; /* the next round passes it on */
    } else if (soc_store_folded(writer->store) < lookup->sequence) {
        rc = soc_store_fold(writer->store, slice_bytes(writer->store), &detail);
        rc = rc < 0 ? rc : 1;
    } else {
        rc = soc_lookup_step(lookup, writer->store, SOC_PAGE_US_MAX, &detail);
        while (rc >= 0 && lookup->snapshots != NULL) {
            int keep_rc = soc_lookup_keep(writer->store, &lookup->snapshots, &detail);
            rc = keep_rc < 0 ? keep_rc : rc;
        }
    }
    if (soc_lookup_is_fatal(rc))
        fail(writer, &detail);
    return rc;
}

/* Serves the first lookup, or requeues it if it waits for space. The mutex is held, and
 * released meanwhile. */
static void serve_lookup(struct soc_writer *writer)
{
    pass_on(writer);
    struct soc_lookup *lookup = writer->lookups;
    if (lookup == NULL)
        return;
    bool may_wait = lookup->query.waits_for_room && !writer->is_closing;
    pthread_mutex_unlock(&writer->mutex);
    lookup->rc = try_lookup(writer, lookup);
    bool is_kept = lookup->rc == SOC_EDISKFULL && may_wait;
    if (is_kept)
        wait_for_room(writer);
    pthread_mutex_lock(&writer->mutex);
    if (lookup->rc >= 0 && writer->is_full) {
        writer->is_full = false; /* there was room to fold */
        soc_loop_wake(writer->loop);
    }
    if (lookup->rc > 0)
        return;
    writer->lookups = lookup->next;
    if (writer->lookups == NULL)
        writer->lookups_end = &writer->lookups;
    lookup->next = NULL;
    if (is_kept) {
        *writer->lookups_end = lookup;
        writer->lookups_end = &lookup->next;
        return;
    }
    *writer->answers_end = lookup;
    writer->answers_end = &lookup->next;
    soc_loop_wake(writer->loop);
}

/* Checks the store if there is still nothing else to do. The mutex is held, and released
 * meanwhile. */
static void check_if_idle(struct soc_writer *writer)
{
    struct soc_detail detail = {0};
    if (writer->batches != NULL || writer->lookups != NULL || writer->is_crashed)
        return;
    pthread_mutex_unlock(&writer->mutex);
    if (soc_store_check(writer->store, &detail) < 0)
        fail(writer, &detail);
    pthread_mutex_lock(&writer->mutex);
}

void soc_writer_wake(struct soc_writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->mutex);
}

/* Stores a part of what looks have left; false if there is nothing. The mutex is held, and
 * released meanwhile. */
static bool keep_snapshot(struct soc_writer *writer)
{
    struct soc_detail detail = {0};
    if (writer->snapshots == NULL && writer->reader != NULL)
        writer->snapshots = soc_reader_take_snapshots(writer->reader);
    if (writer->snapshots == NULL)
        return false;
    pthread_mutex_unlock(&writer->mutex);
    if (soc_lookup_keep(writer->store, &writer->snapshots, &detail) < 0)
        fail(writer, &detail);
    pthread_mutex_lock(&writer->mutex);
    return true;
}

/* How much may wait to be folded: with a limit to its size, a share of the database. */
static uint64_t backlog_max(const struct soc_writer *writer)
{
    uint64_t share = (uint64_t)writer->retention.bytes / RETENTION_SHARE;
    return share == 0 || share > SOC_FOLD_BACKLOG_BYTES ? SOC_FOLD_BACKLOG_BYTES : share;
}

/* When to fold, unless a commit comes first: in a pause, or when the oldest batch has waited for
 * long enough. Folding takes as much time as everything else that is done for a message, so a
 * peak is committed first and folded when it is over, if it is short enough. */
static int64_t fold_due_us(const struct soc_writer *writer)
{
    uint64_t backlog = soc_store_backlog(writer->store);
    bool is_peak = backlog > MUCH_BYTES && backlog < backlog_max(writer) / PEAK_SHARE;
    int64_t pause_us = writer->committed_us + SOC_FOLD_DELAY_MS * 1000;
    int64_t old_us = writer->unfolded_us + (is_peak ? PEAK_AGE_US_MAX : FOLD_AGE_US_MAX);
    return backlog == 0 || pause_us < old_us ? pause_us : old_us;
}

/* Does background work, or waits until some is due. The mutex is held, and released
 * meanwhile. */
static void work_in_background(struct soc_writer *writer)
{
    struct soc_store *store = writer->store;
    bool has_backlog = soc_store_backlog(store) > 0 && store->is_durable;
    bool is_untidy = store->is_untidy;
    int64_t wait_us = fold_due_us(writer) - soc_clock_monotonic_us();
    if (keep_snapshot(writer))
        return;
    if (!has_backlog && !is_untidy) {
        wait_for_change(writer, store->is_durable ? CHECK_US : -1);
        check_if_idle(writer);
    } else if (wait_us > 0) {
        wait_for_change(writer, wait_us);
    } else {
        pthread_mutex_unlock(&writer->mutex);
        struct soc_detail detail = {0};
        if (has_backlog)
            fold_slice(writer); /* on a full disk the next commit reports it */
        else if (soc_store_tidy(store, false, &detail) < 0)
            fail(writer, &detail);
        pthread_mutex_lock(&writer->mutex);
    }
}

/* Folds while closing; false when done or out of time. The mutex is held, and released
 * meanwhile. */
static bool fold_before_end(struct soc_writer *writer)
{
    if (soc_store_backlog(writer->store) == 0 || !writer->store->is_durable ||
        soc_clock_monotonic_us() >= writer->fold_until_us)
        return false;
    pthread_mutex_unlock(&writer->mutex);
    bool has_room = fold_slice(writer);
    pthread_mutex_lock(&writer->mutex);
    return has_room;
}

/* Finishes maintenance, so that an error is reported, which closing would not do. The
 * mutex is held, and released meanwhile. */
static void finish(struct soc_writer *writer)
{
    struct soc_detail detail = {0};
    pthread_mutex_unlock(&writer->mutex);
    if (soc_store_tidy(writer->store, true, &detail) < 0)
        fail(writer, &detail);
    pthread_mutex_lock(&writer->mutex);
}

/* Commits what is queued, or folds first if the backlog exceeds its bound. The mutex is
 * held, and released meanwhile. */
static void write_group(struct soc_writer *writer)
{
    struct soc_batch *group[GROUP_COUNT_MAX];
    if (soc_store_backlog(writer->store) > backlog_max(writer)) {
        pthread_mutex_unlock(&writer->mutex);
        if (!fold_slice(writer) && !wait_for_room(writer))
            give_up_full(writer);
        pthread_mutex_lock(&writer->mutex);
        return;
    }
    size_t count = take_group(writer, group);
    pthread_mutex_unlock(&writer->mutex);
    commit_group(writer, group, count);
    pthread_mutex_lock(&writer->mutex);
}

/* Returns the lookups that will not be answered. With the mutex held. */
static void refuse_lookups(struct soc_writer *writer)
{
    for (struct soc_lookup *lookup = writer->lookups; lookup != NULL; lookup = lookup->next)
        lookup->rc = SOC_EIO;
    *writer->answers_end = writer->lookups;
    if (writer->lookups != NULL)
        writer->answers_end = writer->lookups_end;
    writer->lookups = NULL;
    writer->lookups_end = &writer->lookups;
}

static void *run(void *user)
{
    struct soc_writer *writer = user;
    pthread_mutex_lock(&writer->mutex);
    while (!writer->is_crashed && !writer->is_failed) {
        if (writer->reader != NULL)
            soc_reader_hold(writer->reader, writer->store->is_crowded);
        writer->store->retention = writer->retention;
        bool has_work = writer->batches != NULL || writer->lookups != NULL;
        if (writer->batches != NULL)
            write_group(writer);
        if (writer->lookups != NULL && !writer->is_failed)
            serve_lookup(writer);
        if (has_work || writer->is_crashed || writer->is_failed)
            continue;
        if (!writer->is_closing)
            work_in_background(writer);
        else if (!fold_before_end(writer))
            break;
    }
    if (!writer->is_crashed && !writer->is_failed)
        finish(writer);
    writer->is_ended = true;
    if (writer->is_failed)
        refuse_lookups(writer);
    pthread_mutex_unlock(&writer->mutex);
    soc_loop_wake(writer->loop);
    return NULL;
}

void soc_writer_init(struct soc_writer *writer, struct soc_store *store, struct soc_loop *loop)
{
    *writer = (struct soc_writer){.store = store, .loop = loop};
    writer->durable = soc_store_sequence(store);
    writer->durable_line = store->at.last_line;
    writer->batches_end = &writer->batches;
    writer->lookups_end = &writer->lookups;
    writer->answers_end = &writer->answers;
    writer->committed_us = soc_clock_monotonic_us();
    writer->unfolded_us = writer->committed_us;
}

void soc_writer_start(struct soc_writer *writer)
{
    pthread_condattr_t attributes;
    assert(writer->loop != NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_cond_init(&writer->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int rc = pthread_create(&writer->thread, NULL, run, writer);
    assert(rc == 0);
    (void)rc;
}

void soc_writer_join(struct soc_writer *writer)
{
    pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->mutex);
}

void soc_writer_fini(struct soc_writer *writer)
{
    soc_snapshots_free(writer->snapshots);
    assert(writer->lookups == NULL && writer->answers == NULL); /* every lookup is answered */
    free_batches(writer->batches);
    free_batches(writer->spares);
}
