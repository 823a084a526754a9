/* Chat: model calls, driven by the engine in Lua.
 *
 * lua/society/llm/engine.lua decides who calls when, what is sent, and what the answer
 * is. This file carries out its orders: a request, a timer, an answer with its usage.
 * The engine names the key; only the exchange knows its value.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_H
#define SOC_SCRIPT_CALLS_CHAT_H

#include "parts/models/calls.h"
#include "script/turns/box.h"

struct soc_chat; /* one call */

/* Prepare the script, and release it. All calls must have ended. */
void soc_chat_open(struct soc_script *script);
void soc_chat_fini(struct soc_script *script);

/* The hooks of a call of kind `chat`; its driver is the chat. */
void soc_chat_begin(struct soc_script *script, struct soc_outcall *call);
void soc_chat_due(struct soc_chat *chat);
void soc_chat_end(struct soc_chat *chat);

/* Lends a sentence about an unexpected call in a simulation, one that does not fit its
 * script or that nothing answers; empty if there was none. The next one is reported
 * anew. */
const char *soc_chat_unexpected(struct soc_script *script);
void soc_chat_expect_again(struct soc_script *script);

#endif
