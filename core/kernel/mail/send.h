/* Send: the parameters of one send.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_SEND_H
#define SOC_KERNEL_MAIL_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/message.h"

/* The parameters of one send. Absent and zero mean the default. All is lent. */
struct soc_send {
    struct soc_slice to;      /* an id, All, or All@* */
    struct soc_slice type;    /* absent: general */
    struct soc_slice payload; /* JSON, checked by the caller */
    struct soc_slice texts[SOC_TEXT_COUNT];
    enum soc_priority priority;
    bool has_priority;
    bool requires_ack;
    bool has_requires_ack; /* given; otherwise the type decides */
    bool wants_reply;
    bool is_formal;        /* sent by the host on behalf of the sender: no policy is asked */
    bool is_report;        /* to a superior: contacts are not checked */
    bool is_intake;        /* the gatekeeper routes it again at the next start */
    bool is_listed;        /* one of a list: the dedupe_key counts per receiver */
    bool is_everywhere;    /* set by the router: a broadcast to all hosts */
    bool is_late;          /* `answers_key` is a request that ended without an answer */
    bool is_bare;          /* the payload holds no envelope fields: skip adoption */
    bool is_dated;         /* `deliver_at_ms` is the time of a date that the sender gave */
    int64_t ttl_ms;        /* 0: unlimited */
    int64_t deliver_at_ms; /* 0: immediately */
    int64_t deadline_ms;   /* a date; 0: none */
    uint32_t hops;         /* of the message in its lineage on other hosts */
    /* The message this answers; no policy is asked then. */
    const struct soc_message *answers;
    /* Or, from a later activation, key and time of the open request it answers. */
    uint64_t answers_key;
    int64_t answers_ms;
};

#endif
