/* Writer: the journal's thread, and the queues it shares with the loop.
 *
 * The loop queues batches and lookups under a mutex and is woken when there are
 * results. The writer takes them out and is the only user of the store while it runs.
 * A journal without a thread uses the same queues from the loop alone.
 * Layer: store. Thread: as the rulers of the struct say. */
#ifndef SOC_STORE_WRITER_H
#define SOC_STORE_WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "loop/loop.h"
#include "store/lookup.h"
#include "store/reader.h"
#include "store/store.h"

#define SOC_FOLD_SLICE_BYTES (256u << 10) /* a few milliseconds */

/* A batch to be committed, or an empty buffer for one. */
struct soc_batch {
    struct soc_batch *next;
    struct soc_buf bytes;
};

/* What both threads share. */
struct soc_writer {
    /* set at the start, then read by both */
    struct soc_store *store;   /* lent */
    struct soc_loop *loop;     /* lent; NULL: no thread */
    struct soc_reader *reader; /* lent; answers lookups; NULL: the writer itself does */
    pthread_t thread;

    /* both, under `mutex` */
    pthread_mutex_t mutex;
    pthread_cond_t changed;    /* the loop has something for the writer */
    struct soc_batch *batches; /* to be committed, in order */
    struct soc_batch **batches_end;
    struct soc_lookup *lookups; /* to be answered, in order */
    struct soc_lookup **lookups_end;
    struct soc_lookup *answers; /* to be delivered, in order */
    struct soc_lookup **answers_end;
    struct soc_batch *spares;
    int spare_count;
    uint64_t durable;      /* last sequence committed */
    uint64_t durable_line; /* last line of the activity log in it */
    uint64_t durable_bytes;
    bool is_full;
    bool is_failed;
    struct soc_detail failure;
    bool is_closing; /* finish, then end */
    bool is_crashed; /* end at once */
    bool is_ended;   /* the thread has ended */
    int64_t fold_until_us;
    struct soc_retention retention; /* for the store */

    /* journal thread */
    int64_t committed_us;           /* time of the last commit */
    int64_t unfolded_us;            /* since when there are unfolded batches */
    struct soc_snapshot *snapshots; /* owned; to be stored */
};

/* Prepares the queues; `loop` NULL: there will be no thread. */
void soc_writer_init(struct soc_writer *writer, struct soc_store *store, struct soc_loop *loop);

/* Starts the thread, and waits until it has ended. With a loop only. */
void soc_writer_start(struct soc_writer *writer);
void soc_writer_join(struct soc_writer *writer);

/* Frees what is left in the queues, after the thread has ended. */
void soc_writer_fini(struct soc_writer *writer);

/* Wakes the thread: the reader has something for it. Thread: any. */
void soc_writer_wake(struct soc_writer *writer);

/* Queues a batch: takes the bytes of `batch` and leaves a recycled buffer there. With
 * the mutex held. */
void soc_writer_add_batch(struct soc_writer *writer, struct soc_buf *batch);

/* Recycles a batch that was committed and taken from the queue. With the mutex held. */
void soc_writer_recycle(struct soc_writer *writer, struct soc_batch *batch);

#endif
