/* Mark: a point inside a turn to which it can be taken back, for a step of several
 * changes that failed half-way.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MARK_H
#define SOC_KERNEL_MARK_H

#include <stddef.h>
#include <stdint.h>

struct soc_host;

/* Where a turn stood. */
struct soc_turn_mark {
    size_t batch_length;
    size_t undo_count;
    uint32_t sent_count;
};

/* Marks where the open turn stands. */
struct soc_turn_mark soc_turn_mark(const struct soc_host *host);

/* Takes it back to there; lines already printed in it stay. */
void soc_turn_return(struct soc_host *host, struct soc_turn_mark mark);

#endif
