/* Waiting: suspends activations and resumes them.
 *
 * A waiting activation has a timer if its wait has a deadline. Whatever ends the wait
 * records the answer and makes the agent ready; the schedule then resumes the script.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_WAITING_H
#define SOC_KERNEL_TURNS_WAITING_H

#include <stdbool.h>

#include "base/slice.h"

struct soc_activation;
struct soc_agent;
struct soc_host;
struct soc_message;

/* Starts the wait that `activation->wait` describes, live or during recovery. */
void soc_waiting_begin(struct soc_host *host, struct soc_activation *activation);

/* Ends the wait: records `answer` (JSON: a list of results, or an error object) and makes
 * the agent ready. */
void soc_waiting_answer(struct soc_host *host, struct soc_activation *activation,
                        struct soc_slice answer);

/* Ends the wait without an answer, because the activation will not resume. */
void soc_waiting_cancel(struct soc_host *host, struct soc_activation *activation);

/* Gives `message` to `agent` if it waits to receive a matching one; false if not. */
bool soc_waiting_offer(struct soc_host *host, struct soc_agent *agent, struct soc_message *message);

/* Ends the wait of `agent` with agent_stopped or receiver_failed if it waits to receive
 * from an agent that has ended or failed and no matching message is in transit. */
void soc_waiting_check(struct soc_host *host, struct soc_agent *agent);

/* Notes all agents that wait to receive from `agent`, which has ended or failed. */
void soc_waiting_note_end(struct soc_host *host, const struct soc_agent *agent);

/* Suspends an activation whose turn stalled, for SOC_STALL_MS or until soc_waiting_unstall. */
void soc_waiting_stall(struct soc_host *host, struct soc_activation *activation);

/* Makes a stalled activation ready at once; others are left as they are. */
void soc_waiting_unstall(struct soc_host *host, struct soc_activation *activation);

/* The timer of the activation has fired: timeout, end of a sleep or of a back-off. */
void soc_waiting_timer(struct soc_host *host, struct soc_activation *activation);

#endif
