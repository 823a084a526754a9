/* Context: the system prompt of an agent that uses a model.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_ANSWERS_CONTEXT_H
#define SOC_SCRIPT_ANSWERS_CONTEXT_H

#include "script/turns/frame.h"

/* Appends the agent's context to `out` as a JSON string: role, full brief, contacts and
 * the rules of the society, worded by the policies `presentation` and `prompts`. A part
 * that no policy can word appears as JSON, so nothing is missing. If the policy names its
 * language, a comma and that language follow. */
void soc_context_put(lua_State *L, struct soc_frame *frame, const struct soc_agent *agent,
                     struct soc_buf *out);

#endif
