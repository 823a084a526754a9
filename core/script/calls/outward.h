/* Outward: passes the hooks for calls (parts/models/calls.h) to the driver of each
 * kind.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_OUTWARD_H
#define SOC_SCRIPT_CALLS_OUTWARD_H

#include "parts/models/calls.h"

/* The hooks of kernel/hooks.h; `user` is the script. */
void soc_outward_call(void *user, struct soc_outcall *call);
void soc_outward_due(void *user, struct soc_outcall *call);
void soc_outward_end(void *user, struct soc_outcall *call);

#endif
