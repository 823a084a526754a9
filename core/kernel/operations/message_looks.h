/* Message looks: the operation about one message.
 *
 * `message` shows it with its reply, the message it answers and the lines of the activity
 * log about it, and can wait for the reply. A client that has lost its answer asks again
 * with the id.
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_MESSAGE_LOOKS_H
#define SOC_KERNEL_OPERATIONS_MESSAGE_LOOKS_H

#include "kernel/operations/operation.h"

/* The list, terminated by a NULL name. */
extern const struct soc_operation soc_message_looks[];

#endif
