#include "net/redis.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "base/buf.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/rng.h"
#include "loop/alarm.h"
#include "loop/descriptor.h"
#include "loop/resolve.h"
#include "net/redis_address.h"

#define READ_BYTES    (64 * 1024)
#define STEP_BYTES    (1024 * 1024) /* read in one step of the loop */
#define ARGUMENTS_MAX 16            /* of soc_redis_call */
#define WHY_BYTES     256

/* How far the connection is. */
enum stage {
    STAGE_RESTING,    /* until the back-off is over */
    STAGE_RESOLVING,  /* the name of the host */
    STAGE_CONNECTING, /* the system connects */
    STAGE_GREETING,   /* connected; AUTH and the like are under way */
    STAGE_UP,
};

/* A command whose reply has not come. */
struct waiter {
    soc_redis_reply_cb *cb;
    void *user;
};

struct soc_redis {
    struct soc_loop *loop;
    struct soc_redis_address address;
    struct soc_redis_events events;
    char *name;
    struct soc_rng rng; /* spreads attempts */

    enum stage stage;
    struct soc_redis_node target;   /* what it connects to */
    bool is_asking;                 /* the target is a sentinel */
    int sentinel;                   /* asked next */
    struct soc_redis_node promoted; /* named by a sentinel */
    struct soc_resolve *resolve;
    struct soc_descriptor *descriptor; /* NULL: no socket */
    int socket;
    bool is_watching_writes;
    struct soc_alarm *alarm; /* back-off, connecting, or silence */
    bool has_alarm;
    int64_t up_us;      /* since when it is up */
    int64_t heard_us;   /* the last sign of life while something was awaited */
    int64_t backoff_ms; /* of the next attempt that fails */
    bool is_told;       /* that it is down */

    redisReader *reader;
    struct soc_buf out;
    size_t out_sent;        /* bytes of `out` that the system has */
    struct waiter *waiters; /* a ring */
    size_t waiter_capacity; /* a power of two */
    size_t waiter_first;
    size_t waiter_count;
    bool is_subscribed;
    bool is_reading;      /* replies are being handed out */
    char drop[WHY_BYTES]; /* set while reading: the connection ends afterwards */
};

static void set_alarm(struct soc_redis *redis, int64_t wait_ms)
{
    redis->has_alarm = wait_ms >= 0;
    soc_alarm_set(redis->alarm, wait_ms);
}

/* ---- the end of a connection ---- */

static void close_socket(struct soc_redis *redis)
{
    soc_resolve_cancel(redis->resolve);
    redis->resolve = NULL;
    if (redis->descriptor == NULL)
        return;
    soc_descriptor_close(redis->descriptor);
    redis->descriptor = NULL;
    close(redis->socket);
}

/* Drops what belonged to one connection. Waiters are called if `is_telling`. */
static void clear(struct soc_redis *redis, bool is_telling)
{
    close_socket(redis);
    if (redis->reader != NULL)
        redisReaderFree(redis->reader);
    redis->reader = NULL;
    redis->out.length = 0;
    redis->out_sent = 0;
    redis->is_subscribed = false;
    redis->is_asking = false;
    redis->stage = STAGE_RESTING;
    while (redis->waiter_count > 0) {
        struct waiter waiter = redis->waiters[redis->waiter_first];
        redis->waiter_first = (redis->waiter_first + 1) & (redis->waiter_capacity - 1);
        redis->waiter_count--;
        if (is_telling && waiter.cb != NULL)
            waiter.cb(waiter.user, NULL);
    }
}

/* The connection or the attempt has failed. */
static void lose(struct soc_redis *redis, const char *why)
{
    char text[WHY_BYTES];
    snprintf(text, sizeof(text), "%s", why);
    /* A server that breaks off at once again and again is not asked without pause. */
    int64_t up_ms = redis->stage == STAGE_UP ? (soc_clock_monotonic_us() - redis->up_us) / 1000 : 0;
    bool was_up = up_ms >= SOC_REDIS_BACKOFF_MS_MAX;
    clear(redis, true);
    int64_t wait_ms = was_up ? 0 : redis->backoff_ms;
    int64_t next_ms = was_up ? SOC_REDIS_BACKOFF_MS_MIN : redis->backoff_ms * 2;
    redis->backoff_ms = next_ms < SOC_REDIS_BACKOFF_MS_MAX ? next_ms : SOC_REDIS_BACKOFF_MS_MAX;
    set_alarm(redis, wait_ms + (int64_t)soc_rng_below(&redis->rng, (uint64_t)wait_ms / 4 + 1));
    if (redis->is_told)
        return;
    redis->is_told = true;
    if (redis->events.down != NULL)
        redis->events.down(redis->events.user, text);
}

static void lose_by_errno(struct soc_redis *redis, const char *what, int error)
{
    char text[WHY_BYTES];
    snprintf(text, sizeof(text), "%s: %s", what, strerror(error));
    lose(redis, text);
}

/* ---- sending ---- */

static void watch_writes(struct soc_redis *redis, bool is_wanted)
{
    if (redis->is_watching_writes == is_wanted)
        return;
    redis->is_watching_writes = is_wanted;
    soc_descriptor_set(redis->descriptor, true, is_wanted);
}

static void add_waiter(struct soc_redis *redis, soc_redis_reply_cb *cb, void *user)
{
    if (redis->waiter_count == redis->waiter_capacity) {
        size_t capacity = redis->waiter_capacity == 0 ? 16 : redis->waiter_capacity * 2;
        struct waiter *waiters = soc_alloc(capacity * sizeof(*waiters));
        for (size_t i = 0; i < redis->waiter_count; i++)
            waiters[i] = redis->waiters[(redis->waiter_first + i) & (redis->waiter_capacity - 1)];
        free(redis->waiters);
        redis->waiters = waiters;
        redis->waiter_capacity = capacity;
        redis->waiter_first = 0;
    }
    size_t at = (redis->waiter_first + redis->waiter_count++) & (redis->waiter_capacity - 1);
    redis->waiters[at] = (struct waiter){cb, user};
}

static void put_command(struct soc_redis *redis, const struct soc_slice *arguments, size_t count)
{
    soc_buf_printf(&redis->out, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        soc_buf_printf(&redis->out, "$%zu\r\n", arguments[i].length);
        soc_buf_put_slice(&redis->out, arguments[i]);
        soc_buf_put_text(&redis->out, "\r\n");
    }
    watch_writes(redis, true);
}

static void command(struct soc_redis *redis, const struct soc_slice *arguments, size_t count,
                    soc_redis_reply_cb *cb, void *user)
{
    put_command(redis, arguments, count);
    add_waiter(redis, cb, user);
    if (redis->waiter_count > 1)
        return;
    redis->heard_us = soc_clock_monotonic_us();
    if (!redis->has_alarm)
        set_alarm(redis, SOC_REDIS_SILENCE_MS);
}

/* Hands the system what it takes. */
static void flush(struct soc_redis *redis)
{
    while (redis->out_sent < redis->out.length) {
        ssize_t sent = send(redis->socket, redis->out.data + redis->out_sent,
                            redis->out.length - redis->out_sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (sent < 0) {
            lose_by_errno(redis, "Redis does not take commands", errno);
            return;
        }
        redis->out_sent += (size_t)sent;
    }
    redis->out_sent = 0;
    if (redis->out.capacity > STEP_BYTES)
        soc_buf_fini(&redis->out);
    redis->out.length = 0;
    watch_writes(redis, false);
}

/* ---- replies ---- */

static void hand_out(struct soc_redis *redis, const struct soc_redis_reply *reply)
{
    if (redis->is_subscribed) {
        if (redis->events.push != NULL)
            redis->events.push(redis->events.user, reply);
        return;
    }
    if (redis->waiter_count == 0) {
        snprintf(redis->drop, sizeof(redis->drop), "Redis answered what nobody asked");
        return;
    }
    struct waiter waiter = redis->waiters[redis->waiter_first];
    redis->waiter_first = (redis->waiter_first + 1) & (redis->waiter_capacity - 1);
    redis->waiter_count--;
    if (waiter.cb != NULL)
        waiter.cb(waiter.user, reply);
}

/* Hands out what is complete. False: the server does not speak the protocol. */
static bool hand_out_all(struct soc_redis *redis)
{
    void *reply = NULL;
    while (redis->drop[0] == '\0') {
        if (redisReaderGetReply(redis->reader, &reply) != REDIS_OK)
            return false;
        if (reply == NULL)
            return true;
        hand_out(redis, reply);
        freeReplyObject(reply);
    }
    return true;
}

static void read_replies(struct soc_redis *redis)
{
    char bytes[READ_BYTES];
    size_t total = 0;
    bool is_over = false;
    bool is_sane = true;
    int error = 0;
    redis->is_reading = true;
    while (total < STEP_BYTES && is_sane && redis->drop[0] == '\0') {
        ssize_t got = recv(redis->socket, bytes, sizeof(bytes), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        is_over = got <= 0;
        error = got < 0 ? errno : 0;
        if (is_over)
            break;
        total += (size_t)got;
        redis->heard_us = soc_clock_monotonic_us();
        is_sane = redisReaderFeed(redis->reader, bytes, (size_t)got) == REDIS_OK &&
                  redis->reader->len - redis->reader->pos < SOC_REDIS_REPLY_BYTES &&
                  hand_out_all(redis);
        if ((size_t)got < sizeof(bytes))
            break; /* there is no more; if there is, the loop says so */
    }
    redis->is_reading = false;
    if (redis->drop[0] != '\0') {
        char why[WHY_BYTES];
        memcpy(why, redis->drop, sizeof(why));
        redis->drop[0] = '\0';
        if (redis->is_asking && redis->promoted.port != 0) {
            clear(redis, false);
            set_alarm(redis, 0); /* the master is known: connect to it */
        } else {
            lose(redis, why);
        }
    } else if (!is_sane) {
        lose(redis, "this server does not speak Redis' protocol");
    } else if (is_over && error != 0) {
        lose_by_errno(redis, "the connection to Redis failed", error);
    } else if (is_over) {
        lose(redis, "Redis closed the connection");
    }
}

/* ---- connecting ---- */

static void be_up(struct soc_redis *redis)
{
    redis->stage = STAGE_UP;
    redis->up_us = soc_clock_monotonic_us();
    redis->is_told = false;
    set_alarm(redis, -1);
    if (redis->waiter_count > 0)
        set_alarm(redis, SOC_REDIS_SILENCE_MS);
    if (redis->events.up != NULL)
        redis->events.up(redis->events.user);
}

/* The reply to AUTH, SELECT and CLIENT. */
static void check_greeting(void *user, const struct soc_redis_reply *reply)
{
    struct soc_redis *redis = user;
    struct soc_slice error = soc_redis_reply_error(reply);
    if (error.length > 0 && redis->drop[0] == '\0')
        snprintf(redis->drop, sizeof(redis->drop), "Redis refused the connection: %.*s",
                 (int)(error.length < 200 ? error.length : 200), error.data);
}

/* The reply to PING, or to ROLE where a sentinel named the server. */
static void end_greeting(void *user, const struct soc_redis_reply *reply)
{
    struct soc_redis *redis = user;
    if (reply == NULL || redis->drop[0] != '\0')
        return;
    check_greeting(user, reply);
    struct soc_slice role = soc_redis_reply_text(soc_redis_reply_at(reply, 0));
    if (redis->drop[0] == '\0' && redis->address.is_sentinel &&
        !soc_slice_equal(role, SOC_SLICE("master")))
        snprintf(redis->drop, sizeof(redis->drop),
                 "the server that the sentinel names is not a "
                 "master");
    if (redis->drop[0] == '\0')
        be_up(redis);
}

static void greet_server(struct soc_redis *redis)
{
    const struct soc_redis_address *address = &redis->address;
    if (address->password != NULL) {
        struct soc_slice auth[] = {SOC_SLICE("AUTH"), soc_slice_text(address->user),
                                   soc_slice_text(address->password)};
        if (address->user == NULL)
            auth[1] = auth[2];
        command(redis, auth, address->user == NULL ? 2 : 3, check_greeting, redis);
    }
    if (address->database != 0) {
        char number[16];
        snprintf(number, sizeof(number), "%d", address->database);
        struct soc_slice select[] = {SOC_SLICE("SELECT"), soc_slice_text(number)};
        command(redis, select, 2, check_greeting, redis);
    }
    if (redis->name != NULL) {
        struct soc_slice name[] = {SOC_SLICE("CLIENT"), SOC_SLICE("SETNAME"),
                                   soc_slice_text(redis->name)};
        command(redis, name, 3, NULL, NULL);
    }
    struct soc_slice last = address->is_sentinel ? SOC_SLICE("ROLE") : SOC_SLICE("PING");
    command(redis, &last, 1, end_greeting, redis);
}

/* A sentinel has named the master, or cannot. */
static void take_master(void *user, const struct soc_redis_reply *reply)
{
    struct soc_redis *redis = user;
    if (reply == NULL)
        return;
    struct soc_slice host = soc_redis_reply_text(soc_redis_reply_at(reply, 0));
    struct soc_slice port = soc_redis_reply_text(soc_redis_reply_at(reply, 1));
    if (host.length == 0 || host.length >= SOC_REDIS_HOST_BYTES || port.length == 0 ||
        port.length > 5) {
        snprintf(redis->drop, sizeof(redis->drop), "the sentinel knows no master called '%.100s'",
                 redis->address.master);
        return;
    }
    memcpy(redis->promoted.host, host.data, host.length);
    redis->promoted.host[host.length] = '\0';
    char digits[8] = {0};
    memcpy(digits, port.data, port.length);
    redis->promoted.port = atoi(digits);
    snprintf(redis->drop, sizeof(redis->drop), "the sentinel has answered");
}

static void be_connected(struct soc_redis *redis)
{
    redis->stage = STAGE_GREETING;
    redis->reader = redisReaderCreate();
    assert(redis->reader != NULL);
    redis->reader->maxbuf = READ_BYTES;
    if (!redis->is_asking) {
        greet_server(redis);
        return;
    }
    struct soc_slice ask[] = {SOC_SLICE("SENTINEL"), SOC_SLICE("get-master-addr-by-name"),
                              soc_slice_text(redis->address.master)};
    command(redis, ask, 3, take_master, redis);
}

static void serve(void *user, int socket, bool can_read, bool can_write)
{
    struct soc_redis *redis = user;
    struct soc_descriptor *descriptor = redis->descriptor;
    if (redis->stage == STAGE_CONNECTING) {
        int error = 0;
        socklen_t length = sizeof(error);
        if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
            error = errno;
        if (error != 0) {
            lose_by_errno(redis, "Redis cannot be reached", error);
            return;
        }
        redis->is_watching_writes = true;
        be_connected(redis);
    }
    if (can_write)
        flush(redis);
    if (can_read && redis->descriptor == descriptor)
        read_replies(redis);
}

static void connect_to(struct soc_redis *redis, const struct sockaddr *to, socklen_t length)
{
    redis->socket = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (redis->socket < 0) {
        lose_by_errno(redis, "there is no socket for Redis", errno);
        return;
    }
    int one = 1;
    if (to->sa_family != AF_UNIX)
        setsockopt(redis->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    int rc = connect(redis->socket, to, length);
    if (rc != 0 && errno != EINPROGRESS && errno != EAGAIN) {
        int error = errno;
        close(redis->socket);
        lose_by_errno(redis, "Redis cannot be reached", error);
        return;
    }
    redis->stage = STAGE_CONNECTING;
    redis->descriptor = soc_descriptor_open(redis->loop, "redis", redis->socket, serve, redis);
    soc_descriptor_set(redis->descriptor, true, true);
}

static void connect_resolved(void *user, const struct addrinfo *list, const char *why)
{
    struct soc_redis *redis = user;
    redis->resolve = NULL;
    if (list == NULL)
        lose(redis, why);
    else
        connect_to(redis, list->ai_addr, list->ai_addrlen);
}

static void connect_to_path(struct soc_redis *redis)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(redis->address.path) >= sizeof(to.sun_path)) {
        lose(redis, "the path of Redis' socket is too long");
        return;
    }
    strcpy(to.sun_path, redis->address.path);
    connect_to(redis, (const struct sockaddr *)(const void *)&to, sizeof(to));
}

/* Starts one attempt. */
static void start(struct soc_redis *redis)
{
    set_alarm(redis, SOC_REDIS_CONNECT_MS);
    if (redis->address.path != NULL) {
        connect_to_path(redis);
        return;
    }
    redis->target = redis->address.nodes[0];
    if (redis->address.is_sentinel && redis->promoted.port != 0) {
        redis->target = redis->promoted;
        redis->promoted.port = 0;
    } else if (redis->address.is_sentinel) {
        redis->target = redis->address.nodes[redis->sentinel];
        redis->sentinel = (redis->sentinel + 1) % redis->address.node_count;
        redis->is_asking = true;
    }
    char port[16];
    snprintf(port, sizeof(port), "%d", redis->target.port);
    redis->stage = STAGE_RESOLVING;
    redis->resolve =
        soc_resolve_start(redis->loop, redis->target.host, port, connect_resolved, redis);
    if (redis->resolve == NULL)
        lose(redis, "the name of Redis' host cannot be resolved");
}

/* The back-off is over, connecting takes too long, or the server may have fallen silent. */
static void ring(void *user)
{
    struct soc_redis *redis = user;
    redis->has_alarm = false;
    if (redis->stage == STAGE_RESTING) {
        start(redis);
    } else if (redis->stage != STAGE_UP) {
        lose(redis, "connecting to Redis took too long");
    } else if (redis->waiter_count > 0) {
        int64_t silent_ms = (soc_clock_monotonic_us() - redis->heard_us) / 1000;
        if (silent_ms >= SOC_REDIS_SILENCE_MS)
            lose(redis, "Redis does not answer");
        else
            set_alarm(redis, SOC_REDIS_SILENCE_MS - silent_ms);
    }
}

/* ---- the public side ---- */

struct soc_redis *soc_redis_open(struct soc_loop *loop, const struct soc_redis_options *options,
                                 const struct soc_redis_events *events, struct soc_detail *detail)
{
    struct soc_redis_address address;
    if (soc_redis_address_read(&address, options->url, detail) != SOC_OK)
        return NULL;
    struct soc_redis *redis = soc_alloc_zero(sizeof(*redis));
    redis->loop = loop;
    redis->address = address;
    redis->events = *events;
    if (options->password.data != NULL) {
        free(redis->address.password);
        redis->address.password = soc_copy_text(options->password.data, options->password.length);
    }
    if (options->name != NULL)
        redis->name = soc_copy_text(options->name, strlen(options->name));
    soc_rng_init(&redis->rng, soc_rng_system_seed());
    redis->backoff_ms = SOC_REDIS_BACKOFF_MS_MIN;
    redis->alarm = soc_alarm_open(loop, "redis", ring, redis);
    set_alarm(redis, 0);
    return redis;
}

void soc_redis_close(struct soc_redis *redis)
{
    if (redis == NULL)
        return;
    assert(!redis->is_reading);
    clear(redis, true);
    soc_alarm_close(redis->alarm);
    soc_redis_address_fini(&redis->address);
    if (redis->out.data != NULL) /* it may have held the password */
        explicit_bzero(redis->out.data, redis->out.capacity);
    soc_buf_fini(&redis->out);
    free(redis->waiters);
    free(redis->name);
    free(redis);
}

bool soc_redis_is_up(const struct soc_redis *redis)
{
    return redis->stage == STAGE_UP && redis->drop[0] == '\0';
}

int soc_redis_command(struct soc_redis *redis, const struct soc_slice *arguments, size_t count,
                      soc_redis_reply_cb *cb, void *user)
{
    assert(count > 0 && !redis->is_subscribed);
    if (!soc_redis_is_up(redis))
        return SOC_ECLOSED;
    command(redis, arguments, count, cb, user);
    return SOC_OK;
}

int soc_redis_call(struct soc_redis *redis, soc_redis_reply_cb *cb, void *user, const char *name,
                   ...)
{
    struct soc_slice arguments[ARGUMENTS_MAX];
    size_t count = 0;
    va_list rest;
    va_start(rest, name);
    for (const char *text = name; text != NULL; text = va_arg(rest, const char *)) {
        assert(count < ARGUMENTS_MAX);
        arguments[count++] = soc_slice_text(text);
    }
    va_end(rest);
    return soc_redis_command(redis, arguments, count, cb, user);
}

int soc_redis_subscribe(struct soc_redis *redis, struct soc_slice command_name,
                        struct soc_slice channel)
{
    if (!soc_redis_is_up(redis))
        return SOC_ECLOSED;
    assert(redis->waiter_count == 0);
    redis->is_subscribed = true;
    struct soc_slice arguments[] = {command_name, channel};
    put_command(redis, arguments, 2);
    return SOC_OK;
}

void soc_redis_drop(struct soc_redis *redis, const char *why)
{
    if (redis->is_reading)
        snprintf(redis->drop, sizeof(redis->drop), "%s", why);
    else if (redis->stage != STAGE_RESTING)
        lose(redis, why);
}

size_t soc_redis_backlog(const struct soc_redis *redis)
{
    return redis->out.length - redis->out_sent;
}
