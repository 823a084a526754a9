/* Errand: a script of agent:run_lua, run in a worker process.
 *
 * A bounded number run at a time; the others queue in order, within their time-out. The
 * worker is killed when its CPU time is over. What it answers is checked as if it were
 * hostile. In a simulation the script runs inside the program, by VM steps.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_ERRAND_H
#define SOC_SCRIPT_CALLS_ERRAND_H

#include "parts/models/calls.h"
#include "script/turns/box.h"

struct soc_errand;

/* Prepare the script, and release it. All errands must have ended. */
void soc_errand_open(struct soc_script *script);
void soc_errand_fini(struct soc_script *script);

/* Writes what the worker said, which may be anything, as the answer of the effect. */
void soc_errand_judge(struct soc_slice said, struct soc_buf *answer);

/* The hooks of a call of kind `lua`; its driver is the errand. */
void soc_errand_begin(struct soc_script *script, struct soc_outcall *call);
void soc_errand_due(struct soc_errand *errand);
void soc_errand_end(struct soc_errand *errand);

#endif
