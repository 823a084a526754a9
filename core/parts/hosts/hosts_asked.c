/* Hosts, asked: what agents elsewhere have asked agents of this host.
 *
 * The id that such a message has on its own host is remembered here, so that an answer names it.
 * A request that was handled without an answer can be answered later. It is then also stored: as
 * one that nobody waits for any more, which is what it is on this host (parts/queries). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/asked.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/transit.h"
#include "kernel/registry.h"
#include "model/delivery/dedupe.h"
#include "parts/hosts/hosts_state.h"

static void free_one(struct soc_hosts_asked *asked)
{
    free(asked->chain);
    free(asked);
}

void soc_hosts_free_asked(struct soc_hosts *hosts)
{
    struct soc_hosts_asked *asked;
    for (size_t cursor = 0; (asked = soc_map_each(&hosts->asked, &cursor)) != NULL;)
        free_one(asked);
    soc_map_fini(&hosts->asked);
}

/* Adds one, and forgets the oldest if there are too many. */
static struct soc_hosts_asked *add(struct soc_host *host, uint64_t key, struct soc_slice id)
{
    struct soc_map *map = &soc_hosts_state(host)->asked;
    struct soc_hosts_asked *asked = soc_alloc_zero(sizeof(*asked));
    size_t cursor = 0;
    asked->key = key;
    memcpy(asked->id, id.data, SOC_MESSAGE_ID_BYTES);
    soc_map_put_number(map, key, asked);
    if (map->count > SOC_HOSTS_ASKED_MAX) {
        struct soc_hosts_asked *oldest = soc_map_each(map, &cursor);
        free_one(soc_map_take_number(map, oldest->key));
    }
    return asked;
}

static struct soc_hosts_asked *find(const struct soc_host *host, uint64_t key)
{
    return soc_map_find_number(&soc_hosts_state(host)->asked, key);
}

void soc_hosts_remember(struct soc_host *host, struct soc_message *message)
{
    struct soc_slice id = soc_message_text(message, SOC_TEXT_FOREIGN_ID);
    struct soc_slice chain = soc_message_text(message, SOC_TEXT_CORRELATION_ID);
    bool is_asking = message->flags & SOC_MESSAGE_WANTS_REPLY || message->type->is_marked;
    if (id.length != SOC_MESSAGE_ID_BYTES || !is_asking || find(host, message->key) != NULL)
        return;
    struct soc_hosts_asked *asked = add(host, message->key, id);
    asked->time_ms = message->time_ms;
    asked->from = message->from;
    asked->to = message->to;
    asked->is_open = (message->flags & SOC_MESSAGE_WANTS_REPLY) != 0;
    if (asked->is_open && chain.data != NULL)
        asked->chain = soc_copy_text(chain.data, chain.length);
}

void soc_hosts_note_reply(struct soc_host *host, uint64_t key)
{
    struct soc_hosts_asked *asked = find(host, key);
    if (asked != NULL)
        asked->is_open = false;
}

struct soc_slice soc_hosts_asked_id(const struct soc_host *host, uint64_t key)
{
    const struct soc_hosts_asked *asked = find(host, key);
    return asked == NULL ? (struct soc_slice){0} : soc_slice(asked->id, SOC_MESSAGE_ID_BYTES);
}

/* ---- answers that come later ---- */

static bool is_chain(const struct soc_hosts_asked *asked, struct soc_slice id)
{
    return asked->chain != NULL && soc_slice_equal(id, soc_slice_text(asked->chain));
}

static bool is_id(const struct soc_hosts_asked *asked, struct soc_slice id)
{
    return soc_slice_equal(id, soc_slice(asked->id, SOC_MESSAGE_ID_BYTES)) ||
           soc_message_id_is(id, asked->time_ms, asked->key);
}

/* A message's own id goes before that of a chain, of which the oldest request is meant. */
bool soc_hosts_find_asked(const struct soc_host *host, const struct soc_agent *to,
                          struct soc_slice id, struct soc_asked *out)
{
    const struct soc_map *map = &soc_hosts_state(host)->asked;
    const struct soc_hosts_asked *found = NULL;
    const struct soc_hosts_asked *asked;
    for (size_t cursor = 0; (asked = soc_map_each(map, &cursor)) != NULL;) {
        if (!asked->is_open || asked->to != to || asked->from == NULL ||
            soc_transit_replies(host, asked->key))
            continue;
        if (is_id(asked, id)) {
            found = asked;
            break;
        }
        if (found == NULL && is_chain(asked, id))
            found = asked;
    }
    if (found == NULL)
        return false;
    *out = (struct soc_asked){
        .key = found->key,
        .time_ms = found->time_ms,
        .id = soc_slice(found->id, SOC_MESSAGE_ID_BYTES),
        .chain = soc_slice_text(found->chain),
        .from = found->from,
    };
    return true;
}

void soc_hosts_leave_open(struct soc_host *host, uint64_t key)
{
    struct soc_hosts_asked *asked = find(host, key);
    if (asked == NULL || !asked->is_open || asked->to == NULL || soc_transit_replies(host, key))
        return;
    struct soc_request lapsed = {
        .key = key,
        .time_ms = asked->time_ms,
        .from = asked->from,
        .to = asked->to,
        .correlation_id = asked->chain,
        .external_id = asked->id,
    };
    soc_request_warn(host, &lapsed, soc_slice(asked->id, SOC_MESSAGE_ID_BYTES));
    SOC_PARTS_TELL(host, request_lapsed, host, &lapsed);
}

void soc_hosts_restore_asked(struct soc_host *host, const struct soc_record_sent_key *key)
{
    struct soc_dedupe_words words;
    struct soc_slice agent;
    struct soc_slice name;
    uint64_t own;
    if (!soc_dedupe_is_of_query(key->text) || !soc_dedupe_words(&words, key->text) ||
        !soc_id_divide(words.sender, &agent, &name))
        return;
    if (words.kind == SOC_DEDUPE_ANSWERED)
        soc_hosts_note_reply(host, key->key);
    else if (words.words.length == SOC_MESSAGE_ID_BYTES && find(host, key->key) == NULL &&
             soc_message_id_parse(words.words, &own) && own != key->key) {
        struct soc_hosts_asked *asked = add(host, key->key, words.words);
        asked->time_ms = (int64_t)key->sent_ms;
        asked->from = soc_registry_need_remote(host, words.sender);
        asked->to = soc_registry_find(host, words.receiver);
        asked->is_open = words.kind == SOC_DEDUPE_LAPSED && asked->to != NULL;
    }
}
