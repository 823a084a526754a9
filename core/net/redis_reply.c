#include "net/redis_reply.h"

#include <hiredis/hiredis.h>

static const redisReply *of(const struct soc_redis_reply *reply)
{
    return (const redisReply *)(const void *)reply;
}

static bool is(const struct soc_redis_reply *reply, int type)
{
    return reply != NULL && of(reply)->type == type;
}

bool soc_redis_reply_is_nil(const struct soc_redis_reply *reply)
{
    return is(reply, REDIS_REPLY_NIL);
}

struct soc_slice soc_redis_reply_error(const struct soc_redis_reply *reply)
{
    if (!is(reply, REDIS_REPLY_ERROR))
        return (struct soc_slice){0};
    return soc_slice(of(reply)->str, (size_t)of(reply)->len);
}

bool soc_redis_reply_is_error(const struct soc_redis_reply *reply, const char *word)
{
    struct soc_slice error = soc_redis_reply_error(reply);
    size_t length = strlen(word);
    return error.length >= length && memcmp(error.data, word, length) == 0 &&
           (error.length == length || error.data[length] == ' ');
}

struct soc_slice soc_redis_reply_text(const struct soc_redis_reply *reply)
{
    if (!is(reply, REDIS_REPLY_STRING) && !is(reply, REDIS_REPLY_STATUS))
        return (struct soc_slice){0};
    return soc_slice(of(reply)->str, (size_t)of(reply)->len);
}

int64_t soc_redis_reply_integer(const struct soc_redis_reply *reply, int64_t otherwise)
{
    return is(reply, REDIS_REPLY_INTEGER) ? (int64_t)of(reply)->integer : otherwise;
}

size_t soc_redis_reply_count(const struct soc_redis_reply *reply)
{
    return is(reply, REDIS_REPLY_ARRAY) ? of(reply)->elements : 0;
}

const struct soc_redis_reply *soc_redis_reply_at(const struct soc_redis_reply *reply, size_t index)
{
    if (index >= soc_redis_reply_count(reply))
        return NULL;
    return (const struct soc_redis_reply *)(const void *)of(reply)->element[index];
}
