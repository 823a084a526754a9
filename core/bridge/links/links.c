#include "bridge/links/links.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "bridge/links/links_state.h"
#include "env/clock.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/registry.h"
#include "kernel/trace.h"
#include "loop/alarm.h"
#include "net/digest.h"
#include "parts/hosts/hosts.h"

#define SILENT_MS      10000 /* without a new card */
#define REFUSED_MS     2000  /* between alerts about refused frames */
#define SKEW_MS        1000  /* clocks that differ more raise an alert */
#define BUSY_LOOK_MS   100
#define NUMBER_AT_ONCE 1024
#define BACKLOG_BYTES  (8u << 20) /* in this process; more frames wait */

/* What becomes durable with a batch. */
struct mark {
    struct soc_links_end *end;
    uint64_t epoch;
    uint64_t last;
    uint64_t taken;
};

int64_t soc_links_now(const struct soc_links *links)
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

static void keep(struct soc_links_end *end, const struct soc_link_state *state)
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
    const struct soc_links_end *end = user;
    soc_hosts_put_item(end->links->host, end->peer, number, end->links->ahead_ms, out);
}

void soc_links_mark(struct soc_links *links, struct soc_links_end *end)
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
static void raise_epoch(struct soc_links_end *end, struct soc_link_state *state)
{
    soc_link_free(end->link);
    end->link = NULL;
    end->awaited = state->epoch;
    keep(end, state);
}

/* ---- what is said ---- */

void soc_links_alert(struct soc_links *links, const char *peer, const char *type, const char *text)
{
    soc_hosts_alert(links->host, peer == NULL ? (struct soc_slice){0} : soc_slice_text(peer), type,
                    text);
}

static void say_stop(struct soc_links_end *end)
{
    struct soc_link_figures figures = soc_link_figures(end->link);
    if (figures.stop == SOC_LINK_NONE)
        soc_links_alert(end->links, end->name, "link_resumed", soc_link_stop_text(figures.stop));
    else
        soc_links_alert(end->links, end->name, soc_link_stop_name(figures.stop),
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

static bool can_number(const struct soc_links_end *end)
{
    struct soc_link_figures figures = soc_link_figures(end->link);
    return end->links->is_ready && figures.is_met && figures.stop == SOC_LINK_NONE &&
           figures.waiting < SOC_LINK_WINDOW_ITEMS &&
           figures.in_flight_bytes < SOC_LINK_WINDOW_BYTES;
}

/* Numbers waiting mail while the link has room. */
static void number_mail(struct soc_links_end *end)
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
        soc_links_mark(end->links, end);
}

static bool is_look_due(const struct soc_links_end *end)
{
    int64_t since_ms = soc_links_now(end->links) - end->busy_ms;
    return since_ms >= BUSY_LOOK_MS || since_ms < 0;
}

/* Looks which agents of this host can take no mail; true: the peer is told something else. */
static bool look_busy(struct soc_links_end *end)
{
    struct soc_buf before = end->busy;
    end->busy = (struct soc_buf){0};
    end->busy_ms = soc_links_now(end->links);
    end->is_holding = soc_hosts_put_busy(end->links->host, end->peer, &end->busy_after, &end->busy);
    end->is_busy_new = true;
    bool is_other = !soc_slice_equal(soc_buf_slice(&before), soc_buf_slice(&end->busy));
    soc_buf_fini(&before);
    return is_other;
}

/* While the peer holds mail back, it is told at once when that changes. */
static void hold(struct soc_links_end *end)
{
    if (end->link != NULL && end->is_holding && is_look_due(end) && look_busy(end))
        soc_link_speak(end->link);
}

static void send_frame(struct soc_links_end *end, struct soc_link_outgoing *out)
{
    struct soc_links *links = end->links;
    struct soc_frame_keys keys = keys_of(links, links->name, end->name);
    struct soc_buf bytes = {0};
    if (is_look_due(end))
        look_busy(end);
    if (end->is_busy_new)
        out->frame.busy = soc_buf_slice(&end->busy);
    end->is_busy_new = false;
    soc_frame_put(&bytes, &out->frame, &keys);
    if (out->is_creation)
        soc_carrier_create(links->carrier, end->index, out->place, soc_buf_slice(&bytes));
    else
        soc_carrier_append(links->carrier, end->index, out->place, out->trim,
                           soc_buf_slice(&bytes));
    soc_buf_fini(&bytes);
}

static void pump(struct soc_links_end *end)
{
    struct soc_links *links = end->links;
    struct soc_link_outgoing out;
    if (links->carrier == NULL || end->link == NULL || links->is_taken)
        return;
    hold(end);
    number_mail(end);
    while (soc_carrier_backlog(links->carrier) < BACKLOG_BYTES &&
           soc_link_next(end->link, soc_links_now(links), &out))
        send_frame(end, &out);
}

/* ---- starting ---- */

/* Uses the carrier for a link once everything it needs is there. */
static void start(struct soc_links_end *end)
{
    struct soc_links *links = end->links;
    if (end->link == NULL || !links->is_ready || !links->is_numbered || !links->has_time ||
        links->is_taken)
        return;
    soc_carrier_read(links->carrier, end->index, soc_link_ready(end->link));
    end->card_ms = soc_links_now(links);
    pump(end);
}

void soc_links_start_all(struct soc_links *links)
{
    for (int i = 0; i < links->count; i++)
        start(&links->ends[i]);
}

/* A new epoch is durable: the link can be used. */
static void open_link(struct soc_links_end *end)
{
    struct soc_link_state state = state_of(soc_hosts_end(end->peer));
    end->link = soc_link_new(&state, put_item, end);
    start(end);
}

static void apply_mark(const struct mark *mark)
{
    struct soc_links_end *end = mark->end;
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
        soc_links_start_all(links);
        return;
    }
    apply_mark(&mark);
    mark.end->is_due = true;
}

static void exchange(struct soc_links *links)
{
    struct soc_buf card = {0};
    links->exchange_ms = soc_links_now(links) + SOC_LINKS_CARDS_MS;
    if (!links->is_ready)
        return;
    if (links->asking++ == 0)
        links->asked_ms = soc_links_now(links);
    soc_buf_put_byte(&card, '{');
    soc_json_put_text_member(&card, "host", soc_slice_text(links->name));
    soc_json_put_name(&card, "number");
    soc_json_put_integer(&card, soc_hosts_number_of(links->host));
    soc_json_put_name(&card, "card");
    soc_json_put_integer(&card, (int64_t)++links->cards);
    soc_json_put_name(&card, "agents");
    soc_json_put_integer(&card, (int64_t)soc_registry_count(links->host));
    soc_json_put_name(&card, "time");
    soc_json_put_integer(&card, date_of(links));
    soc_buf_put_byte(&card, '}');
    soc_links_claim(links); /* first: who sees the card knows that */
    soc_carrier_exchange(links->carrier, soc_buf_slice(&card));
    soc_buf_fini(&card);
}

static void arm(struct soc_links *links)
{
    if (links->alarm == NULL)
        return;
    int64_t due_ms = soc_links_due(links);
    int64_t wait_ms = due_ms - soc_links_now(links);
    soc_alarm_set(links->alarm, due_ms < 0 ? -1 : wait_ms < 1 ? 1 : wait_ms);
}

/* ---- what the carrier says ---- */

static void hear_ready(void *user)
{
    struct soc_links *links = user;
    links->is_ready = true;
    links->ready_ms = soc_links_now(links);
    exchange(links);
    soc_links_start_all(links);
    arm(links);
}

static void hear_lost(void *user, const char *why)
{
    struct soc_links *links = user;
    if (links->is_ready)
        links->ready_ms = soc_links_now(links);
    links->is_ready = false;
    links->asking = 0;
    for (int i = 0; i < links->count; i++)
        if (links->ends[i].link != NULL)
            soc_link_lost(links->ends[i].link);
    if (!links->is_told_lost)
        soc_links_alert(links, NULL, "carrier_lost", why);
    links->is_told_lost = true;
}

/* What was lost carries messages again. */
static void note_carried(struct soc_links *links)
{
    if (links->is_told_lost)
        soc_trace_event(links->host, SOC_LOG_INFO, "carrier_reachable", NULL,
                        SOC_SLICE("{\"message\":\"Redis is there again\"}"));
    links->is_told_lost = false;
}

static void hear_appended(void *user, int peer, struct soc_carrier_place place,
                          enum soc_carrier_end how)
{
    struct soc_links *links = user;
    struct soc_links_end *end = &links->ends[peer];
    if (how == SOC_CARRIER_DONE) /* a server that answers may still refuse to write */
        note_carried(links);
    if (end->link == NULL)
        return;
    if (soc_link_appended(end->link, place, how))
        say_stop(end);
    if (how == SOC_CARRIER_BLOCKED && !end->is_shut)
        soc_links_alert(links, end->name, "stream_blocked",
                        "the key in Redis of the stream to the host does not hold a stream");
    if (how == SOC_CARRIER_BLOCKED || how == SOC_CARRIER_DONE)
        end->is_shut = how == SOC_CARRIER_BLOCKED;
    pump(end);
}

/* The frames of the peer are refused for that reason; NULL: no longer. Each new reason raises an
 * alert, but whoever mixes frames into the stream does not raise more than one in two seconds. */
static void set_refused(struct soc_links_end *end, const char *why)
{
    int64_t now_ms = soc_links_now(end->links);
    if (why == NULL || end->refused == NULL || strcmp(end->refused, why) != 0) {
        if (end->refused == NULL)
            end->refused_ms = now_ms;
        free(end->refused);
        end->refused = why == NULL ? NULL : soc_copy_text(why, strlen(why));
        end->is_refused_said = false;
    }
    if (why == NULL || end->is_refused_said ||
        (end->refused_said_ms > 0 && now_ms - end->refused_said_ms < REFUSED_MS))
        return;
    soc_links_alert(end->links, end->name, "frame_refused", why);
    end->is_refused_said = true;
    end->refused_said_ms = now_ms;
}

/* Takes the items that are new, and everything the frame says, in one batch. */
static void take_frame(struct soc_links_end *end, const struct soc_frame *frame,
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
        soc_links_mark(links, end);
    }
    if (frame->busy.length > 0)
        soc_hosts_set_busy(links->host, end->peer, frame->busy);
}

static void hear_frame(void *user, int peer, struct soc_carrier_place place, struct soc_slice bytes)
{
    struct soc_links *links = user;
    struct soc_links_end *end = &links->ends[peer];
    struct soc_frame_keys keys = keys_of(links, end->name, links->name);
    struct soc_frame frame;
    struct soc_detail detail;
    if (end->link == NULL || links->is_taken)
        return;
    end->is_blocked = false;
    if (soc_frame_read(&frame, bytes, &keys, &detail) < 0) {
        set_refused(end, detail.text);
        return;
    }
    set_refused(end, NULL);
    struct soc_link_news news = soc_link_receive(end->link, place, &frame, soc_links_now(links));
    take_frame(end, &frame, &news);
    if (news.is_stopped)
        say_stop(end);
    pump(end);
    arm(links);
}

static void set_silent(struct soc_links_end *end, bool is_silent)
{
    if (end->is_silent == is_silent)
        return;
    end->is_silent = is_silent;
    soc_hosts_set_silent(end->links->host, end->peer, is_silent);
    soc_links_alert(end->links, end->name, is_silent ? "host_unreachable" : "host_reachable",
                    is_silent ? "the host shows no sign of life; mail for its agents waits"
                              : "the host shows signs of life again");
}

static void hear_card(void *user, struct soc_slice host, struct soc_slice bytes)
{
    struct soc_links *links = user;
    for (int i = 0; i < links->count; i++) {
        struct soc_links_end *end = &links->ends[i];
        uint64_t hash = soc_hash(bytes.data, bytes.length, 1);
        if (!soc_slice_equal(host, soc_slice_text(end->name)))
            continue;
        end->shown_ms = soc_links_now(links);
        if (hash == end->card)
            continue;
        int64_t agents = 0;
        if (soc_json_integer(soc_json_member(bytes, "agents"), &agents))
            soc_hosts_set_agents(end->peer, agents);
        end->card = hash;
        end->card_ms = soc_links_now(links);
        set_silent(end, false);
    }
}

static void hear_blocked(void *user, int peer, const char *why)
{
    struct soc_links *links = user;
    struct soc_links_end *end = &links->ends[peer];
    if (!end->is_blocked)
        soc_links_alert(links, end->name, "stream_blocked", why);
    end->is_blocked = true;
}

/* Takes the carrier's time. One that was long on its way, or for which this process was stopped,
 * says nothing of the clocks; but something must be known at first. */
static void take_time(struct soc_links *links, int64_t time_ms)
{
    int64_t now_ms = soc_links_now(links);
    int64_t skew_ms = time_ms - date_of(links);
    bool is_skewed = skew_ms > SKEW_MS || skew_ms < -SKEW_MS;
    bool is_late = now_ms - links->asked_ms > SKEW_MS;
    links->asking -= links->asking > 0;
    if (is_late && links->has_time)
        return;
    links->ahead_ms = time_ms - now_ms;
    links->has_time = true;
    if (is_late)
        return;
    if (is_skewed && !links->is_skewed)
        soc_links_alert(
            links, NULL, "clock_skew",
            "the clock of this host and that of the carrier differ by more than a second");
    links->is_skewed = is_skewed;
}

static void hear_cards(void *user, int64_t time_ms)
{
    struct soc_links *links = user;
    int64_t now_ms = soc_links_now(links);
    bool is_first = !links->has_time;
    take_time(links, time_ms);
    soc_links_search(links);
    for (int i = 0; i < links->count; i++) {
        struct soc_links_end *end = &links->ends[i];
        if (is_first)
            start(end);
        else if (links->is_ready && links->is_numbered && end->link != NULL &&
                 now_ms - end->card_ms >= SILENT_MS)
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
        int64_t look_ms = links->ends[i].busy_ms + BUSY_LOOK_MS;
        if (link_ms >= 0 && link_ms < due_ms)
            due_ms = link_ms;
        if (link_ms >= 0 && links->ends[i].is_holding && look_ms < due_ms)
            due_ms = look_ms;
    }
    return due_ms;
}

void soc_links_tick(struct soc_links *links)
{
    if (links->carrier == NULL)
        return;
    if (links->exchange_ms <= soc_links_now(links))
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
    bool is_holding = false;
    for (int i = 0; links->carrier != NULL && i < links->count; i++) {
        struct soc_links_end *end = &links->ends[i];
        if (end->is_due || (end->is_holding && is_look_due(end)))
            pump(end);
        else if (end->link != NULL && soc_hosts_has_mail(end->peer))
            number_mail(end);
        end->is_due = false;
        is_holding |= end->is_holding;
    }
    if (is_holding)
        arm(links);
}

/* A carrier or a host that was not reached for a while counts as out of reach. */
bool soc_links_is_busy(const struct soc_links *links)
{
    if (!links->is_ready && soc_links_now(links) - links->ready_ms >= SILENT_MS)
        return false;
    for (int i = 0; links->carrier != NULL && i < links->count; i++) {
        const struct soc_links_end *end = &links->ends[i];
        struct soc_link_figures figures = {0};
        if (end->link != NULL)
            figures = soc_link_figures(end->link);
        bool is_stopped =
            figures.stop != SOC_LINK_NONE || links->is_taken ||
            (end->refused != NULL && soc_links_now(links) - end->refused_ms >= SILENT_MS);
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

static int reset(void *user, struct soc_slice peer, bool is_forced)
{
    struct soc_links *links = user;
    uint8_t own_id[SOC_FRAME_ID_BYTES];
    for (int i = 0; i < links->count; i++) {
        struct soc_links_end *end = &links->ends[i];
        if (!soc_slice_equal(peer, soc_slice_text(end->name)))
            continue;
        if (!is_forced && soc_links_is_up(end))
            return SOC_EALREADYUP;
        struct soc_link_state state = state_of(soc_hosts_end(end->peer));
        make_id(links, own_id);
        soc_link_state_reset(&state, own_id, date_of(links));
        raise_epoch(end, &state);
        soc_hosts_renumber(links->host, end->peer);
        soc_links_mark(links, end);
        return SOC_OK;
    }
    return SOC_ENOHOST;
}

/* ---- lifetime ---- */

static void add_ends(struct soc_links *links, const struct soc_links_options *options)
{
    links->count = options->peer_count;
    links->ends = soc_alloc_zero((size_t)options->peer_count * sizeof(struct soc_links_end) + 1);
    for (int i = 0; i < options->peer_count; i++) {
        struct soc_links_end *end = &links->ends[i];
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
        struct soc_links_end *end = &links->ends[i];
        struct soc_link_state state = state_of(soc_hosts_end(end->peer));
        if (soc_hosts_end(end->peer)->own_id[0] == '\0')
            make_id(links, state.own_id);
        soc_link_state_open(&state, date_of(links));
        raise_epoch(end, &state);
        soc_links_mark(links, end);
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
    links->ready_ms = soc_links_now(links);
    soc_links_begin_number(links, options->number);
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
        .claimed = soc_links_hear_claimed,
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
                                                                   .put_links = soc_links_put_all,
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
        soc_buf_fini(&links->ends[i].busy_after);
        free(links->ends[i].name);
        free(links->ends[i].refused);
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
