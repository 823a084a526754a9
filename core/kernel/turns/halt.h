/* Halt: ends the run inside a turn, in good order, because the turn cannot be undone.
 *
 * What was committed is made durable, with a note of the activation whose turn was open. The
 * next run parks that activation instead of running it, so that it does not end the society
 * again.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_HALT_H
#define SOC_KERNEL_TURNS_HALT_H

#include <stdbool.h>

#include "base/slice.h"

struct soc_activation;
struct soc_host;

/* Logs the error (JSON), drops the open turn and writes the rest, with the note that its
 * activation shall end with `error`. Calls nothing of the script's. The process must end
 * next: the host is of no more use. */
void soc_halt(struct soc_host *host, struct soc_slice error);

/* Reads the note of an earlier run; empty: there is none. */
void soc_halt_restore(struct soc_host *host, struct soc_slice value);

/* Tells whether the note names the activation. */
bool soc_halt_names(const struct soc_host *host, const struct soc_activation *activation);

/* Forgets the note; returns the error that its activation ends with, to be released. */
struct soc_buf soc_halt_take(struct soc_host *host);

/* Releases what a host holds of it. */
void soc_halt_fini(struct soc_host *host);

#endif
