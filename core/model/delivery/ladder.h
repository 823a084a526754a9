/* Ladder: what is done about a message that nobody acks, and when.
 *
 * Its rungs are climbed one after the other, each at a time counted from the moment the
 * message was first handed out. Which rungs there are a policy says, one at a time; the
 * usual ones are known here:
 *
 *     5 s time-out · 7 s resend · 12 s time-out · 14 s resend with a warning ·
 *     19 s unresponsive
 *
 * A ladder that was stopped (an ack, an unresponsive agent) can be started afresh.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_DELIVERY_LADDER_H
#define SOC_MODEL_DELIVERY_LADDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* What is done at a rung. */
enum soc_rung_action {
    SOC_RUNG_END,          /* nothing more is done */
    SOC_RUNG_TIMEOUT,      /* no ack came in time: noted */
    SOC_RUNG_RESEND,       /* handed out again */
    SOC_RUNG_WARN,         /* handed out again, with a warning */
    SOC_RUNG_UNRESPONSIVE, /* the receiver is given up */
};

/* A step of the ladder, and when it is taken. */
struct soc_rung {
    int64_t at_ms; /* since it was first handed out */
    enum soc_rung_action action;
};

/* How far one message has climbed. */
struct soc_ladder {
    int64_t start_ms;
    struct soc_rung next; /* END while it is not climbed */
    uint32_t step;        /* number of that rung, from 1; 0: it was never started */
};

/* Lends the name of an action, and reads it; END for any other text. */
const char *soc_rung_name(enum soc_rung_action action);
enum soc_rung_action soc_rung_parse(struct soc_slice name);

/* Returns rung number `step`, from 1, of the usual ladder; behind the last: END. */
struct soc_rung soc_ladder_usual(uint32_t step);

/* Starts it at `now_ms`: the first rung is asked for next. */
void soc_ladder_start(struct soc_ladder *ladder, int64_t now_ms);

/* Says what the rung asked for is. A rung cannot lie before the last one, and there are
 * at most SOC_LADDER_STEPS_MAX. Returns when it is due, 0 if the ladder has ended. */
int64_t soc_ladder_set(struct soc_ladder *ladder, struct soc_rung rung);

/* Takes the step that is due and returns what is to be done; the next one is to be
 * asked for. END if none is due at `now_ms`. */
enum soc_rung_action soc_ladder_climb(struct soc_ladder *ladder, int64_t now_ms);

/* Stops it, and tells whether it is being climbed. */
void soc_ladder_stop(struct soc_ladder *ladder);
bool soc_ladder_is_climbed(const struct soc_ladder *ladder);

#endif
