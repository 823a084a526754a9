/* Models state: private to the part `models`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_MODELS_MODELS_STATE_H
#define SOC_PARTS_MODELS_MODELS_STATE_H

#include "kernel/state.h"
#include "parts/models/amounts.h"
#include "parts/table.h"

struct soc_outcall;

/* All usage. An all-zero struct means nothing used and no limits. */
struct soc_usages {
    struct soc_map rows;   /* agent, task and model -> struct row, owned */
    struct soc_map agents; /* id -> struct sum, owned */
    struct soc_map tasks;  /* id -> struct sum, owned */
    struct soc_usage total;
    struct soc_usage_bounds bounds;
};

#define SOC_MODELS_WATCHERS_MAX 4

/* Open calls, usage and conversations. */
struct soc_models_state {
    struct soc_usages usages;
    struct soc_map memories; /* agent's id -> conversation, owned: memory.c */
    uint32_t memories_large; /* number of those due for trimming */
    struct soc_map calls;    /* number -> soc_outcall, owned: open calls */
    uint64_t next_call;
    struct soc_buf leaving; /* numbers of calls waiting to become durable */
    struct {
        /* Receives what a model says; NULL: free. */
        void (*cb)(void *user, const struct soc_outcall *call, struct soc_slice text);
        void *user;
    } watchers[SOC_MODELS_WATCHERS_MAX];
};

/* Lends the part's state. */
static inline struct soc_models_state *soc_models_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_MODELS);
}

#endif
