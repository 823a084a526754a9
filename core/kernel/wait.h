/* Wait: what an activation waits for, and how it goes on.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_WAIT_H
#define SOC_KERNEL_WAIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "model/activation.h"

struct soc_host;

/* Starts the wait that `activation->wait` describes: timer and open request. */
void soc_wait_begin(struct soc_host *host, struct soc_activation *activation);

/* Ends it with `answer` (JSON: a list of results, or an error object), recorded,
 * and makes the agent ready. */
void soc_wait_answer(struct soc_host *host, struct soc_activation *activation,
                     struct soc_slice answer);

/* Ends it without an answer: nobody is there any more to go on. */
void soc_wait_cancel(struct soc_host *host, struct soc_activation *activation);

/* Hands `message` to `agent` if it waits to receive such a one; false if not. */
bool soc_wait_offer(struct soc_host *host, struct soc_agent *agent, struct soc_message *message);

/* Ends the wait of `agent` if it can only receive from one that has ended or failed, and
 * nothing that fits is on its way: with the error agent_stopped or receiver_failed. */
void soc_wait_check(struct soc_host *host, struct soc_agent *agent);

/* Has everybody looked at who waits to receive from `agent`, which has ended or
 * failed. */
void soc_wait_note_end(struct soc_host *host, const struct soc_agent *agent);

/* The timer of the activation has fired: time-out, end of sleep or of back-off. */
void soc_wait_timer(struct soc_host *host, struct soc_activation *activation);

/* Lends target number `index`, from 0, of the agents that `agent` waits for; NULL
 * behind the last. It waits for nobody if it sleeps, receives from anybody, or if
 * the host is at its request. */
struct soc_agent *soc_wait_target(const struct soc_host *host, const struct soc_agent *agent,
                                  size_t index);

/* Lends the correlation id of the chain that the waiting activation belongs to;
 * `id` is room for it. Absent for `main` unless it waits for a reply. */
struct soc_slice soc_wait_chain(const struct soc_host *host,
                                const struct soc_activation *activation,
                                char id[SOC_MESSAGE_ID_BYTES]);

/* Lends the name of what the activation waits for: reply, receive, sleep, look, human,
 * task, checkpoint, call, or retry after a turn that raised. */
const char *soc_wait_name(const struct soc_activation *activation);

/* Appends the wait as JSON, and reads it back; false if it is damaged. */
void soc_wait_put_json(struct soc_buf *out, const struct soc_wait *wait);
bool soc_wait_parse(struct soc_host *host, struct soc_slice json, struct soc_wait *wait);

#endif
