/* Call keys: an order that is repeated under its idempotency key is not done again.
 *
 * A caller may give an order a key of its own (operation.h). The first call under it
 * is carried out, and the key with a hash of the parameters and the answer goes into the
 * batch that holds what was done: a crash keeps both or neither. For as long as the
 * society remembers deduplication keys, another call of that caller with the key does
 * nothing and gets the first one's answer, or SOC_EKEYREUSED if its operation or its
 * parameters differ. While the first call is still being carried out, others wait for it.
 * A call that fails leaves no key: it may be repeated.
 *
 * All keys together have up to SOC_CALL_KEYS_BYTES_MAX; then the oldest are forgotten.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPERATIONS_CALL_KEYS_H
#define SOC_KERNEL_OPERATIONS_CALL_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct soc_call_key;
struct soc_host;
struct soc_record;

/* What soc_call_keys_begin found. */
enum soc_call_key_state {
    SOC_CALL_KEY_NEW,    /* carry the order out */
    SOC_CALL_KEY_OPEN,   /* it is being carried out: soc_call_keys_join */
    SOC_CALL_KEY_DONE,   /* it was carried out: the answer is lent */
    SOC_CALL_KEY_REUSED, /* for something else */
};

/* A key as it is given. */
struct soc_call_key_words {
    struct soc_slice caller;
    struct soc_slice key;
    uint64_t body; /* hash of operation and parameters */
};

/* Begins an order under a key, which is lent until the order has ended. */
enum soc_call_key_state soc_call_keys_begin(struct soc_host *host,
                                            const struct soc_call_key_words *words,
                                            struct soc_call_key **key, struct soc_slice *answer);

/* The order is done: records the key with the answer. Outside turns. */
void soc_call_keys_keep(struct soc_host *host, struct soc_call_key *key, struct soc_slice answer);

/* It failed: forgets the key. Nobody waits for it any more. */
void soc_call_keys_drop(struct soc_host *host, struct soc_call_key *key);

/* Adds a call that waits for the end of the order; takes the first one (NULL: none). */
void soc_call_keys_join(struct soc_call_key *key, void *call);
void *soc_call_keys_take_joined(struct soc_call_key *key);

/* Sets for how long keys are remembered. */
void soc_call_keys_set_window(struct soc_host *host, int64_t window_ms);

/* Recovery: applies a record about keys. */
void soc_call_keys_restore(struct soc_host *host, const struct soc_record *record);

/* Frees all of them. */
void soc_call_keys_fini(struct soc_host *host);

#endif
