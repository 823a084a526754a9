/* Journal: batches become durable, in order, on a thread of their own.
 *
 * The loop seals a batch and submits it; the writer commits everything that is
 * waiting, one transaction each batch or several batches at once, and reports
 * back through the loop. In its quiet moments the writer folds (store.h); when
 * the backlog is beyond its bound it folds before it commits, which slows the
 * submitters down through soc_journal_bytes. Without a loop there is no thread:
 * submit commits and reports before it returns (simulation, tests).
 *
 * Disk full: the batch is kept and tried again every so often, without a loop by
 * soc_journal_retry; `on_full` tells when that begins and ends. Any other error is reported once by
 * `on_failed`, after which nothing more is written or reported. Layer: store. Thread: loop, but for
 * the writer's own part. */
#ifndef SOC_STORE_JOURNAL_H
#define SOC_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "loop/loop.h"
#include "store/store.h"

struct soc_journal;

/* What the loop is told, on its own thread. */
struct soc_journal_events {
    /* Every batch up to `sequence` is durable. */
    void (*on_durable)(uint64_t sequence, void *user);
    /* The disk is full (true), or has room again (false). */
    void (*on_full)(bool is_full, void *user);
    /* The disk failed; the outcome of what is not reported durable is unknown. */
    void (*on_failed)(const struct soc_detail *detail, void *user);
    void *user;
};

/* Starts a journal on `store`, which it borrows until soc_journal_close. `loop`
 * NULL: no thread, everything happens inside the call. */
struct soc_journal *soc_journal_open(struct soc_store *store, struct soc_loop *loop,
                                     const struct soc_journal_events *events);

/* Takes the bytes of `batch`, leaving it empty (perhaps with recycled room), and
 * returns its sequence. The batch must hold records. */
uint64_t soc_journal_submit(struct soc_journal *journal, struct soc_buf *batch);

/* Tries again to commit what was kept because the disk was full. Without a loop
 * only. */
void soc_journal_retry(struct soc_journal *journal);

/* Without a loop, `is_held`: batches wait for soc_journal_commit, as they do for a slow
 * disk, until this is called again. Queries and the close commit what waits. */
void soc_journal_hold(struct soc_journal *journal, bool is_held);

/* Commits the first `count` batches that wait, or as many as there are; fewer if the
 * disk is full. Without a loop only. */
void soc_journal_commit(struct soc_journal *journal, size_t count);

/* Bytes submitted and not yet durable. */
size_t soc_journal_bytes(const struct soc_journal *journal);

/* Last sequence reported durable. */
uint64_t soc_journal_durable(const struct soc_journal *journal);

/* Answer of a query: `rc` and a JSON array, lent. Every query gets one: SOC_EIO
 * after the disk failed, SOC_ECLOSED from a crash. A query that meets a disk that
 * fails ends the journal as a commit does. While the disk is full the answer is
 * SOC_EDISKFULL, or waits if the query says so (until a close). */
typedef void soc_query_cb(int rc, struct soc_slice rows, void *user);

/* Asks the store behind every batch submitted so far; `cb` is called from the
 * loop (without a loop: before this returns, if it does not wait for room). The texts
 * of `query` are copied. */
void soc_journal_query(struct soc_journal *journal, const struct soc_query *query, soc_query_cb *cb,
                       void *user);

/* Waits until everything submitted is durable (unless the disk failed; without a
 * loop it is tried once more), folds
 * what is left within `fold_ms_max`, copies the log back, ends the thread and frees the
 * journal. Events still come while it waits; on_failed too, of either. */
void soc_journal_close(struct soc_journal *journal, int64_t fold_ms_max);

/* Ends without waiting, as `kill -9` would: what is not durable is lost. */
void soc_journal_crash(struct soc_journal *journal);

#endif
