/* Call: one call of an operation, from a door, until it is answered.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPERATIONS_CALL_H
#define SOC_KERNEL_OPERATIONS_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct soc_call_key;
struct soc_host;

/* One call until it is answered. A door embeds it in a struct of its own, sets `answer`
 * and calls soc_call_fini at the end. */
struct soc_call {
    struct soc_host *host;
    /* Called once; the door may free the call. `answer` is a JSON list, or if `is_error` an
     * object with a member `error`. It is absent if the call was dropped. */
    void (*answer)(struct soc_call *call, bool is_error, struct soc_slice answer);
    struct soc_buf held;           /* an answer that waits until it is durable */
    struct soc_buf order;          /* the line of an order that is carried out later */
    void *work;                    /* malloc'ed, of an operation that takes more than one step */
    void (*free_work)(void *work); /* NULL: free() */
    struct soc_call_key *key;      /* call_keys.h: its order is being carried out; NULL: none */
    bool is_strict;                /* parameters that the operation does not have are refused */
    bool is_paged;                 /* lists are answered by pages */
    bool is_dropped;
    /* Of a page, set before `answer` is called; 0: none. */
    uint64_t next;
    uint64_t previous;
    uint64_t as_of; /* last line that the answer knows of */
};

/* Answers with a list at once. */
void soc_call_answer(struct soc_call *call, struct soc_slice list);

/* Answers with the error object `error`. */
void soc_call_refuse(struct soc_call *call, struct soc_slice error);

/* Answers with the list when everything so far is durable, and keeps the idempotency key of
 * the call, if any. Takes the bytes of `list`. */
void soc_call_answer_when_durable(struct soc_call *call, struct soc_buf *list);

/* Answers with a copy of the list when everything so far is durable. */
void soc_call_answer_copy(struct soc_call *call, struct soc_slice list);

/* Records the key of a call that is done, and answers those that waited for it. */
void soc_call_keep_key(struct soc_call *call, struct soc_slice list);

/* Answers that the parameter `name` is at fault; the sentence says what is expected. */
void soc_call_fault(struct soc_call *call, const char *name, const char *sentence);

/* Answers with an error code and a sentence (NULL: the text of base/err.h). */
void soc_call_fail(struct soc_call *call, int code, const char *message);

/* Answers that the lines asked for were removed; `first` is the first one there is. */
void soc_call_fail_gone(struct soc_call *call, uint64_t first);

/* Ends an order after soc_given_defer: an error object if `rc` < 0; otherwise records it, if
 * it `has_changed` something, and answers with a copy of the list when that is durable. */
void soc_call_finish(struct soc_call *call, int rc, bool has_changed, struct soc_slice answer);

/* Frees what the call holds. */
void soc_call_fini(struct soc_call *call);

/* The client has gone: what it asked for is done all the same, but `answer` is called
 * without an answer, as soon as nothing refers to the call. */
void soc_call_drop(struct soc_call *call);

#endif
