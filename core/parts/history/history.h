/* History: a record of what happened, so that it can be replayed.
 *
 * Kept only on request (society.config{ history = "full" }); otherwise every hook is a
 * test for NULL. A row consists of a time, a kind and details in JSON. Rows belong to
 * the batch in which the event happened, so a crash keeps both or neither. The kinds
 * are:
 *   start     this app, these files and these policies are in force from here on
 *   file      a `require` inside a turn read another file
 *   question  a policy was asked, with its answer
 *   run       a behaviour ran from its start to `end`: its message, the state before and
 *             after, and every effect with arguments and answer
 * `end` is done, raised, broken or waits. Each try of a run that raises gets its own
 * row, because its effects are rolled back with its turn. Runs and questions older than
 * the setting `history_days` are deleted.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HISTORY_HISTORY_H
#define SOC_PARTS_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "model/activation.h"

struct soc_history;
struct soc_host;

/* Keeps history for `days` days from now on; 0 turns it off. */
void soc_history_keep(struct soc_host *host, uint32_t days);

/* Appends a row; `detail` is JSON. The row stays even if the current turn rolls back. */
void soc_history_put(struct soc_host *host, const char *what, struct soc_slice detail);

/* Stores a text under the hash of its bytes and writes the hash, 16 hex digits, to
 * `hash`. */
void soc_history_put_source(struct soc_host *host, struct soc_slice text, char hash[17]);

/* Sets the arguments (JSON) of the next effect. */
void soc_history_set_arguments(struct soc_host *host, struct soc_slice arguments);

/* Lends the arguments, valid until the next call, and clears them. Absent if none were
 * set. */
struct soc_slice soc_history_arguments(struct soc_host *host);

/* Notes the state that the running activation is about to replace. */
void soc_history_keep_state(struct soc_host *host, struct soc_slice state);

/* Notes the payload with which the running activation is about to answer its message. */
void soc_history_keep_result(struct soc_host *host, struct soc_slice result);

/* Appends the row of a run that ended; `error` is absent if there was none. */
void soc_history_put_run(struct soc_host *host, const struct soc_activation *activation,
                         const char *end, struct soc_slice error);

/* Appends the detail of such a row for an activation that is waiting. */
void soc_history_describe(struct soc_host *host, const struct soc_activation *activation,
                          struct soc_buf *out);

/* Appends where the current question was asked: members `effect` (the number of effects
 * so far) and `message`. Appends nothing outside an activation. */
void soc_history_put_place(struct soc_host *host, struct soc_buf *out);

/* Returns the hash of the scripts that the society last ran with; 0: unknown. Kept without
 * history, too. */
uint64_t soc_history_script(const struct soc_host *host);

/* Stores that it runs with scripts of this hash from now on. */
void soc_history_set_script(struct soc_host *host, uint64_t hash);

/* Frees the history of the host. */
void soc_history_free(struct soc_host *host);

#endif
