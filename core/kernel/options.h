/* Options: what a host is created from, and the observers of tests and simulations.
 *
 * The host copies the struct. What it points to is lent until the host is freed.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPTIONS_H
#define SOC_KERNEL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "env/log.h"

struct soc_activation;
struct soc_host;
struct soc_loop;
struct soc_part;
struct soc_store;

/* Observer of everything written, called before any effect is visible: a checker. */
struct soc_witness {
    /* The limit of messages queued for one agent is set. */
    void (*bounded)(void *user, uint32_t mailbox_max);
    /* How long deduplication keys count is set. */
    void (*windowed)(void *user, int64_t window_ms);
    /* How long an outside agent may be silent is set. */
    void (*silenced)(void *user, int64_t silence_ms);
    /* The orchestrator is set. */
    void (*headed)(void *user, struct soc_slice id);
    /* A batch is sealed and may become durable from now on. */
    void (*sealed)(void *user, uint64_t sequence, struct soc_slice batch);
    /* The host considers every batch up to `sequence` durable. */
    void (*durable)(void *user, uint64_t sequence);
    /* The outgoing call with that id begins. */
    void (*called)(void *user, struct soc_slice agent, struct soc_slice id);
    void *user;
};

/* Faults that a simulation injects into turns and model calls. */
struct soc_injector {
    /* Returns true if the turn of `activation`, which is about to end, raises instead. */
    bool (*raises)(void *user, struct soc_host *host, const struct soc_activation *activation);
    /* Lends the fault of the model call that begins now: busy, limited, cut, garbled or
     * slow; NULL: none. */
    const char *(*model_fault)(void *user, struct soc_host *host);
    void *user;
};

/* What a host is created from. */
struct soc_host_options {
    struct soc_store *store; /* lent until soc_host_close */
    struct soc_loop *loop;   /* NULL: simulated, virtual time, seeded order */
    uint64_t seed;           /* of random numbers and, simulated, of the order of turns */
    struct soc_log log;
    /* Shows one line: `stream` is "stdout" (a print) or "mail" (a message for the
     * person; `text` is JSON). False: it could not be shown; it stays first in the queue
     * and is retried with the next release. */
    bool (*show)(void *user, struct soc_slice stream, struct soc_slice agent,
                 struct soc_slice text);
    /* The disk has failed: the host does nothing any more. */
    void (*failed)(void *user, const struct soc_detail *detail);
    void *user;
    uint32_t effects_max; /* in one activation; 0: SOC_EFFECTS_MAX */
    bool retries_main;    /* an unfinished `main` runs from its start */
    bool shows_early;     /* for tests that must fail: output does not wait for durability */
    bool keys_apart;      /* for tests that must fail: a message commits before its key */
    const struct soc_injector *injector; /* faults of a simulation, lent; NULL: none */
    const struct soc_part *const *parts; /* lent, NULL after the last */
    const struct soc_witness *witness;   /* lent; NULL: none */
    int64_t retention_days;              /* how long what is over is kept; 0: for ever */
    int64_t retention_mb;                /* how large the database may become; 0: any size */
};

#endif
