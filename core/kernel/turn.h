/* Turn: what one run of an agent's code changes is one step, or nothing.
 *
 * Changes are made at once, so that the turn sees them, and written to the batch
 * at once; each leaves a note how to take it back. Messages wait for the commit:
 * nobody sees one from a turn that fails. A door that sends opens a turn too.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURN_H
#define SOC_KERNEL_TURN_H

#include "kernel/state.h"
#include "store/record.h"

/* Opens a turn of `agent` (NULL: the host's own); `activation` NULL: a door's. */
void soc_turn_begin(struct soc_host *host, struct soc_agent *agent,
                    struct soc_activation *activation);

/* Keeps everything: the messages go to their receivers, the outputs wait for
 * durability. */
void soc_turn_commit(struct soc_host *host);

/* Takes everything back, in reverse order. */
void soc_turn_rollback(struct soc_host *host);

/* Notes a change, so that it can be taken back. */
void soc_turn_note(struct soc_host *host, struct soc_undo undo);

/* Appends a record to the batch under way. */
void soc_batch_put(struct soc_host *host, const struct soc_record *record);

/* Sets one contact inside a turn, as record and as fact. Takes `extra`. */
void soc_turn_put_contact(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                          enum soc_source source, int64_t added_ms,
                          struct soc_contact_extra *extra);

/* Removes one contact inside a turn. */
void soc_turn_remove_contact(struct soc_host *host, struct soc_agent *owner,
                             struct soc_agent *peer);

/* The same two where there is nothing to take back. */
void soc_turn_write_contact(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                            enum soc_source source, int64_t added_ms,
                            struct soc_contact_extra *extra);
void soc_turn_erase_contact(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer);

#endif
