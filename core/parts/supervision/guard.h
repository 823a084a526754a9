/* Guard: bounds that keep a society from running away.
 *
 * Each has a generous number, which society.config sets, and an error of its own.
 * What would go beyond one is refused and everything done so far stays: the caller
 * has the error, the parent of the agent concerned gets one alert, the activity an
 * event. It is told once, until somebody resumes the agent (parts/supervision/hold.h).
 *
 * An agent makes progress when its activation changes anything but mail (its state, a
 * task, an agent, a contact, the inbox), prints, writes to the person or calls the
 * world beyond (a model is none, nor is remembering a talk with one), lets time pass (a
 * sleep, a time-out, a decision, a message with a delay), or gets a reply of somebody who
 * made some. A chain of messages, each sent in the handling of the one before, in which
 * nobody makes any is stopped at its limit.
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

/* Finds a guard by the name of its setting; false if it is none. */
bool soc_guard_find(const char *setting, enum soc_guard *guard);

/* Returns the limit of one. */
uint32_t soc_guard_limit(const struct soc_host *host, enum soc_guard guard);

/* Sets it. */
void soc_guard_set(struct soc_host *host, enum soc_guard guard, uint32_t limit);

/* May the running agent have another child? SOC_OK or the error with its object. */
int soc_guard_spawn(struct soc_host *host, struct soc_buf *error);

/* Tells whether a guard may have something against a message to `to` (NULL: to all):
 * nothing more is asked of ordinary mail. */
bool soc_guard_is_near(const struct soc_host *host, const struct soc_agent *to);

/* May `from` send this to `to` (NULL: to all)? */
int soc_guard_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                   const struct soc_send *send, struct soc_buf *error);

/* Tells whether nothing more may be queued for `to`; whoever it is met by leaves it out
 * and says so, and its parent is told. For mail that goes to many at once. */
bool soc_guard_meets_full(struct soc_host *host, struct soc_agent *to);

/* Tells the parents of those who met a guard since the last time. Outside any turn. */
void soc_guard_settle(struct soc_host *host);

#endif
