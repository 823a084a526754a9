/* Inbox: what agents have put before the person, until it is decided.
 *
 * An item is open until one decision is made about it; later ones are refused, for
 * ever: of a decided item nothing but its decision is remembered here. An item whose
 * time is over stays open and is overdue. Whether anybody still waits is not the
 * inbox's business.
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

/* What the person says to an item. Stored: values are for ever. */
enum soc_decision {
    SOC_DECISION_NONE,
    SOC_DECISION_APPROVE,
    SOC_DECISION_MODIFY,
    SOC_DECISION_REJECT,
    SOC_DECISION_WITHDRAWN, /* none: the host took it back, and nobody can decide any more */
};

/* Something for the person to decide. */
struct soc_item {
    uint64_t key;            /* unique for ever, rising */
    int64_t time_ms;         /* when it was put there */
    int64_t deadline_ms;     /* overdue from then on, 0: never */
    struct soc_agent *agent; /* who asks, lent */
    enum soc_priority priority;
    char *title;          /* owned, as all texts */
    char *body;           /* JSON, or NULL */
    char *options;        /* JSON list, or NULL */
    char *task_id;        /* or NULL */
    char *correlation_id; /* or NULL */
};

/* An all-zero struct is an empty inbox. */
struct soc_inbox {
    struct soc_map open;    /* key -> soc_item, owned */
    struct soc_map decided; /* key -> its decision, as a number that is no pointer */
};

/* Frees all items and the inbox's own memory. */
void soc_inbox_fini(struct soc_inbox *inbox);

/* Returns an item without texts; release with soc_item_free(), or give it to an
 * inbox. */
struct soc_item *soc_item_new(uint64_t key, int64_t time_ms, struct soc_agent *agent);

/* Frees it. NULL is allowed. */
void soc_item_free(struct soc_item *item);

/* Adds an open item, which the inbox then owns. */
void soc_inbox_add(struct soc_inbox *inbox, struct soc_item *item);

/* Lends the open item of that key, or NULL. */
struct soc_item *soc_inbox_find(const struct soc_inbox *inbox, uint64_t key);

/* Returns how item `key` was decided; SOC_DECISION_NONE: it is open or was never
 * there. */
enum soc_decision soc_inbox_decision(const struct soc_inbox *inbox, uint64_t key);

/* Decides an open item, or withdraws it: SOC_OK, and the item is given to the caller in
 * `*item` (NULL is allowed: it is freed). SOC_EDECIDED if that has been done before,
 * SOC_EWITHDRAWN if it was withdrawn, SOC_ENOITEM if there is none. */
int soc_inbox_decide(struct soc_inbox *inbox, uint64_t key, enum soc_decision decision,
                     struct soc_item **item);

/* Takes a decision back: `item`, which the inbox owns again, is open. */
void soc_inbox_reopen(struct soc_inbox *inbox, struct soc_item *item);

/* Notes the decision of an item whose rest is not known here any more. */
void soc_inbox_note_decided(struct soc_inbox *inbox, uint64_t key, enum soc_decision decision);

/* Takes an open item out and gives it to the caller, or NULL. */
struct soc_item *soc_inbox_take(struct soc_inbox *inbox, uint64_t key);

/* Returns the open items, urgent ones first, then the oldest: `*count` lent items in
 * a list that the caller frees. */
struct soc_item **soc_inbox_sorted(const struct soc_inbox *inbox, size_t *count);

/* Tells whether the item's time is over. */
bool soc_item_is_overdue(const struct soc_item *item, int64_t now_ms);

/* Lends the word for a decision: approve, modify, reject, withdrawn. */
const char *soc_decision_name(enum soc_decision decision);

/* Reads the word of a person; SOC_DECISION_NONE if it is none of the first three. */
enum soc_decision soc_decision_parse(struct soc_slice text);

#endif
