/* Check: watches a society's history and says what must never be.
 *
 * It reads what the society writes, record by record, and what the world outside is
 * shown, and keeps books of its own: no rule here is taken from the code that it
 * checks, and nothing but the form of a record is shared with it. A batch counts when
 * it is durable; after a crash the history is what the store still holds.
 *
 * What is checked: no durable batch is lost; every message that came in goes out once,
 * and at the end none is left but for agents that are held (paused, failed) or outside,
 * whose mail is kept; a broadcast goes to everybody who was there and had room for it, and
 * ends for each of them; the totals are those of the records; mail is handled in
 * order for each sender, receiver and priority, and urgent mail first; an effect is
 * recorded once and answered once, never before its time is over; nothing is shown,
 * handed out or asked of the world before it is durable, and no line is shown twice unless a
 * crash left it in doubt; contacts come from
 * nowhere but births, briefs, messages and introductions, and strangers do not write.
 *
 * Two names let a scenario say more: a member `once` of a payload is a text that its
 * sender sends once for ever, and a member `handled` of an agent's state is the number
 * of messages it has handled.
 * Layer: check. Thread: loop. */
#ifndef SOC_CHECK_CHECK_H
#define SOC_CHECK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct soc_check;

/* Returns a checker of an empty history. Release with soc_check_free(). */
struct soc_check *soc_check_new(void);

/* Frees it. NULL is allowed. */
void soc_check_free(struct soc_check *check);

/* Forgets everything, for another history; what was allocated is used again. */
void soc_check_reset(struct soc_check *check);

/* How many messages may wait for one agent: whoever has as many is left out of broadcasts.
 * Nobody is until this was said. */
void soc_check_bound(struct soc_check *check, uint32_t mailbox_max);

/* Who is the orchestrator, to whom agents outside may always write; root until it was said. */
void soc_check_orchestrator(struct soc_check *check, struct soc_slice id);

/* A batch is on its way to the disk. */
void soc_check_sealed(struct soc_check *check, uint64_t sequence, struct soc_slice batch);

/* The society says that everything up to `sequence` is durable. */
void soc_check_durable(struct soc_check *check, uint64_t sequence);

/* The world has seen a line. */
void soc_check_shown(struct soc_check *check, struct soc_slice stream, struct soc_slice agent,
                     struct soc_slice text);

/* A message was handed out to an agent that lives outside: it acks its mail when and in
 * what order it likes, and may owe some at the end. */
void soc_check_outside(struct soc_check *check, struct soc_slice id, uint64_t key);

/* An agent that lives outside is about to speak. */
void soc_check_heard(struct soc_check *check, struct soc_slice id);

/* The world is asked for something, for an agent: a model, a server. `id` is the call's. */
void soc_check_called(struct soc_check *check, struct soc_slice agent, struct soc_slice id);

/* The society has crashed; its store holds everything up to `sequence`. */
void soc_check_restart(struct soc_check *check, uint64_t sequence);

/* Nothing can happen any more, at `now_ms`. */
void soc_check_end(struct soc_check *check, int64_t now_ms);

/* Lends a sentence about the first thing that was wrong; NULL: nothing was. */
const char *soc_check_fault(const struct soc_check *check);

/* Messages that came in so far, and agents born. */
uint64_t soc_check_messages(const struct soc_check *check);
uint64_t soc_check_agents(const struct soc_check *check);

/* Appends who has handled most, up to `count` of them: "root (12 messages), b (3 messages)". */
void soc_check_put_busiest(const struct soc_check *check, int count, struct soc_buf *out);

#endif
