/* Human state: private to the part `human`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HUMAN_HUMAN_STATE_H
#define SOC_PARTS_HUMAN_HUMAN_STATE_H

#include "kernel/operations/operation.h"
#include "kernel/state.h"
#include "model/inbox.h"
#include "parts/table.h"

/* What is waiting for the person or the gatekeeper. */
struct soc_human_state {
    struct soc_inbox inbox;
    struct soc_message_list intake; /* input received without a gatekeeper; owned */
};

/* human_operations.c: the operations of the part, terminated by a NULL name. */
extern const struct soc_operation soc_human_operations[];

/* Lends the part's state. */
static inline struct soc_human_state *soc_human_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_HUMAN);
}

#endif
