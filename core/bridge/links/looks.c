/* Links, looks: what people see of them. */
#include <string.h>

#include "base/json.h"
#include "bridge/links/links_state.h"
#include "env/clock.h"
#include "kernel/host.h"
#include "parts/hosts/hosts.h"

#define STATE_UP      "up"
#define STATE_REFUSED "refused"

static const char *state_name(const struct soc_links_end *end,
                              const struct soc_link_figures *figures)
{
    const struct soc_links *links = end->links;
    if (links->is_taken)
        return "number_taken";
    if (figures->stop != SOC_LINK_NONE)
        return soc_link_stop_name(figures->stop);
    if (!links->is_ready)
        return "carrier_lost";
    if (end->is_blocked || end->is_shut)
        return "stream_blocked";
    if (end->is_silent)
        return "unreachable";
    if (end->refused != NULL)
        return STATE_REFUSED;
    return figures->is_met ? STATE_UP : "connecting";
}

static struct soc_link_figures figures_of(const struct soc_links_end *end)
{
    return end->link == NULL ? (struct soc_link_figures){0} : soc_link_figures(end->link);
}

bool soc_links_is_up(const struct soc_links_end *end)
{
    struct soc_link_figures figures = figures_of(end);
    return strcmp(state_name(end, &figures), STATE_UP) == 0;
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

static void put_link(const struct soc_links_end *end, struct soc_buf *out)
{
    const struct soc_links *links = end->links;
    const struct soc_hosts_end *stored = soc_hosts_end(end->peer);
    struct soc_link_figures figures = figures_of(end);
    const char *state = state_name(end, &figures);
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "host", soc_slice_text(end->name));
    soc_json_put_text_member(out, "state", soc_slice_text(state));
    if (strcmp(state, STATE_REFUSED) == 0)
        soc_json_put_text_member(out, "message", soc_slice_text(end->refused));
    else if (figures.stop != SOC_LINK_NONE)
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

void soc_links_put_all(void *user, struct soc_buf *out)
{
    const struct soc_links *links = user;
    for (int i = 0; i < links->count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        put_link(&links->ends[i], out);
    }
}
