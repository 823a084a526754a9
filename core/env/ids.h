/* Ids: how a message's number is printed, and which ids agents may have.
 *
 * A message id is msg_YYYYMMDD_HHMMSS_ and 15 more: three digits of ms, two of
 * the host, ten hex digits of the message's key. Time never runs backwards and
 * keys rise, so ids sort by time and are unique for ever.
 * Layer: env. Thread: any. */
#ifndef SOC_ENV_IDS_H
#define SOC_ENV_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/slice.h"

/* Writes the id: SOC_MESSAGE_ID_BYTES bytes, no NUL. */
void soc_message_id_format(char out[SOC_MESSAGE_ID_BYTES], int64_t time_ms, uint64_t key);

/* Reads the key out of an id; false if the text is no id of ours. Keys begin anew in every
 * state directory: what is found by its key may be another than is meant. */
bool soc_message_id_parse(struct soc_slice text, uint64_t *key);

/* Tells whether `text` is the id of the message of that time and key. */
bool soc_message_id_is(struct soc_slice text, int64_t time_ms, uint64_t key);

/* The same for an item of the person's inbox, whose key is one of the same row:
 * item_YYYYMMDD_HHMMSS_ and so on. */
void soc_item_id_format(char out[SOC_ITEM_ID_BYTES], int64_t time_ms, uint64_t key);
bool soc_item_id_parse(struct soc_slice text, uint64_t *key);
bool soc_item_id_is(struct soc_slice text, int64_t time_ms, uint64_t key);

/* And for a checkpoint: chk_YYYYMMDD_HHMMSS_ and so on. */
void soc_checkpoint_id_format(char out[SOC_MESSAGE_ID_BYTES], int64_t time_ms, uint64_t key);
bool soc_checkpoint_id_parse(struct soc_slice text, uint64_t *key);
bool soc_checkpoint_id_is(struct soc_slice text, int64_t time_ms, uint64_t key);

/* Tells whether `text` can name an agent, a role or a task. */
bool soc_id_is_valid(struct soc_slice text);

/* Tells whether `text` can name an agent that lives outside: its files are called ID.jsonl
 * and ID.out.jsonl, so one that ends with .out would read as another's words. */
bool soc_id_is_for_outside(struct soc_slice text);

#endif
