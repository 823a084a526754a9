/* Frame: the buffers of one call that a script makes, from reading its arguments to its
 * answer.
 *
 * A call opens its frame first. The frame is its own until the call returns or raises;
 * nothing has to be given back. While a call runs it may ask a policy, whose function may
 * make calls of its own, so policies are called between soc_frame_enter and
 * soc_frame_leave: calls inside get the next frame. Frames are kept for later calls,
 * because their buffers have grown to what is needed.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_FRAME_H
#define SOC_SCRIPT_TURNS_FRAME_H

#include <assert.h>

#include "script/turns/box.h"

/* The buffers of one call. */
struct soc_frame {
    struct soc_script *script;
    struct soc_buf payload; /* what the call was given, as JSON */
    struct soc_buf answer;  /* the list of its results */
    struct soc_buf error;   /* the error object, if it is refused */
    struct soc_buf scratch;
    struct soc_frame *outer; /* NULL: no call is open around it */
    struct soc_frame *inner; /* NULL: not needed so far */
};

/* Makes the outermost frame of the script, and frees all of them. */
void soc_frame_init(struct soc_script *script);
void soc_frame_fini(struct soc_script *script);

/* Lends the frame of the call that begins now, with empty buffers. A call opens it once.
 * Inline: most messages take one. */
static inline struct soc_frame *soc_frame_open(struct soc_script *script)
{
    struct soc_frame *frame = script->frame;
    assert(frame->script == script);
    frame->payload.length = 0;
    frame->answer.length = 0;
    frame->error.length = 0;
    frame->scratch.length = 0;
    return frame;
}

/* Enter before, and leave after, a protected call of Lua code while a call is open. */
void soc_frame_enter(struct soc_script *script);
void soc_frame_leave(struct soc_script *script);

#endif
