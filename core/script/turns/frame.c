#include "script/turns/frame.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static struct soc_frame *new_frame(struct soc_script *script, struct soc_frame *outer)
{
    struct soc_frame *frame = soc_alloc_zero(sizeof(*frame));
    frame->script = script;
    frame->outer = outer;
    return frame;
}

void soc_frame_init(struct soc_script *script)
{
    assert(script->frame == NULL);
    script->frame = new_frame(script, NULL);
}

void soc_frame_fini(struct soc_script *script)
{
    struct soc_frame *frame = script->frame;
    assert(frame == NULL || frame->outer == NULL);
    while (frame != NULL) {
        struct soc_frame *inner = frame->inner;
        soc_buf_fini(&frame->payload);
        soc_buf_fini(&frame->answer);
        soc_buf_fini(&frame->error);
        soc_buf_fini(&frame->scratch);
        free(frame);
        frame = inner;
    }
    script->frame = NULL;
}

void soc_frame_enter(struct soc_script *script)
{
    struct soc_frame *frame = script->frame;
    if (frame->inner == NULL)
        frame->inner = new_frame(script, frame);
    script->frame = frame->inner;
}

void soc_frame_leave(struct soc_script *script)
{
    assert(script->frame->outer != NULL);
    script->frame = script->frame->outer;
}
