/* Turn: the transaction around one run of an agent's code.
 *
 * A turn commits atomically (commit.h) or is rolled back. Changes take effect
 * immediately, so that the turn sees them, and are written to the batch; each leaves an
 * undo note (undo.h). Messages and output are held until the commit, so nobody sees them
 * from a turn that fails. A door that sends opens a turn as well. At most one turn is
 * open at a time.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_TURN_H
#define SOC_KERNEL_TURNS_TURN_H

#include "kernel/state.h"

/* A savepoint inside a turn, for a step of several changes that may fail half-way. */
struct soc_turn_mark {
    size_t batch_length;
    size_t undo_count;
    uint32_t sent_count;
};

/* Opens a turn of `agent` (NULL: the host); `activation` NULL: a turn of a door. */
void soc_turn_begin(struct soc_host *host, struct soc_agent *agent,
                    struct soc_activation *activation);

/* Rolls the open turn back: undoes every change in reverse order, drops its output. */
void soc_turn_rollback(struct soc_host *host);

/* Notes a change of the open turn, so that it can be rolled back. */
void soc_turn_note(struct soc_host *host, struct soc_undo undo);

/* Returns a savepoint of the open turn. */
struct soc_turn_mark soc_turn_mark(const struct soc_host *host);

/* Rolls the open turn back to a savepoint; lines printed since then stay. */
void soc_turn_rollback_to(struct soc_host *host, struct soc_turn_mark mark);

/* Closes the open turn and appends the records that survive a rollback. For commit.c. */
void soc_turn_close(struct soc_host *host);

#endif
