#include "store/journal.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "store/reader.h"
#include "store/writer.h"

#define CLOSE_POLL_MS 100
#define FOLD_BYTES    (8u << 20) /* at a time, before a query without a thread */

struct soc_journal {
    struct soc_writer writer; /* the queues, and the thread if there is a loop */
    struct soc_journal_events events;
    int waker;
    uint64_t sequence;         /* last one submitted */
    uint64_t bytes;            /* submitted in total */
    uint64_t durable_reported; /* last sequence reported */
    uint64_t durable_bytes_reported;
    uint64_t durable_line_reported;
    bool full_reported;
    bool failure_reported;
    bool is_committing; /* without a thread: inside soc_journal_commit */
    bool is_held;       /* without a thread: batches wait for soc_journal_commit */
};

/* A snapshot of what the writer has to report, taken under the mutex. */
struct report {
    uint64_t durable;
    uint64_t durable_line;
    uint64_t durable_bytes;
    bool is_full;
    bool is_failed;
    struct soc_detail failure;
    struct soc_lookup *answers;
};

static void take_report(struct soc_journal *journal, struct report *report)
{
    pthread_mutex_lock(&journal->writer.mutex);
    *report = (struct report){journal->writer.durable,       journal->writer.durable_line,
                              journal->writer.durable_bytes, journal->writer.is_full,
                              journal->writer.is_failed,     journal->writer.failure,
                              journal->writer.answers};
    journal->writer.answers = NULL;
    journal->writer.answers_end = &journal->writer.answers;
    pthread_mutex_unlock(&journal->writer.mutex);
}

static void report_full(struct soc_journal *journal, bool is_full)
{
    if (journal->full_reported == is_full)
        return;
    journal->full_reported = is_full;
    if (journal->events.on_full != NULL)
        journal->events.on_full(is_full, journal->events.user);
}

static void report_durable(struct soc_journal *journal, uint64_t durable, uint64_t durable_line,
                           uint64_t durable_bytes)
{
    if (durable == journal->durable_reported)
        return;
    journal->durable_reported = durable;
    journal->durable_bytes_reported = durable_bytes;
    journal->durable_line_reported = durable_line;
    if (journal->events.on_durable != NULL)
        journal->events.on_durable(durable, journal->events.user);
}

static void report_failed(struct soc_journal *journal, const struct soc_detail *detail)
{
    if (journal->failure_reported)
        return;
    journal->failure_reported = true;
    if (journal->events.on_failed != NULL)
        journal->events.on_failed(detail, journal->events.user);
}

/* The waker: reports what the writer has done. After a failure nothing counts as durable
 * any more, so nothing more is released. */
static void deliver(void *user)
{
    struct soc_journal *journal = user;
    struct report report;
    take_report(journal, &report);
    if (journal->writer.reader != NULL && !report.is_failed)
        report.is_failed = soc_reader_has_failed(journal->writer.reader, &report.failure);
    if (report.is_failed) {
        report_failed(journal, &report.failure);
    } else {
        report_full(journal, report.is_full);
        report_durable(journal, report.durable, report.durable_line, report.durable_bytes);
    }
    soc_lookup_deliver(report.answers);
    if (journal->writer.reader != NULL)
        soc_lookup_deliver(soc_reader_take(journal->writer.reader));
}

static void wake_writer(void *user)
{
    soc_writer_wake(user);
}

/* Starts a reader, if the store has any. */
static void open_reader(struct soc_journal *journal, struct soc_store *store, struct soc_loop *loop)
{
    struct soc_store *connection;
    struct soc_detail detail = {0};
    if (soc_store_open_reader(store, &connection, &detail) == SOC_OK)
        journal->writer.reader = soc_reader_open(connection, loop);
    if (journal->writer.reader != NULL)
        soc_reader_on_left(journal->writer.reader, wake_writer, &journal->writer);
}

struct soc_journal *soc_journal_open(struct soc_store *store, struct soc_loop *loop,
                                     const struct soc_journal_events *events)
{
    struct soc_journal *journal = soc_alloc_zero(sizeof(*journal));
    soc_writer_init(&journal->writer, store, loop);
    journal->events = *events;
    journal->sequence = soc_store_sequence(store);
    journal->durable_reported = journal->sequence;
    journal->durable_line_reported = store->at.last_line;
    if (loop != NULL) {
        journal->waker = soc_loop_add_waker(loop, deliver, journal);
        open_reader(journal, store, loop);
        soc_writer_start(&journal->writer);
    }
    return journal;
}

void soc_journal_retain(struct soc_journal *journal, struct soc_retention retention)
{
    struct soc_writer *writer = &journal->writer;
    assert(retention.days >= 0 && retention.bytes >= 0);
    if (writer->loop == NULL)
        return;
    pthread_mutex_lock(&writer->mutex);
    writer->retention = retention;
    pthread_mutex_unlock(&writer->mutex);
}

static void fail_here(struct soc_journal *journal, const struct soc_detail *detail)
{
    journal->writer.is_failed = true;
    journal->writer.failure = *detail;
    report_failed(journal, detail);
}

/* Commits the first waiting batch; false if it stays. */
static bool commit_kept(struct soc_journal *journal)
{
    struct soc_detail detail = {0};
    struct soc_store *store = journal->writer.store;
    struct soc_batch *batch = journal->writer.batches;
    uint64_t sequence = soc_store_sequence(store) + 1;
    struct soc_slice bytes = soc_buf_slice(&batch->bytes);
    int rc = soc_store_commit(store, sequence, &bytes, 1, &detail);
    if (rc == SOC_EDISKFULL) {
        report_full(journal, true);
        return false;
    }
    while (rc >= 0 && soc_store_backlog(store) > SOC_FOLD_BACKLOG_BYTES) {
        rc = soc_store_fold(store, SOC_FOLD_SLICE_BYTES, &detail);
        if (rc == SOC_EDISKFULL) /* the next commit will report it */
            rc = SOC_OK;
        if (rc <= 0)
            break;
    }
    if (rc < 0) {
        fail_here(journal, &detail);
        return false;
    }
    size_t length = batch->bytes.length;
    journal->writer.batches = batch->next;
    if (journal->writer.batches == NULL)
        journal->writer.batches_end = &journal->writer.batches;
    soc_writer_recycle(&journal->writer, batch);
    report_full(journal, false);
    report_durable(journal, sequence, store->at.last_line,
                   journal->durable_bytes_reported + length);
    return true;
}

/* Stores what a lookup has left on its way. */
static int keep_snapshots(struct soc_journal *journal, struct soc_lookup *lookup,
                          struct soc_detail *detail)
{
    int rc = SOC_OK;
    while (rc == SOC_OK && lookup->snapshots != NULL)
        rc = soc_lookup_keep(journal->writer.store, &lookup->snapshots, detail);
    return rc;
}

/* Queries the store, after every batch. A query folds, so it can find the disk full or
 * failing just as a commit can. */
static int answer_here(struct soc_journal *journal, struct soc_lookup *lookup)
{
    struct soc_detail detail = {0};
    if (journal->failure_reported)
        return SOC_EIO;
    if (journal->full_reported && journal->writer.batches != NULL && !lookup->query.is_of_durable)
        return SOC_EDISKFULL;
    int rc;
    do
        rc = soc_store_fold(journal->writer.store, FOLD_BYTES, &detail);
    while (rc > 0);
    while (rc >= 0 && (rc = soc_lookup_step(lookup, journal->writer.store, 0, &detail)) > 0)
        rc = keep_snapshots(journal, lookup, &detail);
    if (soc_lookup_is_fatal(rc))
        fail_here(journal, &detail);
    else if (rc == SOC_EDISKFULL && lookup->query.waits_for_room)
        report_full(journal, true);
    else if (rc == SOC_OK && journal->writer.batches == NULL)
        report_full(journal, false);
    return rc;
}

/* Answers lookups that wait for space, as long as there is some. */
static void serve_kept(struct soc_journal *journal)
{
    struct soc_lookup *lookup;
    while ((lookup = journal->writer.lookups) != NULL) {
        lookup->rc = answer_here(journal, lookup);
        if (lookup->rc == SOC_EDISKFULL)
            return;
        journal->writer.lookups = lookup->next;
        if (journal->writer.lookups == NULL)
            journal->writer.lookups_end = &journal->writer.lookups;
        lookup->next = NULL;
        soc_lookup_deliver(lookup);
    }
}

/* Events may submit more and call this again: only the outermost call commits. */
void soc_journal_commit(struct soc_journal *journal, size_t count)
{
    assert(journal->writer.loop == NULL);
    if (journal->is_committing)
        return;
    journal->is_committing = true;
    while (count-- > 0 && journal->writer.batches != NULL && !journal->failure_reported &&
           commit_kept(journal))
        continue;
    journal->is_committing = false;
    serve_kept(journal);
}

/* Commits everything that waits, in order: there is no thread. */
static void commit_here(struct soc_journal *journal)
{
    soc_journal_commit(journal, SIZE_MAX);
}

void soc_journal_retry(struct soc_journal *journal)
{
    assert(journal->writer.loop == NULL);
    commit_here(journal);
}

void soc_journal_hold(struct soc_journal *journal, bool is_held)
{
    assert(journal->writer.loop == NULL);
    journal->is_held = is_held;
}

uint64_t soc_journal_submit(struct soc_journal *journal, struct soc_buf *batch)
{
    assert(batch->length > 0);
    uint64_t sequence = ++journal->sequence;
    journal->bytes += batch->length;
    if (journal->failure_reported) {
        batch->length = 0;
        return sequence;
    }
    if (journal->writer.loop == NULL) {
        soc_writer_add_batch(&journal->writer, batch);
        if (!journal->full_reported && !journal->is_held)
            commit_here(journal);
        return sequence;
    }
    pthread_mutex_lock(&journal->writer.mutex);
    soc_writer_add_batch(&journal->writer, batch);
    pthread_cond_signal(&journal->writer.changed);
    pthread_mutex_unlock(&journal->writer.mutex);
    return sequence;
}

size_t soc_journal_bytes(const struct soc_journal *journal)
{
    return (size_t)(journal->bytes - journal->durable_bytes_reported);
}

uint64_t soc_journal_durable(const struct soc_journal *journal)
{
    return journal->durable_reported;
}

uint64_t soc_journal_durable_line(const struct soc_journal *journal)
{
    return journal->durable_line_reported;
}

/* There is no thread: answers now, or keeps the lookup until there is space. */
static void query_here(struct soc_journal *journal, struct soc_lookup *lookup)
{
    if (!lookup->query.is_of_durable)
        commit_here(journal);
    lookup->rc = answer_here(journal, lookup);
    if (lookup->rc != SOC_EDISKFULL || !lookup->query.waits_for_room) {
        soc_lookup_deliver(lookup);
        return;
    }
    *journal->writer.lookups_end = lookup;
    journal->writer.lookups_end = &lookup->next;
}

/* Tells whether the reader can answer without the writer: everything it has to include is
 * durable. */
static bool is_readable(const struct soc_journal *journal, const struct soc_lookup *lookup)
{
    return journal->writer.reader != NULL && !journal->failure_reported &&
           lookup->sequence <= journal->durable_reported && soc_lookup_sees_journal(lookup);
}

static void add_lookup(struct soc_journal *journal, struct soc_lookup *lookup)
{
    lookup->bytes_max = SOC_LOOK_BYTES_MAX;
    if (journal->writer.loop == NULL) {
        query_here(journal, lookup);
        return;
    }
    lookup->sequence = lookup->query.is_of_durable ? journal->durable_reported : journal->sequence;
    if (is_readable(journal, lookup)) {
        soc_reader_add(journal->writer.reader, lookup);
        return;
    }
    pthread_mutex_lock(&journal->writer.mutex);
    if (journal->writer.is_ended) {
        lookup->rc = SOC_EIO;
        *journal->writer.answers_end = lookup;
        journal->writer.answers_end = &lookup->next;
        soc_loop_wake(journal->writer.loop);
    } else {
        *journal->writer.lookups_end = lookup;
        journal->writer.lookups_end = &lookup->next;
        pthread_cond_signal(&journal->writer.changed);
    }
    pthread_mutex_unlock(&journal->writer.mutex);
}

void soc_journal_query(struct soc_journal *journal, const struct soc_query *query, soc_query_cb *cb,
                       void *user)
{
    add_lookup(journal, soc_lookup_new(query, cb, user));
}

void soc_journal_ask(struct soc_journal *journal, const struct soc_query *query, soc_page_cb *cb,
                     void *user)
{
    struct soc_lookup *lookup = soc_lookup_new(query, NULL, user);
    lookup->page_cb = cb;
    add_lookup(journal, lookup);
}

void soc_journal_drop(struct soc_journal *journal, const void *user)
{
    if (journal->writer.loop == NULL)
        return;
    pthread_mutex_lock(&journal->writer.mutex);
    for (struct soc_lookup *each = journal->writer.lookups; each != NULL; each = each->next)
        each->is_dropped |= each->user == user;
    pthread_mutex_unlock(&journal->writer.mutex);
    if (journal->writer.reader != NULL)
        soc_reader_drop(journal->writer.reader, user);
}

static bool has_ended(struct soc_journal *journal)
{
    pthread_mutex_lock(&journal->writer.mutex);
    bool is_ended = journal->writer.is_ended;
    pthread_mutex_unlock(&journal->writer.mutex);
    return is_ended;
}

/* Answers lookups that will not be served any more. */
static void close_lookups(struct soc_lookup *lookups)
{
    for (struct soc_lookup *lookup = lookups; lookup != NULL; lookup = lookup->next)
        lookup->rc = SOC_ECLOSED;
    soc_lookup_deliver(lookups);
}

/* Frees everything. The thread, if there was one, has ended. */
static void free_journal(struct soc_journal *journal)
{
    if (journal->writer.loop != NULL) {
        soc_loop_remove_waker(journal->writer.loop, journal->waker);
        soc_writer_join(&journal->writer);
    }
    close_lookups(soc_reader_close(journal->writer.reader));
    close_lookups(journal->writer.answers);
    close_lookups(journal->writer.lookups);
    journal->writer.answers = journal->writer.lookups = NULL;
    soc_writer_fini(&journal->writer);
    free(journal);
}

void soc_journal_close(struct soc_journal *journal, int64_t fold_ms_max)
{
    int64_t fold_until_us = soc_clock_monotonic_us() + fold_ms_max * 1000;
    if (journal->writer.loop == NULL) {
        struct soc_detail detail = {0};
        int rc = 1;
        commit_here(journal);
        while (rc > 0 && !journal->failure_reported && journal->writer.store->is_durable &&
               soc_clock_monotonic_us() < fold_until_us)
            rc = soc_store_fold(journal->writer.store, SOC_FOLD_SLICE_BYTES, &detail);
        if (rc >= 0 && !journal->failure_reported)
            rc = soc_store_tidy(journal->writer.store, true, &detail);
        if (rc < 0 && rc != SOC_EDISKFULL)
            report_failed(journal, &detail);
        free_journal(journal);
        return;
    }
    pthread_mutex_lock(&journal->writer.mutex);
    journal->writer.is_closing = true;
    journal->writer.fold_until_us = fold_until_us;
    pthread_cond_signal(&journal->writer.changed);
    pthread_mutex_unlock(&journal->writer.mutex);
    while (!has_ended(journal))
        soc_loop_poll(journal->writer.loop, CLOSE_POLL_MS);
    deliver(journal);
    free_journal(journal);
}

void soc_journal_crash(struct soc_journal *journal)
{
    if (journal->writer.loop != NULL) {
        pthread_mutex_lock(&journal->writer.mutex);
        journal->writer.is_crashed = true;
        pthread_cond_signal(&journal->writer.changed);
        pthread_mutex_unlock(&journal->writer.mutex);
    }
    free_journal(journal);
}
