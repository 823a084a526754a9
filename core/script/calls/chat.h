/* Chat: calls to models, joined to the engine in Lua that leads them.
 *
 * lua/society/llm/engine.lua decides who asks when, what is sent, and what the answer
 * is; here its orders are carried out: a transfer, a time to be woken, an answer with
 * what it took. The key is named by the engine and known to the exchange only.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_H
#define SOC_SCRIPT_CALLS_CHAT_H

#include "parts/models/calls.h"
#include "parts/models/usage.h"
#include "script/turns/box.h"

struct soc_chat;  /* one call */
struct soc_chats; /* the engine and all calls */

/* outward.c: the hooks of a call of kind `chat`. */
void soc_chat_begin(struct soc_script *script, struct soc_outcall *call);
void soc_chat_due(struct soc_chat *chat);
void soc_chat_end(struct soc_chat *chat);

/* Takes the table at `index` (0: nothing, the usual bounds) as society.config{ llm = … }.
 * SOC_EINVAL and `detail` for an unknown or wrong setting. */
int soc_chat_configure(lua_State *L, struct soc_script *script, int index,
                       struct soc_detail *detail);

/* chat_keys.c: settles where keys may go, the app having loaded. */
void soc_chat_settle_keys(lua_State *L, struct soc_script *script);

/* chat_host.c: pushes the table of functions that the engine is handed. */
void soc_chat_push_host(lua_State *L, struct soc_script *script);

/* Lends a sentence about a call that a simulation did not expect: it does not fit its
 * script, or nothing answers; empty if there was none. The next one is told anew. */
const char *soc_chat_unexpected(struct soc_script *script);
void soc_chat_expect_again(struct soc_script *script);

/* chat_show.c: a line of the log for whoever watches: what this answer took and which
 * tools it calls, or by which error it failed (`answer` is its JSON), and everything so far. */
void soc_chat_show_answer(struct soc_host *host, const struct soc_agent *agent,
                          struct soc_usage used, struct soc_slice answer);

/* Forgets the engine. Every call has ended before. */
void soc_chat_fini(struct soc_script *script);

#endif
