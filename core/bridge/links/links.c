#include "bridge/links/links.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bridge/links/link.h"
#include "env/clock.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/registry.h"
#include "loop/alarm.h"
#include "net/digest.h"
#include "parts/hosts/hosts.h"

#define CARDS_MS       2000
#define SILENT_MS      10000 /* without a new card */
#define SKEW_MS        1000  /* clocks that differ more raise an alert */
#define BUSY_LOOK_MS   100
#define NUMBER_AT_ONCE 1024
#define BACKLOG_BYTES  (8u << 20) /* in this process; more frames wait */

/* A link to one peer. */
struct end {
    struct soc_links *links;
    struct soc_hosts_peer *peer;
    int index;
    char *name;
    struct soc_link *link;   /* NULL: its epoch is not durable yet */
    uint64_t awaited;        /* the epoch that is to become durable */
    struct soc_buf busy;     /* the agents of the peer that can take no mail, as it said last */
    struct soc_buf busy_out; /* those of this host, as the peer is told … */
    int64_t busy_ms;         /* … since they were looked at */
    uint64_t card;           /* a hash of its last card; 0: none yet */
    int64_t card_ms;         /* when that changed */
    bool is_due;             /* a batch is durable: a frame may leave when all it ends is noted */
    bool is_silent;
    bool is_refused; /* it was said that its frames are refused */
    bool is_blocked; /* or that its stream cannot be read */
};

/* What becomes durable with a batch. */
struct mark {
    struct end *end;
    uint64_t epoch;
    uint64_t last;
    uint64_t taken;
};

struct soc_links {
    struct soc_host *host;
    struct soc_carrier *carrier; /* NULL: stopped */
    struct soc_alarm *alarm;     /* NULL: simulated */
    char *society;
    char *name;
    char *keys[SOC_FRAME_KEYS_MAX];
    int key_count;
    struct end *ends;
    int count;
    int wanted;                       /* the number it asks for; -1: none was set */
    int tries;                        /* numbers that others had */
    bool is_ready;                    /* the carrier */
    bool is_numbered;                 /* the number is durable and this host's */
    bool is_taken;                    /* another host has the number: all links have stopped */
    bool has_time;                    /* `ahead_ms` is known */
    bool is_skewed;                   /* it was said that the clocks differ */
    bool is_told_lost;                /* that the carrier is lost */
    int64_t ahead_ms;                 /* by how much the carrier's clock is ahead of the host's */
    int64_t exchange_ms;              /* when cards are exchanged next */
    uint64_t cards;                   /* shown in this run */
    struct soc_buf marks;             /* struct mark, oldest first */
    size_t marks_done;                /* bytes of them that are durable */
    void (*note_durable)(void *user); /* called for each mark */
};

static int64_t now_of(const struct soc_links *links)
{
    return soc_clock_now(soc_host_clock(links->host));
}

static int64_t date_of(const struct soc_links *links)
{
    return soc_clock_date(soc_host_clock(links->host));
}

/* ---- the stored end and the state of a link ---- */

static void put_id(char out[SOC_HOSTS_ID_BYTES + 1], const uint8_t id[SOC_FRAME_ID_BYTES])
{
    static const uint8_t none[SOC_FRAME_ID_BYTES];
    struct soc_buf hex = {0};
    memset(out, 0, SOC_HOSTS_ID_BYTES + 1);
    if (memcmp(id, none, SOC_FRAME_ID_BYTES) == 0)
        return;
    soc_digest_put_hex(&hex, id, SOC_FRAME_ID_BYTES);
    memcpy(out, hex.data, SOC_HOSTS_ID_BYTES);
    soc_buf_fini(&hex);
}

static void read_id(uint8_t out[SOC_FRAME_ID_BYTES], const char *text)
{
    if (!soc_digest_read_hex(soc_slice_text(text), out, SOC_FRAME_ID_BYTES))
        memset(out, 0, SOC_FRAME_ID_BYTES);
}

static struct soc_link_state state_of(const struct soc_hosts_end *end)
{
    struct soc_link_state state = {
        .last = end->last,
        .acked = end->acked,
        .taken = end->taken,
        .peer_epoch = end->peer_epoch,
        .epoch = end->epoch,
    };
    read_id(state.own_id, end->own_id);
    read_id(state.peer_id, end->peer_id);
    return state;
}

static void keep(struct end *end, const struct soc_link_state *state)
{
    struct soc_hosts_end stored = {
        .last = state->last,
        .acked = state->acked,
        .taken = state->taken,
        .peer_epoch = state->peer_epoch,
        .epoch = state->epoch,
    };
    put_id(stored.own_id, state->own_id);
    put_id(stored.peer_id, state->peer_id);
    soc_hosts_keep(end->links->host, end->peer, &stored);
}

static void make_id(struct soc_links *links, uint8_t out[SOC_FRAME_ID_BYTES])
{
    uint64_t words[2] = {soc_gate_random(links->host), soc_gate_random(links->host)};
    _Static_assert(sizeof(words) == SOC_FRAME_ID_BYTES, "an id is two words");
    memcpy(out, words, sizeof(words));
}

/* ---- durability ---- */

static void put_item(void *user, uint64_t number, struct soc_buf *out)
{
    const struct end *end = user;
    soc_hosts_put_item(end->links->host, end->peer, number, end->links->ahead_ms, out);
}

/* Notes what the open batch makes durable. `end` NULL: the number of this host. */
static void mark(struct soc_links *links, struct end *end)
{
    struct mark mark = {.end = end};
    const struct soc_hosts_end *stored = end == NULL ? NULL : soc_hosts_end(end->peer);
    if (stored != NULL) {
        mark.epoch = stored->epoch;
        mark.last = stored->last;
        mark.taken = stored->taken;
    }
    soc_buf_put(&links->marks, &mark, sizeof(mark));
    soc_gate_when_durable(links->host, links->note_durable, links);
}

/* Raises the epoch of an end and waits until that is durable. */
static void raise_epoch(struct end *end, struct soc_link_state *state)
{
    soc_link_free(end->link);
    end->link = NULL;
    end->awaited = state->epoch;
    keep(end, state);
}

/* ---- what is said ---- */

static void alert(struct soc_links *links, const char *peer, const char *type, const char *text)
{
    soc_hosts_alert(links->host, peer == NULL ? (struct soc_slice){0} : soc_slice_text(peer), type,
                    text);
}

static void say_stop(struct end *end)
{
    struct soc_link_figures figures = soc_link_figures(end->link, now_of(end->links));
    if (figures.stop == SOC_LINK_NONE)
        alert(end->links, end->name, "link_resumed", soc_link_stop_text(figures.stop));
    else
        alert(end->links, end->name, soc_link_stop_name(figures.stop),
              soc_link_stop_text(figures.stop));
}

/* ---- what leaves ---- */

static struct soc_frame_keys keys_of(const struct soc_links *links, const char *from,
                                     const char *to)
{
    struct soc_frame_keys keys = {
        .count = links->key_count, .society = links->society, .sender = from, .receiver = to};
    for (int i = 0; i < links->key_count; i++)
        keys.keys[i] = soc_slice_text(links->keys[i]);
    return keys;
}

static bool can_number(const struct end *end)
{
    struct soc_link_figures figures = soc_link_figures(end->link, now_of(end->links));
    return end->links->is_ready && figures.is_met && figures.stop == SOC_LINK_NONE &&
           figures.waiting < SOC_LINK_WINDOW_ITEMS &&
           figures.in_flight_bytes < SOC_LINK_WINDOW_BYTES;
}

/* Numbers waiting mail while the link has room. */
static void number_mail(struct end *end)
{
    struct soc_host *host = end->links->host;
    bool is_any = false;
    while (soc_hosts_has_mail(end->peer) && can_number(end)) {
        const struct soc_link_state *state = soc_link_state(end->link);
        uint64_t room = SOC_LINK_WINDOW_ITEMS - (state->last - state->acked);
        uint64_t count = soc_hosts_number(host, end->peer, state->last + 1,
                                          room < NUMBER_AT_ONCE ? room : NUMBER_AT_ONCE);
        for (uint64_t i = 0; i < count; i++)
            soc_link_number(end->link);
        is_any |= count > 0;
        if (count == 0)
            break;
    }
    if (is_any)
        mark(end->links, end);
}

/* Lends the list of agents that can take no mail, which is not made for every frame. */
static struct soc_slice busy_for(struct end *end)
{
    int64_t now_ms = now_of(end->links);
    if (now_ms - end->busy_ms >= BUSY_LOOK_MS || now_ms < end->busy_ms) {
        end->busy_ms = now_ms;
        end->busy_out.length = 0;
        soc_hosts_put_busy(end->links->host, end->peer, &end->busy_out);
    }
    return soc_buf_slice(&end->busy_out);
}

static void send_frame(struct end *end, struct soc_link_outgoing *out)
{
    struct soc_links *links = end->links;
    struct soc_frame_keys keys = keys_of(links, links->name, end->name);
    struct soc_buf bytes = {0};
    out->frame.busy = busy_for(end);
    soc_frame_put(&bytes, &out->frame, &keys);
    if (out->is_creation)
        soc_carrier_create(links->carrier, end->index, out->place, soc_buf_slice(&bytes));
    else
        soc_carrier_append(links->carrier, end->index, out->place, out->trim,
                           soc_buf_slice(&bytes));
    soc_buf_fini(&bytes);
}

static void pump(struct end *end)
{
    struct soc_links *links = end->links;
    struct soc_link_outgoing out;
    if (links->carrier == NULL || end->link == NULL || links->is_taken)
        return;
    number_mail(end);
    while (soc_carrier_backlog(links->carrier) < BACKLOG_BYTES &&
           soc_link_next(end->link, now_of(links), &out))
        send_frame(end, &out);
}

/* ---- starting ---- */

/* Uses the carrier for a link once everything it needs is there. */
static void start(struct end *end)
{
    struct soc_links *links = end->links;
    if (end->link == NULL || !links->is_ready || !links->is_numbered || !links->has_time ||
        links->is_taken)
        return;
    soc_carrier_read(links->carrier, end->index, soc_link_ready(end->link, now_of(links)));
    end->card_ms = now_of(links);
    pump(end);
}

/* A new epoch is durable: the link can be used. */
static void open_link(struct end *end)
{
    struct soc_link_state state = state_of(soc_hosts_end(end->peer));
    end->link = soc_link_new(&state, put_item, end);
    start(end);
}

static void apply_mark(const struct mark *mark)
{
    struct end *end = mark->end;
    if (end->link == NULL && mark->epoch == end->awaited)
        open_link(end);
    else if (end->link != NULL && soc_link_state(end->link)->epoch == mark->epoch)
        soc_link_durable(end->link, mark->last, mark->taken);
}

static void note_durable(void *user)
{
    struct soc_links *links = user;
    struct mark mark;
    assert(links->marks_done + sizeof(mark) <= links->marks.length);
    memcpy(&mark, links->marks.data + links->marks_done, sizeof(mark));
    links->marks_done += sizeof(mark);
    if (links->marks_done == links->marks.length)
        links->marks.length = links->marks_done = 0;
    if (links->carrier == NULL)
        return;
    if (mark.end == NULL) {
        links->is_numbered = true;
        for (int i = 0; i < links->count; i++)
            start(&links->ends[i]);
        return;
    }
    apply_mark(&mark);
    mark.end->is_due = true;
}

static void exchange(struct soc_links *links)
{
    struct soc_buf card = {0};
    int number = soc_hosts_number_of(links->host);
    links->exchange_ms = now_of(links) + CARDS_MS;
    if (!links->is_ready)
        return;
    soc_buf_put_byte(&card, '{');
    soc_json_put_text_member(&card, "host", soc_slice_text(links->name));
    soc_json_put_name(&card, "number");
    soc_json_put_integer(&card, number);
    soc_json_put_name(&card, "card");
    soc_json_put_integer(&card, (int64_t)++links->cards);
    soc_json_put_name(&card, "agents");
    soc_json_put_integer(&card, (int64_t)soc_registry_count(links->host));
    soc_json_put_name(&card, "time");
    soc_json_put_integer(&card, date_of(links));
    soc_buf_put_byte(&card, '}');
    soc_carrier_exchange(links->carrier, soc_buf_slice(&card));
    soc_carrier_claim(links->carrier, number >= 0 ? number : links->wanted);
    soc_buf_fini(&card);
}

static void arm(struct soc_links *links)
{
    if (links->alarm == NULL)
        return;
    int64_t due_ms = soc_links_due(links);
    int64_t wait_ms = due_ms - now_of(links);
    soc_alarm_set(links->alarm, due_ms < 0 ? -1 : wait_ms < 1 ? 1 : wait_ms);
}

/* ---- what the carrier says ---- */

static void hear_ready(void *user)
{
    struct soc_links *links = user;
    links->is_ready = true;
    links->is_told_lost = false;
    exchange(links);
    for (int i = 0; i < links->count; i++)
        start(&links->ends[i]);
    arm(links);
}

static void hear_lost(void *user, const char *why)
{
    struct soc_links *links = user;
    links->is_ready = false;
    for (int i = 0; i < links->count; i++)
        if (links->ends[i].link != NULL)
            soc_link_lost(links->ends[i].link);
    if (!links->is_told_lost)
        alert(links, NULL, "carrier_lost", why);
    links->is_told_lost = true;
}

static void hear_appended(void *user, int peer, struct soc_carrier_place place,
                          enum soc_carrier_end how)
{
    struct soc_links *links = user;
    struct end *end = &links->ends[peer];
    if (end->link == NULL)
        return;
    if (soc_link_appended(end->link, place, how))
        say_stop(end);
    pump(end);
}

/* Takes the items that are new, and everything the frame says, in one batch. */
static void take_frame(struct end *end, const struct soc_frame *frame,
                       const struct soc_link_news *news)
{
    struct soc_links *links = end->links;
    struct soc_slice rest = frame->items;
    struct soc_slice item;
    if (news->acked > 0) /* first: an answer may be among the items */
        soc_hosts_acked(links->host, end->peer, news->acked);
    for (uint32_t i = 0; i < news->skip + news->take && soc_frame_next(&rest, &item); i++)
        if (i >= news->skip)
            soc_hosts_take(links->host, end->peer, item, links->ahead_ms);
    if (news->is_state_changed) {
        keep(end, soc_link_state(end->link));
        mark(links, end);
    }
    if (!soc_slice_equal(frame->busy, soc_buf_slice(&end->busy))) {
        end->busy.length = 0;
        soc_buf_put_slice(&end->busy, frame->busy);
        soc_hosts_set_busy(links->host, end->peer, frame->busy);
    }
}

static void hear_frame(void *user, int peer, struct soc_carrier_place place, struct soc_slice bytes)
{
    struct soc_links *links = user;
    struct end *end = &links->ends[peer];
    struct soc_frame_keys keys = keys_of(links, end->name, links->name);
    struct soc_frame frame;
    struct soc_detail detail;
    if (end->link == NULL || links->is_taken)
        return;
    if (soc_frame_read(&frame, bytes, &keys, &detail) < 0) {
        if (!end->is_refused)
            alert(links, end->name, "frame_refused", detail.text);
        end->is_refused = true;
        return;
    }
    end->is_refused = false;
    struct soc_link_news news = soc_link_receive(end->link, place, &frame, now_of(links));
    take_frame(end, &frame, &news);
    if (news.is_stopped)
        say_stop(end);
    pump(end);
    arm(links);
}

static void set_silent(struct end *end, bool is_silent)
{
    if (end->is_silent == is_silent)
        return;
    end->is_silent = is_silent;
    soc_hosts_set_silent(end->links->host, end->peer, is_silent);
    alert(end->links, end->name, is_silent ? "host_unreachable" : "host_reachable",
          is_silent ? "the host shows no sign of life; mail for its agents waits"
                    : "the host shows signs of life again");
}

static void hear_card(void *user, struct soc_slice host, struct soc_slice bytes)
{
    struct soc_links *links = user;
    for (int i = 0; i < links->count; i++) {
        struct end *end = &links->ends[i];
        uint64_t hash = soc_hash(bytes.data, bytes.length, 1);
        if (!soc_slice_equal(host, soc_slice_text(end->name)) || hash == end->card)
            continue;
        int64_t agents = 0;
        if (soc_json_integer(soc_json_member(bytes, "agents"), &agents))
            soc_hosts_set_agents(end->peer, agents);
        end->card = hash;
        end->card_ms = now_of(links);
        set_silent(end, false);
    }
}

/* Another host has the number of this one. */
static void refuse_number(struct soc_links *links, int number, struct soc_slice host)
{
    struct soc_buf text = {0};
    soc_buf_printf(&text, "the host '%.*s' has the number %d of this host; no link is used",
                   (int)host.length, host.data, number);
    links->is_taken = true;
    for (int i = 0; i < links->count; i++)
        if (links->ends[i].link != NULL)
            soc_link_lost(links->ends[i].link);
    alert(links, NULL, "number_taken", soc_buf_text(&text));
    soc_buf_fini(&text);
}

static void hear_claimed(void *user, int number, struct soc_slice host)
{
    struct soc_links *links = user;
    int own = soc_hosts_number_of(links->host);
    bool is_ours = soc_slice_equal(host, soc_slice_text(links->name));
    if (links->is_taken && is_ours && number == own) {
        links->is_taken = false;
        alert(links, NULL, "number_free", "the number of this host is its own again");
        for (int i = 0; i < links->count; i++)
            start(&links->ends[i]);
        return;
    }
    if (links->is_taken)
        return;
    if (is_ours && own < 0) {
        soc_hosts_set_number(links->host, number);
        mark(links, NULL);
    } else if (is_ours && !links->is_numbered && own == number) {
        mark(links, NULL);
    } else if (!is_ours && own < 0 && number == links->wanted && links->tries < SOC_HOSTS_MAX - 1) {
        links->tries++;
        links->wanted = number % (SOC_HOSTS_MAX - 1) + 1; /* 0 is of hosts that never joined */
        soc_carrier_claim(links->carrier, links->wanted);
    } else if (!is_ours && (own == number || own < 0)) {
        refuse_number(links, number, host);
    }
}

static void hear_blocked(void *user, int peer, const char *why)
{
    struct soc_links *links = user;
    struct end *end = &links->ends[peer];
    if (!end->is_blocked)
        alert(links, end->name, "stream_blocked", why);
    end->is_blocked = true;
}

static void hear_cards(void *user, int64_t time_ms)
{
    struct soc_links *links = user;
    int64_t now_ms = now_of(links);
    int64_t skew_ms = time_ms - date_of(links);
    bool is_skewed = skew_ms > SKEW_MS || skew_ms < -SKEW_MS;
    bool is_first = !links->has_time;
    links->ahead_ms = time_ms - now_ms;
    links->has_time = true;
    if (is_skewed && !links->is_skewed)
        alert(links, NULL, "clock_skew",
              "the clock of this host and that of the carrier differ by more than a second");
    links->is_skewed = is_skewed;
    for (int i = 0; i < links->count; i++) {
        struct end *end = &links->ends[i];
        if (is_first)
            start(end);
        else if (links->is_ready && end->link != NULL && now_ms - end->card_ms >= SILENT_MS)
            set_silent(end, true);
    }
    arm(links);
}

/* ---- time ---- */

int64_t soc_links_due(struct soc_links *links)
{
    int64_t due_ms = links->exchange_ms;
    if (links->carrier == NULL)
        return -1;
    for (int i = 0; i < links->count; i++) {
        int64_t link_ms = links->ends[i].link == NULL ? -1 : soc_link_due(links->ends[i].link);
        if (link_ms >= 0 && link_ms < due_ms)
            due_ms = link_ms;
    }
    return due_ms;
}

void soc_links_tick(struct soc_links *links)
{
    if (links->carrier == NULL)
        return;
    if (links->exchange_ms <= now_of(links))
        exchange(links);
    for (int i = 0; i < links->count; i++)
        pump(&links->ends[i]);
    arm(links);
}

static void fire(void *user)
{
    soc_links_tick(user);
}

/* ---- what the part asks ---- */

/* One frame carries all that a batch made durable: what was taken and what leaves. */
static void settle(void *user)
{
    struct soc_links *links = user;
    for (int i = 0; links->carrier != NULL && i < links->count; i++) {
        struct end *end = &links->ends[i];
        if (end->is_due)
            pump(end);
        else if (end->link != NULL && soc_hosts_has_mail(end->peer))
            number_mail(end);
        end->is_due = false;
    }
}

bool soc_links_is_busy(const struct soc_links *links)
{
    for (int i = 0; links->carrier != NULL && i < links->count; i++) {
        const struct end *end = &links->ends[i];
        struct soc_link_figures figures = {0};
        if (end->link != NULL)
            figures = soc_link_figures(end->link, now_of(links));
        bool is_stopped = figures.stop != SOC_LINK_NONE || links->is_taken;
        if (!is_stopped && !end->is_silent &&
            (figures.waiting > 0 || soc_hosts_waiting(links->host, end->peer) > 0))
            return true;
    }
    return false;
}

static bool is_busy(void *user)
{
    return soc_links_is_busy(user);
}

static const char *state_name(const struct end *end, const struct soc_link_figures *figures)
{
    const struct soc_links *links = end->links;
    if (links->is_taken)
        return "number_taken";
    if (figures->stop != SOC_LINK_NONE)
        return soc_link_stop_name(figures->stop);
    if (!links->is_ready)
        return "carrier_lost";
    if (end->is_silent)
        return "unreachable";
    return figures->is_met ? "up" : "connecting";
}

static void put_count(struct soc_buf *out, const char *name, uint64_t count)
{
    soc_json_put_name(out, name);
    soc_json_put_integer(out, (int64_t)count);
}

static void put_time(const struct soc_links *links, struct soc_buf *out, const char *name,
                     int64_t time_ms)
{
    if (time_ms == 0)
        return;
    soc_json_put_name(out, name);
    soc_time_put_json(out, soc_clock_date_of(soc_host_clock(links->host), time_ms));
}

static void put_link(const struct end *end, struct soc_buf *out)
{
    const struct soc_links *links = end->links;
    const struct soc_hosts_end *stored = soc_hosts_end(end->peer);
    struct soc_link_figures figures = {0};
    if (end->link != NULL)
        figures = soc_link_figures(end->link, now_of(links));
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "host", soc_slice_text(end->name));
    soc_json_put_text_member(out, "state", soc_slice_text(state_name(end, &figures)));
    if (figures.stop != SOC_LINK_NONE)
        soc_json_put_text_member(out, "message", soc_slice_text(soc_link_stop_text(figures.stop)));
    put_count(out, "sent", stored->last);
    put_count(out, "acked", stored->acked);
    put_count(out, "waiting", figures.waiting + soc_hosts_waiting(links->host, end->peer));
    put_count(out, "taken", stored->taken);
    put_count(out, "window",
              figures.in_flight < SOC_LINK_WINDOW_ITEMS ? SOC_LINK_WINDOW_ITEMS - figures.in_flight
                                                        : 0);
    put_count(out, "epoch", stored->epoch);
    put_count(out, "peer_epoch", stored->peer_epoch);
    put_time(links, out, "acked_at", figures.acked_ms);
    put_time(links, out, "heard_at", figures.heard_ms);
    soc_buf_put_byte(out, '}');
}

static void put_links(void *user, struct soc_buf *out)
{
    const struct soc_links *links = user;
    for (int i = 0; i < links->count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        put_link(&links->ends[i], out);
    }
}

static bool reset(void *user, struct soc_slice peer)
{
    struct soc_links *links = user;
    uint8_t own_id[SOC_FRAME_ID_BYTES];
    for (int i = 0; i < links->count; i++) {
        struct end *end = &links->ends[i];
        if (!soc_slice_equal(peer, soc_slice_text(end->name)))
            continue;
        struct soc_link_state state = state_of(soc_hosts_end(end->peer));
        make_id(links, own_id);
        soc_link_state_reset(&state, own_id, date_of(links));
        raise_epoch(end, &state);
        soc_hosts_renumber(links->host, end->peer);
        mark(links, end);
        return true;
    }
    return false;
}

/* ---- lifetime ---- */

/* Where the search for a free number begins: a new host of a known name finds its own again. */
static int first_number(const char *name)
{
    return (int)(soc_hash(name, strlen(name), 0) % (SOC_HOSTS_MAX - 1)) + 1;
}

static void add_ends(struct soc_links *links, const struct soc_links_options *options)
{
    links->count = options->peer_count;
    links->ends = soc_alloc_zero((size_t)options->peer_count * sizeof(struct end) + 1);
    for (int i = 0; i < options->peer_count; i++) {
        struct end *end = &links->ends[i];
        end->links = links;
        end->index = i;
        end->name = soc_copy_text(options->peers[i], strlen(options->peers[i]));
        end->peer = soc_hosts_need_peer(options->host, soc_slice_text(end->name));
    }
}

/* Gives every link a new epoch. */
static void begin(struct soc_links *links)
{
    for (int i = 0; i < links->count; i++) {
        struct end *end = &links->ends[i];
        struct soc_link_state state = state_of(soc_hosts_end(end->peer));
        if (soc_hosts_end(end->peer)->own_id[0] == '\0')
            make_id(links, state.own_id);
        soc_link_state_open(&state, date_of(links));
        raise_epoch(end, &state);
        mark(links, end);
    }
}

static struct soc_links *make_links(const struct soc_links_options *options)
{
    struct soc_links *links = soc_alloc_zero(sizeof(*links));
    links->host = options->host;
    links->note_durable = note_durable;
    links->society = soc_copy_text(options->society, strlen(options->society));
    links->name = soc_copy_text(options->name, strlen(options->name));
    links->key_count = options->key_count;
    for (int i = 0; i < options->key_count; i++)
        links->keys[i] = soc_copy_text(options->keys[i].data, options->keys[i].length);
    links->wanted = options->number >= 0 ? options->number : first_number(options->name);
    links->tries = options->number >= 0 ? SOC_HOSTS_MAX : 0;
    return links;
}

int soc_links_open(struct soc_links **out, const struct soc_links_options *options,
                   struct soc_detail *detail)
{
    int rc = soc_hosts_join(options->host, soc_slice_text(options->name), detail);
    int own = soc_hosts_number_of(options->host);
    if (rc == SOC_OK && own >= 0 && options->number >= 0 && own != options->number)
        rc = soc_fail(detail, SOC_EINVAL,
                      "this state directory has the host number %d, which cannot become %d", own,
                      options->number);
    if (rc < 0)
        return rc;
    struct soc_links *links = make_links(options);
    struct soc_carrier_events events = {
        .ready = hear_ready,
        .lost = hear_lost,
        .appended = hear_appended,
        .frame = hear_frame,
        .card = hear_card,
        .claimed = hear_claimed,
        .blocked = hear_blocked,
        .cards = hear_cards,
        .user = links,
    };
    links->carrier = options->carry(options->user, options->name, options->peers,
                                    options->peer_count, &events, detail);
    if (links->carrier == NULL) {
        soc_links_free(links);
        return SOC_EINVAL;
    }
    add_ends(links, options);
    if (options->loop != NULL)
        links->alarm = soc_alarm_open(options->loop, "links", fire, links);
    soc_hosts_set_driver(options->host, &(struct soc_hosts_driver){.settle = settle,
                                                                   .is_busy = is_busy,
                                                                   .put_links = put_links,
                                                                   .reset = reset,
                                                                   .user = links});
    begin(links);
    arm(links);
    *out = links;
    return SOC_OK;
}

void soc_links_stop(struct soc_links *links)
{
    if (links == NULL || links->carrier == NULL)
        return;
    soc_hosts_set_driver(links->host, NULL);
    soc_carrier_close(links->carrier);
    links->carrier = NULL;
    soc_alarm_close(links->alarm);
    links->alarm = NULL;
}

void soc_links_free(struct soc_links *links)
{
    if (links == NULL)
        return;
    for (int i = 0; i < links->count; i++) {
        soc_link_free(links->ends[i].link);
        soc_buf_fini(&links->ends[i].busy);
        soc_buf_fini(&links->ends[i].busy_out);
        free(links->ends[i].name);
    }
    for (int i = 0; i < links->key_count; i++) {
        explicit_bzero(links->keys[i], strlen(links->keys[i]));
        free(links->keys[i]);
    }
    soc_buf_fini(&links->marks);
    free(links->ends);
    free(links->society);
    free(links->name);
    free(links);
}
