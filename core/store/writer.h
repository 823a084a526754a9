/* Writer: the journal's own thread, and the struct it shares with the loop.
 *
 * The loop puts batches and questions into queues under a mutex and hears of
 * results through its waker; the writer takes them out, and alone uses the store.
 * Layer: store. Thread: as the rulers of the struct say. */
#ifndef SOC_STORE_WRITER_H
#define SOC_STORE_WRITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/journal.h"

#define SOC_FOLD_SLICE_BYTES (256u << 10) /* a few milliseconds */
#define SOC_FOLD_WINDOW_BYTES                                                                      \
    (4u << 20) /* with a backlog: a message that ends in the same                                  \
                  window it began in is written once */

/* A batch on its way to the disk, or an empty buffer for one. */
struct soc_batch {
    struct soc_batch *next;
    struct soc_buf bytes;
};

/* A question on its way, or its answer. */
struct soc_question {
    struct soc_question *next;
    uint64_t sequence;      /* the last batch that has to be in the answer */
    struct soc_query query; /* its texts lie in `texts` */
    struct soc_buf texts;
    soc_query_cb *cb;
    void *user;
    int rc;
    struct soc_buf rows;
};

/* What both threads share. */
struct soc_journal {
    /* set at the start, then read by both */
    struct soc_store *store;
    struct soc_loop *loop; /* NULL: no thread */
    struct soc_journal_events events;

    /* loop */
    pthread_t thread;
    int waker;
    uint64_t sequence;     /* last one submitted */
    uint64_t bytes;        /* submitted, all together */
    uint64_t durable_told; /* last sequence reported */
    uint64_t durable_bytes_told;
    bool full_told;
    bool failed_told;
    bool is_committing; /* without a thread */
    bool is_held;       /* without a thread: batches wait for soc_journal_commit */

    /* both, under `mutex` */
    pthread_mutex_t mutex;
    pthread_cond_t changed;    /* the loop has something for the writer */
    struct soc_batch *batches; /* to be committed, in order */
    struct soc_batch **batches_end;
    struct soc_question *questions; /* to be answered, in order */
    struct soc_question **questions_end;
    struct soc_question *answers; /* to be handed out, in order */
    struct soc_question **answers_end;
    struct soc_batch *spares;
    int spare_count;
    uint64_t durable; /* last sequence committed */
    uint64_t durable_bytes;
    bool is_full;
    bool is_failed;
    struct soc_detail failure;
    bool is_closing; /* finish, then end */
    bool is_crashed; /* end at once */
    bool is_ended;   /* the writer is gone */
    int64_t fold_until_us;

    /* journal thread */
    int64_t committed_us; /* when the last commit was */
    int64_t unfolded_us;  /* since when there are unfolded batches */
};

/* Frees a batch with its bytes. */
void soc_batch_free(struct soc_batch *batch);

/* Frees a question with its texts and rows. */
void soc_question_free(struct soc_question *question);

/* Tells whether the outcome of a question says that the disk has failed: nothing is
 * answered then any more. */
bool soc_question_is_fatal(int rc);

/* The body of the thread; `user` is the journal. Returns NULL. */
void *soc_writer_run(void *user);

#endif
