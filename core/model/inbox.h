/* Inbox: questions from agents to the person, until they are decided.
 *
 * An item is open until it is decided once; every later decision is refused. Only the
 * decision of a decided item is kept. An item past its deadline stays open and is
 * overdue. The inbox does not know whether anybody still waits for it.
 *
 * An inbox reads no clock; the caller passes the time.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_INBOX_H
#define SOC_MODEL_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/slice.h"
#include "model/message.h"

struct soc_agent;

/* What the person decided. Stored: never change the values. */
enum soc_decision {
    SOC_DECISION_NONE,
    SOC_DECISION_APPROVE,
    SOC_DECISION_MODIFY,
    SOC_DECISION_REJECT,
    SOC_DECISION_WITHDRAWN, /* the host withdrew it; it can no longer be decided */
};

/* A question to the person. */
struct soc_item {
    uint64_t key;            /* unique, increasing */
    int64_t time_ms;         /* when it was added */
    int64_t deadline_ms;     /* overdue from then on; 0: never */
    struct soc_agent *agent; /* the agent that asks, lent */
    enum soc_priority priority;
    char *title;          /* owned, as are all texts */
    char *body;           /* JSON, or NULL */
    char *options;        /* JSON list, or NULL */
    char *task_id;        /* or NULL */
    char *correlation_id; /* or NULL */
};

/* An all-zero struct is an empty inbox. */
struct soc_inbox {
    struct soc_map open;    /* key -> soc_item, owned */
    struct soc_map decided; /* key -> decision, stored as a number in the pointer */
};

/* Frees all items and the inbox's own memory. */
void soc_inbox_fini(struct soc_inbox *inbox);

/* Returns an item without texts. Release with soc_item_free() or add it to an inbox. */
struct soc_item *soc_item_new(uint64_t key, int64_t time_ms, struct soc_agent *agent);

/* Frees it. NULL is allowed. */
void soc_item_free(struct soc_item *item);

/* Adds an open item. Takes it. */
void soc_inbox_add(struct soc_inbox *inbox, struct soc_item *item);

/* Lends the open item with that key, or NULL. */
struct soc_item *soc_inbox_find(const struct soc_inbox *inbox, uint64_t key);

/* Returns the decision about item `key`; SOC_DECISION_NONE if it is open or unknown. */
enum soc_decision soc_inbox_decision(const struct soc_inbox *inbox, uint64_t key);

/* Ends an item with a decision or as withdrawn. The caller owns the item returned; NULL
 * if it was not open here: recovery loads decisions of items that were over. */
struct soc_item *soc_inbox_end(struct soc_inbox *inbox, uint64_t key, enum soc_decision decision);

/* Undoes a decision: opens `item` again and takes it. */
void soc_inbox_reopen(struct soc_inbox *inbox, struct soc_item *item);

/* Removes an open item and returns it, or NULL. The caller owns it. */
struct soc_item *soc_inbox_take(struct soc_inbox *inbox, uint64_t key);

/* Returns the open items by priority, then oldest first: `*count` lent items in a list
 * that the caller frees. */
struct soc_item **soc_inbox_sorted(const struct soc_inbox *inbox, size_t *count);

/* Returns true if the item's deadline has passed. */
bool soc_item_is_overdue(const struct soc_item *item, int64_t now_ms);

/* Lends the name of a decision: approve, modify, reject, withdrawn. */
const char *soc_decision_name(enum soc_decision decision);

/* Parses approve, modify or reject; SOC_DECISION_NONE for anything else. */
enum soc_decision soc_decision_parse(struct soc_slice text);

#endif
