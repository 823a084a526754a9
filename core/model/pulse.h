/* Pulse: whether an agent that lives outside is still heard.
 *
 * Whatever comes from it counts. Silence for longer than the time-out, or a message that
 * it never acked, make it unresponsive; the next sign of life brings it back. One alarm
 * is given until then, or until somebody has decided what to do.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_PULSE_H
#define SOC_MODEL_PULSE_H

#include <stdbool.h>
#include <stdint.h>

struct soc_pulse {
    int64_t heard_ms;   /* when it was last heard; 0: never in this run */
    int64_t counted_ms; /* from when its silence is counted */
    bool is_lost;
    bool is_alarmed; /* somebody was told */
};

/* Counts its silence from `now_ms` on; it was not heard. */
void soc_pulse_begin(struct soc_pulse *pulse, int64_t now_ms);

/* It was heard. True if it was lost and is back. */
bool soc_pulse_hear(struct soc_pulse *pulse, int64_t now_ms);

/* When its silence has lasted too long, 0: never; `timeout_ms` 0: it may be silent. */
int64_t soc_pulse_due(const struct soc_pulse *pulse, int64_t timeout_ms);

/* It is lost. True if that is to be told: once. */
bool soc_pulse_lose(struct soc_pulse *pulse);

/* Somebody gives it another chance from `now_ms` on: it may be told again. */
void soc_pulse_retry(struct soc_pulse *pulse, int64_t now_ms);

#endif
