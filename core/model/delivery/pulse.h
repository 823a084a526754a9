/* Pulse: whether an agent that lives outside is still heard.
 *
 * Whatever comes from it counts. Silence for longer than the time-out, or a message that
 * it never acked, make it unresponsive; the next sign of life brings it back. One alarm
 * is given until then, or until somebody has decided what to do. Whoever is heard but
 * never acks owes an ack: that is told once, too, until there is an ack or a decision.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_DELIVERY_PULSE_H
#define SOC_MODEL_DELIVERY_PULSE_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of the life of one agent. */
struct soc_pulse {
    int64_t heard_ms;   /* when it was last heard; 0: never in this run */
    int64_t counted_ms; /* from when its silence is counted */
    bool is_lost;
    bool is_alarmed; /* somebody was told */
    bool is_owing;   /* a message was given up; neither ack nor decision since */
};

/* Counts its silence from `now_ms` on; it was not heard. */
void soc_pulse_begin(struct soc_pulse *pulse, int64_t now_ms);

/* Counts its silence anew from `now_ms` on: what went before was not its own. */
void soc_pulse_excuse(struct soc_pulse *pulse, int64_t now_ms);

/* It was heard. True if it was lost and is back. */
bool soc_pulse_hear(struct soc_pulse *pulse, int64_t now_ms);

/* When its silence has lasted longer than `timeout_ms`, 0: never; that 0: it may be silent. */
int64_t soc_pulse_due(const struct soc_pulse *pulse, int64_t timeout_ms);

/* It is lost. True if that is to be told: once. */
bool soc_pulse_lose(struct soc_pulse *pulse);

/* The same for a message that it never acked: from now on it owes an ack. */
bool soc_pulse_give_up(struct soc_pulse *pulse);

/* It has acked something, or what it owed an ack of has ended. True if it was owing. */
bool soc_pulse_redeem(struct soc_pulse *pulse);

/* Tells whether acks are waited for: nobody was told of it who has not decided yet. */
bool soc_pulse_is_awaited(const struct soc_pulse *pulse);

/* Somebody gives it another chance from `now_ms` on: it may be told again. */
void soc_pulse_retry(struct soc_pulse *pulse, int64_t now_ms);

#endif
