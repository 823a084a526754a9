/* Agent: who exists, as what, born of whom, with which mail and acquaintances.
 *
 * An idle agent is this struct and nothing else: no coroutine, no Lua table, so a
 * million of them fit in memory. An agent that has ended stays as a small
 * tombstone: messages and contacts still name it, and its id is not given again.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_AGENT_H
#define SOC_MODEL_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/contacts.h"
#include "model/mailbox.h"

struct soc_activation;

/* A job that agents are instances of. Owned by the host, never freed before it. */
struct soc_role {
    char *id;
    char *name;
    char *prompt;         /* "" if none */
    char *interface_spec; /* JSON, or NULL */
    char *behaviour;      /* how a role made inside a turn behaves; NULL: by the script */
    bool is_declared;     /* by the script or inside a turn: agents may be born to it */
    bool is_external;     /* its agents live outside: no script runs for them */
    bool is_runnable;     /* the script of this run says how it behaves */
    bool is_of_script;    /* the script of this run declares it */
    bool is_stored;       /* the journal has its name and texts as they are */
    bool is_reported;     /* its lack of a behaviour was reported */
    int script_mark;      /* the script layer's own: where the behaviour is */
};

/* Why an agent is not let run; stored, for ever as they are. */
enum soc_hold {
    SOC_HOLD_PAUSED = 1, /* by somebody above it */
    SOC_HOLD_FAILED = 2, /* its turns raised too often */
};

/* An agent. */
struct soc_agent {
    struct soc_role *role; /* lent */
    struct soc_agent *parent;
    struct soc_activation *activation; /* what it is doing, or NULL */
    struct soc_mailbox mailbox;
    struct soc_contacts contacts;
    char *brief;      /* JSON, NULL if none */
    char *state;      /* JSON, NULL while it was never set */
    char *end_reason; /* while it ends; NULL: none was given */
    int64_t created_ms;
    uint64_t since; /* messages that have come after it have keys from here on */
    uint64_t news;  /* key of the last broadcast it has looked at, or that came before it */
    uint32_t brief_length;
    uint32_t state_length;
    uint32_t children; /* alive */
    uint32_t births;   /* children it ever had */
    uint32_t delayed;  /* messages for it that are not due yet */
    uint32_t awaited;  /* agents that wait to receive from it and nobody else */
    uint8_t id_length;
    uint8_t hold; /* bits of enum soc_hold; 0: it may run */
    uint8_t
        guards; /* bits of parts/supervision/guard.h: whom it ran into, and its parent was told */
    bool is_ended;        /* a tombstone */
    bool is_ending;       /* its mailbox drains; nobody may send to it */
    bool is_external;     /* it lives outside: its mail goes to a door */
    bool is_unresponsive; /* and has not been heard as it should */
    bool is_ready;        /* it stands in the scheduler's queue */
    bool is_brief_kept;   /* history has its brief */
    char id[];            /* NUL-terminated */
};

/* Returns an agent with an empty mailbox who knows nobody. Release with
 * soc_agent_free(). */
struct soc_agent *soc_agent_new(struct soc_slice id, struct soc_role *role,
                                struct soc_agent *parent, int64_t created_ms);

/* Frees the agent and its contacts, not its messages. NULL is allowed. */
void soc_agent_free(struct soc_agent *agent);

/* Frees all a tombstone does not need. */
void soc_agent_shrink(struct soc_agent *agent);

/* Has the processor fetch the agent, or its contacts, which are about to be needed:
 * among many agents they are not in its cache. */
void soc_agent_prefetch(const struct soc_agent *agent);
void soc_agent_prefetch_contacts(const struct soc_agent *agent);

/* Lends the id. */
struct soc_slice soc_agent_id(const struct soc_agent *agent);

/* Replaces the brief or the state by a copy of `json`. */
void soc_agent_set_brief(struct soc_agent *agent, struct soc_slice json);
void soc_agent_set_state(struct soc_agent *agent, struct soc_slice json);

/* Returns a role with copies of the texts. Release with soc_role_free(). */
struct soc_role *soc_role_new(struct soc_slice id, struct soc_slice name);

/* Frees a role. NULL is allowed. */
void soc_role_free(struct soc_role *role);

/* Replaces `*place` by a copy of `text` (NULL if absent). */
void soc_text_set(char **place, struct soc_slice text);

#endif
