/* Given: what an operation does with the call it is given (struct soc_given).
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPERATIONS_GIVEN_H
#define SOC_KERNEL_OPERATIONS_GIVEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "kernel/operations/operation.h"

struct soc_agent;

/* Lend or return a parameter that was checked, given under its name or its alias; absent,
 * `fallback` or false if it is not given. */
struct soc_slice soc_given_text(struct soc_given *given, const char *name);
struct soc_slice soc_given_json(const struct soc_given *given, const char *name);
int64_t soc_given_integer(const struct soc_given *given, const char *name, int64_t fallback);
int64_t soc_given_time(const struct soc_given *given, const char *name, int64_t fallback);
bool soc_given_flag(const struct soc_given *given, const char *name);

/* Lends the living agent whose id is the parameter `agent`, which the caller may see;
 * otherwise answers with an error and returns NULL. */
struct soc_agent *soc_given_agent(struct soc_given *given);

/* Tells whether the caller may see what belongs to that agent; answers with an error if
 * not. */
bool soc_given_may_see(struct soc_given *given, struct soc_slice agent);

/* Answers with a list at once. */
void soc_given_answer(struct soc_given *given, struct soc_slice list);

/* Answers with the list when everything so far is durable. Takes its bytes. */
void soc_given_answer_when_durable(struct soc_given *given, struct soc_buf *list);

/* The order is done and answered later: its idempotency key, if any, is kept with the list
 * that a repetition is answered with. */
void soc_given_keep_key(struct soc_given *given, struct soc_slice list);

/* Answers with the error object `error`. */
void soc_given_refuse(struct soc_given *given, struct soc_slice error);

/* Records the order if it changed something. `target`: JSON, what it concerns, or absent. */
void soc_given_note(struct soc_given *given, struct soc_slice target);

/* The order is carried out later and ends with soc_call_finish: keeps what is to be noted
 * then. */
void soc_given_defer(struct soc_given *given, struct soc_slice target);

/* Answers that the parameter `name` is at fault; the sentence says what is expected. */
void soc_given_fault(struct soc_given *given, const char *name, const char *sentence);

/* Records an order without a target that changes no record of its own, unless the disk is
 * full. */
void soc_given_note_always(struct soc_given *given);

/* Ends an order whose `target` is a text: an error object if `rc` < 0; otherwise notes it
 * and answers with the list `answer` when everything so far is durable. Frees `answer`. */
void soc_given_finish(struct soc_given *given, int rc, struct soc_slice target,
                      struct soc_buf *answer);

/* Answers a read operation; its `run`. */
void soc_given_look(struct soc_given *given);

/* Answers a call with a page of the store: a callback of soc_look_page. */
void soc_given_answer_page(int rc, struct soc_slice rows, const struct soc_page *page, void *call);

/* Reads the query of a read operation, whose parameters were checked, and how many rows its
 * page has. False: it is answered; the caller may not see that. */
bool soc_given_query(struct soc_given *given, struct soc_query *query);

#endif
