/* Introductions: requests to be introduced to somebody, and their answers.
 *
 * Whoever wants to meet somebody asks a contact. If that contact leaves it to the
 * host, the policy `introductions` answers at once, also while the contact itself
 * is busy or waits: it names somebody, asks onward in the contact's name, asks the
 * requester's parent to agree, or refuses. What the host waits for survives a
 * restart. Only an answer to an open request makes anybody known.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_CONTACTS_INTRODUCTIONS_H
#define SOC_PARTS_CONTACTS_INTRODUCTIONS_H

#include "kernel/hooks.h"
#include "kernel/mail/router.h"
#include "model/introduction.h"

/* Checks and completes what `from` is about to send to `to`. Of a response: finds the
 * request it answers, whom it names, and puts what the host knows of that agent
 * into `payload`, which `send->payload` then lends. Of a request: says in `via` which
 * way it has come. Other types are left alone. */
int soc_introductions_prepare(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                              const struct soc_symbol *type, struct soc_send *send,
                              struct soc_buf *payload, struct soc_buf *error);

/* A request is due at its receiver: opens it. True if the host keeps the message,
 * because it answers for the receiver. */
bool soc_introductions_receive(struct soc_host *host, struct soc_message *message);

/* Tells whether the message is a request that has not come to its receiver yet. */
bool soc_introductions_is_new(const struct soc_host *host, const struct soc_message *message);

/* An answer has committed: adds the contact it brings and closes its request. True
 * if the message is done with, because the host itself had asked. */
bool soc_introductions_accept(struct soc_host *host, struct soc_message *message);

/* Appends the answer of agent:request_introduction for the reply: the new contact,
 * or a refusal. */
void soc_introductions_put_answer(struct soc_host *host, const struct soc_message *reply,
                                  struct soc_buf *answer);

/* Nobody waits for the answer to message `key` any more. */
void soc_introductions_close(struct soc_host *host, uint64_t key);

/* Tells whether message `key` is a question of the host's that is not answered yet,
 * and whether the host has still to answer a request for `agent`. */
bool soc_introductions_is_question(const struct soc_host *host, uint64_t key);
bool soc_introductions_has_held(const struct soc_host *host, const struct soc_agent *agent);

/* `agent` has ended: what the host holds for it is a dead letter with `reason`, and
 * whoever asked it has to ask somebody else. */
void soc_introductions_end_agent(struct soc_host *host, const struct soc_agent *agent,
                                 struct soc_slice reason);

/* Lends whom the answer to request `key`, which was put to `broker`, depends on: the
 * broker; while the host answers for it, whoever it asked onward; NULL: nobody. */
struct soc_agent *soc_introductions_target(const struct soc_host *host, uint64_t key,
                                           struct soc_agent *broker);

/* The time for a question of the host's is over. */
void soc_introductions_timer(struct soc_host *host, struct soc_introduction *introduction);

/* Appends the JSON list of those who were asked in vain. */
void soc_introductions_put_asked(struct soc_buf *out, const struct soc_introduction *entry);

/* Reads back a record, or its end; gives a held message back to its request, false if it is
 * not held; begins to wait again. */
void soc_introductions_restore(struct soc_host *host, const struct soc_record_introduction *record);
void soc_introductions_forget(struct soc_host *host, uint64_t key);
bool soc_introductions_reclaim(struct soc_host *host, struct soc_message *message);
void soc_introductions_resume(struct soc_host *host);

/* Frees everything. */
void soc_introductions_free(struct soc_host *host);

#endif
