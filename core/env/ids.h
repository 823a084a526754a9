/* Ids: how the number of a message is printed, and which ids agents may have.
 *
 * A message id is msg_YYYYMMDD_HHMMSS_ and 15 more: three digits of ms, two of the host,
 * ten hex digits of a counter. A key is both numbers: the host's above the counter. Time
 * never runs backwards and keys rise, so the ids of a host are unique and sort by time.
 * Layer: env. Thread: any. */
#ifndef SOC_ENV_IDS_H
#define SOC_ENV_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/slice.h"

/* Writes the id: SOC_MESSAGE_ID_BYTES bytes, no NUL. */
void soc_message_id_format(char out[SOC_MESSAGE_ID_BYTES], int64_t time_ms, uint64_t key);

/* Reads the key from an id; false if the text is no message id. Keys start over in
 * every state directory: a message found by its key may be another than is meant. */
bool soc_message_id_parse(struct soc_slice text, uint64_t *key);

/* Returns the time that a message id names, a date in ms; 0: it is no message id. */
int64_t soc_message_id_time(struct soc_slice text);

/* Returns the first key of a host at or above `key`: its number and the same counter. */
uint64_t soc_message_id_key_of(uint64_t key, int number);

/* Returns the number of the host whose key it is; 0: of one that has joined no others. */
int soc_message_id_host(uint64_t key);

/* Tells whether `text` is the id of the message of that time and key. */
bool soc_message_id_is(struct soc_slice text, int64_t time_ms, uint64_t key);

/* The same for an item of the inbox, whose key is from the same sequence:
 * item_YYYYMMDD_HHMMSS_ and so on. */
void soc_item_id_format(char out[SOC_ITEM_ID_BYTES], int64_t time_ms, uint64_t key);
bool soc_item_id_parse(struct soc_slice text, uint64_t *key);
bool soc_item_id_is(struct soc_slice text, int64_t time_ms, uint64_t key);

/* The same for an ack, whose numbers are those of its sender: ack_YYYYMMDD_HHMMSS_ and so on. */
void soc_ack_id_format(char out[SOC_MESSAGE_ID_BYTES], int64_t time_ms, uint64_t number);

/* The same for a checkpoint: chk_YYYYMMDD_HHMMSS_ and so on. */
void soc_checkpoint_id_format(char out[SOC_MESSAGE_ID_BYTES], int64_t time_ms, uint64_t key);
bool soc_checkpoint_id_parse(struct soc_slice text, uint64_t *key);
bool soc_checkpoint_id_is(struct soc_slice text, int64_t time_ms, uint64_t key);

/* Tells whether `text` is a valid id of an agent, a role or a task. */
bool soc_id_is_valid(struct soc_slice text);

/* Divides `agent@host`, the address of an agent on another host. False: it is none. */
bool soc_id_divide(struct soc_slice text, struct soc_slice *agent, struct soc_slice *host);

/* Tells whether `text` is a valid name of a host. */
bool soc_id_is_host(struct soc_slice text);

/* Tells whether `text` is a valid id of an outside agent: its files are ID.jsonl and
 * ID.out.jsonl, so an id that ends with .out would clash with another's. */
bool soc_id_is_for_outside(struct soc_slice text);

#endif
