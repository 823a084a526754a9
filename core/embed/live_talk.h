/* Live talk: chooses which of several streaming model calls is shown on the one line.
 *
 * Each open call has its own live text, so nothing is lost while another is shown. A
 * call stays visible until it ends, or until it has been silent for long and another
 * one speaks.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_LIVE_TALK_H
#define SOC_EMBED_LIVE_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "embed/live_text.h"

#define SOC_LIVE_SILENT_MAX 20 /* redraws that a silent speaker stays visible */

/* One streaming call. */
struct soc_live_speaker {
    uint64_t call;
    struct soc_live_text text;
    unsigned silent; /* redraws since it last spoke */
};

/* All streaming calls. An all-zero struct is empty. */
struct soc_live_talk {
    struct soc_live_speaker *speakers; /* in the order they began */
    size_t count, room;
    uint64_t seen; /* visible call; 0: none (calls count from 1) */
};

/* Adds text that the agent `name` streams in the call `call`. */
void soc_live_talk_add(struct soc_live_talk *talk, uint64_t call, struct soc_slice name,
                       struct soc_slice text);

/* Forgets calls that are no longer open. */
void soc_live_talk_sweep(struct soc_live_talk *talk, bool (*is_open)(void *user, uint64_t call),
                         void *user);

/* Redraws: appends the line of the visible call (soc_live_text_put). */
void soc_live_talk_draw(struct soc_live_talk *talk, size_t columns, struct soc_buf *out);

/* Frees it. */
void soc_live_talk_fini(struct soc_live_talk *talk);

#endif
