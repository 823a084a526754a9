/* Stage: a society inside a bench, with an app of bench/apps.
 *
 * In memory it has no loop, no thread and virtual time; in a directory it is what
 * `society run` makes, writer thread included, but for the doors.
 * Layer: bench. Thread: one. */
#ifndef STAGE_H
#define STAGE_H

#include "embed/assembly.h"

/* Zero initially. */
struct stage {
    struct soc_assembly parts;
    const char *counter; /* what stage_run_until waits for */
    int64_t goal;
};

/* Makes the society of bench/apps/APP with up to two numbers as arguments.
 * `directory` NULL: in memory. */
void stage_open(struct stage *stage, const char *app, const char *directory, int64_t first,
                int64_t second);

/* Reads a counter of the statistics: processed, pending, agents and so on. */
int64_t stage_count(struct stage *stage, const char *counter);

/* Runs until the counter has reached `goal`. */
void stage_run_until(struct stage *stage, const char *counter, int64_t goal);

/* Runs for so many microseconds. */
void stage_run_for(struct stage *stage, int64_t us);

/* Waits until everything done so far is durable. */
void stage_settle(struct stage *stage);

/* Ends it, folding for at most `fold_ms_max`. */
void stage_close(struct stage *stage, int64_t fold_ms_max);

#endif
