/* Barrier: a checkpoint that several agents are asked to answer.
 *
 * Everybody asked has a seat. A seat is answered once or comes to be missing: whoever
 * sits there has ended, failed, or let the time pass. The barrier is over when no seat
 * is open or its time has come. It reads no clock and does no I/O.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_GROUP_BARRIER_H
#define SOC_MODEL_GROUP_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/slice.h"

struct soc_agent;

/* Stored: for ever as they are. */
enum soc_seat_state {
    SOC_SEAT_ASKED,
    SOC_SEAT_ANSWERED,
    SOC_SEAT_MISSING,
};

/* The place of one agent that is asked. */
struct soc_seat {
    struct soc_agent *agent; /* lent */
    uint64_t question;       /* key of the message that asks; 0: it was gone already */
    int64_t asked_ms;        /* its time */
    char *payload;           /* the answer, JSON, owned; NULL: none */
    uint8_t state;           /* enum soc_seat_state */
};

/* A question to several agents at once. */
struct soc_barrier {
    uint64_t key; /* one of the row of messages' keys; its printed id derives from it */
    int64_t time_ms;
    int64_t deadline_ms;
    struct soc_agent *owner; /* who asks, lent */
    struct soc_seat *seats;  /* in the order of asking */
    uint32_t count;
    uint32_t capacity;
    uint32_t open;           /* seats that are still asked */
    uint32_t looked_index;   /* where soc_barrier_open_seat stands: that open seat … */
    uint32_t looked_seat;    /* … is this one of all, or none before it is open */
    struct soc_map by_agent; /* id -> number of the seat + 1, as a pointer */
};

/* Returns a barrier with nobody asked. Release with soc_barrier_free(). */
struct soc_barrier *soc_barrier_new(uint64_t key, int64_t time_ms, int64_t deadline_ms,
                                    struct soc_agent *owner);

/* Frees it. NULL is allowed. */
void soc_barrier_free(struct soc_barrier *barrier);

/* Gives `agent` a seat and lends it; the one it has if it has one. Valid until the
 * next addition. */
struct soc_seat *soc_barrier_add(struct soc_barrier *barrier, struct soc_agent *agent);

/* Lends the seat of `agent`, or NULL: it was not asked. */
struct soc_seat *soc_barrier_find(const struct soc_barrier *barrier, const struct soc_agent *agent);

/* Fills a seat with an answer (JSON), or notes that none will come. False if that is
 * settled already: one answer counts. */
bool soc_barrier_answer(struct soc_barrier *barrier, struct soc_seat *seat,
                        struct soc_slice payload);
bool soc_barrier_miss(struct soc_barrier *barrier, struct soc_seat *seat);

/* Tells whether nothing is left to wait for. */
bool soc_barrier_is_over(const struct soc_barrier *barrier, int64_t now_ms);

/* Lends the open seat number `index`, counted from 0; NULL: there are not so many. Asked
 * for one after the other, it takes one step each. */
const struct soc_seat *soc_barrier_open_seat(struct soc_barrier *barrier, uint32_t index);

/* Appends {"checkpoint_id":…,"missing":[…],"responses":{…}}: an open seat is missing. */
void soc_barrier_put_json(struct soc_buf *out, const struct soc_barrier *barrier,
                          struct soc_slice id);

#endif
