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

struct soc_agent;
struct soc_host;
struct soc_send;

/*  G(tag, setting, default, code): every guard; bits of soc_agent.guards in this
 *  order, which are stored. The default is a name of limits.h.
 *  depth        of the tree of agents: root's children have 1
 *  children     that one agent has in its life
 *  agents       alive at a time
 *  hops         from agent to agent of a message's lineage
 *  mailbox      messages queued for one agent, delayed ones and broadcasts included
 *  no_progress  messages in a row of a lineage in which nobody made progress */
#define SOC_GUARD_MAP(G)                                                                           \
    G(DEPTH, "depth_max", SOC_DEPTH_MAX, SOC_ETOODEEP)                                             \
    G(CHILDREN, "children_max", SOC_CHILDREN_MAX, SOC_ECHILDREN)                                   \
    G(AGENTS, "agents_max", SOC_AGENTS_MAX, SOC_EAGENTS)                                           \
    G(HOPS, "hops_max", SOC_HOPS_MAX, SOC_EHOPS)                                                   \
    G(MAILBOX, "mailbox_max", SOC_MAILBOX_MAX, SOC_EMAILBOX)                                       \
    G(PROGRESS, "no_progress_max", SOC_NO_PROGRESS_MAX, SOC_ENOPROGRESS)

/* What is guarded. */
enum soc_guard {
#define G(tag, setting, usual, code) SOC_GUARD_##tag,
    SOC_GUARD_MAP(G) SOC_GUARD_COUNT
#undef G
};

/* Sets every guard of a new host to its default. */
void soc_guard_init(struct soc_host *host);

/* Finds a guard by the name of its setting; false if it is none. */
bool soc_guard_find(const char *setting, enum soc_guard *guard);

/* Sets the limit of one. */
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
