/* Gate: the only way from an agent's script to the world.
 *
 * The script layer brackets each effect:
 *   1. soc_gate_begin returns the recorded answer if the script is being replayed,
 *      or says that the effect is live.
 *   2. A live effect is carried out.
 *   3. soc_gate_answer records its result, or soc_gate_wait records that the answer
 *      comes later and the script yields.
 * Answers are JSON: a list of results, or an error object. Recorded effects are
 * matched by index, kind and hash of the arguments.
 *
 * «The running agent» is the one whose turn is open. Functions that speak of it need
 * an open turn with an activation.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_GATE_H
#define SOC_KERNEL_GATE_H

#include "base/buf.h"
#include "env/log.h"
#include "kernel/mail/router.h"
#include "model/activation.h"

/* Result of soc_gate_begin. */
enum soc_gate_state {
    SOC_GATE_LIVE,     /* carry it out */
    SOC_GATE_RECORDED, /* use the recorded answer */
};

/* Begins the next effect of the open turn. Returns an enum soc_gate_state, with
 * `*answer` lent for SOC_GATE_RECORDED. Errors, with `error` set, end the activation:
 * SOC_ENONDET (replay differs), SOC_ETOOLONG (too many effects), SOC_EREFUSED (another
 * effect is still open or waiting). */
int soc_gate_begin(struct soc_host *host, enum soc_effect_kind kind, uint64_t hash,
                   struct soc_slice *answer, struct soc_buf *error);

/* The same for an effect that has a time-out. */
int soc_gate_begin_timed(struct soc_host *host, enum soc_effect_kind kind,
                         struct soc_effect_hash hash, struct soc_slice *answer,
                         struct soc_buf *error);

/* The same for an aside (model/activation.h). SOC_GATE_RECORDED means that nothing is to be
 * done; `*answer` is absent where the recorded script passed this place without it. */
int soc_gate_begin_aside(struct soc_host *host, enum soc_effect_kind kind, uint64_t hash,
                         struct soc_slice *answer, struct soc_buf *error);

/* Records the answer of the current effect. */
void soc_gate_answer(struct soc_host *host, struct soc_slice answer);

/* Records the receipt of the sent message as the answer of the current effect. */
void soc_gate_answer_sent(struct soc_host *host, const struct soc_message *message);

/* Makes the current effect wait; the script must yield now. */
void soc_gate_wait(struct soc_host *host, const struct soc_wait *wait);

/* Returns true if the open turn, which is about to end, must raise instead because the
 * simulation injects a fault. Never twice in a row and never where the supervision
 * policy would declare the agent failed, so no work is given up because of it. */
bool soc_gate_inject_failure(struct soc_host *host);

/* Lends the fault that the simulation injects into the model call that begins now: busy,
 * limited, cut, garbled or slow. NULL: none. */
const char *soc_gate_inject_model_fault(struct soc_host *host);

/* Records the new agent.state of the running agent if it has changed. */
void soc_gate_set_state(struct soc_host *host, struct soc_slice json);

/* Moves the first matching message from the running agent's mailbox into its
 * activation and lends it; NULL if there is none. */
struct soc_message *soc_gate_take(struct soc_host *host, struct soc_mail_filter filter);

/* Returns true if a matching message is in transit to the running agent: not due yet,
 * or sent by this turn. */
bool soc_gate_is_coming(struct soc_host *host, struct soc_mail_filter filter);

/* Lends the message with that id or key that the running activation holds, or NULL. */
const struct soc_message *soc_gate_find_id(struct soc_host *host, struct soc_slice id);
const struct soc_message *soc_gate_find_key(struct soc_host *host, uint64_t key);

/* Addresses `send` as the answer to the message with that id that the activation holds, or
 * to the request with that id or correlation id: one it holds, or an open one put to the
 * running agent earlier.
 * SOC_ENOMESSAGE if there is neither. */
int soc_gate_address_reply(struct soc_host *host, struct soc_slice id, struct soc_send *send,
                           struct soc_buf *error);

/* Lends the symbol of a message type. */
const struct soc_symbol *soc_gate_type(struct soc_host *host, struct soc_slice type);

/* Appends the members `agent` and `message_id` of the running activation to an
 * unfinished error object. `main` has no message. */
void soc_gate_put_place(struct soc_host *host, struct soc_buf *error);

/* Lends the running activation, or NULL outside turns and in turns of doors. */
struct soc_activation *soc_gate_activation(struct soc_host *host);

/* Prints a line as the running agent; it leaves when the turn is durable. */
void soc_gate_print(struct soc_host *host, struct soc_slice text);

/* Marks that the running activation makes progress, which a part may require. */
void soc_gate_progress(struct soc_host *host);

/* Logs a line as the running agent and records it in the activity log. `fields` is a
 * JSON object or absent. */
void soc_gate_log(struct soc_host *host, enum soc_log_level level, struct soc_slice text,
                  struct soc_slice fields);

/* Records a milestone of the running agent in the activity log. */
void soc_gate_milestone(struct soc_host *host, struct soc_slice text);

/* Sets and returns the limit of effects in one activation. */
void soc_gate_set_effects_max(struct soc_host *host, uint32_t effects_max);
uint32_t soc_gate_effects_max(const struct soc_host *host);

/* Returns 64 random bits from the seed. */
uint64_t soc_gate_random(struct soc_host *host);

/* Calls `call(user)` once everything recorded so far is durable. */
void soc_gate_when_durable(struct soc_host *host, void (*call)(void *user), void *user);

/* Brackets several sends of a door as `from`: a turn of their own, committed or rolled
 * back as a whole. */
void soc_gate_begin_as(struct soc_host *host, struct soc_agent *from);
void soc_gate_end_as(struct soc_host *host, bool is_kept);

/* Appends the receipt for the sender of `message`: a list with one object. */
void soc_gate_put_receipt(struct soc_host *host, const struct soc_message *message,
                          struct soc_buf *out);

/* Replaces the receipt of a duplicate by the error `duplicate`, for sends that need a
 * new message. Returns SOC_EEXISTS. */
int soc_gate_refuse_duplicate(struct soc_buf *receipt);

/* Sends as `from` from a door, in a turn of its own that commits on success. The
 * second waits for the reply for `timeout_ms` (> 0; below 0: as the receiver's role says)
 * and calls `cb` once with it or with an error object. */
int soc_gate_send_as(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                     struct soc_buf *answer);
int soc_gate_request_as(struct soc_host *host, struct soc_agent *from, struct soc_send *send,
                        int64_t timeout_ms, void (*cb)(void *user, struct soc_slice answer),
                        void *user, struct soc_buf *error);

#endif
