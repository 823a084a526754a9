/* Egress: the one gate to the world outside.
 *
 * Whatever is meant for a terminal, a socket or a caller is put here with the
 * batch that holds its cause and leaves, in order, when that batch is durable.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_EGRESS_H
#define SOC_KERNEL_TURNS_EGRESS_H

#include <stdint.h>

#include "base/slice.h"

struct soc_host;
struct soc_output;

/* Records a line of the open turn for `stream`; it leaves after the commit. */
void soc_egress_print(struct soc_host *host, struct soc_slice stream, struct soc_slice agent,
                      struct soc_slice text);

/* Adds the outputs of a committed turn (newest first; NULL: none). Takes them. */
void soc_egress_add(struct soc_host *host, struct soc_output *newest);

/* Takes a recovered output that was not shown for certain. */
void soc_egress_restore(struct soc_host *host, uint64_t key, struct soc_slice stream,
                        struct soc_slice agent, struct soc_slice text);

/* Forgets recovered outputs up to `key`: they were shown. */
void soc_egress_forget(struct soc_host *host, uint64_t key);

/* Lets out what is durable up to `sequence`. A line that cannot be shown keeps it
 * and all lines behind it here; calls go on. */
void soc_egress_release(struct soc_host *host, uint64_t sequence);

/* Frees a chain of outputs. */
void soc_egress_free(struct soc_output *outputs);

/* Has `call(user)` made once everything recorded so far is durable. */
void soc_egress_call(struct soc_host *host, void (*call)(void *user), void *user);

#endif
