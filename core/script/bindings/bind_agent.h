/* Bind agent: an agent's methods for time, randomness, logging and progress, and the
 * sandbox's gate, which offers the same effects under Lua's own names.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_BIND_AGENT_H
#define SOC_SCRIPT_BINDINGS_BIND_AGENT_H

#include "sandbox/sandbox_gate.h"
#include "script/turns/box.h"

/* Fills the gate of the app's environment: print, os.time, os.clock, math.random. */
void soc_bind_agent_fill_gate(struct soc_script *script, struct soc_sandbox_gate *gate);

#endif
