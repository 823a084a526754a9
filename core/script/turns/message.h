/* Message: an envelope as scripts see it, and the copies of payloads kept for receivers.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_MESSAGE_H
#define SOC_SCRIPT_TURNS_MESSAGE_H

#include "script/turns/box.h"

/* Makes the metatable of messages. */
void soc_message_open(lua_State *L, struct soc_script *script);

/* Pushes a message as a table; its copy of the payload, if any, goes with it. */
void soc_message_push(lua_State *L, struct soc_script *script, struct soc_message *message);

/* Tells whether there is room to keep one more payload, of `length` bytes of JSON,
 * as a table for its receiver. */
bool soc_message_has_room(const struct soc_script *script, size_t length);

/* Pops the table on top, a copy of the payload, and keeps it for the message's receiver,
 * which saves decoding the JSON. */
void soc_message_keep_copy(lua_State *L, struct soc_script *script, struct soc_message *message);

/* Drops that copy. The hook `forget` of kernel/hooks.h; `user` is the script. */
void soc_message_forget(void *user, struct soc_message *message);

/* Reads the key of the message at `index` if it is not filled in yet. */
bool soc_message_key_of(lua_State *L, int index, uint64_t *key);

/* Sets the message metatable of the table on top, which gives it the field `text`. */
void soc_message_mark(lua_State *L, struct soc_script *script);

#endif
