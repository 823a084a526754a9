/* Message params: the fields of a message as parameters and members of operations.
 *
 * Derived from model/message_fields.h: the same rows, in the same order, so that bit N
 * chooses enum soc_message_field N.
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_MESSAGE_PARAMS_H
#define SOC_KERNEL_OPERATIONS_MESSAGE_PARAMS_H

#include "kernel/operations/operation.h"
#include "model/message_fields.h"

/* Every field as a parameter of a send; soc_operation.takes chooses. */
extern const struct soc_param soc_message_params[];

/* Every field as a member of a message; soc_operation.tells chooses. Six that are no fields
 * follow: `error`, the error object that `reason` names, `cause`, `caused_by`, `reply`, `life` and
 * `tries`. */
extern const struct soc_param soc_message_members[];

/* The words for a priority, terminated by NULL. */
extern const char *const soc_message_params_priorities[];

#define SOC_MESSAGE_PARAMS_IS(condition, tag)                                                      \
    | ((condition) ? (uint64_t)1 << SOC_MESSAGE_FIELD_##tag : (uint64_t)0)

/* The fields that a sender at a door may set; the second also if it waits for a reply. */
#define SOC_MESSAGE_PARAMS_SEND_BIT(tag, name, kind, by, shown, hashed)                            \
    SOC_MESSAGE_PARAMS_IS(                                                                         \
        SOC_KIND_##kind != SOC_KIND_SENDER && ((unsigned)SOC_BY_##by & SOC_SEND_FROM_SOCKET), tag)
#define SOC_MESSAGE_PARAMS_REQUEST_BIT(tag, name, kind, by, shown, hashed)                         \
    SOC_MESSAGE_PARAMS_IS(SOC_KIND_##kind != SOC_KIND_SENDER &&                                    \
                              ((unsigned)SOC_BY_##by &                                             \
                               ((unsigned)SOC_SEND_FROM_SOCKET | (unsigned)SOC_SEND_FROM_WAIT)),   \
                          tag)
#define SOC_MESSAGE_PARAMS_SEND ((uint64_t)0 SOC_MESSAGE_FIELD_MAP(SOC_MESSAGE_PARAMS_SEND_BIT))
#define SOC_MESSAGE_PARAMS_REQUEST                                                                 \
    ((uint64_t)0 SOC_MESSAGE_FIELD_MAP(SOC_MESSAGE_PARAMS_REQUEST_BIT))

/* The fields of a message as its receiver sees it, and as the history shows it. */
#define SOC_MESSAGE_PARAMS_ENVELOPE_BIT(tag, name, kind, by, shown, hashed)                        \
    SOC_MESSAGE_PARAMS_IS(SOC_SHOWN_##shown == SOC_SHOWN_ENVELOPE, tag)
#define SOC_MESSAGE_PARAMS_ROW_BIT(tag, name, kind, by, shown, hashed)                             \
    SOC_MESSAGE_PARAMS_IS(                                                                         \
        SOC_SHOWN_##shown == SOC_SHOWN_ENVELOPE || SOC_SHOWN_##shown == SOC_SHOWN_HISTORY, tag)
#define SOC_MESSAGE_PARAMS_ENVELOPE                                                                \
    ((uint64_t)0 SOC_MESSAGE_FIELD_MAP(SOC_MESSAGE_PARAMS_ENVELOPE_BIT))
#define SOC_MESSAGE_PARAMS_ROW                                                                     \
    ((uint64_t)1 << SOC_MESSAGE_FIELD_COUNT SOC_MESSAGE_FIELD_MAP(SOC_MESSAGE_PARAMS_ROW_BIT))

/* What else one message shows: `cause`, `caused_by`, `reply` and `life`. */
#define SOC_MESSAGE_PARAMS_WHOLE ((uint64_t)15 << (SOC_MESSAGE_FIELD_COUNT + 1))

/* What a dead letter shows: `tries` as well. */
#define SOC_MESSAGE_PARAMS_LETTER                                                                  \
    (SOC_MESSAGE_PARAMS_ROW | (uint64_t)1 << (SOC_MESSAGE_FIELD_COUNT + 5))

#endif
