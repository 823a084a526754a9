#include "sim/network.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/rng.h"

#define NUMBERS 100

/* Some owned bytes. */
struct bytes {
    char *data;
    size_t length;
};

/* A frame in a stream. */
struct entry {
    struct soc_carrier_place place;
    struct bytes bytes;
};

/* The stream of an ordered pair of hosts. */
struct stream {
    char *from;
    char *to;
    bool is_there;
    struct soc_carrier_place last; /* survives trimming, as in Redis */
    struct entry *entries;
    size_t count;
    size_t capacity;
};

/* A host's entry in the table of hosts. */
struct card {
    char *host;
    struct bytes bytes;
};

enum request_kind {
    REQUEST_CREATE,
    REQUEST_APPEND,
    REQUEST_EXCHANGE,
    REQUEST_CLAIM,
};

/* What a host has asked for. */
struct request {
    enum request_kind kind;
    int64_t due_ms;
    int peer; /* or the number that is claimed */
    struct soc_carrier_place place;
    struct soc_carrier_place trim;
    struct bytes bytes;
};

/* A peer of a joined host. */
struct peer {
    size_t out; /* the stream to it */
    size_t in;  /* the stream from it */
    bool is_read;
    struct soc_carrier_place after;
};

/* A joined host. */
struct end {
    struct soc_carrier carrier; /* first */
    struct soc_network *network;
    char *host;
    struct peer *peers;
    int peer_count;
    bool is_cut;
    bool is_ready;
    bool is_told;             /* that it is lost */
    int64_t ready_ms;         /* when it may be ready */
    struct request *requests; /* oldest first */
    size_t request_count;
    size_t request_capacity;
};

struct soc_network {
    struct soc_rng rng;
    int64_t now_ms;
    int64_t skew_ms;
    int64_t delay_ms_max;
    bool is_down;
    struct stream *streams; /* in the order they were named */
    size_t stream_count;
    struct card *cards; /* likewise */
    size_t card_count;
    char *numbers[NUMBERS]; /* who has each; NULL: nobody */
    struct end *ends[SOC_NETWORK_HOSTS_MAX];
    int end_count;
    void (*watch)(void *user, const char *from, const char *to, struct soc_slice bytes);
    void *watch_user;
};

static struct bytes copy_bytes(struct soc_slice bytes)
{
    return (struct bytes){soc_copy_text(bytes.length == 0 ? "" : bytes.data, bytes.length),
                          bytes.length};
}

static struct soc_slice lend(struct bytes bytes)
{
    return soc_slice(bytes.data, bytes.length);
}

static bool is_after(struct soc_carrier_place a, struct soc_carrier_place b)
{
    return a.epoch > b.epoch || (a.epoch == b.epoch && a.frame > b.frame);
}

/* ---- streams ---- */

static size_t name_stream(struct soc_network *network, const char *from, const char *to)
{
    for (size_t i = 0; i < network->stream_count; i++)
        if (strcmp(network->streams[i].from, from) == 0 && strcmp(network->streams[i].to, to) == 0)
            return i;
    network->streams =
        soc_realloc(network->streams, (network->stream_count + 1) * sizeof(struct stream));
    network->streams[network->stream_count] = (struct stream){
        .from = soc_copy_text(from, strlen(from)),
        .to = soc_copy_text(to, strlen(to)),
    };
    return network->stream_count++;
}

/* Drops the first or the last `count` frames. */
static void drop_entries(struct stream *stream, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        free(stream->entries[i].bytes.data);
    stream->count -= count;
    if (count > 0 && stream->count > first)
        memmove(&stream->entries[first], &stream->entries[first + count],
                (stream->count - first) * sizeof(struct entry));
}

static void forget_stream(struct stream *stream)
{
    drop_entries(stream, 0, stream->count);
    stream->is_there = false;
    stream->last = (struct soc_carrier_place){0, 0};
}

/* Does an append as XADD would; the bytes are the stream's afterwards. */
static enum soc_carrier_end add_entry(struct stream *stream, struct request *request)
{
    if (!stream->is_there && request->kind == REQUEST_APPEND)
        return SOC_CARRIER_GONE;
    if (!is_after(request->place, stream->last))
        return SOC_CARRIER_FENCED;
    stream->is_there = true;
    stream->last = request->place;
    if (stream->count == stream->capacity) {
        stream->capacity = stream->capacity == 0 ? 16 : stream->capacity * 2;
        stream->entries = soc_realloc(stream->entries, stream->capacity * sizeof(struct entry));
    }
    stream->entries[stream->count++] = (struct entry){request->place, request->bytes};
    request->bytes = (struct bytes){NULL, 0};
    size_t old = 0;
    while (old < stream->count && is_after(request->trim, stream->entries[old].place))
        old++;
    drop_entries(stream, 0, old);
    return SOC_CARRIER_DONE;
}

/* ---- requests ---- */

static void ask(struct end *end, struct request request)
{
    struct soc_network *network = end->network;
    if (!end->is_ready) {
        free(request.bytes.data);
        return;
    }
    uint64_t spread = (uint64_t)network->delay_ms_max + 1;
    request.due_ms = network->now_ms + (int64_t)soc_rng_below(&network->rng, spread);
    if (end->request_count > 0 && request.due_ms < end->requests[end->request_count - 1].due_ms)
        request.due_ms = end->requests[end->request_count - 1].due_ms;
    if (end->request_count == end->request_capacity) {
        end->request_capacity = end->request_capacity == 0 ? 16 : end->request_capacity * 2;
        end->requests = soc_realloc(end->requests, end->request_capacity * sizeof(struct request));
    }
    end->requests[end->request_count++] = request;
}

static void show_frame(const struct end *end, int peer, struct soc_slice bytes)
{
    const struct soc_network *network = end->network;
    if (network->watch != NULL)
        network->watch(network->watch_user, end->host, network->streams[end->peers[peer].out].to,
                       bytes);
}

static void create(struct soc_carrier *carrier, int peer, struct soc_carrier_place place,
                   struct soc_slice bytes)
{
    show_frame((struct end *)carrier, peer, bytes);
    ask((struct end *)carrier,
        (struct request){
            .kind = REQUEST_CREATE, .peer = peer, .place = place, .bytes = copy_bytes(bytes)});
}

static void append(struct soc_carrier *carrier, int peer, struct soc_carrier_place place,
                   struct soc_carrier_place trim, struct soc_slice bytes)
{
    show_frame((struct end *)carrier, peer, bytes);
    ask((struct end *)carrier, (struct request){.kind = REQUEST_APPEND,
                                                .peer = peer,
                                                .place = place,
                                                .trim = trim,
                                                .bytes = copy_bytes(bytes)});
}

static void exchange(struct soc_carrier *carrier, struct soc_slice card)
{
    ask((struct end *)carrier,
        (struct request){.kind = REQUEST_EXCHANGE, .bytes = copy_bytes(card)});
}

static void claim(struct soc_carrier *carrier, int number)
{
    assert(number >= 0 && number < NUMBERS);
    ask((struct end *)carrier, (struct request){.kind = REQUEST_CLAIM, .peer = number});
}

static void read_after(struct soc_carrier *carrier, int peer, struct soc_carrier_place after)
{
    struct end *end = (struct end *)carrier;
    if (!end->is_ready)
        return;
    end->peers[peer].is_read = true;
    end->peers[peer].after = after;
}

static size_t backlog(const struct soc_carrier *carrier)
{
    const struct end *end = (const struct end *)carrier;
    size_t bytes = 0;
    for (size_t i = 0; i < end->request_count; i++)
        bytes += end->requests[i].bytes.length;
    return bytes;
}

static void set_card(struct soc_network *network, const char *host, struct bytes bytes)
{
    for (size_t i = 0; i < network->card_count; i++) {
        if (strcmp(network->cards[i].host, host) != 0)
            continue;
        free(network->cards[i].bytes.data);
        network->cards[i].bytes = bytes;
        return;
    }
    network->cards = soc_realloc(network->cards, (network->card_count + 1) * sizeof(struct card));
    network->cards[network->card_count++] = (struct card){soc_copy_text(host, strlen(host)), bytes};
}

/* What the server does with a request, without a reply. */
static enum soc_carrier_end do_request(struct end *end, struct request *request)
{
    struct soc_network *network = end->network;
    switch (request->kind) {
    case REQUEST_CREATE:
    case REQUEST_APPEND:
        return add_entry(&network->streams[end->peers[request->peer].out], request);
    case REQUEST_EXCHANGE:
        set_card(network, end->host, request->bytes);
        request->bytes = (struct bytes){NULL, 0};
        break;
    case REQUEST_CLAIM:
        if (network->numbers[request->peer] == NULL)
            network->numbers[request->peer] = soc_copy_text(end->host, strlen(end->host));
        break;
    }
    return SOC_CARRIER_DONE;
}

/* Reports how a request ended. */
static void reply(struct end *end, const struct request *request, enum soc_carrier_end how)
{
    struct soc_network *network = end->network;
    const struct soc_carrier_events *events = &end->carrier.events;
    if (request->kind == REQUEST_CREATE || request->kind == REQUEST_APPEND) {
        events->appended(events->user, request->peer, request->place, how);
    } else if (how == SOC_CARRIER_LOST) {
        return;
    } else if (request->kind == REQUEST_CLAIM) {
        events->claimed(events->user, request->peer,
                        soc_slice_text(network->numbers[request->peer]));
    } else {
        for (size_t i = 0; i < network->card_count; i++)
            events->card(events->user, soc_slice_text(network->cards[i].host),
                         lend(network->cards[i].bytes));
        events->cards(events->user, network->now_ms + network->skew_ms);
    }
}

/* Takes the oldest request out of the queue. */
static struct request next_request(struct end *end)
{
    struct request request = end->requests[0];
    end->request_count--;
    memmove(end->requests, end->requests + 1, end->request_count * sizeof(struct request));
    return request;
}

/* ---- time ---- */

/* The host is cut off: of what was under way a part was done, nobody knows how much. */
static void lose(struct end *end, const char *why)
{
    if (!end->is_ready) {
        end->ready_ms = end->network->now_ms;
        return;
    }
    end->is_ready = false;
    for (int i = 0; i < end->peer_count; i++)
        end->peers[i].is_read = false;
    size_t done = soc_rng_below(&end->network->rng, end->request_count + 1);
    while (end->request_count > 0) {
        struct request request = next_request(end);
        if (done > 0) {
            done--;
            do_request(end, &request);
        }
        reply(end, &request, SOC_CARRIER_LOST);
        free(request.bytes.data);
    }
    end->ready_ms = end->network->now_ms;
    end->is_told = true;
    end->carrier.events.lost(end->carrier.events.user, why);
}

static bool is_connected(const struct end *end)
{
    return !end->is_cut && !end->network->is_down;
}

static bool serve_requests(struct end *end)
{
    bool is_any = false;
    while (end->request_count > 0 && end->requests[0].due_ms <= end->network->now_ms) {
        struct request request = next_request(end);
        reply(end, &request, do_request(end, &request));
        free(request.bytes.data);
        is_any = true;
    }
    return is_any;
}

/* The first frame that the host has not read; NULL: there is none. */
static struct entry *unread(const struct end *end, const struct peer *peer)
{
    struct stream *stream = &end->network->streams[peer->in];
    for (size_t i = 0; peer->is_read && i < stream->count; i++)
        if (is_after(stream->entries[i].place, peer->after))
            return &stream->entries[i];
    return NULL;
}

static bool serve_reads(struct end *end)
{
    bool is_any = false;
    for (int i = 0; i < end->peer_count && end->is_ready; i++) {
        struct peer *peer = &end->peers[i];
        struct entry *entry;
        while ((entry = unread(end, peer)) != NULL) {
            /* A copy: what the host does may change the stream. */
            struct bytes bytes = copy_bytes(lend(entry->bytes));
            struct soc_carrier_place place = entry->place;
            peer->after = place;
            end->carrier.events.frame(end->carrier.events.user, i, place, lend(bytes));
            free(bytes.data);
            is_any = true;
        }
    }
    return is_any;
}

static bool serve(struct end *end)
{
    bool is_any = false;
    if (!is_connected(end)) {
        if (!end->is_ready && !end->is_told) {
            end->is_told = true;
            end->carrier.events.lost(end->carrier.events.user, "the carrier cannot be reached");
            is_any = true;
        }
        return is_any;
    }
    if (!end->is_ready && end->ready_ms <= end->network->now_ms) {
        end->is_ready = true;
        end->is_told = false;
        end->carrier.events.ready(end->carrier.events.user);
        is_any = true;
    }
    is_any |= serve_requests(end);
    is_any |= serve_reads(end);
    return is_any;
}

bool soc_network_step(struct soc_network *network, int64_t now_ms)
{
    assert(now_ms >= network->now_ms);
    network->now_ms = now_ms;
    bool is_any = false;
    for (int i = 0; i < network->end_count; i++)
        is_any |= serve(network->ends[i]);
    return is_any;
}

/* When a host has something to do; -1: not before somebody does something. */
static int64_t end_due(const struct end *end)
{
    const struct soc_network *network = end->network;
    if (!is_connected(end))
        return !end->is_ready && !end->is_told ? network->now_ms : -1;
    if (!end->is_ready)
        return end->ready_ms;
    for (int i = 0; i < end->peer_count; i++)
        if (unread(end, &end->peers[i]) != NULL)
            return network->now_ms;
    return end->request_count > 0 ? end->requests[0].due_ms : -1;
}

int64_t soc_network_due(const struct soc_network *network)
{
    int64_t due_ms = -1;
    for (int i = 0; i < network->end_count; i++) {
        int64_t end_ms = end_due(network->ends[i]);
        if (end_ms >= 0 && (due_ms < 0 || end_ms < due_ms))
            due_ms = end_ms;
    }
    return due_ms;
}

/* ---- faults ---- */

void soc_network_watch(struct soc_network *network,
                       void (*watch)(void *user, const char *from, const char *to,
                                     struct soc_slice bytes),
                       void *user)
{
    network->watch = watch;
    network->watch_user = user;
}

void soc_network_delay(struct soc_network *network, int64_t delay_ms_max)
{
    assert(delay_ms_max >= 0);
    network->delay_ms_max = delay_ms_max;
}

void soc_network_cut(struct soc_network *network, const char *host, bool is_cut)
{
    if (host == NULL)
        network->is_down = is_cut;
    for (int i = 0; i < network->end_count; i++) {
        struct end *end = network->ends[i];
        if (host != NULL && strcmp(end->host, host) != 0)
            continue;
        if (host != NULL)
            end->is_cut = is_cut;
        if (is_cut)
            lose(end, "the carrier was cut off");
    }
}

void soc_network_flush(struct soc_network *network)
{
    for (size_t i = 0; i < network->stream_count; i++)
        forget_stream(&network->streams[i]);
    for (size_t i = 0; i < network->card_count; i++) {
        free(network->cards[i].host);
        free(network->cards[i].bytes.data);
    }
    network->card_count = 0;
    for (int i = 0; i < NUMBERS; i++) {
        free(network->numbers[i]);
        network->numbers[i] = NULL;
    }
}

void soc_network_fail_over(struct soc_network *network, uint64_t frames_max)
{
    for (int i = 0; i < network->end_count; i++)
        lose(network->ends[i], "another server is the master");
    for (size_t i = 0; i < network->stream_count; i++) {
        struct stream *stream = &network->streams[i];
        size_t lost = soc_rng_below(&network->rng, frames_max + 1);
        if (lost > stream->count)
            lost = stream->count;
        drop_entries(stream, stream->count - lost, lost);
        if (lost > 0 && stream->count > 0)
            stream->last = stream->entries[stream->count - 1].place;
        else if (lost > 0)
            forget_stream(stream);
    }
}

void soc_network_skew(struct soc_network *network, int64_t skew_ms)
{
    network->skew_ms = skew_ms;
}

/* ---- lifetime ---- */

static void close_end(struct soc_carrier *carrier)
{
    struct end *end = (struct end *)carrier;
    struct soc_network *network = end->network;
    int at = 0;
    while (network->ends[at] != end)
        at++;
    network->end_count--;
    memmove(&network->ends[at], &network->ends[at + 1],
            (size_t)(network->end_count - at) * sizeof(struct end *));
    /* What was under way may still reach the server. */
    size_t done = soc_rng_below(&network->rng, end->request_count + 1);
    while (end->request_count > 0) {
        struct request request = next_request(end);
        if (done > 0) {
            done--;
            do_request(end, &request);
        }
        free(request.bytes.data);
    }
    free(end->requests);
    free(end->peers);
    free(end->host);
    free(end);
}

struct soc_carrier *soc_network_join(struct soc_network *network, const char *host,
                                     const char *const *peers, int peer_count,
                                     const struct soc_carrier_events *events)
{
    static const struct soc_carrier_ops ops = {
        .close = close_end,
        .create = create,
        .append = append,
        .read = read_after,
        .exchange = exchange,
        .claim = claim,
        .backlog = backlog,
    };
    assert(network->end_count < SOC_NETWORK_HOSTS_MAX);
    struct end *end = soc_alloc_zero(sizeof(*end));
    end->carrier = (struct soc_carrier){&ops, *events};
    end->network = network;
    end->host = soc_copy_text(host, strlen(host));
    end->peers = soc_alloc_zero((size_t)peer_count * sizeof(struct peer) + 1);
    end->peer_count = peer_count;
    for (int i = 0; i < peer_count; i++) {
        end->peers[i].out = name_stream(network, host, peers[i]);
        end->peers[i].in = name_stream(network, peers[i], host);
    }
    end->ready_ms = network->now_ms;
    network->ends[network->end_count++] = end;
    return &end->carrier;
}

struct soc_network *soc_network_new(uint64_t seed)
{
    struct soc_network *network = soc_alloc_zero(sizeof(*network));
    soc_rng_init(&network->rng, seed);
    return network;
}

void soc_network_free(struct soc_network *network)
{
    if (network == NULL)
        return;
    assert(network->end_count == 0);
    soc_network_flush(network);
    for (size_t i = 0; i < network->stream_count; i++) {
        free(network->streams[i].from);
        free(network->streams[i].to);
        free(network->streams[i].entries);
    }
    free(network->streams);
    free(network->cards);
    free(network);
}

size_t soc_network_length(const struct soc_network *network, const char *from, const char *to)
{
    for (size_t i = 0; i < network->stream_count; i++)
        if (strcmp(network->streams[i].from, from) == 0 && strcmp(network->streams[i].to, to) == 0)
            return network->streams[i].count;
    return 0;
}
