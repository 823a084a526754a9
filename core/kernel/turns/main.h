/* Main: the activation of `user` that runs the app's `main`, without a message.
 *
 * When `main` raises, the society ends and the next start runs it again with the answers it
 * recorded. Its last answer would only make it raise again: what others said, a time-out
 * above all. So that answer is forgotten and its wait begins anew: a sleep, a question to
 * the person, a checkpoint, a request, an ack that did not come. A message that its receiver
 * still has is not sent again; `main` goes back to waiting for the reply or the ack. A message
 * that `main` received, and the result of a model call or an HTTP request, are kept: they came
 * once.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_MAIN_H
#define SOC_KERNEL_TURNS_MAIN_H

#include <stdbool.h>

#include "base/slice.h"

struct soc_activation;
struct soc_agent;
struct soc_host;
struct soc_message;

/* Starts `main`, or makes it ready to resume where it was. With the option `retries_main`
 * what it has done so far is dropped first. */
void soc_main_begin(struct soc_host *host);

/* `main` has begun to wait: it is past the point where it failed in an earlier run. */
void soc_main_wait(struct soc_host *host);

/* `main` has returned. */
void soc_main_end(struct soc_host *host);

/* `main` has raised. `is_final`: it no longer fits what was recorded; nothing is
 * forgotten then. */
void soc_main_fail(struct soc_host *host, const struct soc_activation *activation, bool is_final,
                   struct soc_slice error);

/* Reads what soc_main_fail has stored; empty: nothing. */
void soc_main_restore(struct soc_host *host, struct soc_slice value);

/* Forgets the answer that made `main` fail. For recovery, once its effects are loaded. */
void soc_main_forget(struct soc_host *host, struct soc_activation *activation);

/* Lends the message that the current effect, a request or a send to `to`, sent before `main`
 * failed, if `to` still has it; or NULL. */
const struct soc_message *soc_main_asked(const struct soc_host *host, const struct soc_agent *to);

#endif
