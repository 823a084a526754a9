/* Waiting: how an activation begins to wait, and how it goes on.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_WAITING_H
#define SOC_KERNEL_TURNS_WAITING_H

#include <stdbool.h>

#include "base/slice.h"

struct soc_activation;
struct soc_agent;
struct soc_host;
struct soc_message;

/* Starts the wait that `activation->wait` describes: timer and open request. */
void soc_waiting_begin(struct soc_host *host, struct soc_activation *activation);

/* Ends it with `answer` (JSON: a list of results, or an error object), recorded,
 * and makes the agent ready. */
void soc_waiting_answer(struct soc_host *host, struct soc_activation *activation,
                        struct soc_slice answer);

/* Ends it without an answer: nobody is there any more to go on. */
void soc_waiting_cancel(struct soc_host *host, struct soc_activation *activation);

/* Hands `message` to `agent` if it waits to receive such a one; false if not. */
bool soc_waiting_offer(struct soc_host *host, struct soc_agent *agent, struct soc_message *message);

/* Ends the wait of `agent` if it can only receive from one that has ended or failed, and
 * nothing that fits is on its way: with the error agent_stopped or receiver_failed. */
void soc_waiting_check(struct soc_host *host, struct soc_agent *agent);

/* Has everybody looked at who waits to receive from `agent`, which has ended or
 * failed. */
void soc_waiting_note_end(struct soc_host *host, const struct soc_agent *agent);

/* The timer of the activation has fired: time-out, end of sleep or of back-off. */
void soc_waiting_timer(struct soc_host *host, struct soc_activation *activation);

#endif
