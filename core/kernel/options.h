/* Options: what a host is made from.
 *
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

/* Who is told what is written, before anything else of it is seen: a checker. */
struct soc_witness {
    /* How many messages may wait for one agent from now on. */
    void (*bounded)(void *user, uint32_t mailbox_max);
    /* Who is the orchestrator from now on. */
    void (*headed)(void *user, struct soc_slice id);
    /* A batch is sealed: it may become durable from now on. */
    void (*sealed)(void *user, uint64_t sequence, struct soc_slice batch);
    /* The host believes that every batch up to `sequence` is durable. */
    void (*durable)(void *user, uint64_t sequence);
    /* The world is asked for something: the call of that id begins. */
    void (*called)(void *user, struct soc_slice agent, struct soc_slice id);
    void *user;
};

/* Faults that a simulation injects into turns and model calls. */
struct soc_injector {
    /* Tells whether the turn of `activation`, which is about to end, raises instead. */
    bool (*raises)(void *user, struct soc_host *host, const struct soc_activation *activation);
    /* Lends a word for what is wrong with the model call that begins now: busy, limited,
     * cut, garbled or slow; NULL: nothing is. */
    const char *(*model_trouble)(void *user, struct soc_host *host);
    void *user;
};

/* What a host is made from. */
struct soc_host_options {
    struct soc_store *store; /* lent until soc_host_close */
    struct soc_loop *loop;   /* NULL: simulated, virtual time, seeded order */
    uint64_t seed;           /* of chance and, simulated, of order */
    struct soc_log log;
    /* Shows one line to the world: `stream` is "stdout" (a print) or "mail" (a
     * message for the person; `text` is JSON then). False: it could not be shown;
     * it stays first in line and is tried again when something else may leave. */
    bool (*show)(void *user, struct soc_slice stream, struct soc_slice agent,
                 struct soc_slice text);
    /* The disk failed: nothing more will be done. */
    void (*failed)(void *user, const struct soc_detail *detail);
    void *user;
    uint32_t effects_max; /* in one activation; 0: SOC_EFFECTS_MAX */
    bool shows_early;     /* for tests that must fail: nothing waits to be durable */
    bool keys_apart;      /* for tests that must fail: a message is committed before its key is */
    const struct soc_injector *injector; /* faults of a simulation, lent; NULL: none */
    const struct soc_part *const *parts; /* lent, NULL at the end */
    const struct soc_witness *witness;   /* lent; NULL: none */
};

#endif
