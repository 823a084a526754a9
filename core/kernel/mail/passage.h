/* Passage: a message on its way from its sender into the turn's list.
 *
 * The router fills it step by step. Parts that have a say in a send see it at the
 * stages that part.h names, and may change `send`, with room in `payload` and
 * `completed` for what they write.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_PASSAGE_H
#define SOC_KERNEL_MAIL_PASSAGE_H

#include "base/buf.h"
#include "kernel/mail/adopt.h"
#include "kernel/mail/send.h"

/* One send under way. */
struct soc_passage {
    struct soc_agent *from;        /* NULL: the host */
    struct soc_agent *to;          /* NULL: to all */
    const struct soc_symbol *type; /* NULL until the validators have agreed */
    struct soc_slice task_id;      /* explicit or inherited */
    bool requires_ack;
    bool has_key;         /* the sender gave a key against duplicates */
    bool is_formal_reply; /* answers a question of the host's own: adds no contact */
    bool has_warning;     /* does not fit its type but is sent; the error buffer says why */
    struct soc_adopted adopted;
    struct soc_send send;     /* as the sender gave it, completed */
    struct soc_buf payload;   /* the payload as rewritten before the checks, if it was */
    struct soc_buf completed; /* the payload as rewritten after them, if it was */
};

#endif
