/* Egress: the only way out of the process.
 *
 * Output for a terminal, a socket or a caller is queued here with the batch that holds
 * its cause and leaves, in order, when that batch is durable. The outbox owns it.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_EGRESS_H
#define SOC_KERNEL_TURNS_EGRESS_H

#include <stdint.h>

#include "base/slice.h"

struct soc_host;
struct soc_output;

/* Records a line for `stream` in the open turn; it is queued at the commit. */
void soc_egress_print(struct soc_host *host, struct soc_slice stream, struct soc_slice agent,
                      struct soc_slice text);

/* Queues the output of a committed turn (newest first; NULL: none). Takes it. */
void soc_egress_add(struct soc_host *host, struct soc_output *newest);

/* Recovery: queues a line that may not have been shown. */
void soc_egress_restore(struct soc_host *host, uint64_t key, struct soc_slice stream,
                        struct soc_slice agent, struct soc_slice text);

/* Recovery: drops the lines up to `key`, which were shown. */
void soc_egress_forget(struct soc_host *host, uint64_t key);

/* Releases the output of all batches up to `sequence`, which are durable. A line that
 * cannot be shown stays, with all lines after it; calls are still made. */
void soc_egress_release(struct soc_host *host, uint64_t sequence);

/* Frees a list of outputs. */
void soc_egress_free(struct soc_output *outputs);

/* Calls `call(user)` once everything recorded so far is durable. */
void soc_egress_call(struct soc_host *host, void (*call)(void *user), void *user);

#endif
