/* Presentation: message.text, a message in the words a model reads.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_ANSWERS_PRESENTATION_H
#define SOC_SCRIPT_ANSWERS_PRESENTATION_H

#include "script/turns/box.h"

/* The hook `push_text` of turns/box.h: pushes the text of the message at index 1, as the
 * policy `presentation` words it. Inside a turn it is an effect, so that a replay does
 * not ask the policy again. */
void soc_presentation_push_text(lua_State *L, struct soc_script *script);

#endif
