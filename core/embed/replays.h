/* Replays: `society replay` as a process of its own, for clients of a running society.
 *
 * One runs at a time. What it prints goes to STATE/replays/ID.jsonl, its errors to ID.err;
 * nothing of it is remembered by the next run of the society. A replay that still runs ends
 * with the society.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_REPLAYS_H
#define SOC_EMBED_REPLAYS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct soc_replays;

/* Returns an empty list for the society in `state_dir`. `program` is the path of the program
 * `society`; NULL: unknown. Release with soc_replays_free(). */
struct soc_replays *soc_replays_new(const char *state_dir, const char *program);

/* Ends the one that runs and frees the list. NULL is allowed. */
void soc_replays_free(struct soc_replays *replays);

/* Starts a replay under other policies, a JSON object of kinds and names, or absent. SOC_OK
 * with the list [{ id, state }] in `answer`, or an error with its object there. */
int soc_replays_start(struct soc_replays *replays, struct soc_slice policies,
                      struct soc_buf *answer);

/* Appends the list [{ id, state, code?, findings }] of one replay to `answer`, or its error
 * object: SOC_ENOFILE. */
int soc_replays_put(struct soc_replays *replays, struct soc_slice id, struct soc_buf *answer);

#endif
