/* Chat keys: which servers may receive the keys of models.
 *
 * A provider names the variable of its key and a server: its default, unless an
 * environment variable or the app names another. lua/society/llm/providers.lua has the
 * same rules and finds the server to call. They are repeated here so that no Lua code
 * decides where a key goes; if the two disagree, no key is sent.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_KEYS_H
#define SOC_SCRIPT_CALLS_CHAT_KEYS_H

#include "script/turns/box.h"

/* Settles where keys may go, once the app has loaded. */
void soc_chat_keys_settle(lua_State *L, struct soc_script *script);

#endif
