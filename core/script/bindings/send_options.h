/* Send options: a Lua table of send_message, request or s:send as a struct.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_SEND_OPTIONS_H
#define SOC_SCRIPT_BINDINGS_SEND_OPTIONS_H

#include "script/inside.h"

/* What the table held beyond struct soc_send. */
struct soc_send_options {
    struct soc_send send; /* texts are lent by the Lua table */
    int to_index;         /* stack index of `to` when it is a list, else 0 */
    int payload_index;    /* stack index of the payload, 0: none */
    int copy_index;       /* of a copy of it, 0: none was made on the way */
    bool has_delay;
    int64_t delay_ms;   /* 0: none; `send` holds the time it means */
    int64_t timeout_ms; /* -1: not given */
    bool has_more;      /* more was said than to whom and what */
    uint64_t hash;      /* of all of it */
};

/* Reads the table at `index`. The payload goes to `script->payload`. Unknown
 * options and wrong types raise and name the option; what is wrong with the
 * payload is SOC_ENOPAYLOAD or SOC_EBADMESSAGE with the object in
 * `script->error`. Leaves the values it read on the stack. Asks no metatable. */
int soc_send_options_read(lua_State *L, struct soc_script *script, int index,
                          struct soc_send_options *out);

/* Lends the names in a payload that speak of its envelope; NULL ends them. */
const char *const *soc_payload_envelope_names(void);

/* Encodes the payload at `index` into `script->payload`, as said above. */
int soc_payload_encode(lua_State *L, struct soc_script *script, int index);

#endif
