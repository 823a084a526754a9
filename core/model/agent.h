/* Agent: an identity with a role, a parent, a mailbox and contacts.
 *
 * An idle agent is only this struct, without a coroutine or a Lua table, so a million
 * of them fit in memory. A terminated agent remains as a small tombstone: messages and
 * contacts still refer to it, and its id is never reused.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_AGENT_H
#define SOC_MODEL_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/contacts.h"
#include "model/mailbox.h"

struct soc_activation;

/* What agents are instances of. Owned by the host and freed with it. */
struct soc_role {
    char *id;
    char *name;
    char *prompt;         /* "" if none */
    char *interface_spec; /* JSON, or NULL */
    char *behaviour;      /* of a role declared inside a turn; NULL: given by the script */
    bool is_declared;     /* by the script or inside a turn: agents can be spawned from it */
    bool is_external;     /* its agents live outside; no script runs for them */
    bool is_runnable;     /* this run's script defines its behaviour */
    bool is_of_script;    /* this run's script declares it */
    bool is_stored;       /* the journal has its current name and texts */
    bool is_reported;     /* its missing behaviour was logged */
    bool is_isolated;     /* the script says: its agents run in worker processes */
    char *grants;         /* JSON: what the script grants isolated agents; NULL: nothing */
    char *creator;        /* id of the agent that declared it inside a turn; NULL: the script */
    int script_mark;      /* the script layer's: where the behaviour is */
    /* How long requests to its agents wait unless they say; 0: SOC_REQUEST_TIMEOUT_MS. */
    int64_t reply_timeout_ms;
};

/* Why an agent is suspended. Stored: never change the values. */
enum soc_hold {
    SOC_HOLD_PAUSED = 1, /* by an ancestor or a person */
    SOC_HOLD_FAILED = 2, /* its turns failed too often */
};

/* How an agent is isolated. Stored: never change the values. */
enum soc_isolation {
    SOC_ISOLATED = 1,           /* its behaviour runs in a worker process */
    SOC_ISOLATED_UNGRANTED = 2, /* its role's grants are not for it */
    SOC_ISOLATED_UNTHINKING = 4 /* nor are models, even if its behaviour is `llm` */
};

/* An agent. */
struct soc_agent {
    struct soc_role *role; /* lent */
    struct soc_agent *parent;
    struct soc_activation *activation; /* its current activation, or NULL */
    struct soc_mailbox mailbox;
    struct soc_contacts contacts;
    char *brief;      /* JSON, NULL if none */
    char *state;      /* JSON, NULL until it is first set */
    char *end_reason; /* while it terminates; NULL: none was given */
    int64_t created_ms;
    uint64_t number; /* rises with each birth in the society; of a tombstone its neighbour's */
    uint64_t since;  /* first message key after it was spawned */
    uint64_t news;   /* key of the last broadcast it has seen, or sent before its birth */
    uint32_t brief_length;
    uint32_t state_length;
    uint32_t children; /* live children */
    uint32_t births;   /* children ever spawned */
    uint32_t delayed;  /* messages to it that are not due yet */
    uint32_t awaited;  /* agents in `receive` that accept only its messages */
    uint32_t rank;     /* among those that are known by name only; 0: it was born here */
    uint8_t id_length;
    uint8_t hold;         /* bits of enum soc_hold; 0: it may run */
    uint8_t guards;       /* bits of parts/supervision/guard.h: alerts its parent has received */
    bool is_ended;        /* a tombstone */
    bool is_ending;       /* its mailbox drains; no new messages */
    bool is_external;     /* it lives outside; a door delivers its messages */
    bool is_remote;       /* it lives on another host; is_external as well */
    bool is_unresponsive; /* lives outside and has stopped responding */
    bool is_ready;        /* it is in the scheduler's queue */
    bool is_brief_kept;   /* history has its brief */
    uint8_t isolation;    /* bits of enum soc_isolation; 0: it is not isolated */
    char id[];            /* NUL-terminated */
};

/* Returns an agent with an empty mailbox and no contacts. Release with
 * soc_agent_free(). */
struct soc_agent *soc_agent_new(struct soc_slice id, struct soc_role *role,
                                struct soc_agent *parent, int64_t created_ms);

/* Frees the agent and its contacts, not its messages. NULL is allowed. */
void soc_agent_free(struct soc_agent *agent);

/* Frees everything that a tombstone does not need. */
void soc_agent_shrink(struct soc_agent *agent);

/* Prefetches the agent, or its contacts. With many agents they are rarely in the cache. */
void soc_agent_prefetch(const struct soc_agent *agent);
void soc_agent_prefetch_contacts(const struct soc_agent *agent);

/* Lends the id. */
struct soc_slice soc_agent_id(const struct soc_agent *agent);

/* Replaces the brief or the state with a copy of `json`. */
void soc_agent_set_brief(struct soc_agent *agent, struct soc_slice json);
void soc_agent_set_state(struct soc_agent *agent, struct soc_slice json);

/* Returns a role with copies of the texts. Release with soc_role_free(). */
struct soc_role *soc_role_new(struct soc_slice id, struct soc_slice name);

/* Frees a role. NULL is allowed. */
void soc_role_free(struct soc_role *role);

/* Replaces `*place` with a copy of `text` (NULL if absent). */
void soc_text_set(char **place, struct soc_slice text);

#endif
