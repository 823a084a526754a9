/* Send options: the Lua table that describes a message to send.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_SEND_OPTIONS_H
#define SOC_SCRIPT_BINDINGS_SEND_OPTIONS_H

#include "kernel/mail/send_input.h"
#include "script/turns/frame.h"

/* A table of options, read. */
struct soc_send_options {
    struct soc_send_input input; /* its texts are lent by the stack */
    int payload_index;           /* stack index of the payload, 0: none */
    int copy_index;              /* stack index of a copy of it, 0: none */
    struct soc_effect_hash hash; /* of all options, for replay */
};

/* Reads the table at `index` in a context (enum soc_send_context bits). The payload goes to
 * `frame->payload`. Unknown options and wrong values raise and name the option; a payload
 * that is missing or no JSON gives SOC_ENOPAYLOAD or SOC_EBADMESSAGE with the object in
 * `frame->error`. Leaves what it read on the stack. Asks no metatable. */
int soc_send_options_read(lua_State *L, struct soc_frame *frame, int index, unsigned context,
                          struct soc_send_options *out);

/* The same for a table without a payload. `input` must be zeroed. */
void soc_send_options_say(lua_State *L, int index, unsigned context, struct soc_send_input *input);

#endif
