#include "parts/hosts/hosts_operations.h"

#include "base/json.h"
#include "base/limits.h"
#include "kernel/operations/given.h"
#include "kernel/refusal.h"
#include "parts/hosts/hosts_state.h"

#define ID_WIDTH   40
#define TIME_WIDTH 24

static const struct soc_column columns[] = {
    {"HOST", "host", ID_WIDTH},
    {"STATE", "state", ID_WIDTH},
    {"SENT", "sent", 16},
    {"ACKED", "acked", 16},
    {"WAITING", "waiting", 16},
    {"TAKEN", "taken", 16},
    {"WINDOW", "window", 16},
    {"LAST ACK", "acked_at", TIME_WIDTH},
    {"HEARD", "heard_at", TIME_WIDTH},
    {"WHY", "message", 200},
    {NULL, NULL, 0},
};

#define COUNT(what, sentence)                                                                      \
    {                                                                                              \
        .name = what, .kind = SOC_PARAM_INTEGER, .summary = sentence                               \
    }

static const struct soc_param members[] = {
    {.name = "host", .is_needed = true, .summary = "the other host"},
    {.name = "state",
     .is_needed = true,
     .summary = "up, connecting, refused, unreachable, carrier_lost, or why the link has stopped"},
    {.name = "message", .summary = "what that means, if it is not up"},
    COUNT("sent", "messages numbered for the host"),
    COUNT("acked", "those of them that are durable there"),
    COUNT("waiting", "messages for the host that are not durable there"),
    COUNT("taken", "messages taken from the host"),
    COUNT("window", "messages that may still be sent before one is acknowledged"),
    COUNT("epoch", "of this end; it rises with every start"),
    COUNT("peer_epoch", "of the other end"),
    {.name = "acked_at", .kind = SOC_PARAM_TIME, .summary = "the last acknowledgement"},
    {.name = "heard_at", .kind = SOC_PARAM_TIME, .summary = "the last sign of life"},
    {.name = NULL},
};

/* What is stored of the links while nothing drives them. */
static void put_stored(const struct soc_host *host, struct soc_buf *out)
{
    const struct soc_hosts_peer *peer;
    for (size_t cursor = 0;
         (peer = soc_map_each(&soc_hosts_state(host)->peers, &cursor)) != NULL;) {
        const struct {
            const char *name;
            uint64_t number;
        } numbers[] = {
            {"sent", peer->end.last},
            {"acked", peer->end.acked},
            {"taken", peer->end.taken},
            {"waiting", peer->items_count + soc_hosts_waiting(host, peer)},
            {"epoch", peer->end.epoch},
            {"peer_epoch", peer->end.peer_epoch},
        };
        soc_buf_put_text(out, cursor > 1 ? ",{" : "{");
        soc_json_put_text_member(out, "host", soc_slice_text(peer->name));
        soc_json_put_text_member(out, "state", SOC_SLICE("not joined"));
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
            soc_json_put_name(out, numbers[i].name);
            soc_json_put_integer(out, (int64_t)numbers[i].number);
        }
        soc_buf_put_byte(out, '}');
    }
}

static void look_at_links(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    const struct soc_hosts *hosts = soc_hosts_state(host);
    (void)query;
    soc_buf_put_byte(out, '[');
    if (hosts->has_driver)
        hosts->driver.put_links(hosts->driver.user, out);
    else
        put_stored(host, out);
    soc_buf_put_byte(out, ']');
}

static const struct soc_param reset_params[] = {
    {.name = "host",
     .most = SOC_HOST_NAME_BYTES_MAX,
     .is_needed = true,
     .summary = "the name of the other host"},
    {.name = "force",
     .kind = SOC_PARAM_FLAG,
     .summary = "reset the link even if it is up; both hosts may then lose and repeat messages"},
    {.name = NULL},
};

static const struct soc_param reset_members[] = {
    {.name = "host", .is_needed = true, .summary = "as given"},
    {.name = NULL},
};

static void reset(struct soc_given *given)
{
    const struct soc_hosts *hosts = soc_hosts_state(given->society->host);
    struct soc_slice name = soc_given_text(given, "host");
    struct soc_buf answer = {0};
    int rc = SOC_ENOHOST;
    if (hosts->has_driver)
        rc = hosts->driver.reset(hosts->driver.user, name, soc_given_flag(given, "force"));
    if (rc == SOC_EALREADYUP)
        rc = soc_refuse(&answer, rc,
                        "the link is up; a reset would stop it at the other host, and messages "
                        "could be lost or sent twice; force it if that is what you want",
                        "host", name);
    else if (rc < 0)
        rc = soc_refuse(&answer, rc, NULL, "host", name);
    if (rc == SOC_OK) {
        soc_buf_put_text(&answer, "[{");
        soc_json_put_text_member(&answer, "host", name);
        soc_buf_put_text(&answer, "}]");
    }
    soc_given_finish(given, rc, name, &answer);
}

const struct soc_operation soc_hosts_operations[] = {
    {.name = "links",
     .summary = "the links to other hosts: what waits, and why one has stopped",
     .scope = SOC_SCOPE_READ,
     .run = soc_given_look,
     .answer = members,
     .view = &(const struct soc_view){.look = look_at_links, .columns = columns}},
    {.name = "link_reset",
     .summary = "forgets what this host knows of its link to another, after one of the two was "
                "put back or replaced; reset both ends",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .needs_running = true,
     .params = reset_params,
     .answer = reset_members,
     .run = reset},
    {.name = NULL},
};
