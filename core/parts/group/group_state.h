/* Group state: private to the part `group`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_GROUP_GROUP_STATE_H
#define SOC_PARTS_GROUP_GROUP_STATE_H

#include "kernel/state.h"
#include "parts/table.h"

/* Open broadcasts and checkpoints. */
struct soc_group_state {
    struct soc_map barriers;   /* key -> soc_barrier, owned */
    struct soc_map broadcasts; /* key -> soc_broadcast, owned */
    struct soc_map hearing;    /* during a start: agent -> key of the broadcast it handles */
    struct soc_buf heard;      /* during a start: broadcasts taken by activations */
    char *broadcasters;        /* JSON list of ids that may write to all; owned, or NULL */
    const struct soc_symbol *checkpoint_request;
    const struct soc_symbol *checkpoint_response;
};

/* Lends the part's state. */
static inline struct soc_group_state *soc_group_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_GROUP);
}

#endif
