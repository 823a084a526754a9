/* Redis: a connection to a Redis server that reconnects by itself.
 *
 * Commands are pipelined: they leave in order with the next pass of the loop, and replies
 * come in the same order. The connection is lost when the server closes it, refuses it, or
 * leaves a command unanswered for SOC_REDIS_SILENCE_MS. Every command that had no reply then
 * gets none, the loss is reported once, and connecting starts again, at once and then with a
 * back-off. With sentinels, each attempt asks them which server is the master.
 *
 * A command that blocks (XREAD BLOCK, BLPOP) holds up those behind it: give it a connection
 * of its own, and a time below SOC_REDIS_SILENCE_MS.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_REDIS_H
#define SOC_NET_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "loop/loop.h"
#include "net/redis_reply.h"

#define SOC_REDIS_SILENCE_MS     5000
#define SOC_REDIS_CONNECT_MS     3000
#define SOC_REDIS_BACKOFF_MS_MIN 20
#define SOC_REDIS_BACKOFF_MS_MAX 1000
#define SOC_REDIS_REPLY_BYTES    (512 * 1024 * 1024) /* a longer text ends the connection */

struct soc_redis;

/* A reply, lent for the call; NULL: the connection was lost before it came, and the command
 * may or may not have been done. It may send commands, not close the connection. */
typedef void soc_redis_reply_cb(void *user, const struct soc_redis_reply *reply);

/* A message that was pushed to a subscribed connection, lent for the call. */
typedef void soc_redis_push_cb(void *user, const struct soc_redis_reply *message);

/* Events of a connection. Any may be NULL. They may send commands, not close the connection. */
struct soc_redis_events {
    void (*up)(void *user);                    /* commands are accepted from now on */
    void (*down)(void *user, const char *why); /* they are not; after each `up`, and once for
                                                  attempts that failed since the last event */
    soc_redis_push_cb *push;                   /* for SUBSCRIBE and PSUBSCRIBE */
    void *user;
};

/* Options of a connection. */
struct soc_redis_options {
    struct soc_slice url;      /* redis_address.h has its forms */
    struct soc_slice password; /* instead of that of the URL; absent: none */
    const char *name;          /* shown in CLIENT LIST; NULL: none */
};

/* Starts to connect; nothing is reported before the loop runs again. NULL: the URL is
 * malformed, and `detail` says how. Release with soc_redis_close. */
struct soc_redis *soc_redis_open(struct soc_loop *loop, const struct soc_redis_options *options,
                                 const struct soc_redis_events *events, struct soc_detail *detail);

/* Closes the connection and frees it, before the loop is freed. Commands without a reply get
 * none, and their callbacks may not use the connection. NULL is allowed. */
void soc_redis_close(struct soc_redis *redis);

/* Tells whether commands are accepted. */
bool soc_redis_is_up(const struct soc_redis *redis);

/* Sends a command; its `count` arguments, the name first, are copied. SOC_ECLOSED: the
 * connection is down, nothing was sent, and `cb` is not called. `cb` NULL: the reply does
 * not matter. */
int soc_redis_command(struct soc_redis *redis, const struct soc_slice *arguments, size_t count,
                      soc_redis_reply_cb *cb, void *user);

/* The same with texts: soc_redis_call(redis, cb, user, "XLEN", key, NULL). */
int soc_redis_call(struct soc_redis *redis, soc_redis_reply_cb *cb, void *user, const char *name,
                   ...) __attribute__((sentinel));

/* SUBSCRIBE, UNSUBSCRIBE, PSUBSCRIBE or PUNSUBSCRIBE to one channel. From then on the server
 * takes no other commands on this connection, and what it sends goes to `push`, confirmations
 * included. Subscriptions end with the connection: repeat them after each `up`. */
int soc_redis_subscribe(struct soc_redis *redis, struct soc_slice command,
                        struct soc_slice channel);

/* Gives the connection up and connects again, for a server that has become useless, such as
 * a replica. `why` is reported. */
void soc_redis_drop(struct soc_redis *redis, const char *why);

/* Returns the bytes that have not been handed to the system, for callers that can wait. */
size_t soc_redis_backlog(const struct soc_redis *redis);

#endif
