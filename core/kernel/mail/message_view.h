/* Message view: the fields of a message, one by one, as they are shown.
 *
 * Whoever writes messages for somebody, as JSON or as Lua tables, walks the table of fields
 * and asks here for each value, so that all show the same.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_MESSAGE_VIEW_H
#define SOC_KERNEL_MAIL_MESSAGE_VIEW_H

#include "base/limits.h"
#include "model/message.h"

/* What is looked at. All is lent. */
struct soc_message_view {
    const struct soc_message *message; /* for its numbers only: it may be a copy without texts */
    struct soc_slice from;
    struct soc_slice to;
    struct soc_slice type;
    struct soc_slice payload; /* JSON */
    const char *texts;        /* one behind the other, as behind a message's payload */
};

/* What a value is. */
enum soc_viewed_kind {
    SOC_VIEWED_NOTHING, /* the message has no such field, or nobody is shown it */
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

/* Gives the value of a field. */
void soc_message_view_get(const struct soc_message_view *view, enum soc_message_field field,
                          struct soc_viewed *value);

#endif
