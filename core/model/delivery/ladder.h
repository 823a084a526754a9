/* Ladder: when to resend an unacked message, and when to give up.
 *
 * Its rungs are taken in order, each at a time after the first delivery. A policy
 * supplies the rungs one at a time. The defaults:
 *
 *         5 s timeout · 7 s resend · 12 s timeout · 14 s resend with a warning ·
 *         19 s unresponsive
 *
 * A stopped ladder (after an ack, or for an unresponsive agent) can be restarted.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_DELIVERY_LADDER_H
#define SOC_MODEL_DELIVERY_LADDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* What happens at a rung. */
enum soc_rung_action {
    SOC_RUNG_END,          /* nothing more is done */
    SOC_RUNG_TIMEOUT,      /* logged: no ack in time */
    SOC_RUNG_RESEND,       /* delivered again */
    SOC_RUNG_WARN,         /* delivered again with a warning */
    SOC_RUNG_UNRESPONSIVE, /* the receiver is unresponsive */
};

/* An action and when it is due. */
struct soc_rung {
    int64_t at_ms; /* since the first delivery */
    enum soc_rung_action action;
};

/* The progress of one message. */
struct soc_ladder {
    int64_t start_ms;
    struct soc_rung next; /* END while it is stopped */
    uint32_t step;        /* number of that rung, from 1; 0: never started */
};

/* Lend the name of an action and parse it; END if it is unknown. */
const char *soc_rung_name(enum soc_rung_action action);
enum soc_rung_action soc_rung_parse(struct soc_slice name);

/* Returns rung number `step`, from 1, of the default ladder; END after the last. */
struct soc_rung soc_ladder_default(uint32_t step);

/* Starts it at `now_ms`; soc_ladder_set supplies the first rung. */
void soc_ladder_start(struct soc_ladder *ladder, int64_t now_ms);

/* Sets the next rung. It is not due before the previous one, and there are at most
 * SOC_LADDER_STEPS_MAX. Returns when it is due, 0 if the ladder has ended. */
int64_t soc_ladder_set(struct soc_ladder *ladder, struct soc_rung rung);

/* Takes the rung that is due and returns its action; soc_ladder_set supplies the next.
 * END if none is due at `now_ms`. */
enum soc_rung_action soc_ladder_climb(struct soc_ladder *ladder, int64_t now_ms);

/* Stops it; returns true if it is running. */
void soc_ladder_stop(struct soc_ladder *ladder);
bool soc_ladder_is_climbed(const struct soc_ladder *ladder);

#endif
