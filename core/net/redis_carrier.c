#include "net/redis_carrier.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/redis.h"

#define PLACE_BYTES 48
#define READ_COUNT  "8"    /* entries of each stream in one XREAD */
#define BLOCK_MS    "1000" /* below SOC_REDIS_SILENCE_MS */

/* A frame that was sent and not yet answered. */
struct sent {
    struct redis_carrier *carrier;
    int peer;
    struct soc_carrier_place place;
};

/* A peer. */
struct peer {
    char *out_key; /* of the stream to it */
    char *in_key;  /* of the stream from it */
    bool is_read;  /* frames are wanted */
    bool is_wrong; /* its key holds something else; looked at again with the next cards */
    bool is_moved; /* `after` was set while a read was under way */
    struct soc_carrier_place after;
};

struct redis_carrier {
    struct soc_carrier carrier; /* first */
    struct soc_redis *writer;
    struct soc_redis *reader;
    bool is_ready;
    bool is_told;    /* that it is lost */
    bool is_closing; /* nothing is reported any more */
    char *host;
    char *hosts_key;
    struct peer *peers;
    int peer_count;
    bool is_reading;          /* an XREAD is under way */
    bool is_doubted;          /* the last one was refused, but no key was to blame any more */
    soc_redis_reply_cb *take; /* its reply */
    int number;               /* claimed last */
};

static struct redis_carrier *of(struct soc_carrier *carrier)
{
    return (struct redis_carrier *)carrier;
}

static struct soc_slice put_place(char out[PLACE_BYTES], struct soc_carrier_place place)
{
    int length = snprintf(out, PLACE_BYTES, "%" PRIu64 "-%" PRIu64, place.epoch, place.frame);
    return soc_slice(out, (size_t)length);
}

/* Reads `epoch-frame`. */
static bool read_place(struct soc_slice text, struct soc_carrier_place *place)
{
    uint64_t numbers[2] = {0, 0};
    int at = 0;
    bool has_digit = false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '-' && at == 0 && has_digit) {
            at = 1;
            has_digit = false;
            continue;
        }
        if (c < '0' || c > '9' || numbers[at] > (UINT64_MAX - 9) / 10)
            return false;
        numbers[at] = numbers[at] * 10 + (uint64_t)(c - '0');
        has_digit = true;
    }
    *place = (struct soc_carrier_place){numbers[0], numbers[1]};
    return at == 1 && has_digit;
}

/* A reply that makes the connection useless: it is given up, and the server asked anew. */
static void drop_by_error(struct soc_redis *redis, const struct soc_redis_reply *reply)
{
    char why[200];
    struct soc_slice error = soc_redis_reply_error(reply);
    int length = (int)(error.length < 150 ? error.length : 150);
    snprintf(why, sizeof(why), "Redis refuses: %.*s", length, error.data);
    soc_redis_drop(redis, why);
}

/* ---- appending ---- */

static void end_append(void *user, const struct soc_redis_reply *reply)
{
    struct sent *sent = user;
    struct redis_carrier *carrier = sent->carrier;
    enum soc_carrier_end end = SOC_CARRIER_LOST;
    struct soc_slice error = soc_redis_reply_error(reply);
    if (soc_redis_reply_is_nil(reply))
        end = SOC_CARRIER_GONE;
    else if (soc_redis_reply_text(reply).length > 0)
        end = SOC_CARRIER_DONE;
    else if (error.length > 0 && memmem(error.data, error.length, "equal or smaller", 16) != NULL)
        end = SOC_CARRIER_FENCED;
    else if (soc_redis_reply_is_error(reply, "WRONGTYPE"))
        end = SOC_CARRIER_BLOCKED; /* of this peer; the others go on */
    else if (error.length > 0)
        drop_by_error(carrier->writer, reply);
    const struct soc_carrier_events *events = &carrier->carrier.events;
    if (!carrier->is_closing)
        events->appended(events->user, sent->peer, sent->place, end);
    free(sent);
}

static void send_frame(struct redis_carrier *carrier, int peer, struct soc_carrier_place place,
                       const struct soc_slice *arguments, size_t count)
{
    struct sent *sent = soc_alloc_zero(sizeof(*sent));
    *sent = (struct sent){carrier, peer, place};
    if (soc_redis_command(carrier->writer, arguments, count, end_append, sent) != SOC_OK)
        free(sent);
}

static void create(struct soc_carrier *base, int peer, struct soc_carrier_place place,
                   struct soc_slice bytes)
{
    struct redis_carrier *carrier = of(base);
    if (!carrier->is_ready)
        return;
    char id[PLACE_BYTES];
    struct soc_slice arguments[] = {SOC_SLICE("XADD"), soc_slice_text(carrier->peers[peer].out_key),
                                    put_place(id, place), SOC_SLICE("f"), bytes};
    send_frame(carrier, peer, place, arguments, sizeof(arguments) / sizeof(arguments[0]));
}

static void append(struct soc_carrier *base, int peer, struct soc_carrier_place place,
                   struct soc_carrier_place trim, struct soc_slice bytes)
{
    struct redis_carrier *carrier = of(base);
    if (!carrier->is_ready)
        return;
    char id[PLACE_BYTES];
    char trim_id[PLACE_BYTES];
    struct soc_slice arguments[] = {
        SOC_SLICE("XADD"),
        soc_slice_text(carrier->peers[peer].out_key),
        SOC_SLICE("NOMKSTREAM"),
        SOC_SLICE("MINID"),
        SOC_SLICE("="),
        put_place(trim_id, trim),
        put_place(id, place),
        SOC_SLICE("f"),
        bytes,
    };
    send_frame(carrier, peer, place, arguments, sizeof(arguments) / sizeof(arguments[0]));
}

/* ---- reading ---- */

/* Asks for what is next in all streams that are read. */
static void read_on(struct redis_carrier *carrier)
{
    if (!carrier->is_ready || carrier->is_reading)
        return;
    struct soc_slice arguments[6 + 2 * SOC_CARRIER_PEERS_MAX] = {
        SOC_SLICE("XREAD"), SOC_SLICE("COUNT"),  SOC_SLICE(READ_COUNT),
        SOC_SLICE("BLOCK"), SOC_SLICE(BLOCK_MS), SOC_SLICE("STREAMS"),
    };
    char places[SOC_CARRIER_PEERS_MAX][PLACE_BYTES];
    size_t count = 0;
    for (int i = 0; i < carrier->peer_count; i++)
        if (carrier->peers[i].is_read && !carrier->peers[i].is_wrong)
            arguments[6 + count++] = soc_slice_text(carrier->peers[i].in_key);
    size_t stream_count = count;
    for (int i = 0; i < carrier->peer_count; i++) {
        struct peer *peer = &carrier->peers[i];
        peer->is_moved = false;
        if (peer->is_read && !peer->is_wrong) {
            arguments[6 + count] = put_place(places[count - stream_count], peer->after);
            count++;
        }
    }
    if (stream_count > 0 &&
        soc_redis_command(carrier->reader, arguments, 6 + count, carrier->take, carrier) == SOC_OK)
        carrier->is_reading = true;
}

static struct peer *find_peer(struct redis_carrier *carrier, struct soc_slice in_key, int *number)
{
    for (*number = 0; *number < carrier->peer_count; ++*number)
        if (soc_slice_equal(in_key, soc_slice_text(carrier->peers[*number].in_key)))
            return &carrier->peers[*number];
    return NULL;
}

/* Hands out one entry, [id, [field, value, ...]]. Entries that are no frames are passed over. */
static void take_entry(struct redis_carrier *carrier, struct peer *peer, int number,
                       const struct soc_redis_reply *entry)
{
    struct soc_carrier_place place;
    const struct soc_redis_reply *fields = soc_redis_reply_at(entry, 1);
    struct soc_slice name = soc_redis_reply_text(soc_redis_reply_at(fields, 0));
    struct soc_slice bytes = soc_redis_reply_text(soc_redis_reply_at(fields, 1));
    if (!read_place(soc_redis_reply_text(soc_redis_reply_at(entry, 0)), &place))
        return;
    if (!peer->is_moved)
        peer->after = place;
    if (soc_slice_equal(name, SOC_SLICE("f")))
        carrier->carrier.events.frame(carrier->carrier.events.user, number, place, bytes);
}

static void take_type(void *user, const struct soc_redis_reply *reply)
{
    struct peer *peer = user;
    struct soc_slice type = soc_redis_reply_text(reply);
    peer->is_wrong = type.length > 0 && !soc_slice_equal(type, SOC_SLICE("stream")) &&
                     !soc_slice_equal(type, SOC_SLICE("none"));
}

/* All types are known: the peers that are to blame are left out. */
static void end_types(void *user, const struct soc_redis_reply *reply)
{
    struct redis_carrier *carrier = user;
    if (reply == NULL)
        return;
    const struct soc_carrier_events *events = &carrier->carrier.events;
    bool is_any = false;
    for (int i = 0; i < carrier->peer_count; i++) {
        if (!carrier->peers[i].is_wrong)
            continue;
        is_any = true;
        events->blocked(events->user, i, "its key in Redis does not hold a stream");
    }
    bool is_hopeless = !is_any && carrier->is_doubted;
    carrier->is_doubted = !is_any; /* the key may have been removed since it was read */
    if (is_hopeless)
        soc_redis_drop(carrier->reader, "Redis refuses to read streams");
    else
        read_on(carrier);
}

static void look_at_types(struct redis_carrier *carrier)
{
    for (int i = 0; i < carrier->peer_count; i++)
        if (carrier->peers[i].is_read)
            soc_redis_call(carrier->reader, take_type, &carrier->peers[i], "TYPE",
                           carrier->peers[i].in_key, NULL);
    soc_redis_call(carrier->reader, end_types, carrier, "PING", NULL);
}

static void take_entries(void *user, const struct soc_redis_reply *reply)
{
    struct redis_carrier *carrier = user;
    carrier->is_reading = false;
    if (reply == NULL || !carrier->is_ready)
        return;
    if (soc_redis_reply_is_error(reply, "WRONGTYPE")) {
        look_at_types(carrier);
        return;
    }
    if (soc_redis_reply_error(reply).length > 0) {
        drop_by_error(carrier->reader, reply);
        return;
    }
    carrier->is_doubted = false;
    for (size_t i = 0; i < soc_redis_reply_count(reply); i++) {
        const struct soc_redis_reply *stream = soc_redis_reply_at(reply, i);
        const struct soc_redis_reply *entries = soc_redis_reply_at(stream, 1);
        int number;
        struct peer *peer =
            find_peer(carrier, soc_redis_reply_text(soc_redis_reply_at(stream, 0)), &number);
        if (peer == NULL)
            continue;
        for (size_t k = 0; k < soc_redis_reply_count(entries); k++)
            take_entry(carrier, peer, number, soc_redis_reply_at(entries, k));
    }
    read_on(carrier);
}

static void read_after(struct soc_carrier *base, int number, struct soc_carrier_place after)
{
    struct redis_carrier *carrier = of(base);
    struct peer *peer = &carrier->peers[number];
    peer->is_read = true;
    peer->is_moved = carrier->is_reading;
    peer->after = after;
    read_on(carrier);
}

/* ---- cards ---- */

static void take_claim(void *user, const struct soc_redis_reply *reply)
{
    struct redis_carrier *carrier = user;
    struct soc_slice host = soc_redis_reply_text(reply);
    if (host.length > 0)
        carrier->carrier.events.claimed(carrier->carrier.events.user, carrier->number, host);
}

static void claim(struct soc_carrier *base, int number)
{
    struct redis_carrier *carrier = of(base);
    char field[24];
    snprintf(field, sizeof(field), "number:%02d", number);
    carrier->number = number;
    soc_redis_call(carrier->writer, NULL, NULL, "HSETNX", carrier->hosts_key, field, carrier->host,
                   NULL);
    soc_redis_call(carrier->writer, take_claim, carrier, "HGET", carrier->hosts_key, field, NULL);
}

static void take_cards(void *user, const struct soc_redis_reply *reply)
{
    struct redis_carrier *carrier = user;
    const struct soc_carrier_events *events = &carrier->carrier.events;
    if (soc_redis_reply_error(reply).length > 0) {
        drop_by_error(carrier->writer, reply);
        return;
    }
    for (size_t i = 0; i + 1 < soc_redis_reply_count(reply); i += 2) {
        struct soc_slice name = soc_redis_reply_text(soc_redis_reply_at(reply, i));
        bool is_number = name.length > 7 && memcmp(name.data, "number:", 7) == 0;
        if (name.length > 0 && !is_number)
            events->card(events->user, name,
                         soc_redis_reply_text(soc_redis_reply_at(reply, i + 1)));
    }
}

/* Reads a decimal number; 0 if it is none. */
static int64_t read_number(struct soc_slice text)
{
    int64_t number = 0;
    for (size_t i = 0; i < text.length && i < 18; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return 0;
        number = number * 10 + (text.data[i] - '0');
    }
    return number;
}

static void take_time(void *user, const struct soc_redis_reply *reply)
{
    struct redis_carrier *carrier = user;
    const struct soc_carrier_events *events = &carrier->carrier.events;
    if (soc_redis_reply_error(reply).length > 0) {
        drop_by_error(carrier->writer, reply);
        return;
    }
    if (soc_redis_reply_count(reply) != 2)
        return;
    int64_t seconds = read_number(soc_redis_reply_text(soc_redis_reply_at(reply, 0)));
    int64_t micros = read_number(soc_redis_reply_text(soc_redis_reply_at(reply, 1)));
    events->cards(events->user, seconds * 1000 + micros / 1000);
}

static void exchange(struct soc_carrier *base, struct soc_slice card)
{
    struct redis_carrier *carrier = of(base);
    for (int i = 0; i < carrier->peer_count; i++)
        carrier->peers[i].is_wrong = false;
    read_on(carrier); /* all of them may have been left out */
    struct soc_slice set[] = {SOC_SLICE("HSET"), soc_slice_text(carrier->hosts_key),
                              soc_slice_text(carrier->host), card};
    soc_redis_command(carrier->writer, set, 4, NULL, NULL);
    soc_redis_call(carrier->writer, take_cards, carrier, "HGETALL", carrier->hosts_key, NULL);
    soc_redis_call(carrier->writer, take_time, carrier, "TIME", NULL);
}

/* ---- lifetime ---- */

static void be_up(void *user)
{
    struct redis_carrier *carrier = user;
    if (carrier->is_ready || !soc_redis_is_up(carrier->writer) || !soc_redis_is_up(carrier->reader))
        return;
    carrier->is_ready = true;
    carrier->is_told = false;
    carrier->carrier.events.ready(carrier->carrier.events.user);
}

/* One connection is lost: the other is given up as well, so that both start anew. */
static void be_down(void *user, const char *why)
{
    struct redis_carrier *carrier = user;
    bool was_ready = carrier->is_ready;
    carrier->is_ready = false;
    carrier->is_reading = false;
    carrier->is_doubted = false;
    for (int i = 0; i < carrier->peer_count; i++)
        carrier->peers[i].is_read = false;
    if (was_ready) {
        soc_redis_drop(carrier->writer, why);
        soc_redis_drop(carrier->reader, why);
    }
    if (carrier->is_told)
        return;
    carrier->is_told = true;
    carrier->carrier.events.lost(carrier->carrier.events.user, why);
}

static void close_carrier(struct soc_carrier *base)
{
    struct redis_carrier *carrier = of(base);
    carrier->is_closing = true;
    carrier->is_ready = false;
    soc_redis_close(carrier->writer);
    soc_redis_close(carrier->reader);
    for (int i = 0; i < carrier->peer_count; i++) {
        free(carrier->peers[i].out_key);
        free(carrier->peers[i].in_key);
    }
    free(carrier->peers);
    free(carrier->host);
    free(carrier->hosts_key);
    free(carrier);
}

static size_t backlog(const struct soc_carrier *base)
{
    return soc_redis_backlog(((const struct redis_carrier *)base)->writer);
}

static char *stream_key(const char *society, const char *to, const char *from)
{
    struct soc_buf key = {0};
    soc_buf_printf(&key, "society:%s:{%s}:from:%s", society, to, from);
    char *copy = soc_copy_text(key.data, key.length);
    soc_buf_fini(&key);
    return copy;
}

static void add_peers(struct redis_carrier *carrier,
                      const struct soc_redis_carrier_options *options)
{
    assert(options->peer_count <= SOC_CARRIER_PEERS_MAX);
    carrier->peers = soc_alloc_zero((size_t)options->peer_count * sizeof(struct peer) + 1);
    carrier->peer_count = options->peer_count;
    for (int i = 0; i < options->peer_count; i++) {
        const char *name = options->peers[i];
        carrier->peers[i].out_key = stream_key(options->society, name, options->host);
        carrier->peers[i].in_key = stream_key(options->society, options->host, name);
    }
}

struct soc_carrier *soc_redis_carrier_open(struct soc_loop *loop,
                                           const struct soc_redis_carrier_options *options,
                                           const struct soc_carrier_events *events,
                                           struct soc_detail *detail)
{
    static const struct soc_carrier_ops ops = {
        .close = close_carrier,
        .create = create,
        .append = append,
        .read = read_after,
        .exchange = exchange,
        .claim = claim,
        .backlog = backlog,
    };
    struct redis_carrier *carrier = soc_alloc_zero(sizeof(*carrier));
    carrier->carrier = (struct soc_carrier){&ops, *events};
    carrier->take = take_entries;
    struct soc_redis_options how = {.url = options->url, .password = options->password};
    struct soc_redis_events hear = {.up = be_up, .down = be_down, .user = carrier};
    how.name = "society-writes";
    carrier->writer = soc_redis_open(loop, &how, &hear, detail);
    if (carrier->writer == NULL) {
        free(carrier);
        return NULL;
    }
    how.name = "society-reads";
    carrier->reader = soc_redis_open(loop, &how, &hear, detail);
    carrier->host = soc_copy_text(options->host, strlen(options->host));
    struct soc_buf key = {0};
    soc_buf_printf(&key, "society:%s:hosts", options->society);
    carrier->hosts_key = soc_copy_text(key.data, key.length);
    soc_buf_fini(&key);
    add_peers(carrier, options);
    return &carrier->carrier;
}
