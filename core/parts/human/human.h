/* Human: what agents put before the person, and what the person says.
 *
 * An agent escalates: an item enters the inbox, durable with the turn that put it
 * there. Whoever decides does so as `user`, and one decision counts. If an activation
 * waits for it, it is its answer; else it is a message `decision` from `user` to the
 * asking agent, to nobody else. Both need no contact and add none.
 *
 * What the person says to nobody in particular goes to the policy `gatekeeper`.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HUMAN_HUMAN_H
#define SOC_PARTS_HUMAN_HUMAN_H

#include "base/buf.h"
#include "kernel/mail/send.h"
#include "model/inbox.h"
#include "store/store.h"

struct soc_agent;
struct soc_host;
struct soc_wait;

/* What an agent asks. */
struct soc_escalation {
    struct soc_slice title;
    struct soc_slice body;    /* JSON, or absent */
    struct soc_slice options; /* JSON list, or absent */
    enum soc_priority priority;
    int64_t timeout_ms; /* -1: none */
};

/* What the person decides, as it came. */
struct soc_verdict {
    struct soc_slice item_id;
    struct soc_slice decision; /* approve, modify or reject */
    struct soc_slice changes;  /* JSON object or list, or absent; modify needs it */
    struct soc_slice comment;  /* or absent */
};

/* Puts an item of the running agent into the inbox, inside its turn, and lends it. */
const struct soc_item *soc_human_escalate(struct soc_host *host,
                                          const struct soc_escalation *escalation);

/* Returns the wait of an activation for its item. */
struct soc_wait soc_human_wait(const struct soc_host *host, const struct soc_item *item,
                               int64_t timeout_ms);

/* Decides inside the open turn of `user`. SOC_OK with a list that holds { agent,
 * decision, delivered, item_id, messageId?, note? } in `answer`; or SOC_EINVAL,
 * SOC_ENOITEM, SOC_EDECIDED, SOC_EWITHDRAWN with an object. Nothing is told before the turn
 * commits. */
int soc_human_decide(struct soc_host *host, const struct soc_verdict *verdict,
                     struct soc_buf *answer);

/* The same from a door: a turn of its own. */
int soc_human_decide_now(struct soc_host *host, const struct soc_verdict *verdict,
                         struct soc_buf *answer);

/* Withdraws what was asked about a task of `owner` since the message of that key opened it,
 * because the task is cancelled: nobody decides about it any more, and whoever waits for it gets
 * `error` (JSON). Of what others have asked, what they asked as helpers: see
 * soc_tasks_is_helper. */
void soc_human_withdraw(struct soc_host *host, const struct soc_agent *owner,
                        struct soc_slice task_id, uint64_t task_key, struct soc_slice error);

/* Appends the list of open items that fit the query's filters (NULL: all), urgent
 * ones first, then the oldest; or one of them as an object. */
void soc_human_look(struct soc_host *host, const struct soc_query *query, struct soc_buf *out);
void soc_human_look_item(struct soc_host *host, const struct soc_item *item, struct soc_buf *out);

/* Returns how many items are open. */
size_t soc_human_count(const struct soc_host *host);

/* Writes the printed id of an item's key and time. */
void soc_human_put_id(struct soc_buf *out, const char *name, int64_t time_ms, uint64_t key);

/* Addresses what the person says to nobody in particular: `send->to` is whom the
 * gatekeeper names, or root. Without a gatekeeper, because no script runs, it is
 * kept for the next start. Noted in the activity. */
void soc_human_address(struct soc_host *host, struct soc_send *send);

#endif
