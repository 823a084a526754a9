/* State: the inside of a host, for the files of this folder only.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_STATE_H
#define SOC_KERNEL_STATE_H

#include "base/heap.h"
#include "base/intern.h"
#include "base/map.h"
#include "env/rng.h"
#include "kernel/host.h"
#include "kernel/mark.h"
#include "kernel/requests.h"
#include "kernel/turn_state.h"
#include "model/activation.h"
#include "model/agent.h"
#include "model/dedupe.h"
#include "model/inbox.h"
#include "model/message.h"
#include "parts/models/calls.h"
#include "parts/models/usage.h"
#include "parts/supervision/guard.h"

/* What a heap item in `timers` is embedded in. */
enum soc_timer_kind {
    SOC_TIMER_MESSAGE,
    SOC_TIMER_ACTIVATION,
    SOC_TIMER_REQUEST,
    SOC_TIMER_INTRODUCTION,
    SOC_TIMER_CALL,
};

/* The law: sent = processed + pending + expired + dead + dropped + cancelled. */
struct soc_totals {
    uint64_t sent;
    uint64_t outcome[6]; /* by enum soc_outcome; PENDING is computed */
    uint64_t turns;
    uint64_t activations;
};

/* All of a host. */
struct soc_host {
    struct soc_host_options options;
    struct soc_hooks hooks;
    struct soc_clock clock;
    struct soc_rng rng;   /* chance for scripts */
    struct soc_rng order; /* which of the ready runs, simulated */
    struct soc_log log;
    struct soc_intern types;
    const struct soc_symbol *type_general;
    const struct soc_symbol *type_introduction_request;
    const struct soc_symbol *type_introduction_response;
    const struct soc_symbol *type_collaboration_response;
    const struct soc_symbol *type_response;
    const struct soc_symbol *type_checkpoint_request;
    const struct soc_symbol *type_checkpoint_response;
    uint32_t policy_generation; /* raised when a verdict may have changed */

    struct soc_map roles;  /* id -> soc_role, owned */
    struct soc_map agents; /* id -> soc_agent, owned, tombstones included */
    struct soc_agent *user;
    struct soc_agent *root;
    uint64_t agents_alive;
    uint32_t guards[SOC_GUARD_COUNT]; /* limits */
    struct soc_buf guard_meetings;    /* who ran into one and is to be told of */
    char *orchestrator;               /* id that the alias stands for; NULL: root */

    struct soc_agent **ready; /* ring of agents to be looked at */
    size_t ready_head;
    size_t ready_count;
    size_t ready_capacity;   /* a power of two */
    struct soc_agent *guess; /* who may run next; valid during a turn */

    struct soc_heap timers;
    struct soc_map requests;          /* key of the request -> soc_request, owned */
    struct soc_map introductions;     /* key of the request -> soc_introduction, owned */
    struct soc_buf introductions_due; /* keys of those that take a step next */
    bool is_introducing;              /* such a step is under way */
    struct soc_inbox inbox;           /* what agents have put before the person */
    struct soc_message_list intake;   /* for the gatekeeper, who was not there; owned */
    struct soc_tasks *tasks;          /* tasks.h; owned */
    struct soc_buf waits_changed;     /* agents to be looked at for rings */
    uint64_t next_wait;               /* number of the next wait that begins */
    struct soc_outside *outside;      /* outside_state.h; owned */
    struct soc_map barriers;          /* key -> soc_barrier, owned */
    struct soc_map broadcasts;        /* key -> soc_broadcast, owned: those not over */
    uint64_t news_key;                /* of the last broadcast that was sent */
    struct soc_map failures;          /* address of an agent -> when its turns raised, owned */
    struct soc_map dead;              /* key -> soc_message, owned: the dead letters */
    struct soc_dedupe sent_keys;      /* what senders know their messages by */
    int64_t dedupe_window_ms;         /* how long */
    struct soc_usages usages;         /* of models */
    struct soc_map memories;          /* memory.h: id -> conversation, owned */
    uint32_t memories_large;          /* of them that are to be trimmed */
    struct soc_map calls;             /* number -> soc_outcall, owned: those waited for */
    uint64_t next_call;
    struct soc_buf calls_leaving; /* numbers of those that wait for durability */
    soc_calls_said_cb *said_cb;   /* NULL: nobody watches */
    void *said_user;
    struct soc_activation *pool[64];
    int pool_count;
    uint64_t waiting;              /* activations that wait or back off */
    uint64_t delayed;              /* messages not due yet: transit.h */
    struct soc_map answers_coming; /* key of what they answer -> how many such messages */

    struct soc_turn turn;
    struct soc_journal *journal;
    struct soc_buf batch;
    uint64_t next_sequence;
    uint64_t next_key;
    uint64_t next_output;
    struct soc_output *outputs_first; /* in order; waiting for durability */
    struct soc_output *outputs_last;
    uint64_t released; /* highest sequence whose outputs may leave */
    bool is_releasing;
    struct soc_totals totals;

    struct soc_history *history; /* history.h; owned; NULL: none is kept */
    struct soc_replay *replay;   /* replay.h; lent; NULL: this is no replay */
    struct soc_buf policies;     /* those in force, a JSON list; empty: never recorded */
    struct soc_buf scratch;      /* for one function at a time */
    struct soc_buf error;        /* of the turn under way */
    struct soc_buf main_error;   /* what `main` raised */
    bool has_main;
    bool main_is_done;
    bool main_was_done;   /* before this start */
    bool main_has_failed; /* it raised: the run ends */
    bool is_full;         /* the disk is: no turn starts, nothing leaves */
    int64_t retry_ms;     /* simulated: when a full disk is tried again, 0: it is not */
    bool is_failed;       /* the disk failed: nothing happens any more */
};

/* Returns the society's time for what happens now. */
static inline int64_t soc_host_now(struct soc_host *host)
{
    return soc_clock_now(&host->clock);
}

/* Reads counters and totals from the value of the meta record `cursor`. */
void soc_host_read_cursor(struct soc_host *host, struct soc_slice json);

/* Lends the agent's id, `system` for NULL. */
struct soc_slice soc_sender_id(const struct soc_agent *agent);

#endif
