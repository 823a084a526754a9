/* Dead: redelivers or drops dead letters.
 *
 * A dead letter is a message that failed or expired. It lives in the store alone: the host
 * keeps only how many there are. An order asks the store for the letters it is about, as of
 * everything done so far, and changes them when they have arrived. Orders are carried out
 * one after another and nothing else changes a dead letter, so what has arrived is still
 * true. An order for many letters proceeds in pages, each in a batch of its own; it is
 * about the letters there were when it began, also if some of them die again meanwhile.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_DEAD_H
#define SOC_KERNEL_MAIL_DEAD_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "store/store.h"

struct soc_host;
struct soc_wait_ops;

/* What is to be done, and with which letters. Its texts are lent. */
struct soc_dead_order {
    bool is_drop;            /* drop for good; else redeliver: last in the mailbox, `attempt`
                              * incremented */
    struct soc_slice id;     /* the letter; absent: all that fit the filter */
    struct soc_query filter; /* agent, from, to, type, reason, task, correlation id, time */
    int64_t expected;        /* how many must fit, else nothing is done; < 0: any number */
};

/* How an order ended. `answer` is lent: [{ messageId }] of one letter; [{ count, skipped? }]
 * of a filter, where those whose receiver has ended were not redelivered but skipped; or,
 * if `rc` is negative, an error object. What was done is in the batch, not yet durable.
 * SOC_ENOMESSAGE: no dead letter has that id. SOC_ESTOPPED: its receiver has ended.
 * SOC_ECOUNT: another number fits. SOC_EDISKFULL, SOC_ECLOSED: of a filter, the pages so
 * far are done. */
typedef void soc_dead_cb(void *user, int rc, struct soc_slice answer);

/* Carries out an order. `cb` is called once: from the loop, without a loop before this
 * returns. Not inside a turn. */
void soc_dead_do(struct soc_host *host, const struct soc_dead_order *order, soc_dead_cb *cb,
                 void *user);

/* The same for `main`, which plays the person: its current effect waits for the end of the order.
 * An order that a restart interrupts is given again, for the letters that are left; that of one
 * letter is carried out once. The answer of one letter is [true]. */
void soc_dead_ask(struct soc_host *host, const struct soc_dead_order *order);

/* Changes nothing more: the host is about to close its journal. Then, when the journal is
 * closed, frees the orders that are left. */
void soc_dead_close(struct soc_host *host);
void soc_dead_fini(struct soc_host *host);

/* How an activation waits for the end of an order. */
extern const struct soc_wait_ops soc_dead_wait_ops;

#endif
