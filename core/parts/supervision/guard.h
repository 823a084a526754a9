/* Guard: runaway protection.
 *
 * Each guard has a generous default, which society.config overrides, and its own error
 * code. What would exceed the limit is refused, and everything done so far stays: the caller
 * gets the error, the parent of the agent concerned gets one alert, the activity log an
 * event. Each agent is reported once per guard, until it is resumed
 * (parts/supervision/hold.h).
 *
 * An agent makes progress when its activation
 *   - changes anything but mail: its state, a task, an agent, a contact, the inbox;
 *   - prints, writes to the person or calls the outside world (model calls and the memory of
 *     conversations excluded);
 *   - lets time pass: a sleep, a timeout, a decision, a delayed message;
 *   - receives a reply from an agent that made progress.
 * A chain of messages, each sent while handling the one before, is stopped at its limit
 * if nobody in it makes progress.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_SUPERVISION_GUARD_H
#define SOC_PARTS_SUPERVISION_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "parts/supervision/guard_kinds.h"

struct soc_agent;
struct soc_host;
struct soc_send;

/* Sets every guard of a new host to its default. */
void soc_guard_init(struct soc_host *host);

/* Finds a guard by the name of its setting. False if there is none. */
bool soc_guard_find(const char *setting, enum soc_guard *guard);

/* Returns the limit of a guard. */
uint32_t soc_guard_limit(const struct soc_host *host, enum soc_guard guard);

/* Sets the limit of a guard. */
void soc_guard_set(struct soc_host *host, enum soc_guard guard, uint32_t limit);

/* May the running agent spawn another child? SOC_OK or an error with its object. */
int soc_guard_spawn(struct soc_host *host, struct soc_buf *error);

/* Tells whether a message to `to` (NULL: to all) may be at a limit: a cheap test that
 * spares ordinary mail the rest. */
bool soc_guard_is_near(const struct soc_host *host, const struct soc_agent *to);

/* May `from` send this to `to` (NULL: to all)? */
int soc_guard_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                   const struct soc_send *send, struct soc_buf *error);

/* Tells whether the mailbox of `to` is full, and notes that its parent must be alerted.
 * For mail to many agents: the caller skips `to` and reports it. */
bool soc_guard_meets_full(struct soc_host *host, struct soc_agent *to);

/* Alerts the parents of agents that reached a limit since the last call. Must be called
 * outside any turn. */
void soc_guard_settle(struct soc_host *host);

#endif
