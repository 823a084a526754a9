/* Said: the fields of a message as given by a sender, checked in one place.
 *
 * The reader of Lua tables and the reader of JSON objects (send_reader.h) pass each value
 * to soc_send_input_set, in the order of the field table. So every door accepts and refuses the
 * same values with the same text.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_SEND_INPUT_H
#define SOC_KERNEL_MAIL_SEND_INPUT_H

#include "base/err.h"
#include "kernel/mail/router.h"
#include "model/delivery/ack.h"
#include "model/message_fields.h"

struct soc_clock;

/* Kinds of values, in Lua and JSON alike. */
enum soc_value_kind {
    SOC_VALUE_NULL, /* as if the field was absent */
    SOC_VALUE_FLAG,
    SOC_VALUE_NUMBER,
    SOC_VALUE_TEXT,
    SOC_VALUE_OTHER, /* a list or an object */
};

/* A given value. */
struct soc_value {
    enum soc_value_kind kind;
    bool flag;
    double number;
    struct soc_slice text; /* lent */
};

/* The given fields. Zero it first. */
struct soc_send_input {
    struct soc_send send; /* texts are lent by the reader */
    /* A list of receivers, lent; then `send.to` is absent. */
    struct soc_slice *receivers;
    size_t receivers_count;
    struct soc_slice reply_to; /* id of the answered message */
    int64_t delay_ms;          /* as given; soc_send_input_settle makes it absolute */
    int64_t timeout_ms;
    enum soc_ack wait_ack; /* the ack the sender waits for; SOC_ACK_NONE: it does not wait */
    uint32_t fields;       /* 1 << enum soc_message_field: the given ones */
};

/* Why a value was refused. */
struct soc_send_input_fault {
    const char *field; /* static text */
    struct soc_detail detail;
};

/* Returns true if the field was given. */
static inline bool soc_send_input_has(const struct soc_send_input *input,
                                      enum soc_message_field field)
{
    return input->fields >> field & 1;
}

/* Sets a field; its text is lent. Readers handle payloads and lists of receivers
 * themselves. SOC_EINVAL with `fault` if the value is invalid. */
int soc_send_input_set(struct soc_send_input *input, enum soc_message_field field,
                       const struct soc_value *value, struct soc_send_input_fault *fault);

/* Returns SOC_OK if `context` (enum soc_send_context bits) allows a list of `count` receivers. */
int soc_send_input_check_list(unsigned context, size_t count, struct soc_send_input_fault *fault);

/* Reads one receiver of a list. */
int soc_send_input_set_receiver(struct soc_slice *receiver, const struct soc_value *value,
                                struct soc_send_input_fault *fault);

/* Refuses a field that was given under two of its names. */
int soc_send_input_refuse_twice(enum soc_message_field field, unsigned context,
                                struct soc_send_input_fault *fault);

/* Checks combinations of fields in a context (enum soc_send_context bits), when all are set. */
int soc_send_input_check(const struct soc_send_input *input, unsigned context,
                         struct soc_send_input_fault *fault);

/* Converts a delay or a date of delivery into a time of the society. Call it once, after
 * the arguments are hashed. */
void soc_send_input_settle(struct soc_send_input *input, struct soc_clock *clock);

#endif
