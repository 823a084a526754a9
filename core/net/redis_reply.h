/* Redis reply: what a Redis server answers, as hiredis has read it.
 *
 * Every function takes any reply, and answers «nothing» where it is of another kind, so a
 * server that answers nonsense is read without further checks.
 * Layer: net. Thread: any. */
#ifndef SOC_NET_REDIS_REPLY_H
#define SOC_NET_REDIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_redis_reply; /* a redisReply of hiredis */

/* Tells whether it is `nil`: a list or text that is not there. NULL is none. */
bool soc_redis_reply_is_nil(const struct soc_redis_reply *reply);

/* Lends the text of an error, such as `READONLY You can't write …`; absent: it is none. */
struct soc_slice soc_redis_reply_error(const struct soc_redis_reply *reply);

/* Tells whether it is an error whose text begins with this word. */
bool soc_redis_reply_is_error(const struct soc_redis_reply *reply, const char *word);

/* Lends a text or status; absent: it is none. */
struct soc_slice soc_redis_reply_text(const struct soc_redis_reply *reply);

/* Returns an integer, `otherwise` if it is none. */
int64_t soc_redis_reply_integer(const struct soc_redis_reply *reply, int64_t otherwise);

/* Returns the number of elements of a list; 0: it is none. */
size_t soc_redis_reply_count(const struct soc_redis_reply *reply);

/* Lends element `index`; NULL beyond the last. */
const struct soc_redis_reply *soc_redis_reply_at(const struct soc_redis_reply *reply, size_t index);

#endif
