/* Inlet: a file that outside agents append to and the file door reads.
 *
 * Each line is an ack, a heartbeat or a message. How far the file was read is committed
 * together with what the line led to, so a crash neither loses a line nor takes it twice.
 * A line that cannot be taken now (a full mailbox, a full disk) is retried; one that
 * never can is skipped and logged.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_INLET_H
#define SOC_BRIDGE_FILES_INLET_H

#include "bridge/files/state.h"

/* Prepares an inlet at the position that was stored for it. `client` is the agent that
 * writes the file; NULL: each line names its sender. Release with soc_inlet_close(). */
void soc_inlet_open(struct soc_inlet *inlet, struct soc_files *files,
                    struct soc_files_client *client, enum soc_place place, const char *name);

/* Frees what the inlet holds. The file stays. */
void soc_inlet_close(struct soc_inlet *inlet);

/* Starts over at the beginning of the file, whose former contents were archived. */
void soc_inlet_begin_anew(struct soc_inlet *inlet);

/* Takes the new lines of the file, up to a limit; returns whether there are more. */
bool soc_inlet_look(struct soc_inlet *inlet, bool is_last);

/* Takes the new acks of an agent, up to `end`: how far the ack file reached before the
 * agent's messages were read.
 *
 * The ack of an agent that is about to end may end it, and its earlier messages must
 * come first. While some of them wait, the acks of such an agent only confirm that the
 * acked message arrived; they are taken later. */
bool soc_inlet_look_at_acks(struct soc_files_client *client, const struct soc_lines_end *end,
                            bool is_last);

#endif
