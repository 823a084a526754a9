/* Receipt: { messageId }, what a script gets for a message it sent.
 *
 * Few scripts look at it, so the id is formatted on demand. Until it is read, iterated or
 * changed, the table holds the message's number and time and a lazy metatable; then it
 * becomes a plain table.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_RECEIPT_H
#define SOC_SCRIPT_TURNS_RECEIPT_H

#include "script/turns/box.h"

/* Makes the metatable of receipts. */
void soc_receipt_open(lua_State *L, struct soc_script *script);

/* Pushes the receipt of `message`. */
void soc_receipt_push(lua_State *L, struct soc_script *script, const struct soc_message *message);

#endif
