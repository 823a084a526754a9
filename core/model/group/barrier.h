/* Barrier: a checkpoint that several agents are asked to answer.
 *
 * Each agent asked has a seat, which is answered once or missing: its agent has
 * terminated, failed or let the deadline pass. The barrier is over when no seat is open
 * or the deadline has passed. It reads no clock and does no I/O.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_GROUP_BARRIER_H
#define SOC_MODEL_GROUP_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/slice.h"

struct soc_agent;

/* Stored: never change the values. */
enum soc_seat_state {
    SOC_SEAT_ASKED,
    SOC_SEAT_ANSWERED,
    SOC_SEAT_MISSING,
};

/* The entry of one agent. */
struct soc_seat {
    struct soc_agent *agent; /* lent */
    uint64_t question;       /* key of the message that asks; 0: the agent had terminated */
    int64_t asked_ms;        /* when that message was sent */
    char *payload;           /* the answer, JSON, owned; NULL: none */
    uint8_t state;           /* enum soc_seat_state */
};

/* A question to several agents. */
struct soc_barrier {
    uint64_t key; /* from the sequence of message keys; part of its printed id */
    int64_t time_ms;
    int64_t deadline_ms;
    struct soc_agent *owner; /* the agent that asks, lent */
    struct soc_seat *seats;  /* in the order they were asked */
    uint32_t count;
    uint32_t capacity;
    uint32_t open;           /* number of open seats */
    uint32_t looked_index;   /* cursor of soc_barrier_open_seat: this open seat … */
    uint32_t looked_seat;    /* … is this seat, or no seat before it is open */
    struct soc_map by_agent; /* id -> number of the seat + 1, as a pointer */
};

/* Returns a barrier without seats. Release with soc_barrier_free(). */
struct soc_barrier *soc_barrier_new(uint64_t key, int64_t time_ms, int64_t deadline_ms,
                                    struct soc_agent *owner);

/* Frees it. NULL is allowed. */
void soc_barrier_free(struct soc_barrier *barrier);

/* Adds a seat for `agent`, or finds its seat, and lends it. Valid until the next call. */
struct soc_seat *soc_barrier_add(struct soc_barrier *barrier, struct soc_agent *agent);

/* Lends the seat of `agent`, or NULL if it was not asked. */
struct soc_seat *soc_barrier_find(const struct soc_barrier *barrier, const struct soc_agent *agent);

/* Fills a seat with an answer (JSON), or marks it as missing. False if it was settled
 * before: one answer counts. */
bool soc_barrier_answer(struct soc_barrier *barrier, struct soc_seat *seat,
                        struct soc_slice payload);
bool soc_barrier_miss(struct soc_barrier *barrier, struct soc_seat *seat);

/* Returns true if there is nothing left to wait for. */
bool soc_barrier_is_over(const struct soc_barrier *barrier, int64_t now_ms);

/* Lends open seat number `index`, from 0; NULL after the last. Consecutive indexes take
 * constant time. */
const struct soc_seat *soc_barrier_open_seat(struct soc_barrier *barrier, uint32_t index);

/* Appends the members `missing` and `responses`. Open seats are missing. */
void soc_barrier_put_members(struct soc_buf *out, const struct soc_barrier *barrier);

/* Appends {"checkpoint_id":…,"missing":[…],"responses":{…}}. Open seats are missing. */
void soc_barrier_put_json(struct soc_buf *out, const struct soc_barrier *barrier,
                          struct soc_slice id);

#endif
