/* Payload: a script's value as the JSON of a message's payload.
 *
 * A string stands for { text = … }. Most payloads are flat tables whose names were seen
 * before; those are written, and copied for their receiver, in one walk
 * (lualib/lua_flat.h).
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_PAYLOAD_H
#define SOC_SCRIPT_TURNS_PAYLOAD_H

#include "script/turns/box.h"

/* Prepares the script for encoding, and releases what that took. */
void soc_payload_open(struct soc_script *script);
void soc_payload_fini(struct soc_script *script);

/* What encoding finds on its way. */
struct soc_payload {
    bool wants_copy; /* in: push a copy of the table if that costs next to nothing */
    bool has_copy;   /* out: it was pushed */
    bool is_bare;    /* out: no member of it belongs to the envelope */
};

/* Writes the value at `index` to `out`. SOC_ENOPAYLOAD, SOC_ETOOLARGE or SOC_EBADMESSAGE
 * with the error object in `error`. `payload` may be NULL. Calls no metamethods. */
int soc_payload_encode(lua_State *L, struct soc_script *script, int index, struct soc_buf *out,
                       struct soc_payload *payload, struct soc_buf *error);

#endif
