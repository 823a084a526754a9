/* Hosts, back-pressure: which agents can take no mail, and whose mail therefore waits where it
 * comes from. */
#include <stdlib.h>
#include <string.h>

#include "env/ids.h"
#include "kernel/registry.h"
#include "parts/hosts/hosts_state.h"
#include "parts/supervision/guard.h"

/* Orders texts of any bytes. */
static int compare(struct soc_slice a, struct soc_slice b)
{
    size_t length = a.length < b.length ? a.length : b.length;
    int order = length == 0 ? 0 : memcmp(a.data, b.data, length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* ---- what the peer is told ---- */

static int by_id(const void *a, const void *b)
{
    return compare(soc_agent_id(*(const struct soc_agent *const *)a),
                   soc_agent_id(*(const struct soc_agent *const *)b));
}

/* Appends the agents (pointers) beyond that id that can take no mail, by id. */
static void collect(struct soc_host *host, const struct soc_hosts_peer *peer,
                    struct soc_slice after, struct soc_buf *out)
{
    uint32_t limit = soc_guard_limit(host, SOC_GUARD_MAILBOX);
    const struct soc_agent *agent;
    for (size_t cursor = 0; (agent = soc_map_each(&peer->known, &cursor)) != NULL;)
        if (!agent->is_ended && soc_mailbox_count(&agent->mailbox) >= (limit + 1) / 2 &&
            compare(soc_agent_id(agent), after) > 0)
            soc_buf_put(out, &agent, sizeof(agent));
    if (out->length > 0)
        qsort(out->data, out->length / sizeof(agent), sizeof(agent), by_id);
}

static void put_text(struct soc_buf *out, struct soc_slice text)
{
    soc_buf_put_slice(out, text);
    soc_buf_put_byte(out, '\0');
}

bool soc_hosts_put_busy(struct soc_host *host, const struct soc_hosts_peer *peer,
                        struct soc_buf *after, struct soc_buf *out)
{
    struct soc_buf agents = {0};
    struct soc_slice upto = {0};
    size_t start = out->length;
    bool is_first = after->length == 0;
    collect(host, peer, soc_buf_slice(after), &agents);
    put_text(out, soc_buf_slice(after));
    for (size_t at = 0; at < agents.length; at += sizeof(struct soc_agent *)) {
        const struct soc_agent *agent;
        memcpy(&agent, agents.data + at, sizeof(agent));
        put_text(out, soc_agent_id(agent));
        if (out->length - start < SOC_HOSTS_BUSY_BYTES)
            continue;
        upto = soc_agent_id(agent);
        break;
    }
    put_text(out, upto);
    after->length = 0;
    soc_buf_put_slice(after, upto);
    bool is_any = agents.length > 0;
    soc_buf_fini(&agents);
    return is_any || !is_first;
}

/* ---- what the peer says ---- */

/* Takes the next text from the front of a piece, which ends with a NUL. */
static struct soc_slice take_text(struct soc_slice *rest)
{
    struct soc_slice text = soc_slice(rest->data, strnlen(rest->data, rest->length));
    size_t length = text.length < rest->length ? text.length + 1 : text.length;
    *rest = soc_slice(rest->data + length, rest->length - length);
    return text;
}

/* Reads the ends of a piece and leaves the agents between them. False: it is none. */
static bool read_ends(struct soc_slice *piece, struct soc_slice *after, struct soc_slice *upto)
{
    if (piece->length < 2 || piece->data[piece->length - 1] != '\0')
        return false;
    *after = take_text(piece);
    if (piece->length == 0)
        return false;
    size_t at = piece->length - 1;
    while (at > 0 && piece->data[at - 1] != '\0')
        at--;
    *upto = soc_slice(piece->data + at, piece->length - 1 - at);
    *piece = soc_slice(piece->data, at);
    return true;
}

/* Adds a proxy to those whose mail waits. */
static void hold(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_slice id,
                 struct soc_buf *address)
{
    address->length = 0;
    soc_buf_put_slice(address, id);
    soc_buf_put_byte(address, '@');
    soc_buf_put_text(address, peer->name);
    struct soc_agent *proxy =
        soc_id_is_valid(id) ? soc_registry_find_known(host, soc_buf_slice(address)) : NULL;
    if (proxy == NULL || !proxy->is_remote)
        return;
    soc_map_put(&peer->busy, soc_agent_id(proxy), proxy);
    soc_map_take(&peer->ready, soc_agent_id(proxy));
}

void soc_hosts_set_busy(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_slice piece)
{
    struct soc_slice after;
    struct soc_slice upto;
    struct soc_agent *proxy;
    struct soc_buf address = {0};
    struct soc_map before = peer->busy;
    if (!read_ends(&piece, &after, &upto))
        return;
    peer->busy = (struct soc_map){0};
    while (piece.length > 0)
        hold(host, peer, take_text(&piece), &address);
    for (size_t cursor = 0; (proxy = soc_map_each(&before, &cursor)) != NULL;) {
        struct soc_slice id = soc_slice(proxy->id, proxy->id_length - strlen(peer->name) - 1);
        bool is_spoken_of = compare(id, after) > 0 && (upto.length == 0 || compare(id, upto) <= 0);
        if (!is_spoken_of)
            soc_map_put(&peer->busy, soc_agent_id(proxy), proxy);
        else if (soc_map_find(&peer->busy, soc_agent_id(proxy)) == NULL &&
                 soc_mailbox_count(&proxy->mailbox) > 0)
            soc_map_put(&peer->ready, soc_agent_id(proxy), proxy);
    }
    soc_map_fini(&before);
    soc_buf_fini(&address);
}
