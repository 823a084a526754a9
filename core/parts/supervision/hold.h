/* Hold: agents that are not let run, because somebody paused them or because their
 * turns raised too often.
 *
 * No turn of a held agent starts; whatever is under way for it goes on all the same:
 * mail queues, answers are routed to it, its time-outs and the ttl of its mail run
 * out. When nothing holds it any more it goes on with what has come. To an agent
 * outside nothing is handed out meanwhile. Both facts are stored, so they outlast a
 * restart.
 *
 * Whoever stands above an agent may pause and resume it, and so may user, root and
 * the orchestrator. The person cannot be paused.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_SUPERVISION_HOLD_H
#define SOC_PARTS_SUPERVISION_HOLD_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;

/* Who is paused or resumed. */
struct soc_hold_order {
    struct soc_slice id;     /* an agent's, or All: everybody but who says so and the person */
    struct soc_slice reason; /* for the activity; may be absent */
    bool is_resume;          /* else it pauses; to resume ends a failure, too */
    bool has_subtree;        /* whoever is below `id` as well */
};

/* Does so in the name of the running agent, as a part of its turn. Appends
 * [{ count, id, status? }] to `answer`, emptied first; or SOC_ENOAGENT, SOC_ESTOPPED,
 * SOC_EFORBIDDEN with the error object. */
int soc_hold_order(struct soc_host *host, const struct soc_hold_order *order,
                   struct soc_buf *answer);

/* The same in the person's name, in a turn of its own. */
int soc_hold_order_now(struct soc_host *host, const struct soc_hold_order *order,
                       struct soc_buf *answer);

/* A turn of the agent raised: notes it and asks the supervision policy whether it has
 * failed by now. */
bool soc_hold_note_failure(struct soc_host *host, struct soc_agent *agent);

/* Tells whether the policy would say so if a turn of the agent raised now; notes nothing. */
bool soc_hold_would_fail(struct soc_host *host, struct soc_agent *agent);

/* The agent has failed, at last for `error` (JSON): it is held, its parent and whoever
 * waits for its answers are told. Outside any turn. */
void soc_hold_fail(struct soc_host *host, struct soc_agent *agent, struct soc_slice error);

/* Lends a paused agent that has something to do, or NULL: with one the society is not
 * through. */
const struct soc_agent *soc_hold_keeps_work(struct soc_host *host);

/* Appends the agent's standing as a record. */
void soc_hold_store(struct soc_host *host, const struct soc_agent *agent);

/* Reads it back. */
void soc_hold_restore(struct soc_agent *agent, const struct soc_record_standing *record);

/* The agent has ended: forgets when its turns raised. The second forgets everybody's. */
void soc_hold_forget(struct soc_host *host, const struct soc_agent *agent);
void soc_hold_free(struct soc_host *host);

#endif
