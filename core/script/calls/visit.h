/* Visit: a request of agent:http to a server.
 *
 * So many are under way at a time; the others wait, in the order they came.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_VISIT_H
#define SOC_SCRIPT_CALLS_VISIT_H

#include "parts/models/calls.h"
#include "script/turns/box.h"

struct soc_visit;

/* Prepares the script, and releases what that took. Every visit has ended before. */
void soc_visit_open(struct soc_script *script);
void soc_visit_fini(struct soc_script *script);

/* Sets how many are under way at once. */
void soc_visit_set_concurrency(struct soc_script *script, uint32_t count);

/* The hooks of a call of kind `http`; its driver is the visit. */
void soc_visit_begin(struct soc_script *script, struct soc_outcall *call);
void soc_visit_due(struct soc_visit *visit);
void soc_visit_end(struct soc_visit *visit);

#endif
