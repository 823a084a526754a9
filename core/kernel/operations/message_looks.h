/* Message looks: the operation about one message.
 *
 * `message` shows it with its reply, the message it answers and the lines of the activity
 * log about it, and can wait for the reply. A client that has lost its answer asks again
 * with the id.
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_MESSAGE_LOOKS_H
#define SOC_KERNEL_OPERATIONS_MESSAGE_LOOKS_H

#include "kernel/operations/operation.h"

/* Called once with the reply to a message as a row; absent if none came in time. */
typedef void soc_message_found(struct soc_call *call, struct soc_slice reply);

/* Finds the message with that id, which the caller may see, and waits up to `wait_ms` for a
 * reply to it. Answers with an error if there is no such message. Uses `work` of the call. */
void soc_message_looks_find(struct soc_given *given, struct soc_slice id, int64_t wait_ms,
                            soc_message_found *found);

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_message_looks[];

#endif
