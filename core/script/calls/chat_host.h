/* Chat host: what the engine of model calls may ask of the host.
 *
 * Providers are handed none of it.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_HOST_H
#define SOC_SCRIPT_CALLS_CHAT_HOST_H

#include "script/turns/box.h"

/* Pushes the table of functions that the engine is handed. */
void soc_chat_host_push(lua_State *L, struct soc_script *script);

#endif
