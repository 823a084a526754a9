/* Chat: calls to models, joined to the engine in Lua that leads them.
 *
 * lua/society/llm/engine.lua decides who asks when, what is sent, and what the answer
 * is; here its orders are carried out: a transfer, a time to be woken, an answer with
 * what it took. The key is named by the engine and known to the exchange only.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_H
#define SOC_SCRIPT_CALLS_CHAT_H

#include "parts/models/calls.h"
#include "script/turns/box.h"

struct soc_chat; /* one call */

/* Prepares the script, and releases what that took. Every call has ended before. */
void soc_chat_open(struct soc_script *script);
void soc_chat_fini(struct soc_script *script);

/* The hooks of a call of kind `chat`; its driver is the chat. */
void soc_chat_begin(struct soc_script *script, struct soc_outcall *call);
void soc_chat_due(struct soc_chat *chat);
void soc_chat_end(struct soc_chat *chat);

/* Lends a sentence about a call that a simulation did not expect: it does not fit its
 * script, or nothing answers; empty if there was none. The next one is told anew. */
const char *soc_chat_unexpected(struct soc_script *script);
void soc_chat_expect_again(struct soc_script *script);

#endif
