/* Introductions: requests to be introduced to another agent, and their answers.
 *
 * An agent that wants to meet another asks a contact, the broker. If the broker leaves
 * it to the host, the policy `introductions` answers immediately, even while the broker
 * is busy or waiting: it names an agent, asks onward on behalf of the broker, asks the
 * requester's parent for consent, or refuses. Open questions survive a restart. Only an
 * answer to an open request makes anyone known.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_CONTACTS_INTRODUCTIONS_H
#define SOC_PARTS_CONTACTS_INTRODUCTIONS_H

#include "kernel/hooks.h"
#include "kernel/mail/router.h"
#include "model/introduction.h"

struct soc_item;
struct soc_verdict;

/* Checks and completes what `from` is about to send to `to`. For a response: finds its
 * request and the agent it names, and writes what the host knows of that agent to
 * `payload`, which `send->payload` then lends. For a request: sets `via` to the path it
 * has taken, and refuses one that has passed too many agents. Ignores other types. */
int soc_introductions_prepare(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                              const struct soc_symbol *type, struct soc_send *send,
                              struct soc_buf *payload, struct soc_buf *error);

/* Sets how many agents may pass a request on. */
void soc_introductions_set_hops(struct soc_host *host, int64_t hops_max);

/* A request is due at its receiver: opens it. True if the host keeps the message,
 * because it answers for the receiver. */
bool soc_introductions_receive(struct soc_host *host, struct soc_message *message);

/* Tells whether the message is a request that has not reached its receiver yet. */
bool soc_introductions_is_new(const struct soc_host *host, const struct soc_message *message);

/* An answer has committed: adds the contact it brings and closes its request. True if
 * the message needs no delivery, because the host had asked. */
bool soc_introductions_accept(struct soc_host *host, struct soc_message *message);

/* Appends the answer of agent:request_introduction for the reply: the new contact, or a
 * refusal. */
void soc_introductions_put_answer(struct soc_host *host, const struct soc_message *reply,
                                  struct soc_buf *answer);

/* A request to `user` that `main` does not receive becomes an item of the person's inbox,
 * with the user's contacts as options. False if the message is no open request. */
bool soc_introductions_show(struct soc_host *host, const struct soc_message *message);

/* The person has decided: answers the request of the item inside the turn of `user`, by an
 * introduction of the choice or a refusal, and returns 1. SOC_OK: not such an item. */
int soc_introductions_decide(struct soc_host *host, const struct soc_item *item,
                             const struct soc_verdict *verdict, struct soc_message **message,
                             struct soc_buf *error);

/* Writes the request to the journal, as part of the turn or after a commit. */
void soc_introductions_store(struct soc_host *host, struct soc_introduction *introduction);

/* Nobody waits for the answer to message `key` any more. */
void soc_introductions_close(struct soc_host *host, uint64_t key);

/* Tells whether request `key` is an open item of the inbox. */
bool soc_introductions_is_item(const struct soc_host *host, uint64_t key);

/* Tells whether message `key` is an open question of the host, and whether the host
 * still has to answer a request on behalf of `agent`. */
bool soc_introductions_is_question(const struct soc_host *host, uint64_t key);
bool soc_introductions_has_held(const struct soc_host *host, const struct soc_agent *agent);

/* `agent` has terminated: what the host holds for it becomes a dead letter with
 * `reason`, and those who asked it must ask someone else. */
void soc_introductions_end_agent(struct soc_host *host, const struct soc_agent *agent,
                                 struct soc_slice reason);

/* Lends the agent that the answer to request `key`, sent to `broker`, depends on: the
 * broker; while the host answers for it, the agent asked onward; NULL: nobody. */
struct soc_agent *soc_introductions_target(const struct soc_host *host, uint64_t key,
                                           struct soc_agent *broker);

/* A question of the host has timed out. */
void soc_introductions_timer(struct soc_host *host, struct soc_introduction *introduction);

/* Appends the JSON list of agents asked in vain. */
void soc_introductions_put_asked(struct soc_buf *out, const struct soc_introduction *entry);

/* Recovery: restores a record, or its end; returns a held message to its request, false
 * if it is not held; resumes waiting. */
void soc_introductions_restore(struct soc_host *host, const struct soc_record_introduction *record);
void soc_introductions_forget(struct soc_host *host, uint64_t key);
bool soc_introductions_reclaim(struct soc_host *host, struct soc_message *message);
void soc_introductions_resume(struct soc_host *host);

/* Frees everything. */
void soc_introductions_free(struct soc_host *host);

#endif
