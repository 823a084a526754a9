/* History: what happened, kept so that it can be replayed.
 *
 * Kept only if the society wants it (society.config{ history = "full" }); else the
 * host has none and every hook is a test for NULL. A row of history is a time, a
 * word for what it is and a detail in JSON; rows are records of the batch in which
 * the thing happened, so a crash leaves both or neither. There are:
 *   start     from here on this app, these files and these policies are in force
 *   file      another file was read, by a `require` inside a turn
 *   question  a policy was asked, and what it answered
 *   run       a behaviour was run from its start to `end`: with its message, the
 *             state before and after, and every effect with arguments and answer
 * `end` is done, raised, broken, or waits. What raised has a run of its own for each
 * try, since a try's effects go with its turn. Runs and questions older than the
 * setting `history_days` are forgotten.
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

/* Keeps history for so many days from now on; 0: no more. */
void soc_history_keep(struct soc_host *host, uint32_t days);

/* Puts a row; `detail` is JSON. It stays whatever becomes of the turn under way. */
void soc_history_put(struct soc_host *host, const char *what, struct soc_slice detail);

/* Keeps a text by the hash of its bytes, 16 hex digits, which are written. */
void soc_history_put_source(struct soc_host *host, struct soc_slice text, char hash[17]);

/* The arguments, JSON, of the effect that is begun next. */
void soc_history_set_arguments(struct soc_host *host, struct soc_slice arguments);

/* Lends them, absent if none were set, and forgets them at the next call. */
struct soc_slice soc_history_arguments(struct soc_host *host);

/* The running activation is about to change agent.state. */
void soc_history_keep_state(struct soc_host *host, struct soc_slice state);

/* It is about to answer its message with the payload `result`. */
void soc_history_keep_result(struct soc_host *host, struct soc_slice result);

/* Puts the row of a run that has come to its end; `error` is absent if it has none. */
void soc_history_put_run(struct soc_host *host, const struct soc_activation *activation,
                         const char *end, struct soc_slice error);

/* Appends the detail of such a row for an activation that waits. */
void soc_history_describe(struct soc_host *host, const struct soc_activation *activation,
                          struct soc_buf *out);

/* Where the question that is put now stands: members `effect`, the number of effects
 * so far, and `message`; nothing outside of an activation. */
void soc_history_put_place(struct soc_host *host, struct soc_buf *out);

/* Frees what it has. */
void soc_history_free(struct soc_host *host);

#endif
