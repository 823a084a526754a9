/* Journal: batches become durable, in order, on a thread of their own.
 *
 * The loop seals a batch and submits it. The writer commits everything that is
 * queued, several batches in one transaction if there are many, and reports back
 * through the loop. When idle it folds (store.h). When the backlog exceeds its bound
 * it folds before it commits, which slows submitters down through soc_journal_bytes.
 * Without a loop there is no thread: a submit commits and reports before it returns
 * (simulation, tests).
 *
 * When the disk is full the batch is kept and retried periodically, without a loop by
 * soc_journal_retry; `on_full` reports when that begins and ends. Any other error is
 * reported once by `on_failed`, after which nothing more is written or reported.
 * Layer: store. Thread: loop; writer.h has the thread. */
#ifndef SOC_STORE_JOURNAL_H
#define SOC_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "loop/loop.h"
#include "store/lookup.h"
#include "store/store.h"

struct soc_journal;

/* Events for the loop, on its thread. */
struct soc_journal_events {
    /* Every batch up to `sequence` is durable. */
    void (*on_durable)(uint64_t sequence, void *user);
    /* The disk is full (true), or has space again (false). */
    void (*on_full)(bool is_full, void *user);
    /* The disk failed. It is unknown what became of batches not reported durable. */
    void (*on_failed)(const struct soc_detail *detail, void *user);
    void *user;
};

/* Starts a journal on `store`, which it borrows until soc_journal_close. `loop` NULL:
 * there is no thread, everything happens inside the calls. */
struct soc_journal *soc_journal_open(struct soc_store *store, struct soc_loop *loop,
                                     const struct soc_journal_events *events);

/* Says how long the store keeps what is over. A journal without a loop keeps everything: a
 * simulation does not depend on the day. */
void soc_journal_retain(struct soc_journal *journal, struct soc_retention retention);

/* Takes the bytes of `batch`, leaves it empty (maybe with a recycled buffer), and returns
 * its sequence. The batch must hold records. */
uint64_t soc_journal_submit(struct soc_journal *journal, struct soc_buf *batch);

/* Retries the commit of what was kept because the disk was full. Without a loop only. */
void soc_journal_retry(struct soc_journal *journal);

/* While `is_held`, batches wait for soc_journal_commit, as they would for a slow disk.
 * Queries and the close commit them. Without a loop only. */
void soc_journal_hold(struct soc_journal *journal, bool is_held);

/* Commits up to `count` waiting batches, fewer if the disk is full. Without a loop only. */
void soc_journal_commit(struct soc_journal *journal, size_t count);

/* Bytes submitted that are not durable yet. */
size_t soc_journal_bytes(const struct soc_journal *journal);

/* Last sequence reported durable. */
uint64_t soc_journal_durable(const struct soc_journal *journal);

/* Last line of the activity log that was reported durable. */
uint64_t soc_journal_durable_line(const struct soc_journal *journal);

/* Queries the store as of every batch submitted so far (lookup.h). Every query gets one
 * answer: SOC_EIO after the disk failed, SOC_ECLOSED after a crash. A disk failure during a
 * query ends the journal, as it does during a commit. While the disk is full the answer is
 * SOC_EDISKFULL, unless the query waits for space. With a loop and a store that has
 * readers, a thread of its own answers (reader.h). `cb` is called from the loop;
 * without a loop before this returns, unless it waits for space. The texts of `query` are
 * copied. */
void soc_journal_query(struct soc_journal *journal, const struct soc_query *query, soc_query_cb *cb,
                       void *user);

/* The same for one page of a list. */
void soc_journal_ask(struct soc_journal *journal, const struct soc_query *query, soc_page_cb *cb,
                     void *user);

/* Nobody waits for the queries of `user` any more: they are answered with SOC_ECLOSED,
 * sooner than otherwise, unless their answer is there already. */
void soc_journal_drop(struct soc_journal *journal, const void *user);

/* Waits until everything submitted is durable or the disk has failed, folds for up to
 * `fold_ms_max`, copies the log back, ends the thread and frees the journal. Events still
 * arrive meanwhile. A full disk is tried once more; then, with a loop, the journal has failed. */
void soc_journal_close(struct soc_journal *journal, int64_t fold_ms_max);

/* Ends without waiting, like `kill -9`: what is not durable is lost. */
void soc_journal_crash(struct soc_journal *journal);

#endif
