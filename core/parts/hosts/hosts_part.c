/* Hosts: the part: peers, their links and what is stored of them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/notice.h"
#include "kernel/registry.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "parts/hosts/hosts_operations.h"
#include "parts/hosts/hosts_orders.h"
#include "parts/hosts/hosts_probe.h"
#include "parts/hosts/hosts_state.h"

/* ---- peers ---- */

static void *open_hosts(struct soc_host *host)
{
    struct soc_hosts *hosts = soc_alloc_zero(sizeof(*hosts));
    hosts->number = -1;
    hosts->probes = soc_hosts_probes_new();
    hosts->failed = soc_intern(&host->types.table, SOC_SLICE("delivery_failed"));
    hosts->answer = soc_intern(&host->types.table, SOC_SLICE("host_answer"));
    return hosts;
}

static void free_peer(struct soc_host *host, struct soc_hosts_peer *peer)
{
    for (size_t i = 0; i < peer->items_count; i++)
        soc_mail_free(host,
                      peer->items[(peer->items_first + i) & (peer->items_capacity - 1)].message);
    soc_map_fini(&peer->ready);
    soc_map_fini(&peer->busy);
    soc_map_fini(&peer->known);
    free(peer->items);
    free(peer->name);
    free(peer);
}

static void free_hosts(struct soc_host *host)
{
    struct soc_hosts *hosts = soc_hosts_state(host);
    struct soc_hosts_peer *peer;
    for (size_t cursor = 0; (peer = soc_map_each(&hosts->peers, &cursor)) != NULL;)
        free_peer(host, peer);
    soc_hosts_free_asked(hosts);
    soc_hosts_probes_free(hosts->probes);
    soc_map_fini(&hosts->seen.map);
    free(hosts->seen.hashes);
    soc_map_fini(&hosts->peers);
    soc_map_fini(&hosts->numbered);
    free(hosts->name);
    free(hosts);
}

static struct soc_hosts_peer *need_peer(struct soc_hosts *hosts, struct soc_slice name)
{
    struct soc_hosts_peer *peer = soc_map_find(&hosts->peers, name);
    if (peer != NULL)
        return peer;
    peer = soc_alloc_zero(sizeof(*peer));
    peer->name = soc_copy_text(name.data, name.length);
    soc_map_put(&hosts->peers, soc_slice_text(peer->name), peer);
    return peer;
}

struct soc_hosts_peer *soc_hosts_need_peer(struct soc_host *host, struct soc_slice name)
{
    soc_registry_add_peer(host, name);
    return need_peer(soc_hosts_state(host), name);
}

struct soc_hosts_peer *soc_hosts_peer_of(struct soc_host *host, const struct soc_agent *proxy)
{
    struct soc_slice agent;
    struct soc_slice name;
    bool is_address = soc_id_divide(soc_agent_id(proxy), &agent, &name);
    assert(is_address && proxy->is_remote);
    (void)is_address;
    return need_peer(soc_hosts_state(host), name);
}

const struct soc_hosts_end *soc_hosts_end(const struct soc_hosts_peer *peer)
{
    return &peer->end;
}

/* ---- items ---- */

void soc_hosts_push_item(struct soc_hosts_peer *peer, struct soc_hosts_item item)
{
    if (peer->items_count == peer->items_capacity) {
        size_t capacity = peer->items_capacity == 0 ? 64 : peer->items_capacity * 2;
        struct soc_hosts_item *items = soc_alloc(capacity * sizeof(*items));
        for (size_t i = 0; i < peer->items_count; i++)
            items[i] = peer->items[(peer->items_first + i) & (peer->items_capacity - 1)];
        free(peer->items);
        peer->items = items;
        peer->items_first = 0;
        peer->items_capacity = capacity;
    }
    peer->items[(peer->items_first + peer->items_count) & (peer->items_capacity - 1)] = item;
    peer->items_count++;
}

struct soc_hosts_item *soc_hosts_item_at(const struct soc_hosts_peer *peer, uint64_t number)
{
    assert(number > peer->end.acked && number - peer->end.acked <= peer->items_count);
    size_t index = peer->items_first + (size_t)(number - peer->end.acked - 1);
    return &peer->items[index & (peer->items_capacity - 1)];
}

/* ---- what is stored ---- */

/* The name of this host and its number: "alpha 7", or "alpha" while it has none. */
static void keep_name(struct soc_host *host)
{
    const struct soc_hosts *hosts = soc_hosts_state(host);
    struct soc_buf text = {0};
    soc_buf_put_text(&text, hosts->name);
    if (hosts->number >= 0)
        soc_buf_printf(&text, " %d", hosts->number);
    soc_batch_put_meta(host, "host", soc_buf_slice(&text));
    soc_buf_fini(&text);
}

static int restore_name(struct soc_hosts *hosts, struct soc_slice value)
{
    const char *space = value.length == 0 ? NULL : memchr(value.data, ' ', value.length);
    size_t length = space == NULL ? value.length : (size_t)(space - value.data);
    int64_t number = -1;
    struct soc_slice digits = soc_slice(value.data + length, value.length - length);
    if (space != NULL)
        digits = soc_slice(space + 1, digits.length - 1);
    if (!soc_id_is_host(soc_slice(value.data, length)) ||
        (space != NULL &&
         (!soc_json_integer(digits, &number) || number < 0 || number >= SOC_HOSTS_MAX)))
        return SOC_ECORRUPT;
    soc_text_set(&hosts->name, soc_slice(value.data, length));
    hosts->number = (int)number;
    return SOC_OK;
}

static void copy_id(char out[SOC_HOSTS_ID_BYTES + 1], struct soc_slice text)
{
    size_t length = text.length < SOC_HOSTS_ID_BYTES ? text.length : SOC_HOSTS_ID_BYTES;
    memset(out, 0, SOC_HOSTS_ID_BYTES + 1);
    if (length > 0)
        memcpy(out, text.data, length);
}

/* Forgets items up to number `acked`, whose messages have ended. */
static void drop_items(struct soc_hosts_peer *peer, uint64_t acked)
{
    uint64_t count = acked <= peer->end.acked ? 0 : acked - peer->end.acked;
    if (count > peer->items_count)
        count = peer->items_count;
    peer->items_first += (size_t)count;
    peer->items_count -= (size_t)count;
    if (peer->items_capacity > 0)
        peer->items_first &= peer->items_capacity - 1;
}

static void restore_link(struct soc_hosts *hosts, const struct soc_record_link *r)
{
    struct soc_hosts_peer *peer = need_peer(hosts, r->peer);
    bool is_reset = peer->end.own_id[0] != '\0' &&
                    !soc_slice_equal(r->own_id, soc_slice_text(peer->end.own_id));
    drop_items(peer, is_reset ? peer->end.last : r->acked);
    peer->end = (struct soc_hosts_end){
        .last = r->last,
        .acked = r->acked,
        .taken = r->taken,
        .peer_epoch = r->peer_epoch,
        .epoch = r->epoch,
    };
    copy_id(peer->end.own_id, r->own_id);
    copy_id(peer->end.peer_id, r->peer_id);
}

/* The messages come later: reclaim. */
static int restore_items(struct soc_hosts *hosts, const struct soc_record_link_items *r)
{
    struct soc_hosts_peer *peer = need_peer(hosts, r->peer);
    struct soc_slice rest = r->keys;
    uint64_t count = 0;
    while (rest.length > 0) {
        const char *comma = memchr(rest.data, ',', rest.length);
        size_t length = comma == NULL ? rest.length : (size_t)(comma - rest.data);
        int64_t key;
        if (!soc_json_integer(soc_slice(rest.data, length), &key) || key <= 0)
            return SOC_ECORRUPT;
        count++;
        if (r->first + count - 1 > peer->end.acked)
            soc_hosts_push_item(peer, (struct soc_hosts_item){.key = (uint64_t)key});
        length += comma != NULL;
        rest = soc_slice(rest.data + length, rest.length - length);
    }
    if (r->first + count - 1 > peer->end.last)
        peer->end.last = r->first + count - 1;
    return count == r->count ? SOC_OK : SOC_ECORRUPT;
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    struct soc_hosts *hosts = soc_hosts_state(host);
    switch (record->type) {
    case SOC_RECORD_LINK:
        if (!soc_id_is_host(record->link.peer))
            return SOC_ECORRUPT;
        restore_link(hosts, &record->link);
        return SOC_OK;
    case SOC_RECORD_LINK_ITEMS:
        return soc_id_is_host(record->link_items.peer) ? restore_items(hosts, &record->link_items)
                                                       : SOC_ECORRUPT;
    case SOC_RECORD_SENT_KEY:
        soc_hosts_restore_asked(host, &record->sent_key);
        return SOC_OK;
    case SOC_RECORD_META:
        return soc_slice_equal(record->meta.name, SOC_SLICE("host"))
                   ? restore_name(hosts, record->meta.value)
                   : SOC_OK;
    default:
        return SOC_OK;
    }
}

/* All records are read: notes whose messages are numbered. */
static void loaded(struct soc_host *host)
{
    struct soc_hosts *hosts = soc_hosts_state(host);
    struct soc_hosts_peer *peer;
    if (hosts->name != NULL)
        soc_registry_set_host(host, soc_slice_text(hosts->name));
    for (size_t cursor = 0; (peer = soc_map_each(&hosts->peers, &cursor)) != NULL;) {
        soc_registry_add_peer(host, soc_slice_text(peer->name));
        for (uint64_t n = 1; n <= peer->items_count; n++)
            soc_map_put_number(&hosts->numbered, soc_hosts_item_at(peer, peer->end.acked + n)->key,
                               soc_hosts_item_at(peer, peer->end.acked + n));
    }
}

static enum soc_reclaim reclaim(struct soc_host *host, struct soc_message *message)
{
    struct soc_hosts_item *item =
        soc_map_take_number(&soc_hosts_state(host)->numbered, message->key);
    if (item == NULL)
        return SOC_RECLAIM_NONE;
    item->message = message;
    return SOC_RECLAIM_TAKEN;
}

static void resume(struct soc_host *host)
{
    soc_map_fini(&soc_hosts_state(host)->numbered);
}

void soc_hosts_keep(struct soc_host *host, struct soc_hosts_peer *peer,
                    const struct soc_hosts_end *end)
{
    struct soc_record record = {.type = SOC_RECORD_LINK};
    record.link = (struct soc_record_link){
        .last = end->last,
        .acked = end->acked,
        .taken = end->taken,
        .peer_epoch = end->peer_epoch,
        .epoch = end->epoch,
        .peer = soc_slice_text(peer->name),
        .own_id = soc_slice_text(end->own_id),
        .peer_id = soc_slice_text(end->peer_id),
    };
    soc_batch_put(host, &record);
    peer->end = *end;
}

/* ---- joining ---- */

int soc_hosts_join(struct soc_host *host, struct soc_slice name, struct soc_detail *detail)
{
    struct soc_hosts *hosts = soc_hosts_state(host);
    assert(host->journal != NULL);
    if (hosts->name != NULL && !soc_slice_equal(name, soc_slice_text(hosts->name)))
        return soc_fail(detail, SOC_EINVAL,
                        "the state directory is that of the host '%s'; start it with that name, or "
                        "use another --state DIR",
                        hosts->name);
    soc_registry_set_host(host, name);
    soc_registry_drop_peers(host); /* of earlier runs, some of which may be left out now */
    if (hosts->name == NULL) {
        soc_text_set(&hosts->name, name);
        keep_name(host);
    }
    return SOC_OK;
}

const char *soc_hosts_name(const struct soc_host *host)
{
    return soc_hosts_state(host)->name;
}

bool soc_hosts_is_elsewhere(const struct soc_host *host, struct soc_slice id)
{
    const char *own = soc_hosts_name(host);
    struct soc_slice agent;
    struct soc_slice name;
    return soc_id_divide(id, &agent, &name) &&
           (own == NULL || !soc_slice_equal(name, soc_slice_text(own)));
}

int soc_hosts_number_of(const struct soc_host *host)
{
    return soc_hosts_state(host)->number;
}

void soc_hosts_set_number(struct soc_host *host, int number)
{
    struct soc_hosts *hosts = soc_hosts_state(host);
    assert(hosts->number < 0 && number >= 0 && number < SOC_HOSTS_MAX && hosts->name != NULL);
    hosts->number = number;
    host->next_key = soc_message_id_key_of(host->next_key, number);
    keep_name(host);
}

void soc_hosts_set_driver(struct soc_host *host, const struct soc_hosts_driver *driver)
{
    struct soc_hosts *hosts = soc_hosts_state(host);
    hosts->has_driver = driver != NULL;
    hosts->driver = driver == NULL ? (struct soc_hosts_driver){0} : *driver;
}

static void settle(struct soc_host *host)
{
    const struct soc_hosts *hosts = soc_hosts_state(host);
    if (hosts->has_driver)
        hosts->driver.settle(hosts->driver.user);
}

static bool is_busy(const struct soc_host *host)
{
    const struct soc_hosts *hosts = soc_hosts_state(host);
    return hosts->has_driver && hosts->driver.is_busy(hosts->driver.user);
}

/* ---- how peers stand ---- */

void soc_hosts_set_silent(struct soc_host *host, struct soc_hosts_peer *peer, bool is_silent)
{
    peer->is_silent = is_silent;
    soc_registry_set_silent(host, soc_slice_text(peer->name), is_silent);
}

void soc_hosts_set_agents(struct soc_hosts_peer *peer, int64_t agents)
{
    peer->agents = agents;
}

static void put_place(struct soc_buf *out, const char *name, bool is_local, bool is_reachable,
                      int64_t agents)
{
    soc_buf_put_text(out, is_local ? "[{" : ",{");
    soc_json_put_text_member(out, "name", soc_slice_text(name));
    soc_json_put_name(out, "is_local");
    soc_buf_put_text(out, is_local ? "true" : "false");
    soc_json_put_name(out, "is_reachable");
    soc_buf_put_text(out, is_reachable ? "true" : "false");
    soc_json_put_name(out, "agents");
    soc_json_put_integer(out, agents);
    soc_buf_put_byte(out, '}');
}

bool soc_hosts_put_places(struct soc_host *host, struct soc_buf *out)
{
    const struct soc_hosts *hosts = soc_hosts_state(host);
    const struct soc_hosts_peer *peer;
    if (hosts->name == NULL || hosts->peers.count == 0)
        return false;
    put_place(out, hosts->name, true, true, (int64_t)soc_registry_count(host));
    for (size_t cursor = 0; (peer = soc_map_each(&hosts->peers, &cursor)) != NULL;)
        if (soc_map_find(&host->registry.peers, soc_slice_text(peer->name)) != NULL)
            put_place(out, peer->name, false, !peer->is_silent && peer->agents > 0, peer->agents);
    soc_buf_put_byte(out, ']');
    return true;
}

static bool is_good_news(const char *type)
{
    return strcmp(type, "host_reachable") == 0 || strcmp(type, "link_resumed") == 0 ||
           strcmp(type, "number_free") == 0;
}

void soc_hosts_alert(struct soc_host *host, struct soc_slice peer, const char *type,
                     const char *text)
{
    struct soc_buf payload = {0};
    soc_buf_put_byte(&payload, '{');
    soc_json_put_text_member(&payload, "agent", SOC_SLICE("system"));
    soc_json_put_text_member(&payload, "alert_type", soc_slice_text(type));
    soc_json_put_text_member(&payload, "host", peer);
    soc_json_put_text_member(&payload, "message", soc_slice_text(text));
    soc_buf_put_byte(&payload, '}');
    soc_trace_event(host, is_good_news(type) ? SOC_LOG_INFO : SOC_LOG_ERROR, type, NULL,
                    soc_buf_slice(&payload));
    struct soc_send send = {
        .to = SOC_SLICE("orchestrator"),
        .type = SOC_SLICE("alert"),
        .payload = soc_buf_slice(&payload),
        .priority = SOC_PRIORITY_HIGH,
        .has_priority = true,
        .is_bare = true,
    };
    soc_notice_send(host, NULL, &send, "alert_failed");
    soc_buf_fini(&payload);
}

static bool finish(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                   struct soc_slice reason)
{
    (void)reason;
    if (soc_message_text(message, SOC_TEXT_FOREIGN_ID).data == NULL)
        return false;
    soc_hosts_ack(host, message, outcome);
    if (outcome == SOC_OUTCOME_PROCESSED) {
        soc_hosts_tell_begun(host, message); /* shown to the person, or to an agent outside */
        soc_hosts_leave_open(host, message->key);
    }
    return false;
}

static void deliver(struct soc_host *host, struct soc_message *message)
{
    soc_hosts_tell_begun(host, message);
}

static void failed(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome)
{
    if (message->from != NULL && message->from->is_remote)
        soc_hosts_report(host, message, outcome);
}

static void agent_failed(struct soc_host *host, struct soc_agent *agent, struct soc_slice error)
{
    (void)error;
    soc_hosts_tell_askers(host, agent);
}

static void agent_ended(struct soc_host *host, struct soc_agent *agent)
{
    soc_hosts_tell_askers(host, agent);
    soc_hosts_agent_ended(host, agent);
}

const struct soc_part soc_hosts_part = {
    .name = "hosts",
    .number = SOC_PART_HOSTS,
    .operations = soc_hosts_operations,
    .open = open_hosts,
    .settle = settle,
    .free = free_hosts,
    .is_busy = is_busy,
    .due = soc_hosts_probe_due,
    .fire = soc_hosts_probe_fire,
    .restore = restore,
    .loaded = loaded,
    .attach = soc_hosts_remember,
    .reclaim = reclaim,
    .resume = resume,
    .agent_ended = agent_ended,
    .check = soc_hosts_check_order,
    .sent = soc_hosts_broadcast,
    .deliver = deliver,
    .taken = deliver,
    .finish = finish,
    .find_asked = soc_hosts_find_asked,
    .wait_changed = soc_hosts_probe_watch,
    .wait_ended = soc_hosts_probe_forget,
    .agent_failed = agent_failed,
    .late = soc_hosts_take_report,
    .hand_out = soc_hosts_send,
    .failed = failed,
};
