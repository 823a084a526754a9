#include "bridge/links/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A frame with items that are not all acknowledged. */
struct flight {
    struct soc_carrier_place place;
    uint64_t last; /* of its items */
    size_t bytes;
};

struct soc_link {
    struct soc_link_state state;
    void (*item)(void *user, uint64_t number, struct soc_buf *out);
    void *user;
    enum soc_link_stop stop;

    /* what this end sends */
    uint64_t opened;        /* the last item when the link was made */
    uint64_t sent;          /* the last item the peer may know of */
    uint64_t last_durable;  /* items up to this one may leave */
    uint64_t next;          /* the item that leaves next */
    uint64_t frame;         /* the number of the last frame */
    struct flight *flights; /* a ring, oldest first */
    size_t flight_first;
    size_t flight_count;
    size_t flight_capacity; /* a power of 2 */
    size_t flight_bytes;
    struct soc_carrier_place created_at; /* the last creation of the stream */
    struct soc_carrier_place resent_at;  /* where items were last sent again */
    bool is_ready;                       /* the carrier */
    bool must_create;                    /* the stream */
    bool must_answer;                    /* a frame is due, whatever it holds */
    int64_t sent_ms;                     /* the last frame */

    /* what it hears */
    bool is_met; /* the peer's present epoch has named this end's */
    struct soc_carrier_place heard;
    uint64_t taken_durable;
    bool is_missing;  /* item `taken` + 1, though a later one was sent */
    int64_t asked_ms; /* when it was asked for */
    int64_t heard_ms;
    int64_t acked_ms;

    struct soc_buf items; /* of the frame that leaves */
    struct soc_buf one;   /* of these */
};

/* ---- the state ---- */

void soc_link_state_open(struct soc_link_state *state, int64_t now_ms)
{
    state->epoch++;
    if (now_ms > 0 && (uint64_t)now_ms > state->epoch)
        state->epoch = (uint64_t)now_ms;
}

void soc_link_state_reset(struct soc_link_state *state, const uint8_t own_id[SOC_FRAME_ID_BYTES],
                          int64_t now_ms)
{
    uint64_t waiting = state->last - state->acked;
    uint64_t epoch = state->epoch;
    *state = (struct soc_link_state){.last = waiting, .epoch = epoch};
    memcpy(state->own_id, own_id, SOC_FRAME_ID_BYTES);
    soc_link_state_open(state, now_ms);
}

/* ---- lifetime ---- */

struct soc_link *soc_link_new(const struct soc_link_state *state,
                              void (*item)(void *user, uint64_t number, struct soc_buf *out),
                              void *user)
{
    assert(state->epoch > 0 && state->acked <= state->last);
    struct soc_link *link = soc_alloc_zero(sizeof(*link));
    link->state = *state;
    link->item = item;
    link->user = user;
    link->opened = state->last;
    link->sent = state->last;
    link->last_durable = state->last;
    link->next = state->acked + 1;
    link->taken_durable = state->taken;
    return link;
}

void soc_link_free(struct soc_link *link)
{
    if (link == NULL)
        return;
    free(link->flights);
    soc_buf_fini(&link->items);
    soc_buf_fini(&link->one);
    free(link);
}

const struct soc_link_state *soc_link_state(const struct soc_link *link)
{
    return &link->state;
}

/* ---- what its owner does ---- */

uint64_t soc_link_number(struct soc_link *link)
{
    return ++link->state.last;
}

void soc_link_unnumber(struct soc_link *link)
{
    assert(link->state.last > link->last_durable);
    link->state.last--;
}

void soc_link_durable(struct soc_link *link, uint64_t last, uint64_t taken)
{
    assert(last <= link->state.last && taken <= link->state.taken);
    if (last > link->last_durable)
        link->last_durable = last;
    if (taken > link->taken_durable) {
        link->taken_durable = taken;
        link->must_answer = true;
    }
}

/* ---- frames under way ---- */

static bool is_after(struct soc_carrier_place a, struct soc_carrier_place b)
{
    return a.epoch > b.epoch || (a.epoch == b.epoch && a.frame > b.frame);
}

static struct flight *flight_at(const struct soc_link *link, size_t index)
{
    return &link->flights[(link->flight_first + index) & (link->flight_capacity - 1)];
}

static void add_flight(struct soc_link *link, struct flight flight)
{
    if (link->flight_count == link->flight_capacity) {
        size_t capacity = link->flight_capacity == 0 ? 16 : link->flight_capacity * 2;
        struct flight *flights = soc_alloc(capacity * sizeof(struct flight));
        for (size_t i = 0; i < link->flight_count; i++)
            flights[i] = *flight_at(link, i);
        free(link->flights);
        link->flights = flights;
        link->flight_first = 0;
        link->flight_capacity = capacity;
    }
    link->flight_count++;
    link->flight_bytes += flight.bytes;
    *flight_at(link, link->flight_count - 1) = flight;
}

/* Removes frames all of whose items are acknowledged. */
static void drop_flights(struct soc_link *link)
{
    while (link->flight_count > 0 && flight_at(link, 0)->last <= link->state.acked) {
        link->flight_bytes -= flight_at(link, 0)->bytes;
        link->flight_first = (link->flight_first + 1) & (link->flight_capacity - 1);
        link->flight_count--;
    }
}

/* Sends again from item `number` on. */
static void go_back(struct soc_link *link, uint64_t number)
{
    assert(number > link->state.acked && number <= link->last_durable + 1);
    link->next = number;
    link->flight_count = 0;
    link->flight_bytes = 0;
    link->resent_at = (struct soc_carrier_place){link->state.epoch, link->frame + 1};
}

/* ---- the carrier ---- */

struct soc_carrier_place soc_link_ready(struct soc_link *link)
{
    link->is_ready = true;
    link->must_create = true;
    return link->heard;
}

void soc_link_speak(struct soc_link *link)
{
    link->must_answer = true;
}

void soc_link_lost(struct soc_link *link)
{
    link->is_ready = false;
}

bool soc_link_appended(struct soc_link *link, struct soc_carrier_place place,
                       enum soc_carrier_end end)
{
    if (place.epoch != link->state.epoch || link->stop == SOC_LINK_FENCED)
        return false;
    if (end == SOC_CARRIER_FENCED) {
        link->stop = SOC_LINK_FENCED;
        return true;
    }
    if (end == SOC_CARRIER_GONE && !is_after(link->created_at, place)) {
        link->must_create = true;
        go_back(link, link->state.acked + 1);
    }
    return false;
}

/* ---- what was heard ---- */

static bool is_known(const uint8_t id[SOC_FRAME_ID_BYTES])
{
    static const uint8_t none[SOC_FRAME_ID_BYTES];
    return memcmp(id, none, SOC_FRAME_ID_BYTES) != 0;
}

static bool is_same(const uint8_t a[SOC_FRAME_ID_BYTES], const uint8_t b[SOC_FRAME_ID_BYTES])
{
    return memcmp(a, b, SOC_FRAME_ID_BYTES) == 0;
}

/* Compares what both ends know of each other. Items leave an end when they are durable there,
 * and are acknowledged when they are durable here: so neither can know of more than the other
 * has. An end may have numbered items since it started, but not before it met this one. */
static enum soc_link_stop judge(const struct soc_link *link, struct soc_carrier_place place,
                                const struct soc_frame *frame)
{
    const struct soc_link_state *state = &link->state;
    if (is_known(state->peer_id) && !is_same(state->peer_id, frame->from))
        return SOC_LINK_PEER_REPLACED;
    if (is_known(frame->to) && !is_same(state->own_id, frame->to))
        return SOC_LINK_NOT_RECOGNIZED;
    if (frame->taken > link->sent || frame->acked > state->taken)
        return SOC_LINK_STATE_ROLLED_BACK;
    if (frame->taken < state->acked || place.epoch < state->peer_epoch)
        return SOC_LINK_PEER_ROLLED_BACK;
    if (place.epoch > state->peer_epoch && frame->opened < state->taken)
        return SOC_LINK_PEER_ROLLED_BACK;
    return SOC_LINK_NONE;
}

/* Learns who the peer is; true: that is new. */
static bool meet(struct soc_link *link, struct soc_carrier_place place,
                 const struct soc_frame *frame)
{
    struct soc_link_state *state = &link->state;
    bool is_new = !is_known(state->peer_id) || place.epoch > state->peer_epoch;
    memcpy(state->peer_id, frame->from, SOC_FRAME_ID_BYTES);
    state->peer_epoch = place.epoch;
    return is_new;
}

/* Heeds what the peer says of this end's items; true: some are acknowledged. */
static bool take_acks(struct soc_link *link, const struct soc_frame *frame, int64_t now_ms)
{
    struct soc_link_state *state = &link->state;
    bool is_acked = frame->taken > state->acked;
    if (is_acked) {
        state->acked = frame->taken;
        link->acked_ms = now_ms;
        if (link->next <= state->acked)
            link->next = state->acked + 1;
        drop_flights(link);
    }
    if (!link->is_met) {
        /* What was sent before was not for this run of the peer. */
        link->is_met = true;
        go_back(link, state->acked + 1);
    } else if (frame->wanted > state->acked && frame->wanted < link->next &&
               !is_after(link->resent_at, frame->heard)) {
        go_back(link, frame->wanted);
    }
    return is_acked;
}

/* Decides which items of a frame are taken. */
static void take_items(struct soc_link *link, const struct soc_frame *frame, int64_t now_ms,
                       struct soc_link_news *news)
{
    struct soc_link_state *state = &link->state;
    if (frame->first > state->taken + 1) {
        if (!link->is_missing || now_ms - link->asked_ms >= SOC_LINK_ASK_MS) {
            link->must_answer = true;
            link->asked_ms = now_ms;
        }
        link->is_missing = true;
        return;
    }
    uint64_t before = state->taken + 1 - frame->first;
    news->skip = before < frame->count ? (uint32_t)before : frame->count;
    news->take = frame->count - news->skip;
    state->taken += news->take;
    link->is_missing = false;
    if (news->skip > 0)
        link->must_answer = true; /* an acknowledgement was lost */
}

/* Notes a condition; true: it is another than before. */
static bool set_stop(struct soc_link *link, enum soc_link_stop stop)
{
    bool is_changed = stop != link->stop;
    link->stop = stop;
    if (is_changed)
        link->must_answer = true; /* the peer can judge as well */
    return is_changed;
}

/* The known peer may speak again, after an impostor or under a reset end. A state that was put
 * back stays so until a person has looked. */
static bool can_resume(enum soc_link_stop stop)
{
    return stop == SOC_LINK_NONE || stop == SOC_LINK_NOT_RECOGNIZED ||
           stop == SOC_LINK_PEER_REPLACED;
}

struct soc_link_news soc_link_receive(struct soc_link *link, struct soc_carrier_place place,
                                      const struct soc_frame *frame, int64_t now_ms)
{
    struct soc_link_news news = {0};
    if (!is_after(place, link->heard) || link->stop == SOC_LINK_FENCED)
        return news;
    if (place.epoch > link->heard.epoch) {
        link->is_met = false;
        link->must_answer = true;
    }
    link->heard = place;
    link->heard_ms = now_ms;
    link->must_answer |= frame->is_asking;
    if (frame->heard.epoch > link->state.epoch) {
        news.is_stopped = set_stop(link, SOC_LINK_FENCED);
        return news;
    }
    if (frame->heard.epoch != link->state.epoch)
        return news;
    if (can_resume(link->stop))
        news.is_stopped = set_stop(link, judge(link, place, frame));
    if (link->stop != SOC_LINK_NONE)
        return news;
    news.is_state_changed = meet(link, place, frame);
    if (take_acks(link, frame, now_ms))
        news.acked = link->state.acked;
    take_items(link, frame, now_ms, &news);
    news.is_state_changed |= news.acked > 0 || news.take > 0;
    return news;
}

/* ---- what leaves ---- */

static bool can_send(const struct soc_link *link)
{
    return link->is_met && link->stop == SOC_LINK_NONE && !link->must_create &&
           link->next <= link->last_durable &&
           link->next - link->state.acked <= SOC_LINK_WINDOW_ITEMS &&
           link->flight_bytes < SOC_LINK_WINDOW_BYTES;
}

/* When a frame is due though nothing has happened. */
static int64_t idle_due(const struct soc_link *link)
{
    bool is_waiting = link->stop == SOC_LINK_NONE && (!link->is_met || link->is_missing);
    return link->sent_ms + (is_waiting ? SOC_LINK_ASK_MS : SOC_LINK_IDLE_MS);
}

static uint32_t put_items(struct soc_link *link)
{
    uint32_t count = 0;
    while (can_send(link) && count < SOC_FRAME_ITEMS_MAX &&
           link->items.length < SOC_LINK_FRAME_BYTES) {
        link->one.length = 0;
        link->item(link->user, link->next, &link->one);
        soc_frame_add(&link->items, soc_buf_slice(&link->one));
        if (link->next > link->sent)
            link->sent = link->next;
        link->next++;
        count++;
    }
    return count;
}

bool soc_link_next(struct soc_link *link, int64_t now_ms, struct soc_link_outgoing *out)
{
    int64_t due_ms = soc_link_due(link);
    if (due_ms < 0 || due_ms > now_ms)
        return false;
    const struct soc_link_state *state = &link->state;
    struct soc_carrier_place place = {state->epoch, ++link->frame};
    *out = (struct soc_link_outgoing){.is_creation = link->must_create, .place = place};
    link->items.length = 0;
    uint64_t first = link->next;
    uint32_t count = put_items(link);
    out->frame = (struct soc_frame){
        .is_asking = (!link->is_met && link->stop == SOC_LINK_NONE) || link->must_create,
        .first = first,
        .opened = link->opened,
        .acked = state->acked,
        .taken = link->taken_durable,
        .wanted = link->is_missing ? state->taken + 1 : 0,
        .heard = link->heard,
        .count = count,
        .items = soc_buf_slice(&link->items),
    };
    memcpy(out->frame.from, state->own_id, SOC_FRAME_ID_BYTES);
    memcpy(out->frame.to, state->peer_id, SOC_FRAME_ID_BYTES);
    if (count > 0)
        add_flight(link, (struct flight){place, link->next - 1, link->items.length});
    out->trim = link->flight_count > 0 ? flight_at(link, 0)->place : place;
    if (link->must_create)
        link->created_at = place;
    link->must_create = false;
    link->must_answer = false;
    link->sent_ms = now_ms;
    return true;
}

int64_t soc_link_due(const struct soc_link *link)
{
    if (!link->is_ready || link->stop == SOC_LINK_FENCED)
        return -1;
    return link->must_create || link->must_answer || can_send(link) ? 0 : idle_due(link);
}

/* ---- figures ---- */

struct soc_link_figures soc_link_figures(const struct soc_link *link)
{
    return (struct soc_link_figures){
        .stop = link->stop,
        .is_met = link->is_met,
        .waiting = link->state.last - link->state.acked,
        .in_flight = link->next - link->state.acked - 1,
        .in_flight_bytes = link->flight_bytes,
        .heard_ms = link->heard_ms,
        .acked_ms = link->acked_ms,
    };
}

const char *soc_link_stop_name(enum soc_link_stop stop)
{
    static const char *const names[] = {
#define S(name, wire, text) wire,
        SOC_LINK_STOP_MAP(S)
#undef S
    };
    return names[stop];
}

const char *soc_link_stop_text(enum soc_link_stop stop)
{
    static const char *const texts[] = {
#define S(name, wire, text) text,
        SOC_LINK_STOP_MAP(S)
#undef S
    };
    return texts[stop];
}
