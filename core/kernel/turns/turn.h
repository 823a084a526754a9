/* Turn: what one run of an agent's code changes is committed as one, or not at all.
 *
 * Changes are made at once, so that the turn sees them, and written to the batch
 * at once; each leaves a note of how to take it back. Messages wait for the commit
 * (commit.h): nobody sees one from a turn that fails. A door that sends opens a
 * turn as well.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_TURN_H
#define SOC_KERNEL_TURNS_TURN_H

#include "kernel/state.h"

/* Where a turn stood: a step of several changes that fails half-way returns there. */
struct soc_turn_mark {
    size_t batch_length;
    size_t undo_count;
    uint32_t sent_count;
};

/* Opens a turn of `agent` (NULL: the host's own); `activation` NULL: a door's. */
void soc_turn_begin(struct soc_host *host, struct soc_agent *agent,
                    struct soc_activation *activation);

/* Rolls the turn back: takes every change back, in reverse order. */
void soc_turn_rollback(struct soc_host *host);

/* Notes a change, so that it can be taken back. */
void soc_turn_note(struct soc_host *host, struct soc_undo undo);

/* Marks where the open turn stands. */
struct soc_turn_mark soc_turn_mark(const struct soc_host *host);

/* Takes it back to there; lines already printed in it stay. */
void soc_turn_return(struct soc_host *host, struct soc_turn_mark mark);

/* Appends the records that stay whatever becomes of the turn; it is over. */
void soc_turn_close(struct soc_host *host);

#endif
