/* Recover: a host as it was, from the records of its store.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_RECOVER_H
#define SOC_KERNEL_RECOVER_H

#include "base/buf.h"
#include "base/err.h"
#include "kernel/host.h"

/* Applies every record of the store to the empty host, then takes up what was
 * under way: mail into mailboxes, waits with their timers, outputs to be shown.
 * `*app` becomes the name the state was made for, the caller's; empty: new. */
int soc_recover(struct soc_host *host, struct soc_buf *app, struct soc_detail *detail);

#endif
