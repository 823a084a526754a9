/* State: the internals of a host, for the kernel and the parts.
 *
 * Each kernel module with several fields has a struct here that only this module
 * changes. A part keeps its state to itself (part.h).
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_STATE_H
#define SOC_KERNEL_STATE_H

#include "base/heap.h"
#include "base/intern.h"
#include "base/map.h"
#include "env/clock.h"
#include "env/rng.h"
#include "kernel/hooks.h"
#include "kernel/options.h"
#include "kernel/part.h"
#include "kernel/turns/turn_state.h"
#include "model/activation.h"
#include "model/agent.h"
#include "model/message.h"

/* What a heap item in `timers` is embedded in. Parts follow the kernel's kinds by
 * number: soc_part_timer(). */
enum soc_timer_kind {
    SOC_TIMER_MESSAGE,
    SOC_TIMER_ACTIVATION,
    SOC_TIMER_REQUEST,
    SOC_TIMER_AWAITING,
    SOC_TIMER_PARTS,
};

/* Counters. Invariant: sent + taken = processed + pending + expired + dead + dropped +
 * cancelled + handed over. */
struct soc_totals {
    uint64_t sent;
    uint64_t taken;                      /* from other hosts */
    uint64_t outcome[SOC_OUTCOME_COUNT]; /* by enum soc_outcome; PENDING is computed */
    uint64_t turns;
    uint64_t activations;
};

/* Interned message types, and those the kernel knows itself. */
struct soc_types {
    struct soc_intern table;
    const struct soc_symbol *general;
};

/* registry.h: a host that this one is joined to. */
struct soc_registry_peer {
    char *name;
    bool is_silent;
};

/* registry.h: roles and agents. */
struct soc_registry {
    struct soc_map roles;  /* id -> soc_role, owned */
    struct soc_map agents; /* id -> soc_agent, owned, tombstones included */
    struct soc_agent *user;
    struct soc_agent *root;
    uint64_t alive;
    uint64_t births;             /* number of the agent born last */
    uint32_t named;              /* rank of the agent known by name only that came last */
    char *orchestrator;          /* the id behind the alias; NULL: root */
    char *host_name;             /* of this host among those it has joined; NULL: none */
    struct soc_map peers;        /* name -> soc_registry_peer, owned */
    struct soc_map remotes;      /* agent@host -> soc_agent, owned */
    struct soc_map remote_roles; /* of those, by name and id -> soc_role, owned */
};

/* ready.h: queue of agents that may have work, a ring buffer. */
struct soc_ready {
    struct soc_agent **agents;
    size_t head;
    size_t count;
    size_t capacity;         /* a power of two */
    struct soc_agent *guess; /* who probably runs next; valid during a turn */
};

/* waiting.h and deadlock.h: waiting activations. */
struct soc_waits {
    struct soc_buf changed; /* agents to check for cycles, as pointers */
    uint64_t next;          /* number of the next wait */
    uint64_t count;         /* activations that wait or back off */
};

/* transit.h: messages not due yet. */
struct soc_transit {
    uint64_t count;
    struct soc_map answers; /* key of the answered message -> number of answers in transit */
};

/* dead.h: orders about dead letters, which wait for the store. */
struct soc_dead_orders {
    struct soc_dead_order_item *first; /* owned; the store is asked for this one */
    struct soc_dead_order_item *last;
    bool is_asking;  /* the answer of the store is outstanding */
    bool is_running; /* an order is being carried out */
    bool is_closed;  /* nothing more is changed */
};

/* operations/call_keys.h: orders done under a key. */
struct soc_call_keys {
    struct soc_map by_text;     /* caller and key -> soc_call_key, owned */
    struct soc_call_key *first; /* of those that are done, oldest first */
    struct soc_call_key *last;
    uint64_t number; /* of the last one done */
    size_t bytes;    /* of those that are done */
    int64_t window_ms;
};

/* operations/awaiting.h: calls from outside that wait. */
struct soc_awaitings {
    struct soc_awaiting *first; /* owned, oldest first */
    struct soc_awaiting *last;
};

/* handling.h: activations for reuse. */
struct soc_pool {
    struct soc_activation *items[64];
    int count;
};

/* egress.h: output that waits for durability. */
struct soc_outbox {
    struct soc_output *first; /* oldest */
    struct soc_output *last;
    uint64_t next;     /* key of the next line */
    uint64_t released; /* highest durable sequence: output up to it may leave */
    bool is_releasing;
};

/* Progress of `main`. */
struct soc_main_state {
    struct soc_buf error; /* the error it raised */
    bool exists;
    bool is_done;
    bool was_done;   /* before this start */
    bool has_failed; /* it raised: the run ends */
    /* Of a failure in an earlier run (turns/main.h). */
    bool is_marked;              /* the rest counts */
    uint32_t marked;             /* index of the effect whose answer was forgotten */
    struct soc_effect forgotten; /* that effect, kind 0 until it is */
    uint64_t asked;              /* key of the last request that was answered; 0: none */
};

/* The activation that ended an earlier run (turns/halt.h). */
struct soc_halted {
    struct soc_buf agent; /* id */
    uint64_t key;         /* of its message; 0: `main` */
    struct soc_buf error; /* empty: there is none */
};

/* Health of the disk. */
struct soc_disk_state {
    bool is_full;     /* no turn starts, no output leaves */
    bool is_failed;   /* nothing happens any more */
    int64_t retry_ms; /* simulated: when to retry a full disk, 0: never */
};

/* A host. */
struct soc_host {
    struct soc_host_options options;
    struct soc_hooks hooks;
    struct soc_parts parts;
    struct soc_clock clock;
    struct soc_rng rng;   /* random numbers for scripts */
    struct soc_rng order; /* simulated: which ready agent runs */
    struct soc_log log;
    struct soc_types types;
    struct soc_registry registry;
    struct soc_ready ready;
    struct soc_heap timers;
    struct soc_map requests; /* key of the request -> soc_request, owned */
    struct soc_map acks;     /* key of a message -> who waits for its ack: acks.h, owned */
    struct soc_waits waits;
    struct soc_transit transit;
    struct soc_dead_orders dead;
    struct soc_awaitings awaiting;
    struct soc_call_keys call_keys;
    struct soc_pool pool;
    struct soc_turn turn;
    struct soc_journal *journal;
    struct soc_buf batch;
    uint64_t next_sequence;
    uint64_t next_key;
    uint64_t news_key; /* of the last committed broadcast */
    struct soc_outbox outbox;
    struct soc_totals totals;
    struct soc_main_state main;
    struct soc_halted halted;
    struct soc_disk_state disk;
    struct soc_tap *tap;       /* tap.h; NULL: nobody has listened yet */
    struct soc_loader *loader; /* recover.h; NULL except during recovery */
};

/* Returns the current time of the society. */
static inline int64_t soc_host_now(struct soc_host *host)
{
    return soc_clock_now(&host->clock);
}

/* Lends the state that `open` of the part with that number returned. */
static inline void *soc_part_state(const struct soc_host *host, uint32_t number)
{
    return host->parts.states[number];
}

/* Returns the kind of heap items that the part with that number serves in `timer`. */
static inline uint8_t soc_part_timer(uint32_t number)
{
    return (uint8_t)(SOC_TIMER_PARTS + number);
}

/* Returns true if something was broadcast since the agent last looked. */
static inline bool soc_host_has_news(const struct soc_host *host, const struct soc_agent *agent)
{
    return agent->news < host->news_key;
}

/* Queues new broadcasts for the agent. */
static inline void soc_host_look_for_news(struct soc_host *host, struct soc_agent *agent)
{
    if (soc_host_has_news(host, agent))
        SOC_PARTS_TELL(host, collect, host, agent);
}

/* Lends the agent's id, `system` for NULL. */
static inline struct soc_slice soc_sender_id(const struct soc_agent *agent)
{
    return agent == NULL ? SOC_SLICE("system") : soc_agent_id(agent);
}

#endif
