#include "store/journal.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "store/writer.h"

#define CLOSE_POLL_MS 100

struct soc_journal {
    struct soc_writer writer; /* the queues, and the thread if there is a loop */
    struct soc_journal_events events;
    int waker;
    uint64_t sequence;         /* last one submitted */
    uint64_t bytes;            /* submitted in total */
    uint64_t durable_reported; /* last sequence reported */
    uint64_t durable_bytes_reported;
    bool full_reported;
    bool failure_reported;
    bool is_committing; /* without a thread: inside soc_journal_commit */
    bool is_held;       /* without a thread: batches wait for soc_journal_commit */
};

/* A snapshot of what the writer has to report, taken under the mutex. */
struct report {
    uint64_t durable;
    uint64_t durable_bytes;
    bool is_full;
    bool is_failed;
    struct soc_detail failure;
    struct soc_lookup *answers;
};

static void take_report(struct soc_journal *journal, struct report *report)
{
    pthread_mutex_lock(&journal->writer.mutex);
    *report = (struct report){journal->writer.durable, journal->writer.durable_bytes,
                              journal->writer.is_full, journal->writer.is_failed,
                              journal->writer.failure, journal->writer.answers};
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

static void report_durable(struct soc_journal *journal, uint64_t durable, uint64_t durable_bytes)
{
    if (durable == journal->durable_reported)
        return;
    journal->durable_reported = durable;
    journal->durable_bytes_reported = durable_bytes;
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

static void deliver_answers(struct soc_lookup *answers)
{
    while (answers != NULL) {
        struct soc_lookup *lookup = answers;
        answers = lookup->next;
        lookup->cb(lookup->rc, soc_buf_slice(&lookup->rows), lookup->user);
        soc_lookup_free(lookup);
    }
}

/* The waker: reports what the writer has done. After a failure nothing counts as durable
 * any more, so nothing more is released. */
static void deliver(void *user)
{
    struct soc_journal *journal = user;
    struct report report;
    take_report(journal, &report);
    if (report.is_failed) {
        report_failed(journal, &report.failure);
    } else {
        report_full(journal, report.is_full);
        report_durable(journal, report.durable, report.durable_bytes);
    }
    deliver_answers(report.answers);
}

struct soc_journal *soc_journal_open(struct soc_store *store, struct soc_loop *loop,
                                     const struct soc_journal_events *events)
{
    struct soc_journal *journal = soc_alloc_zero(sizeof(*journal));
    soc_writer_init(&journal->writer, store, loop);
    journal->events = *events;
    journal->sequence = soc_store_sequence(store);
    journal->durable_reported = journal->sequence;
    if (loop != NULL) {
        journal->waker = soc_loop_add_waker(loop, deliver, journal);
        soc_writer_start(&journal->writer);
    }
    return journal;
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
    report_durable(journal, sequence, journal->durable_bytes_reported + length);
    return true;
}

/* Queries the store, after every batch. A query folds, so it can find the disk full or
 * failing just as a commit can. */
static int answer_here(struct soc_journal *journal, struct soc_lookup *lookup)
{
    struct soc_detail detail = {0};
    if (journal->failure_reported)
        return SOC_EIO;
    if (journal->full_reported && journal->writer.batches != NULL)
        return SOC_EDISKFULL;
    int rc = soc_store_query(journal->writer.store, &lookup->query, &lookup->rows, &detail);
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
        deliver_answers(lookup);
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

static struct soc_slice copy_text(struct soc_buf *texts, struct soc_slice text)
{
    if (text.data == NULL)
        return text;
    char *at = texts->data + texts->length; /* reserved for all of them */
    soc_buf_put_slice(texts, text);
    return soc_slice(at, text.length);
}

static void copy_query(struct soc_lookup *lookup, const struct soc_query *query)
{
    struct soc_slice what = soc_slice(query->what, strlen(query->what) + 1);
    soc_buf_reserve(&lookup->texts, what.length + query->agent.length + query->task.length +
                                        query->type.length + query->correlation_id.length +
                                        query->from.length + query->to.length +
                                        query->reason.length + query->state.length);
    lookup->query = *query;
    lookup->query.what = copy_text(&lookup->texts, what).data;
    lookup->query.agent = copy_text(&lookup->texts, query->agent);
    lookup->query.task = copy_text(&lookup->texts, query->task);
    lookup->query.type = copy_text(&lookup->texts, query->type);
    lookup->query.from = copy_text(&lookup->texts, query->from);
    lookup->query.to = copy_text(&lookup->texts, query->to);
    lookup->query.reason = copy_text(&lookup->texts, query->reason);
    lookup->query.state = copy_text(&lookup->texts, query->state);
    lookup->query.correlation_id = copy_text(&lookup->texts, query->correlation_id);
}

/* There is no thread: answers now, or keeps the lookup until there is space. */
static void query_here(struct soc_journal *journal, struct soc_lookup *lookup)
{
    commit_here(journal);
    lookup->rc = answer_here(journal, lookup);
    if (lookup->rc != SOC_EDISKFULL || !lookup->query.waits_for_room) {
        deliver_answers(lookup);
        return;
    }
    *journal->writer.lookups_end = lookup;
    journal->writer.lookups_end = &lookup->next;
}

void soc_journal_query(struct soc_journal *journal, const struct soc_query *query, soc_query_cb *cb,
                       void *user)
{
    struct soc_lookup *lookup = soc_alloc_zero(sizeof(*lookup));
    lookup->cb = cb;
    lookup->user = user;
    copy_query(lookup, query);
    if (journal->writer.loop == NULL) {
        query_here(journal, lookup);
        return;
    }
    lookup->sequence = journal->sequence;
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
    deliver_answers(lookups);
}

/* Frees everything. The thread, if there was one, has ended. */
static void free_journal(struct soc_journal *journal)
{
    if (journal->writer.loop != NULL) {
        soc_loop_remove_waker(journal->writer.loop, journal->waker);
        soc_writer_join(&journal->writer);
    }
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
