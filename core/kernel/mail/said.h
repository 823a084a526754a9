/* Said: what a sender says of a message, wherever it says so.
 *
 * A reader of Lua tables and a reader of JSON objects (send_reader.h) each hand their
 * values to soc_said_set, field by field, in the order of the table of fields. So a value
 * is taken or refused alike everywhere, and a refusal has the same words.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_SAID_H
#define SOC_KERNEL_MAIL_SAID_H

#include "base/err.h"
#include "kernel/mail/router.h"
#include "model/message_fields.h"

/* What a value is, in Lua as in JSON. */
enum soc_value_kind {
    SOC_VALUE_NULL, /* as if nothing was said */
    SOC_VALUE_FLAG,
    SOC_VALUE_NUMBER,
    SOC_VALUE_TEXT,
    SOC_VALUE_OTHER, /* a list or an object */
};

/* A value that was said. */
struct soc_value {
    enum soc_value_kind kind;
    bool flag;
    double number;
    struct soc_slice text; /* lent */
};

/* What was said. Zero it first. */
struct soc_said {
    struct soc_send send; /* its texts are lent by whoever speaks */
    /* A list of receivers, lent; then `send.to` is absent. */
    struct soc_slice *receivers;
    size_t receivers_count;
    struct soc_slice reply_to; /* the id of what is answered */
    int64_t delay_ms;          /* as it was said; soc_said_settle makes a time of it */
    int64_t timeout_ms;
    uint32_t fields; /* 1 << enum soc_message_field: what was said */
};

/* Why something cannot be said. */
struct soc_said_fault {
    const char *field; /* lent for ever */
    struct soc_detail detail;
};

/* Tells whether the field was said. */
static inline bool soc_said_has(const struct soc_said *said, enum soc_message_field field)
{
    return said->fields >> field & 1;
}

/* Takes the value of a field and lends its text. Payloads and lists of receivers are the
 * readers' own. SOC_EINVAL with `fault` if the field cannot be that. */
int soc_said_set(struct soc_said *said, enum soc_message_field field, const struct soc_value *value,
                 struct soc_said_fault *fault);

/* Tells whether a list may have so many receivers in this context (enum soc_say bits). */
int soc_said_check_list(unsigned context, size_t count, struct soc_said_fault *fault);

/* Takes one receiver of a list. */
int soc_said_set_receiver(struct soc_slice *receiver, const struct soc_value *value,
                          struct soc_said_fault *fault);

/* A field was said by more than one of its names. */
int soc_said_refuse_twice(enum soc_message_field field, unsigned context,
                          struct soc_said_fault *fault);

/* Checks what fields say together, when all are set. */
int soc_said_check(const struct soc_said *said, struct soc_said_fault *fault);

/* Makes a time of a delay. Call it once, when the hash is made. */
void soc_said_settle(struct soc_said *said, int64_t now_ms);

#endif
