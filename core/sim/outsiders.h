/* Outsiders: simulated agents that live outside the society.
 *
 * After a short delay drawn from the seed, an outsider acks each message, first as
 * received and then as processed, and answers requests. A payload's member `echo` is sent
 * back to the sender as a new message, repeatedly until it is durable. A member `lines`
 * makes the outsider write that many lines, once, which its door reads in order as the file
 * door does: every second one is a message to the sender, the others are refused, and the
 * place is kept with each. They are neither lost nor doubled on their way. A member `deaf`
 * is the number of times the message is handed out before it is noticed. The fault plan may
 * lose messages in either direction, duplicate, delay and so reorder them, and silence
 * all outsiders for a minute. Outsiders survive the society's crashes.
 * Layer: sim. Thread: loop. */
#ifndef SOC_SIM_OUTSIDERS_H
#define SOC_SIM_OUTSIDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_faults;
struct soc_host;
struct soc_outsiders;

/* Told of every message that is handed out, by its key and its id, and of what an outsider
 * is about to do. */
struct soc_outsiders_watch {
    void (*handed)(void *user, struct soc_slice agent, uint64_t key, struct soc_slice id);
    /* It acks a message, `is_done`: as processed, or by an answer. */
    void (*acked)(void *user, struct soc_slice agent, uint64_t key, bool is_done);
    /* It sends a message for `to`; `external_id` and `to` may be absent. */
    void (*said)(void *user, struct soc_slice agent, struct soc_slice external_id,
                 struct soc_slice to);
    void *user;
};

/* Returns outsiders driven by `seed`. `faults` is lent; NULL: none. The caller owns the
 * result; release with soc_outsiders_free(). */
struct soc_outsiders *soc_outsiders_new(uint64_t seed, struct soc_faults *faults,
                                        const struct soc_outsiders_watch *watch);

/* Frees them. NULL is allowed. */
void soc_outsiders_free(struct soc_outsiders *outsiders);

/* Connects them to a host that has started; call it again after every restart. */
void soc_outsiders_join(struct soc_outsiders *outsiders, struct soc_host *host);

/* Returns when the next outsider acts, in ms; 0: never. */
int64_t soc_outsiders_due(const struct soc_outsiders *outsiders);

/* Performs one action that is due; returns false if none is. */
bool soc_outsiders_act(struct soc_outsiders *outsiders, struct soc_host *host);

#endif
