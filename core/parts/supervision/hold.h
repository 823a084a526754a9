/* Hold: agents that may not run, because they are paused or have failed.
 *
 * No turn of a held agent starts. Everything else continues: mail queues up, answers
 * are routed to it, its timeouts and the TTL of its mail run out. Once released, it
 * resumes with what has arrived. Nothing is handed out to a held outside agent. Holds
 * are stored and survive a restart.
 *
 * An agent may be paused and resumed by its ancestors, user, root and the orchestrator.
 * The person cannot be paused.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_SUPERVISION_HOLD_H
#define SOC_PARTS_SUPERVISION_HOLD_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;

/* An order to pause or resume. */
struct soc_hold_order {
    struct soc_slice id;     /* of an agent, or All: everyone but the caller and the person */
    struct soc_slice reason; /* for the activity log; may be absent */
    bool is_resume;          /* otherwise pause; resuming also clears a failure */
    bool has_subtree;        /* includes the descendants of `id` */
};

/* Carries out the order on behalf of the running agent, as part of its turn. Replaces
 * `answer` with [{ count, id, status? }], or with the error object of SOC_ENOAGENT,
 * SOC_ESTOPPED or SOC_EFORBIDDEN. */
int soc_hold_order(struct soc_host *host, const struct soc_hold_order *order,
                   struct soc_buf *answer);

/* The same on behalf of the person, in a turn of its own. */
int soc_hold_order_now(struct soc_host *host, const struct soc_hold_order *order,
                       struct soc_buf *answer);

/* A turn of the agent raised: notes it and asks the supervision policy whether the
 * agent has failed. */
bool soc_hold_note_failure(struct soc_host *host, struct soc_agent *agent);

/* Tells whether the agent would fail if a turn of it raised now. Notes nothing. */
bool soc_hold_would_fail(struct soc_host *host, struct soc_agent *agent);

/* The agent has failed, most recently with `error` (JSON): holds it, alerts its parent
 * and fails the waits for its answers. Must be called outside any turn. */
void soc_hold_fail(struct soc_host *host, struct soc_agent *agent, struct soc_slice error);

/* Lends a paused agent with work left, or NULL. Such an agent keeps the society from
 * being finished. */
const struct soc_agent *soc_hold_keeps_work(struct soc_host *host);

/* Appends the agent's standing (holds and guards) as a record. */
void soc_hold_store(struct soc_host *host, const struct soc_agent *agent);

/* Restores it from the record. */
void soc_hold_restore(struct soc_agent *agent, const struct soc_record_standing *record);

/* Forgets the failures of an agent that terminated; the second frees those of all
 * agents. */
void soc_hold_forget(struct soc_host *host, const struct soc_agent *agent);
void soc_hold_free(struct soc_host *host);

#endif
