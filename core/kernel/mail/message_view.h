/* Message view: the public values of a message's fields.
 *
 * Code that presents messages, as JSON or as Lua tables, walks the field table and gets
 * each value here, so that all presentations agree.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_MESSAGE_VIEW_H
#define SOC_KERNEL_MAIL_MESSAGE_VIEW_H

#include "base/limits.h"
#include "model/message.h"

/* The message to present. All is lent. */
struct soc_message_view {
    const struct soc_message *message; /* numbers only: may be a copy without texts */
    struct soc_slice from;
    struct soc_slice to;
    struct soc_slice type;
    struct soc_slice payload; /* JSON */
    const char *texts;        /* concatenated, as after a message's payload */
};

/* Kinds of values. */
enum soc_viewed_kind {
    SOC_VIEWED_NOTHING, /* the field is unset or not public */
    SOC_VIEWED_FLAG,
    SOC_VIEWED_INTEGER,
    SOC_VIEWED_NUMBER,
    SOC_VIEWED_TEXT,
    SOC_VIEWED_JSON,
};

/* The value of a field. */
struct soc_viewed {
    enum soc_viewed_kind kind;
    bool flag;
    int64_t integer;
    double number;
    struct soc_slice text;           /* lent by the view, or by `room` */
    char room[SOC_MESSAGE_ID_BYTES]; /* for ids and times */
};

/* Stores the value of a field in `*value`, which may lend from itself: do not copy it. */
void soc_message_view_get(const struct soc_message_view *view, enum soc_message_field field,
                          struct soc_viewed *value);

#endif
