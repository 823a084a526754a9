/* Introduction: a request to be introduced to somebody, until it is answered.
 *
 * A requester asks a contact, the broker. Either the broker's behaviour answers, or the
 * broker leaves it to the host. The host then holds the request and may ask other
 * agents on the broker's behalf, or ask the requester's parent for consent. Each of
 * these questions is an entry of its own that refers to the one it serves.
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

/* What became of the parent's consent. Stored: never change the values. */
enum soc_consent {
    SOC_CONSENT_NOT_ASKED,
    SOC_CONSENT_GIVEN,
    SOC_CONSENT_REFUSED,
};

/* An open request. */
struct soc_introduction {
    struct soc_heap_item timer; /* of the pending question */
    uint64_t key;               /* of the request's message */
    int64_t time_ms;
    struct soc_agent *requester; /* lent */
    struct soc_agent *broker; /* lent; for a consent question: the agent whose consent is asked */
    uint64_t for_key;         /* for a question of the host: the introduction it serves */
    bool is_consent;          /* the question asks for consent, not for an agent */
    bool is_stored;           /* it has a record in the journal */
    bool is_held;             /* the host answers on the broker's behalf */
    uint64_t item;            /* key of the person's inbox item about it; 0: none */
    char *correlation_id;     /* owned, or NULL */
    char *reason;             /* why the requester asks; owned, or NULL */

    /* Used while the host answers on the broker's behalf. */
    struct soc_message *message; /* the request, owned; NULL: not held */
    uint64_t question;           /* key of the pending question; 0: none */
    int64_t deadline_ms;         /* of that question */
    struct soc_agent **asked;    /* without success, in order; lent agents, owned list */
    uint32_t asked_count;
    struct soc_agent *found; /* the agent a question returned; NULL: none yet */
    char *usage_hint;        /* returned with it; owned, or NULL */
    char *via;               /* JSON list of ids it came through; owned, or NULL */
    enum soc_consent consent;
};

/* Returns an entry for the request. Release with soc_introduction_free(). */
struct soc_introduction *soc_introduction_new(uint64_t key, int64_t time_ms,
                                              struct soc_agent *requester,
                                              struct soc_agent *broker);

/* Frees it but not its message. NULL is allowed. */
void soc_introduction_free(struct soc_introduction *introduction);

/* Records that `agent` was asked without success. */
void soc_introduction_note_asked(struct soc_introduction *introduction, struct soc_agent *agent);

/* Returns true if `agent` was asked without success. */
bool soc_introduction_was_asked(const struct soc_introduction *introduction,
                                const struct soc_agent *agent);

/* The agent that a response names. */
struct soc_named {
    struct soc_slice id;       /* absent: none */
    bool is_refusal;           /* the response says that there is none */
    struct soc_slice spec;     /* the Interface Spec in the response, or absent */
    struct soc_slice given_by; /* name of the member that held the id */
};

/* Reads the payload of a response: `target_agent` as an object, an id or null, else one
 * of the other accepted names of the id. Without any of them a `reason` makes it a
 * refusal. An empty id counts as absent. */
struct soc_named soc_introduction_named(struct soc_slice payload);

/* Returns true if the JSON list of strings contains `id`. */
bool soc_introduction_lists(struct soc_slice list, struct soc_slice id);

/* Appends the JSON list `list` (absent: empty) with `first` before it and `last` after
 * it. Absent ones are left out. */
void soc_introduction_extend(struct soc_buf *out, struct soc_slice first, struct soc_slice list,
                             struct soc_slice last);

#endif
