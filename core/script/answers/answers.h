/* Answers: the host's questions, put to the policies in force.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_ANSWERS_ANSWERS_H
#define SOC_SCRIPT_ANSWERS_ANSWERS_H

#include "script/turns/box.h"

/* The functions of struct soc_hooks; `user` is the script. */
bool soc_answer_may_send(void *user, struct soc_agent *from, struct soc_agent *to,
                         const struct soc_contact *contact, struct soc_buf *refusal);
bool soc_answer_may_broadcast(void *user, struct soc_agent *from, bool is_head,
                              struct soc_buf *refusal);
int64_t soc_answer_retry_after(void *user, struct soc_agent *agent, uint32_t retries);
bool soc_answer_is_failed(void *user, struct soc_agent *agent, const int64_t *ages_ms,
                          size_t count);
bool soc_answer_is_adopted(void *user, struct soc_agent *agent, struct soc_agent *child,
                           bool is_forced);
size_t soc_answer_victim(void *user, const struct soc_waiter *cycle, size_t count);

/* tasks.c */
int64_t soc_answer_task_retry(void *user, const struct soc_task *task, struct soc_slice error);
int64_t soc_answer_task_limit(void *user, const struct soc_message *message, int64_t limit_ms);

/* delivery.c */
struct soc_rung soc_answer_rung(void *user, const struct soc_message *message, uint32_t step);

/* Pushes an agent as policies see it: { id, role, parent? }. */
void soc_answer_push_person(lua_State *L, const struct soc_agent *agent);

/* introduce.c */
void soc_answer_introduce(void *user, const struct soc_introduction *introduction,
                          struct soc_introduce_answer *answer);
bool soc_answer_takes_unsolicited(void *user, struct soc_agent *from, struct soc_agent *to);

/* gatekeeper.c */
struct soc_agent *soc_answer_route(void *user, struct soc_slice payload, struct soc_buf *intent);

/* Appends the reasons of a policy, the second result of its answer at `index`, as the object
 * that a refusal takes its fields from. */
void soc_answer_put_refusal(lua_State *L, int index, struct soc_buf *refusal);

/* hosts.c */
bool soc_answer_accepts(void *user, struct soc_slice from, struct soc_slice to,
                        struct soc_slice type, struct soc_buf *refusal);

/* hosts.c: the name of the host where an agent is to be born, according to the policy. False:
 * it does not say, or there are no other hosts. */
bool soc_answer_place(lua_State *L, struct soc_script *script, struct soc_slice role,
                      struct soc_slice brief, struct soc_buf *name);

/* context.c */
bool soc_answer_context(void *user, const struct soc_agent *agent, struct soc_buf *out);

#endif
