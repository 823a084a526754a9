/* Hosts, output: from the mailbox of a proxy to an item of a link. */
#include <assert.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/router.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "parts/hosts/hosts_qualify.h"
#include "parts/hosts/hosts_state.h"

#define TURN_ITEMS 64 /* numbered of one proxy before it is the turn of the next */

bool soc_hosts_send(struct soc_host *host, struct soc_message *message)
{
    struct soc_agent *proxy = message->to;
    if (!proxy->is_remote)
        return false;
    struct soc_hosts_peer *peer = soc_hosts_peer_of(host, proxy);
    if (message->reply_to != 0)
        soc_hosts_note_reply(host, message->reply_to);
    soc_mail_queue(host, message, false);
    if (soc_map_find(&peer->busy, soc_agent_id(proxy)) == NULL)
        soc_map_put(&peer->ready, soc_agent_id(proxy), proxy);
    return true;
}

bool soc_hosts_has_mail(const struct soc_hosts_peer *peer)
{
    return peer->ready.count > 0;
}

uint64_t soc_hosts_waiting(const struct soc_host *host, const struct soc_hosts_peer *peer)
{
    uint64_t count = 0;
    const struct soc_agent *proxy;
    (void)host;
    for (size_t cursor = 0; (proxy = soc_map_each(&peer->ready, &cursor)) != NULL;)
        count += soc_mailbox_count(&proxy->mailbox);
    for (size_t cursor = 0; (proxy = soc_map_each(&peer->busy, &cursor)) != NULL;)
        count += soc_mailbox_count(&proxy->mailbox);
    return count;
}

/* Appends to a list of keys. */
static void put_key(struct soc_buf *keys, uint64_t key)
{
    if (keys->length > 0)
        soc_buf_put_byte(keys, ',');
    soc_json_put_integer(keys, (int64_t)key);
}

/* Numbers some mail of one proxy; their keys go to `keys`. */
static uint64_t number_some(struct soc_host *host, struct soc_hosts_peer *peer,
                            struct soc_agent *proxy, uint64_t max, struct soc_buf *keys)
{
    uint64_t count = 0;
    struct soc_message *message;
    while (count < max && (message = soc_mailbox_pop(&proxy->mailbox)) != NULL) {
        soc_heap_remove(&host->timers, &message->timer); /* from now on it must arrive */
        soc_hosts_push_item(peer, (struct soc_hosts_item){message->key, message});
        put_key(keys, message->key);
        count++;
    }
    return count;
}

uint64_t soc_hosts_number(struct soc_host *host, struct soc_hosts_peer *peer, uint64_t first,
                          uint64_t max)
{
    struct soc_buf keys = {0};
    struct soc_agent *proxy;
    uint64_t count = 0;
    size_t cursor = 0;
    assert(first == peer->end.acked + peer->items_count + 1);
    while (count < max && (proxy = soc_map_each(&peer->ready, &cursor)) != NULL) {
        uint64_t left = max - count;
        count += number_some(host, peer, proxy, left < TURN_ITEMS ? left : TURN_ITEMS, &keys);
        soc_map_take(&peer->ready, soc_agent_id(proxy));
        if (soc_mailbox_count(&proxy->mailbox) == 0)
            continue;
        soc_map_put(&peer->ready, soc_agent_id(proxy), proxy); /* last; the map may have moved */
        cursor = 0;
    }
    if (count > 0) {
        struct soc_record record = {.type = SOC_RECORD_LINK_ITEMS};
        record.link_items = (struct soc_record_link_items){
            .first = first,
            .count = count,
            .peer = soc_slice_text(peer->name),
            .keys = soc_buf_slice(&keys),
        };
        soc_batch_put(host, &record);
        peer->end.last = first + count - 1;
    }
    soc_buf_fini(&keys);
    return count;
}

/* ---- encoding ---- */

/* Appends `agent@host` for an agent of this host. */
static struct soc_slice address_of(const struct soc_host *host, const struct soc_agent *agent,
                                   struct soc_buf *out)
{
    if (agent == NULL)
        return SOC_SLICE("system");
    soc_buf_put_slice(out, soc_agent_id(agent));
    if (!agent->is_remote) {
        soc_buf_put_byte(out, '@');
        soc_buf_put_text(out, host->registry.host_name);
    }
    return soc_buf_slice(out);
}

/* The role of the sender follows its message. */
static void put_role(const struct soc_agent *from, struct soc_buf *out)
{
    struct soc_record record = {.type = SOC_RECORD_ROLE};
    if (from == NULL || from->is_remote)
        return;
    record.role.id = soc_slice_text(from->role->id);
    record.role.name = soc_slice_text(from->role->name);
    soc_record_put(out, &record);
}

/* Fills in the ids, which keep the form they have on this host. */
static void put_ids(const struct soc_host *host, const struct soc_message *message,
                    char ids[2][SOC_MESSAGE_ID_BYTES], struct soc_record_message *r)
{
    soc_envelope_id(ids[0], message);
    r->foreign_id = soc_slice(ids[0], SOC_MESSAGE_ID_BYTES);
    if (r->foreign_reply.data == NULL && message->reply_to != 0)
        r->foreign_reply = soc_hosts_asked_id(host, message->reply_to);
    if (r->foreign_reply.data == NULL && message->reply_to != 0) {
        soc_message_id_format(ids[1], message->reply_to_ms, message->reply_to);
        r->foreign_reply = soc_slice(ids[1], SOC_MESSAGE_ID_BYTES);
    }
}

void soc_hosts_put_item(struct soc_host *host, struct soc_hosts_peer *peer, uint64_t number,
                        int64_t ahead_ms, struct soc_buf *out)
{
    const struct soc_message *message = soc_hosts_item_at(peer, number)->message;
    char ids[2][SOC_MESSAGE_ID_BYTES];
    char chain[SOC_MESSAGE_ID_BYTES];
    struct soc_buf from = {0};
    struct soc_buf payload = {0};
    struct soc_record record;
    struct soc_slice local;
    struct soc_slice name;
    if (message == NULL)
        return; /* an empty item: there was nothing to send, and its number is used */
    soc_envelope_record(&record, message);
    struct soc_record_message *r = &record.message;
    soc_id_divide(r->to, &local, &name);
    r->key = r->time_ms = r->reply_to = r->reply_to_ms = r->cause = 0;
    r->deliver_at_ms = 0;
    r->flags &= SOC_MESSAGE_REQUIRES_ACK | SOC_MESSAGE_WANTS_REPLY | SOC_MESSAGE_IS_REPLY |
                SOC_MESSAGE_IS_FORMAL;
    r->from = address_of(host, message->from, &from);
    r->to = local;
    r->dedupe_key = (struct soc_slice){0};
    r->correlation_id = soc_envelope_chain(message, chain);
    put_ids(host, message, ids, r);
    int64_t shared_ms = soc_host_now(host) + ahead_ms;
    if (message->expires_ms != 0)
        r->expires_ms = (uint64_t)(message->expires_ms + ahead_ms);
    if (message->deadline_ms != 0)
        r->deadline_ms =
            (uint64_t)(message->deadline_ms - soc_clock_date(&host->clock) + shared_ms);
    if (soc_hosts_qualify(r, soc_slice_text(host->registry.host_name), &payload))
        r->payload = soc_buf_slice(&payload);
    soc_record_put(out, &record);
    put_role(message->from, out);
    soc_buf_fini(&from);
    soc_buf_fini(&payload);
}

void soc_hosts_acked(struct soc_host *host, struct soc_hosts_peer *peer, uint64_t number)
{
    while (peer->end.acked < number) {
        struct soc_message *message = soc_hosts_item_at(peer, peer->end.acked + 1)->message;
        peer->items_first = (peer->items_first + 1) & (peer->items_capacity - 1);
        peer->items_count--;
        peer->end.acked++;
        if (message != NULL)
            soc_router_finish(host, message, SOC_OUTCOME_HANDED_OVER, (struct soc_slice){0});
    }
}

void soc_hosts_renumber(struct soc_host *host, struct soc_hosts_peer *peer)
{
    struct soc_buf keys = {0};
    uint64_t count = peer->items_count;
    for (uint64_t n = 1; n <= count; n++)
        put_key(&keys, soc_hosts_item_at(peer, peer->end.acked + n)->key);
    if (count > 0) {
        struct soc_record record = {.type = SOC_RECORD_LINK_ITEMS};
        record.link_items = (struct soc_record_link_items){
            .first = 1,
            .count = count,
            .peer = soc_slice_text(peer->name),
            .keys = soc_buf_slice(&keys),
        };
        soc_batch_put(host, &record);
    }
    soc_buf_fini(&keys);
}
