/* Pulse: whether an outside agent is still alive.
 *
 * Everything it sends counts as a sign of life. Silence beyond the timeout or an
 * unacked message makes it unresponsive, until the next sign of life. One alert is
 * raised until then or until somebody decides what to do. An agent that sends but never
 * acks owes an ack, which raises one alert as well.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_DELIVERY_PULSE_H
#define SOC_MODEL_DELIVERY_PULSE_H

#include <stdbool.h>
#include <stdint.h>

/* The state of one agent. */
struct soc_pulse {
    int64_t heard_ms;   /* when it last sent something; 0: never in this run */
    int64_t counted_ms; /* when its silence began */
    bool is_lost;
    bool is_alarmed; /* an alert was raised */
    bool is_owing;   /* a message was given up, with no ack or decision since */
};

/* Starts measuring silence at `now_ms`, without a sign of life. */
void soc_pulse_begin(struct soc_pulse *pulse, int64_t now_ms);

/* Restarts the measurement at `now_ms`: earlier silence was not its fault. */
void soc_pulse_excuse(struct soc_pulse *pulse, int64_t now_ms);

/* Records a sign of life. Returns true if it was lost and is back. */
bool soc_pulse_hear(struct soc_pulse *pulse, int64_t now_ms);

/* Returns when its silence exceeds `timeout_ms`; 0: never. A timeout of 0 allows any
 * silence. */
int64_t soc_pulse_due(const struct soc_pulse *pulse, int64_t timeout_ms);

/* Marks it as lost. Returns true if an alert is due. */
bool soc_pulse_lose(struct soc_pulse *pulse);

/* The same for a message that was never acked: it now owes an ack. */
bool soc_pulse_give_up(struct soc_pulse *pulse);

/* It has acked a message, or the message it owed an ack for has ended. Returns true if
 * it owed one. */
bool soc_pulse_redeem(struct soc_pulse *pulse);

/* Returns true if acks are expected: no alert awaits a decision. */
bool soc_pulse_is_awaited(const struct soc_pulse *pulse);

/* Gives it another chance from `now_ms` on; alerts can be raised again. */
void soc_pulse_retry(struct soc_pulse *pulse, int64_t now_ms);

#endif
