/* Live talk: which of the models that speak at once is seen on the one line there is.
 *
 * Each call under way has a live text of its own, so that nothing of it is lost while
 * another is seen. One is seen until its call ends, or until it has been silent for long
 * and another speaks.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_LIVE_TALK_H
#define SOC_EMBED_LIVE_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "embed/live_text.h"

#define SOC_LIVE_SILENT_MAX 20 /* drawings that one may be silent and stay in sight */

/* One that speaks. */
struct soc_live_speaker {
    uint64_t call;
    struct soc_live_text text;
    unsigned silent; /* drawings since it spoke */
};

/* All of them; an all-zero struct is one where nobody has spoken. */
struct soc_live_talk {
    struct soc_live_speaker *speakers; /* in the order they began */
    size_t count, room;
    uint64_t seen; /* call that is in sight; 0: none, calls count from 1 */
};

/* Adds what the agent `name` says in the call `call`. */
void soc_live_talk_add(struct soc_live_talk *talk, uint64_t call, struct soc_slice name,
                       struct soc_slice text);

/* Forgets the calls that are not open any more. */
void soc_live_talk_sweep(struct soc_live_talk *talk, bool (*is_open)(void *user, uint64_t call),
                         void *user);

/* One drawing: appends the line of the one in sight (soc_live_text_put). */
void soc_live_talk_draw(struct soc_live_talk *talk, size_t columns, struct soc_buf *out);

/* Frees it. */
void soc_live_talk_fini(struct soc_live_talk *talk);

#endif
