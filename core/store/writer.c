#include "store/writer.h"

#include <stdlib.h>

#include "base/limits.h"
#include "env/clock.h"
#include "store/database.h"

#define GROUP_BYTES_MAX (8u << 20) /* committed at once */
#define GROUP_COUNT_MAX 256        /* batches committed at once */
#define FOLD_AGE_US_MAX 1000000    /* of the oldest unfolded batch, if nothing waits */
#define SPARE_COUNT_MAX 16         /* empty buffers kept for the next batches */

void soc_batch_free(struct soc_batch *batch)
{
    soc_buf_fini(&batch->bytes);
    free(batch);
}

bool soc_question_is_fatal(int rc)
{
    return rc < 0 && rc != SOC_EDISKFULL && rc != SOC_EINVAL;
}

void soc_question_free(struct soc_question *question)
{
    soc_buf_fini(&question->texts);
    soc_buf_fini(&question->rows);
    free(question);
}

/* Waits until the loop has something or `wait_us` have passed (< 0: for ever).
 * With the mutex held. */
static void wait_for_change(struct soc_journal *journal, int64_t wait_us)
{
    if (wait_us < 0) {
        pthread_cond_wait(&journal->changed, &journal->mutex);
        return;
    }
    int64_t until_us = soc_clock_monotonic_us() + wait_us;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_cond_timedwait(&journal->changed, &journal->mutex, &until);
}

static void fail(struct soc_journal *journal, const struct soc_detail *detail)
{
    pthread_mutex_lock(&journal->mutex);
    journal->is_failed = true;
    journal->failure = *detail;
    pthread_mutex_unlock(&journal->mutex);
}

/* Takes the batches for one transaction off the queue. With the mutex held. */
static size_t take_group(struct soc_journal *journal, struct soc_batch **group)
{
    size_t count = 0;
    size_t bytes = 0;
    while (journal->batches != NULL && count < GROUP_COUNT_MAX && bytes < GROUP_BYTES_MAX) {
        struct soc_batch *batch = journal->batches;
        journal->batches = batch->next;
        bytes += batch->bytes.length;
        group[count++] = batch;
    }
    if (journal->batches == NULL)
        journal->batches_end = &journal->batches;
    return count;
}

/* Says that the disk is full, waits, and says whether to try again. */
static bool wait_for_room(struct soc_journal *journal)
{
    pthread_mutex_lock(&journal->mutex);
    bool is_new = !journal->is_full;
    journal->is_full = true;
    if (is_new)
        soc_loop_wake(journal->loop);
    int64_t until_us = soc_clock_monotonic_us() + (SOC_FULL_RETRY_MS * 1000);
    int64_t left_us = (SOC_FULL_RETRY_MS * 1000);
    while (!journal->is_crashed && left_us > 0) {
        wait_for_change(journal, left_us);
        left_us = until_us - soc_clock_monotonic_us();
    }
    bool is_crashed = journal->is_crashed;
    pthread_mutex_unlock(&journal->mutex);
    return !is_crashed;
}

/* Reports a group as durable and keeps its buffers for new batches. */
static void report_group(struct soc_journal *journal, struct soc_batch **group, size_t count)
{
    pthread_mutex_lock(&journal->mutex);
    journal->is_full = false;
    journal->durable += count;
    for (size_t i = 0; i < count; i++) {
        struct soc_batch *batch = group[i];
        journal->durable_bytes += batch->bytes.length;
        if (journal->spare_count == SPARE_COUNT_MAX ||
            batch->bytes.capacity > 2 * SOC_BATCH_BYTES_MAX) {
            soc_batch_free(batch);
            continue;
        }
        batch->bytes.length = 0;
        batch->next = journal->spares;
        journal->spares = batch;
        journal->spare_count++;
    }
    pthread_mutex_unlock(&journal->mutex);
    soc_loop_wake(journal->loop);
}

static void commit_group(struct soc_journal *journal, struct soc_batch **group, size_t count)
{
    struct soc_slice slices[GROUP_COUNT_MAX];
    struct soc_detail detail = {0};
    bool had_backlog = soc_store_backlog(journal->store) > 0;
    for (size_t i = 0; i < count; i++)
        slices[i] = soc_buf_slice(&group[i]->bytes);
    int rc;
    do
        rc = soc_store_append_all(journal->store, soc_store_sequence(journal->store) + 1, slices,
                                  count, &detail);
    while (rc == SOC_EDISKFULL && wait_for_room(journal));
    if (rc == SOC_OK) {
        journal->committed_us = soc_clock_monotonic_us();
        if (!had_backlog)
            journal->unfolded_us = journal->committed_us;
        report_group(journal, group, count);
        return;
    }
    if (rc != SOC_EDISKFULL)
        fail(journal, &detail);
    for (size_t i = 0; i < count; i++)
        soc_batch_free(group[i]);
}

/* Folds one slice. A full disk is met again by the next commit, which tells. */
static void fold_slice(struct soc_journal *journal)
{
    struct soc_detail detail = {0};
    size_t bytes = soc_store_backlog(journal->store) > 4 * SOC_FOLD_WINDOW_BYTES
                       ? SOC_FOLD_WINDOW_BYTES
                       : SOC_FOLD_SLICE_BYTES;
    int rc = soc_store_fold(journal->store, bytes, &detail);
    if (rc == SOC_EDISKFULL)
        journal->committed_us = journal->unfolded_us = soc_clock_monotonic_us();
    else if (rc < 0)
        fail(journal, &detail);
}

/* Folds a slice on the way to an answer, or answers: returns 1 if there is more to
 * fold, SOC_OK if it is answered, or an error. Without the mutex. */
static int try_question(struct soc_journal *journal, struct soc_question *question)
{
    struct soc_detail detail = {0};
    int rc;
    if (journal->store->folded < question->sequence) {
        rc = soc_store_fold(journal->store, SOC_FOLD_SLICE_BYTES, &detail);
        rc = rc < 0 ? rc : 1;
    } else {
        rc = soc_store_answer(journal->store, &question->query, &question->rows, &detail);
    }
    if (soc_question_is_fatal(rc))
        fail(journal, &detail);
    return rc;
}

/* Serves the first question, or puts it last if it waits for room. With the mutex held,
 * which is let go meanwhile. */
static void serve_question(struct soc_journal *journal)
{
    struct soc_question *question = journal->questions;
    bool may_wait = question->query.waits_for_room && !journal->is_closing;
    pthread_mutex_unlock(&journal->mutex);
    question->rc = try_question(journal, question);
    bool is_kept = question->rc == SOC_EDISKFULL && may_wait;
    if (is_kept)
        wait_for_room(journal);
    pthread_mutex_lock(&journal->mutex);
    if (question->rc > 0)
        return;
    journal->questions = question->next;
    if (journal->questions == NULL)
        journal->questions_end = &journal->questions;
    question->next = NULL;
    if (is_kept) {
        *journal->questions_end = question;
        journal->questions_end = &question->next;
        return;
    }
    if (question->rc == SOC_OK)
        journal->is_full = false;
    *journal->answers_end = question;
    journal->answers_end = &question->next;
    soc_loop_wake(journal->loop);
}

/* Does or waits for what is to be done while nothing is to be written. With the
 * mutex held, which is let go meanwhile. */
static void spend_quiet_time(struct soc_journal *journal)
{
    struct soc_store *store = journal->store;
    bool has_backlog = soc_store_backlog(store) > 0 && !store->is_memory;
    bool has_wal = store->wal_pages - store->wal_pages_copied >= SOC_WAL_PAGES_QUIET;
    int64_t due_us = journal->committed_us + SOC_FOLD_DELAY_MS * 1000;
    if (has_backlog && journal->unfolded_us + FOLD_AGE_US_MAX < due_us)
        due_us = journal->unfolded_us + FOLD_AGE_US_MAX;
    int64_t wait_us = due_us - soc_clock_monotonic_us();
    if (!has_backlog && !has_wal) {
        wait_for_change(journal, -1);
    } else if (wait_us > 0) {
        wait_for_change(journal, wait_us);
    } else {
        pthread_mutex_unlock(&journal->mutex);
        struct soc_detail detail = {0};
        if (has_backlog)
            fold_slice(journal);
        else if (soc_database_checkpoint(store, SOC_WAL_PAGES_QUIET, &detail) < 0)
            fail(journal, &detail);
        pthread_mutex_lock(&journal->mutex);
    }
}

/* Folds on while closing; false when it is done or its time is over. With the
 * mutex held, which is let go meanwhile. */
static bool fold_before_end(struct soc_journal *journal)
{
    if (soc_store_backlog(journal->store) == 0 || journal->store->is_memory ||
        soc_clock_monotonic_us() >= journal->fold_until_us)
        return false;
    pthread_mutex_unlock(&journal->mutex);
    fold_slice(journal);
    pthread_mutex_lock(&journal->mutex);
    return true;
}

/* Copies the log back, as the close of the database would without telling how it went.
 * With the mutex held, which is let go meanwhile. */
static void settle(struct soc_journal *journal)
{
    struct soc_detail detail = {0};
    pthread_mutex_unlock(&journal->mutex);
    if (soc_database_settle(journal->store, &detail) < 0)
        fail(journal, &detail);
    pthread_mutex_lock(&journal->mutex);
}

/* Commits what is waiting, after folding if the backlog is beyond its bound. With
 * the mutex held, which is let go meanwhile. */
static void write_group(struct soc_journal *journal)
{
    struct soc_batch *group[GROUP_COUNT_MAX];
    if (soc_store_backlog(journal->store) > SOC_FOLD_BACKLOG_BYTES) {
        pthread_mutex_unlock(&journal->mutex);
        fold_slice(journal);
        pthread_mutex_lock(&journal->mutex);
        return;
    }
    size_t count = take_group(journal, group);
    pthread_mutex_unlock(&journal->mutex);
    commit_group(journal, group, count);
    pthread_mutex_lock(&journal->mutex);
}

/* Hands the questions back that will not be answered. With the mutex held. */
static void refuse_questions(struct soc_journal *journal)
{
    for (struct soc_question *question = journal->questions; question != NULL;
         question = question->next)
        question->rc = SOC_EIO;
    *journal->answers_end = journal->questions;
    if (journal->questions != NULL)
        journal->answers_end = journal->questions_end;
    journal->questions = NULL;
    journal->questions_end = &journal->questions;
}

void *soc_writer_run(void *user)
{
    struct soc_journal *journal = user;
    pthread_mutex_lock(&journal->mutex);
    while (!journal->is_crashed && !journal->is_failed) {
        bool has_work = journal->batches != NULL || journal->questions != NULL;
        if (journal->batches != NULL)
            write_group(journal);
        if (journal->questions != NULL && !journal->is_failed)
            serve_question(journal);
        if (has_work || journal->is_crashed || journal->is_failed)
            continue;
        if (!journal->is_closing)
            spend_quiet_time(journal);
        else if (!fold_before_end(journal))
            break;
    }
    if (!journal->is_crashed && !journal->is_failed)
        settle(journal);
    journal->is_ended = true;
    if (journal->is_failed)
        refuse_questions(journal);
    pthread_mutex_unlock(&journal->mutex);
    soc_loop_wake(journal->loop);
    return NULL;
}
