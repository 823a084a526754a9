/* Check: watches the history of a society and reports what must never happen.
 *
 * It reads what the society writes, record by record, and what the outside world is shown,
 * and keeps books of its own. No rule is taken from the code it checks; only the format of
 * records is shared. A batch counts when it is durable; after a crash the history is what
 * the store still holds.
 *
 * These laws are checked:
 *   - no batch is lost that was durable, or that a start has read;
 *   - every message ends once, and none is left at the end, except for agents that are held
 *     (paused, failed) or outside, which keep their mail;
 *   - a broadcast goes to everyone who was there and had space, and ends for each of them;
 *   - the totals match the records;
 *   - mail is handled in order per sender, receiver and priority, urgent mail first;
 *   - an effect is recorded once and answered once, never before its time;
 *   - nothing is shown, handed out or requested from the world before it is durable, and no
 *     line is shown twice unless a crash left it in doubt;
 *   - contacts come only from births, briefs, messages and introductions, and strangers do
 *     not write;
 *   - no message is handled before its time or after its time to live, and none expires
 *     early, even when the clock is set back;
 *   - the time of the society and of ids never goes back, and no time gets another date;
 *   - an outside agent is handed urgent mail first, and nothing again that it has acked or
 *     answered, that was given up, or while it owes an ack, until somebody decides; its mail
 *     ends only when it has processed or answered it; what it sends goes to whom it means;
 *     it is unresponsive only after a silence longer than the limit;
 *   - only the agent that was asked answers, and once;
 *   - no cycle of agents that wait for each other outlives the step that closed it;
 *   - an item of the inbox is decided once;
 *   - a deduplication key makes one message per window, and commits with it;
 *   - an idempotency key stands for one order per window, and commits with the message that
 *     was sent under it;
 *   - a door takes each line once, refused or not;
 *   - what a start loads from the tables is what the history says (ledger.h);
 *   - the live society is what its history says (census.c): a turn that was rolled back, or
 *     a restart, leaves no agent, role, contact, message, checkpoint, hold or coming end
 *     behind, and loses none;
 *   - nobody outlives its parent, unless it is ending or has another parent.
 *
 * Some names let a scenario say more: a member `once` of a payload is a text that its sender
 * sends only once; `not_before` and `not_after` are times in ms between which it is handled;
 * a member `handled` of an agent's state is the number of messages that it has handled.
 * Layer: check. Thread: loop. */
#ifndef SOC_CHECK_CHECK_H
#define SOC_CHECK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct soc_check;
struct soc_store;

/* Returns a checker of an empty history. Release with soc_check_free(). */
struct soc_check *soc_check_new(void);

/* Frees it. NULL is allowed. */
void soc_check_free(struct soc_check *check);

/* Forgets everything, for another history. Memory is reused. */
void soc_check_reset(struct soc_check *check);

/* Sets how many messages may wait for one agent: an agent with that many is skipped by
 * broadcasts. No bound by default. */
void soc_check_bound(struct soc_check *check, uint32_t mailbox_max);

/* Sets the orchestrator, to whom everybody may write; root by default. */
void soc_check_orchestrator(struct soc_check *check, struct soc_slice id);

/* Sets for how long a deduplication key counts; that of limits.h by default. */
void soc_check_window(struct soc_check *check, int64_t window_ms);

/* Sets how long an outside agent may be silent, 0: for ever; that of limits.h by default. */
void soc_check_silence(struct soc_check *check, int64_t silence_ms);

/* A batch was submitted. */
void soc_check_sealed(struct soc_check *check, uint64_t sequence, struct soc_slice batch);

/* The society reports that everything up to `sequence` is durable. */
void soc_check_durable(struct soc_check *check, uint64_t sequence);

/* A line was shown. */
void soc_check_shown(struct soc_check *check, struct soc_slice stream, struct soc_slice agent,
                     struct soc_slice text);

/* A message was handed out to an outside agent, under an id: the agent acks its mail at any
 * time and in any order, and may owe some acks at the end. */
void soc_check_outside(struct soc_check *check, struct soc_slice id, uint64_t key,
                       struct soc_slice message_id, int64_t now_ms);

/* Everything that outside agents do is reported from now on, with the next two. */
void soc_check_watched(struct soc_check *check);

/* An outside agent is about to ack a message, `is_done`: as processed, or by an answer. */
void soc_check_acked(struct soc_check *check, struct soc_slice id, uint64_t key, bool is_done,
                     int64_t now_ms);

/* An outside agent is about to send a message for `to`, under an id of its own; both may be
 * absent. */
void soc_check_said(struct soc_check *check, struct soc_slice id, struct soc_slice external_id,
                    struct soc_slice to, int64_t now_ms);

/* A model or a server is called for an agent. `id` is the id of the call. */
void soc_check_called(struct soc_check *check, struct soc_slice agent, struct soc_slice id);

/* The society has crashed; its store holds everything up to `sequence`. */
void soc_check_restart(struct soc_check *check, uint64_t sequence);

/* The same, and soc_check_stored. */
void soc_check_reload(struct soc_check *check, struct soc_store *store);

/* A start now would load from the store what the history says, however much of it is folded.
 * Everything that the store holds was reported durable. A store that cannot be read is not
 * judged. */
void soc_check_stored(struct soc_check *check, struct soc_store *store);

/* A census of the live society, while everything it did is durable: how many roles agents
 * have created and checkpoints are open; each agent with its parent (absent: none), how many
 * agents it has ever spawned and whether it is held or ending, then its contacts and the mail
 * in its mailbox, one by one. */
void soc_check_census_begin(struct soc_check *check, uint64_t roles, uint64_t checkpoints);
void soc_check_census_agent(struct soc_check *check, struct soc_slice id, struct soc_slice parent);
void soc_check_census_standing(struct soc_check *check, struct soc_slice id, uint64_t births,
                               bool is_held, bool is_ending);
void soc_check_census_contact(struct soc_check *check, struct soc_slice owner,
                              struct soc_slice peer);
void soc_check_census_mail(struct soc_check *check, struct soc_slice to, uint64_t key,
                           int64_t now_ms);
void soc_check_census_end(struct soc_check *check);

/* The history is over, at `now_ms`. */
void soc_check_end(struct soc_check *check, int64_t now_ms);

/* Lends a message about the first violation; NULL if there is none. */
const char *soc_check_fault(const struct soc_check *check);

/* Messages sent so far, and agents born. */
uint64_t soc_check_messages(const struct soc_check *check);
uint64_t soc_check_agents(const struct soc_check *check);

/* Appends up to `count` agents that have handled most: "root (12 messages), b (3
 * messages)". */
void soc_check_put_busiest(const struct soc_check *check, int count, struct soc_buf *out);

#endif
