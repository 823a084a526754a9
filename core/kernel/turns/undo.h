/* Undo: notes of the changes a turn has made.
 *
 * Code that changes something inside a turn leaves a note (soc_turn_note) with the
 * operations for its kind of change. The turn calls them without knowing what was
 * changed: `roll_back` in reverse order, or `commit` and later `finish` in order.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_UNDO_H
#define SOC_KERNEL_TURNS_UNDO_H

#include <stdbool.h>
#include <stdint.h>

struct soc_agent;
struct soc_host;
struct soc_undo;

/* The operations of one kind of change. Any function may be NULL. */
struct soc_undo_ops {
    /* The turn is rolled back: undo the change and free what the note owns. */
    void (*roll_back)(struct soc_host *host, struct soc_undo *undo);
    /* The turn has committed; its messages have not been accepted yet. */
    void (*commit)(struct soc_host *host, struct soc_undo *undo);
    /* The turn has committed and its messages have been accepted. */
    void (*finish)(struct soc_host *host, struct soc_undo *undo);
    /* Mail and memory: does not count as progress (guard.h). */
    bool is_talk;
};

/* One change of the open turn. The ops define what the other fields mean. */
struct soc_undo {
    const struct soc_undo_ops *ops;
    struct soc_agent *agent; /* the agent concerned */
    struct soc_agent *peer;  /* a second agent, or NULL */
    void *data;              /* what was changed */
    void *old;               /* what to restore; owned by the note */
    uint64_t number;
    uint32_t old_number;
    bool flag;
    bool old_flag;
};

#endif
