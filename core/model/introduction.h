/* Introduction: one request to be introduced to somebody, until it is answered.
 *
 * A requester asks a contact, the broker. Either the broker's own behaviour
 * answers, or the broker leaves it to the host; then the host holds the request
 * and may ask onward in the broker's name, or ask the requester's parent to agree.
 * Such a question is an entry of its own that says for which one it is asked.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_INTRODUCTION_H
#define SOC_MODEL_INTRODUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/slice.h"

struct soc_agent;
struct soc_message;

/* What became of asking the requester's parent. Stored: values are for ever. */
enum soc_consent {
    SOC_CONSENT_NOT_ASKED,
    SOC_CONSENT_GIVEN,
    SOC_CONSENT_REFUSED,
};

/* A request that is under way. */
struct soc_introduction {
    struct soc_heap_item timer; /* of the question under way */
    uint64_t key;               /* of the request's message */
    int64_t time_ms;
    struct soc_agent *requester; /* lent */
    struct soc_agent *broker;    /* lent; for a question of consent: who is to agree */
    uint64_t for_key;            /* a question of the host's: the introduction it serves */
    bool is_consent;             /* that question asks for consent, not for a name */
    bool is_stored;              /* the journal knows it */
    bool is_held;                /* the host answers for the broker */
    char *correlation_id;        /* owned, or NULL */
    char *reason;                /* why the requester asks; owned, or NULL */

    /* While the host answers for the broker. */
    struct soc_message *message; /* the request, owned; NULL: not held */
    uint64_t question;           /* key of the question under way, 0: none */
    int64_t deadline_ms;         /* of that question */
    struct soc_agent **asked;    /* in vain, in order; lent agents, owned list */
    uint32_t asked_count;
    struct soc_agent *found; /* whom an onward question named, NULL: nobody yet */
    char *usage_hint;        /* that came with it; owned, or NULL */
    char *via;               /* JSON list: the way it took; owned, or NULL */
    enum soc_consent consent;
};

/* Returns an entry for the request; release with soc_introduction_free(). */
struct soc_introduction *soc_introduction_new(uint64_t key, int64_t time_ms,
                                              struct soc_agent *requester,
                                              struct soc_agent *broker);

/* Frees it, not the message. NULL is allowed. */
void soc_introduction_free(struct soc_introduction *introduction);

/* Notes that `agent` was asked in vain. */
void soc_introduction_note_asked(struct soc_introduction *introduction, struct soc_agent *agent);

/* Tells whether that was noted. */
bool soc_introduction_was_asked(const struct soc_introduction *introduction,
                                const struct soc_agent *agent);

/* Whom a response names. */
struct soc_named {
    struct soc_slice id;       /* absent: nobody */
    bool is_refusal;           /* it says that there is nobody */
    struct soc_slice spec;     /* an Interface Spec the response gives, or absent */
    struct soc_slice given_by; /* the member that held the id */
};

/* Reads the payload of a response: `target_agent` as an object, an id or null; else
 * one of the other names that are taken for its id; else, without `target_agent`, a
 * `reason` is a refusal. An empty id is none. */
struct soc_named soc_introduction_named(struct soc_slice payload);

/* Tells whether a JSON list of texts holds `id`. */
bool soc_introduction_lists(struct soc_slice list, struct soc_slice id);

/* Appends the JSON list `list` (absent: empty) with `first` put before it, or with
 * `last` put behind it; an absent one is left out. */
void soc_introduction_extend(struct soc_buf *out, struct soc_slice first, struct soc_slice list,
                             struct soc_slice last);

#endif
