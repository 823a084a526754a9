/* Visit: an HTTP request of agent:http.
 *
 * A bounded number is open at a time; the others queue in order.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_VISIT_H
#define SOC_SCRIPT_CALLS_VISIT_H

#include "parts/models/calls.h"
#include "script/turns/box.h"

struct soc_visit;

/* Prepare the script, and release it. All visits must have ended. */
void soc_visit_open(struct soc_script *script);
void soc_visit_fini(struct soc_script *script);

/* Sets how many may be open at once. */
void soc_visit_set_concurrency(struct soc_script *script, uint32_t count);

/* The hooks of a call of kind `http`; its driver is the visit. */
void soc_visit_begin(struct soc_script *script, struct soc_outcall *call);
void soc_visit_due(struct soc_visit *visit);
void soc_visit_end(struct soc_visit *visit);

#endif
