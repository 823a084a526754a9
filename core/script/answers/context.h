/* Context: all an agent that thinks in words is told about itself.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_ANSWERS_CONTEXT_H
#define SOC_SCRIPT_ANSWERS_CONTEXT_H

#include "script/turns/frame.h"

/* Appends, as a JSON string, the agent's context: role, whole brief, contacts and the
 * rules of the society, worded by the policies of the kinds presentation and prompts.
 * Where no policy can word a part it is given as JSON, so that nothing is missing. If the
 * policy names its language, that follows behind a comma. */
void soc_context_put(lua_State *L, struct soc_frame *frame, const struct soc_agent *agent,
                     struct soc_buf *out);

#endif
