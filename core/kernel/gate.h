/* Gate: everything an agent's script does to the world passes here.
 *
 * The script layer brackets each effect: soc_gate_begin says whether the answer
 * stands in the record already (the script is being run again) or the effect is
 * to be done now; then soc_gate_answer records what came of it, or soc_gate_wait
 * that the answer is to come. Answers are JSON: a list of results, or an error
 * object. Recorded effects are matched by index, kind and hash of arguments.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_GATE_H
#define SOC_KERNEL_GATE_H

#include "base/buf.h"
#include "env/log.h"
#include "kernel/mail/router.h"
#include "model/activation.h"

/* What soc_gate_begin found. */
enum soc_gate_state {
    SOC_GATE_LIVE,     /* do it */
    SOC_GATE_RECORDED, /* the answer is there */
};

/* Begins the next effect of the turn under way. An enum soc_gate_state, with
 * `*answer` lent for SOC_GATE_RECORDED; or SOC_ENONDET, SOC_ETOOLONG, or
 * SOC_EREFUSED while another effect is open or waits, with `error` set: the
 * activation cannot go on. */
int soc_gate_begin(struct soc_host *host, enum soc_effect_kind kind, uint64_t hash,
                   struct soc_slice *answer, struct soc_buf *error);

/* Records the answer of the effect begun last. */
void soc_gate_answer(struct soc_host *host, struct soc_slice answer);

/* Records that the effect begun last is answered by the message it sent. */
void soc_gate_answer_sent(struct soc_host *host, const struct soc_message *message);

/* Says that the effect begun last waits; the script must yield now. */
void soc_gate_wait(struct soc_host *host, const struct soc_wait *wait);

/* Tells whether the turn under way, which is about to end, is to raise instead: so says
 * the plan of a simulation. Once in a row, so that nothing is given up because of it, and
 * not where the supervision policy would call the agent failed for it. */
bool soc_gate_inject_failure(struct soc_host *host);

/* In a simulation: lends a word for what is wrong with a model that is asked now, by the
 * seed: busy, limited, cut, garbled or slow. NULL: nothing is. */
const char *soc_gate_model_trouble(struct soc_host *host);

/* Sets agent.state at the end of the activation under way, if it has changed. */
void soc_gate_set_state(struct soc_host *host, struct soc_slice json);

/* Takes the first message that fits out of the running agent's mailbox into its
 * activation and lends it; NULL if none is there. */
struct soc_message *soc_gate_take(struct soc_host *host, struct soc_mail_filter filter);

/* Tells whether such a message is on its way to the running agent: not due yet, or
 * sent by this very turn. */
bool soc_gate_is_coming(struct soc_host *host, struct soc_mail_filter filter);

/* Finds the message a reply of the running agent answers, among those its
 * activation holds, by id or correlation id; NULL if it holds none such. */
const struct soc_message *soc_gate_find_message(struct soc_host *host, struct soc_slice id);

/* The same by its key. */
const struct soc_message *soc_gate_find_key(struct soc_host *host, uint64_t key);

/* Completes `send` as an answer to the message with that id or correlation id:
 * one the activation holds, or an open request put to the running agent earlier.
 * SOC_ENOMESSAGE with `error` if it is neither. */
int soc_gate_address_reply(struct soc_host *host, struct soc_slice id, struct soc_send *send,
                           struct soc_buf *error);

/* Lends the symbol of a message type. */
const struct soc_symbol *soc_gate_type(struct soc_host *host, struct soc_slice type);

/* Appends the members `agent` and `message_id` of the running activation to an error
 * object that is open; main has no message. */
void soc_gate_put_place(struct soc_host *host, struct soc_buf *error);

/* The running activation, and whether a turn is under way at all. */
struct soc_activation *soc_gate_activation(struct soc_host *host);

/* A line for the world from the running agent. */
void soc_gate_print(struct soc_host *host, struct soc_slice text);

/* The script says that the activation under way makes progress (parts/supervision/guard.h). */
void soc_gate_progress(struct soc_host *host);

/* A line of the log and the activity from the running agent. `fields` is JSON or
 * absent. */
void soc_gate_log(struct soc_host *host, enum soc_log_level level, struct soc_slice text,
                  struct soc_slice fields);

/* Sets how many effects one activation may have. */
void soc_gate_set_effects_max(struct soc_host *host, uint32_t effects_max);

/* How many that is. */
uint32_t soc_gate_effects_max(const struct soc_host *host);

/* Chance: 64 bits from the seed. */
uint64_t soc_gate_random(struct soc_host *host);

/* Has `call(user)` made once everything done so far is durable. */
void soc_gate_when_durable(struct soc_host *host, void (*call)(void *user), void *user);

/* Several sends from outside any turn, as `from`, between the two: a turn of its own, kept
 * or taken back as one. */
void soc_gate_begin_as(struct soc_host *host, struct soc_agent *from);
void soc_gate_end_as(struct soc_host *host, bool is_kept);

/* Appends the answer to whoever sent `message`: a list with one object. */
void soc_gate_put_receipt(struct soc_host *host, const struct soc_message *message,
                          struct soc_buf *out);

/* Turns the receipt of a duplicate into the error `duplicate`, for a send that needs a
 * message of its own. Returns SOC_EEXISTS. */
int soc_gate_refuse_duplicate(struct soc_buf *receipt);

/* Sends from outside any turn, as `from`: a turn of its own, committed if it
 * succeeds. `timeout_ms` > 0 waits for the reply: `cb` is called once. */
int soc_gate_send_as(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                     struct soc_buf *answer);
int soc_gate_request_as(struct soc_host *host, struct soc_agent *from, struct soc_send *send,
                        int64_t timeout_ms, void (*cb)(void *user, struct soc_slice answer),
                        void *user, struct soc_buf *error);

#endif
