/* Undo: how a change that a turn has made is rolled back or settled.
 *
 * Whoever changes something inside a turn leaves a note (turn.h) with the
 * operations of its kind of change. The turn calls them without knowing what
 * was changed.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_UNDO_H
#define SOC_KERNEL_TURNS_UNDO_H

#include <stdbool.h>
#include <stdint.h>

struct soc_agent;
struct soc_host;
struct soc_undo;

/* What can happen to a change. Any of the functions may be NULL. */
struct soc_undo_ops {
    /* The turn is rolled back. */
    void (*take_back)(struct soc_host *host, struct soc_undo *undo);
    /* The turn has committed; its messages have not been accepted yet. */
    void (*settle)(struct soc_host *host, struct soc_undo *undo);
    /* The turn has committed and its messages are accepted. */
    void (*finish)(struct soc_host *host, struct soc_undo *undo);
    /* The change is mail or memory: it does not count as progress (guard.h). */
    bool is_talk;
};

/* One change of the turn under way. The fields belong to whoever noted it. */
struct soc_undo {
    const struct soc_undo_ops *ops;
    struct soc_agent *agent; /* whom it concerns */
    struct soc_agent *peer;  /* the second agent concerned, or NULL */
    void *data;              /* what has changed */
    void *old;               /* what to restore; owned by the note */
    uint64_t number;
    uint32_t old_number;
    bool flag;
    bool old_flag;
};

#endif
