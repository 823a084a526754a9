/* Chat keys: where the keys of models may go.
 *
 * A provider names the variable of its key, and a server: its default one, unless a
 * variable of the environment or the app names another. The rules are those of
 * lua/society/llm/providers.lua, which finds the server that is asked. They are stated
 * here a second time so that no Lua decides where a key goes; a server that the two
 * disagree about gets no key.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_KEYS_H
#define SOC_SCRIPT_CALLS_CHAT_KEYS_H

#include "script/turns/box.h"

/* Settles where keys may go, now that the app has loaded. */
void soc_chat_keys_settle(lua_State *L, struct soc_script *script);

#endif
