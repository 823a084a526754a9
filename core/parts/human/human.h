/* Human: what agents escalate to the person, and what the person says.
 *
 * An escalation puts an item into the inbox, durable with the turn that made it.
 * Decisions are made as `user`, and the first one counts. If an activation waits for
 * the decision, the decision answers it; otherwise `user` sends a `decision` message to
 * the agent that asked, and to nobody else. Neither needs a contact or adds one.
 *
 * Input that names no receiver goes to the policy `gatekeeper`.
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

/* What an agent escalates. */
struct soc_escalation {
    struct soc_slice title;
    struct soc_slice body;    /* JSON, or absent */
    struct soc_slice options; /* JSON list, or absent */
    enum soc_priority priority;
    int64_t timeout_ms; /* -1: none */
};

/* A decision as the person gave it, not validated. */
struct soc_verdict {
    struct soc_slice item_id;
    struct soc_slice decision; /* approve, modify or reject; absent with a choice: approve */
    struct soc_slice changes;  /* JSON object or list, or absent; modify needs it */
    struct soc_slice comment;  /* or absent */
    struct soc_slice choice;   /* JSON, or absent: one of the item's options, or its text */
};

/* Puts an item of the running agent into the inbox, as part of its turn, and lends it. */
const struct soc_item *soc_human_escalate(struct soc_host *host,
                                          const struct soc_escalation *escalation);

/* Returns the wait of an activation for its item. */
struct soc_wait soc_human_wait(const struct soc_host *host, const struct soc_item *item,
                               int64_t timeout_ms);

/* Decides an item inside the open turn of `user`. SOC_OK with a list of one { agent,
 * choice?, decision, delivered, item_id, messageId?, note? } in `answer`; otherwise SOC_EINVAL,
 * SOC_ENOITEM, SOC_EDECIDED or SOC_EWITHDRAWN with the error object. Nobody is notified
 * before the turn commits. */
int soc_human_decide(struct soc_host *host, const struct soc_verdict *given,
                     struct soc_buf *answer);

/* The same for a door: opens and commits a turn of its own. */
int soc_human_decide_now(struct soc_host *host, const struct soc_verdict *verdict,
                         struct soc_buf *answer);

/* Withdraws the items about a cancelled task of `owner`, those asked since the message
 * with that key opened it: they can no longer be decided, and a waiting activation gets
 * `error` (JSON). Items of other agents are withdrawn only if those agents were helping
 * (soc_tasks_is_helper). */
void soc_human_withdraw(struct soc_host *host, const struct soc_agent *owner,
                        struct soc_slice task_id, uint64_t task_key, struct soc_slice error);

/* Withdraws the item with that key, if it is open. */
void soc_human_withdraw_item(struct soc_host *host, uint64_t key);

/* Append the list of open items that match the query (NULL: all), urgent ones first,
 * then by age; or one item as an object. */
void soc_human_look(struct soc_host *host, const struct soc_query *query, struct soc_buf *out);
void soc_human_look_item(struct soc_host *host, const struct soc_item *item, struct soc_buf *out);

/* The same for an item that is open, with its state. */
void soc_human_look_open(struct soc_host *host, const struct soc_item *item, struct soc_buf *out);

/* Appends a page of the open items that match, and fills in its cursors: an item's priority and
 * key, so it shows each item that stays open once. */
void soc_human_page(struct soc_host *host, const struct soc_query *query, struct soc_page *page,
                    struct soc_buf *out);

/* Lends up to `room` open items of a task or of a chain, the first ones in the order of the list;
 * returns how many. */
size_t soc_human_of_feature(struct soc_host *host, struct soc_slice feature,
                            struct soc_item **items, size_t room);

/* Returns the number of open items. */
size_t soc_human_count(const struct soc_host *host);

/* Appends the printed id of the item with that time and key as member `name`. */
void soc_human_put_id(struct soc_buf *out, const char *name, int64_t time_ms, uint64_t key);

/* Addresses input that names no receiver: sets `send->to` to the gatekeeper's choice,
 * or root. Without a gatekeeper, that is without scripts, the input is kept for the
 * next start. The choice is recorded in the activity log. */
void soc_human_address(struct soc_host *host, struct soc_send *send);

/* The same, and appends the intent that the gatekeeper saw, if any, to `intent`. */
void soc_human_route(struct soc_host *host, struct soc_send *send, struct soc_buf *intent);

#endif
