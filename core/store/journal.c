#include "store/journal.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "store/database.h"
#include "store/writer.h"

#define CLOSE_POLL_MS 100

/* What the loop has to hear, taken out from under the mutex. */
struct report {
    uint64_t durable;
    uint64_t durable_bytes;
    bool is_full;
    bool is_failed;
    struct soc_detail failure;
    struct soc_question *answers;
};

static void take_report(struct soc_journal *journal, struct report *report)
{
    pthread_mutex_lock(&journal->mutex);
    *report = (struct report){journal->durable,   journal->durable_bytes, journal->is_full,
                              journal->is_failed, journal->failure,       journal->answers};
    journal->answers = NULL;
    journal->answers_end = &journal->answers;
    pthread_mutex_unlock(&journal->mutex);
}

static void tell_full(struct soc_journal *journal, bool is_full)
{
    if (journal->full_told == is_full)
        return;
    journal->full_told = is_full;
    if (journal->events.on_full != NULL)
        journal->events.on_full(is_full, journal->events.user);
}

static void tell_durable(struct soc_journal *journal, uint64_t durable, uint64_t durable_bytes)
{
    if (durable == journal->durable_told)
        return;
    journal->durable_told = durable;
    journal->durable_bytes_told = durable_bytes;
    if (journal->events.on_durable != NULL)
        journal->events.on_durable(durable, journal->events.user);
}

static void tell_failed(struct soc_journal *journal, const struct soc_detail *detail)
{
    if (journal->failed_told)
        return;
    journal->failed_told = true;
    if (journal->events.on_failed != NULL)
        journal->events.on_failed(detail, journal->events.user);
}

static void tell_answers(struct soc_question *answers)
{
    while (answers != NULL) {
        struct soc_question *question = answers;
        answers = question->next;
        question->cb(question->rc, soc_buf_slice(&question->rows), question->user);
        soc_question_free(question);
    }
}

/* The waker: hands out what the writer has to say. After a failure nothing more becomes
 * durable for the loop, so nothing more is let out. */
static void deliver(void *user)
{
    struct soc_journal *journal = user;
    struct report report;
    take_report(journal, &report);
    if (report.is_failed) {
        tell_failed(journal, &report.failure);
    } else {
        tell_full(journal, report.is_full);
        tell_durable(journal, report.durable, report.durable_bytes);
    }
    tell_answers(report.answers);
}

static void start_thread(struct soc_journal *journal)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&journal->mutex, NULL);
    pthread_cond_init(&journal->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    journal->waker = soc_loop_add_waker(journal->loop, deliver, journal);
    int rc = pthread_create(&journal->thread, NULL, soc_writer_run, journal);
    assert(rc == 0);
    (void)rc;
}

struct soc_journal *soc_journal_open(struct soc_store *store, struct soc_loop *loop,
                                     const struct soc_journal_events *events)
{
    struct soc_journal *journal = soc_alloc_zero(sizeof(*journal));
    journal->store = store;
    journal->loop = loop;
    journal->events = *events;
    journal->sequence = soc_store_sequence(store);
    journal->durable = journal->sequence;
    journal->durable_told = journal->sequence;
    journal->batches_end = &journal->batches;
    journal->questions_end = &journal->questions;
    journal->answers_end = &journal->answers;
    journal->committed_us = soc_clock_monotonic_us();
    journal->unfolded_us = journal->committed_us;
    if (loop != NULL)
        start_thread(journal);
    return journal;
}

static void fail_here(struct soc_journal *journal, const struct soc_detail *detail)
{
    journal->is_failed = true;
    journal->failure = *detail;
    tell_failed(journal, detail);
}

/* Commits the batch that was kept first; false if it stays. */
static bool commit_kept(struct soc_journal *journal)
{
    struct soc_detail detail = {0};
    struct soc_store *store = journal->store;
    struct soc_batch *batch = journal->batches;
    uint64_t sequence = soc_store_sequence(store) + 1;
    int rc = soc_store_append(store, sequence, soc_buf_slice(&batch->bytes), &detail);
    if (rc == SOC_EDISKFULL) {
        tell_full(journal, true);
        return false;
    }
    while (rc >= 0 && soc_store_backlog(store) > SOC_FOLD_BACKLOG_BYTES) {
        rc = soc_store_fold(store, SOC_FOLD_SLICE_BYTES, &detail);
        if (rc == SOC_EDISKFULL) /* met again by the next commit */
            rc = SOC_OK;
        if (rc <= 0)
            break;
    }
    if (rc < 0) {
        fail_here(journal, &detail);
        return false;
    }
    size_t length = batch->bytes.length;
    journal->batches = batch->next;
    if (journal->batches == NULL)
        journal->batches_end = &journal->batches;
    batch->bytes.length = 0;
    batch->next = journal->spares;
    journal->spares = batch;
    journal->spare_count++;
    tell_full(journal, false);
    tell_durable(journal, sequence, journal->durable_bytes_told + length);
    return true;
}

/* Asks the store, behind every batch. A query folds, so it can meet a disk that is full
 * or fails as a commit can. */
static int ask_here(struct soc_journal *journal, struct soc_question *question)
{
    struct soc_detail detail = {0};
    if (journal->failed_told)
        return SOC_EIO;
    if (journal->full_told && journal->batches != NULL)
        return SOC_EDISKFULL;
    int rc = soc_store_query(journal->store, &question->query, &question->rows, &detail);
    if (soc_question_is_fatal(rc))
        fail_here(journal, &detail);
    else if (rc == SOC_EDISKFULL && question->query.waits_for_room)
        tell_full(journal, true);
    else if (rc == SOC_OK && journal->batches == NULL)
        tell_full(journal, false);
    return rc;
}

/* Asks for those that wait for room, as long as there is some. */
static void serve_kept(struct soc_journal *journal)
{
    struct soc_question *question;
    while ((question = journal->questions) != NULL) {
        question->rc = ask_here(journal, question);
        if (question->rc == SOC_EDISKFULL)
            return;
        journal->questions = question->next;
        if (journal->questions == NULL)
            journal->questions_end = &journal->questions;
        question->next = NULL;
        tell_answers(question);
    }
}

/* What is reported meanwhile may submit more and come here again: the first one does
 * it all. */
void soc_journal_commit(struct soc_journal *journal, size_t count)
{
    assert(journal->loop == NULL);
    if (journal->is_committing)
        return;
    journal->is_committing = true;
    while (count-- > 0 && journal->batches != NULL && !journal->failed_told && commit_kept(journal))
        continue;
    journal->is_committing = false;
    serve_kept(journal);
}

/* Commits what is kept, in order: there is no thread. */
static void commit_here(struct soc_journal *journal)
{
    soc_journal_commit(journal, SIZE_MAX);
}

void soc_journal_retry(struct soc_journal *journal)
{
    assert(journal->loop == NULL);
    commit_here(journal);
}

void soc_journal_hold(struct soc_journal *journal, bool is_held)
{
    assert(journal->loop == NULL);
    journal->is_held = is_held;
}

/* Puts the batch last in the queue and takes an empty buffer for it. */
static void keep_batch(struct soc_journal *journal, struct soc_buf *batch)
{
    struct soc_batch *entry = journal->spares;
    if (entry != NULL) {
        journal->spares = entry->next;
        journal->spare_count--;
    } else {
        entry = soc_alloc_zero(sizeof(*entry));
    }
    struct soc_buf spare = entry->bytes;
    entry->bytes = *batch;
    entry->next = NULL;
    *batch = spare;
    *journal->batches_end = entry;
    journal->batches_end = &entry->next;
}

uint64_t soc_journal_submit(struct soc_journal *journal, struct soc_buf *batch)
{
    assert(batch->length > 0);
    uint64_t sequence = ++journal->sequence;
    journal->bytes += batch->length;
    if (journal->failed_told) {
        batch->length = 0;
        return sequence;
    }
    if (journal->loop == NULL) {
        keep_batch(journal, batch);
        if (!journal->full_told && !journal->is_held)
            commit_here(journal);
        return sequence;
    }
    pthread_mutex_lock(&journal->mutex);
    keep_batch(journal, batch);
    pthread_cond_signal(&journal->changed);
    pthread_mutex_unlock(&journal->mutex);
    return sequence;
}

size_t soc_journal_bytes(const struct soc_journal *journal)
{
    return (size_t)(journal->bytes - journal->durable_bytes_told);
}

uint64_t soc_journal_durable(const struct soc_journal *journal)
{
    return journal->durable_told;
}

static struct soc_slice copy_text(struct soc_buf *texts, struct soc_slice text)
{
    if (text.data == NULL)
        return text;
    char *at = texts->data + texts->length; /* room was made for all of them */
    soc_buf_put_slice(texts, text);
    return soc_slice(at, text.length);
}

static void copy_query(struct soc_question *question, const struct soc_query *query)
{
    struct soc_slice what = soc_slice(query->what, strlen(query->what) + 1);
    soc_buf_reserve(&question->texts, what.length + query->agent.length + query->task.length +
                                          query->type.length + query->correlation_id.length);
    question->query = *query;
    question->query.what = copy_text(&question->texts, what).data;
    question->query.agent = copy_text(&question->texts, query->agent);
    question->query.task = copy_text(&question->texts, query->task);
    question->query.type = copy_text(&question->texts, query->type);
    question->query.correlation_id = copy_text(&question->texts, query->correlation_id);
}

/* There is no thread: answers, or keeps it until there is room. */
static void query_here(struct soc_journal *journal, struct soc_question *question)
{
    commit_here(journal);
    question->rc = ask_here(journal, question);
    if (question->rc != SOC_EDISKFULL || !question->query.waits_for_room) {
        tell_answers(question);
        return;
    }
    *journal->questions_end = question;
    journal->questions_end = &question->next;
}

void soc_journal_query(struct soc_journal *journal, const struct soc_query *query, soc_query_cb *cb,
                       void *user)
{
    struct soc_question *question = soc_alloc_zero(sizeof(*question));
    question->cb = cb;
    question->user = user;
    copy_query(question, query);
    if (journal->loop == NULL) {
        query_here(journal, question);
        return;
    }
    question->sequence = journal->sequence;
    pthread_mutex_lock(&journal->mutex);
    if (journal->is_ended) {
        question->rc = SOC_EIO;
        *journal->answers_end = question;
        journal->answers_end = &question->next;
        soc_loop_wake(journal->loop);
    } else {
        *journal->questions_end = question;
        journal->questions_end = &question->next;
        pthread_cond_signal(&journal->changed);
    }
    pthread_mutex_unlock(&journal->mutex);
}

static bool has_ended(struct soc_journal *journal)
{
    pthread_mutex_lock(&journal->mutex);
    bool is_ended = journal->is_ended;
    pthread_mutex_unlock(&journal->mutex);
    return is_ended;
}

/* Answers the questions that nobody will answer any more. */
static void close_questions(struct soc_question *questions)
{
    for (struct soc_question *question = questions; question != NULL; question = question->next)
        question->rc = SOC_ECLOSED;
    tell_answers(questions);
}

/* Frees everything. The thread, if there was one, has ended. */
static void free_journal(struct soc_journal *journal)
{
    if (journal->loop != NULL) {
        soc_loop_remove_waker(journal->loop, journal->waker);
        pthread_join(journal->thread, NULL);
        pthread_cond_destroy(&journal->changed);
        pthread_mutex_destroy(&journal->mutex);
    }
    close_questions(journal->answers);
    close_questions(journal->questions);
    struct soc_batch *lists[] = {journal->batches, journal->spares};
    for (int i = 0; i < 2; i++) {
        while (lists[i] != NULL) {
            struct soc_batch *next = lists[i]->next;
            soc_batch_free(lists[i]);
            lists[i] = next;
        }
    }
    free(journal);
}

void soc_journal_close(struct soc_journal *journal, int64_t fold_ms_max)
{
    int64_t fold_until_us = soc_clock_monotonic_us() + fold_ms_max * 1000;
    if (journal->loop == NULL) {
        struct soc_detail detail = {0};
        int rc = 1;
        commit_here(journal);
        while (rc > 0 && !journal->failed_told && !journal->store->is_memory &&
               soc_clock_monotonic_us() < fold_until_us)
            rc = soc_store_fold(journal->store, SOC_FOLD_SLICE_BYTES, &detail);
        if (rc >= 0 && !journal->failed_told)
            rc = soc_database_settle(journal->store, &detail);
        if (rc < 0 && rc != SOC_EDISKFULL)
            tell_failed(journal, &detail);
        free_journal(journal);
        return;
    }
    pthread_mutex_lock(&journal->mutex);
    journal->is_closing = true;
    journal->fold_until_us = fold_until_us;
    pthread_cond_signal(&journal->changed);
    pthread_mutex_unlock(&journal->mutex);
    while (!has_ended(journal))
        soc_loop_poll(journal->loop, CLOSE_POLL_MS);
    deliver(journal);
    free_journal(journal);
}

void soc_journal_crash(struct soc_journal *journal)
{
    if (journal->loop != NULL) {
        pthread_mutex_lock(&journal->mutex);
        journal->is_crashed = true;
        pthread_cond_signal(&journal->changed);
        pthread_mutex_unlock(&journal->mutex);
    }
    free_journal(journal);
}
