/* Chat host: what the host offers to the engine of model calls.
 *
 * Providers get none of it.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_HOST_H
#define SOC_SCRIPT_CALLS_CHAT_HOST_H

#include "script/turns/box.h"

/* Pushes the table of functions for the engine. */
void soc_chat_host_push(lua_State *L, struct soc_script *script);

#endif
