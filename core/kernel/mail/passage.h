/* Passage: one send in progress, from the sender to the turn's list of messages.
 *
 * The router owns it and fills it step by step. Parts see it at the stages that
 * part.h lists and may change `send`; `payload` and `completed` hold what they write.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_PASSAGE_H
#define SOC_KERNEL_MAIL_PASSAGE_H

#include "base/buf.h"
#include "kernel/mail/adopt.h"
#include "kernel/mail/send.h"

/* One send in progress. */
struct soc_passage {
    struct soc_agent *from;        /* NULL: the host */
    struct soc_agent *to;          /* NULL: a broadcast */
    const struct soc_symbol *type; /* NULL until validated */
    struct soc_slice task_id;      /* explicit or inherited */
    bool requires_ack;
    bool has_key;         /* the sender gave a deduplication key */
    bool is_formal_reply; /* answers a question of the host: adds no contact */
    bool is_query_answer; /* answers a query that nobody waits for */
    bool has_warning;     /* invalid for its type but sent anyway; the error buffer says why */
    struct soc_adopted adopted;
    struct soc_send send;     /* what the sender gave, then completed */
    struct soc_buf payload;   /* the payload if it was rewritten before validation */
    struct soc_buf completed; /* the payload if it was rewritten after validation */
};

#endif
