/* Send: what a sender says about a message it sends.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_SEND_H
#define SOC_KERNEL_MAIL_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/message.h"

/* What a sender says. Absent and zero mean «as usual». */
struct soc_send {
    struct soc_slice to;      /* an id, or All */
    struct soc_slice type;    /* absent: general */
    struct soc_slice payload; /* JSON, checked by the caller */
    struct soc_slice texts[SOC_TEXT_COUNT];
    enum soc_priority priority;
    bool has_priority;
    bool requires_ack;
    bool has_requires_ack; /* it was said; else the type decides */
    bool wants_reply;
    bool is_formal;        /* the host's, in the sender's name: no policy is asked */
    bool is_report;        /* to whom the sender has to answer: contacts are not asked */
    bool is_intake;        /* the gatekeeper is to pass it on at the next start */
    bool is_listed;        /* one of a list: a dedupe_key is each receiver's own */
    bool is_bare;          /* the payload is known to hold nothing of the envelope */
    int64_t ttl_ms;        /* 0: for ever */
    int64_t deliver_at_ms; /* 0: at once */
    int64_t deadline_ms;   /* 0: none */
    /* The message this answers, lent: no policy is asked then. */
    const struct soc_message *answers;
    /* Or, for a later activation, the key and time of an open request. */
    uint64_t answers_key;
    int64_t answers_ms;
};

#endif
