#include "bridge/http/metrics.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/version.h"
#include "kernel/host.h"
#include "kernel/look.h"
#include "parts/human/human.h"

static void begin(struct soc_buf *out, const char *name, const char *type, const char *help)
{
    soc_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put(struct soc_buf *out, const char *name, const char *type, const char *help,
                int64_t value)
{
    begin(out, name, type, help);
    soc_buf_printf(out, "%s %" PRId64 "\n", name, value);
}

static int64_t count_of(struct soc_slice stats, const char *member)
{
    int64_t number = 0;
    soc_json_integer(soc_json_member(stats, member), &number);
    return number;
}

static void put_messages(struct soc_buf *out, struct soc_slice stats)
{
    static const char *const outcomes[] = {"processed", "expired",   "dead",
                                           "dropped",   "cancelled", "handed_over"};
    put(out, "society_messages_sent_total", "counter", "Messages sent.", count_of(stats, "sent"));
    put(out, "society_messages_taken_total", "counter", "Messages taken from other hosts.",
        count_of(stats, "taken"));
    put(out, "society_messages_pending", "gauge", "Messages that have not ended yet.",
        count_of(stats, "pending"));
    begin(out, "society_messages_ended_total", "counter", "Messages that have ended, by outcome.");
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
        soc_buf_printf(out, "society_messages_ended_total{outcome=\"%s\"} %" PRId64 "\n",
                       outcomes[i], count_of(stats, outcomes[i]));
}

static void put_door(struct soc_buf *out, const struct soc_metrics *metrics)
{
    begin(out, "society_http_responses_total", "counter", "HTTP responses, by class of status.");
    for (int i = 1; i < 6; i++)
        soc_buf_printf(out, "society_http_responses_total{class=\"%dxx\"} %" PRIu64 "\n", i,
                       metrics->responses[i]);
    put(out, "society_http_wrong_tokens_total", "counter", "Requests with a wrong token.",
        (int64_t)metrics->refused);
    put(out, "society_http_connections", "gauge", "Open HTTP connections.", metrics->connections);
    put(out, "society_http_streams", "gauge", "Open event streams and WebSockets.",
        metrics->streams);
}

void soc_metrics_put(const struct soc_metrics *metrics, struct soc_host *host, struct soc_buf *out)
{
    struct soc_buf json = {0};
    soc_look_stats(host, &json);
    struct soc_slice stats = soc_buf_slice(&json);
    begin(out, "society_build_info", "gauge", "The version that runs.");
    soc_buf_printf(out, "society_build_info{version=\"%s\"} 1\n", SOC_VERSION);
    put_messages(out, stats);
    put(out, "society_agents", "gauge", "Living agents.", count_of(stats, "agents"));
    put(out, "society_agents_waiting", "gauge", "Agents that wait for something.",
        count_of(stats, "waiting"));
    put(out, "society_turns_total", "counter", "Turns since the start.", count_of(stats, "turns"));
    put(out, "society_activations_total", "counter", "Activations since the start.",
        count_of(stats, "activations"));
    put(out, "society_inbox_open", "gauge", "Items that a person has to decide.",
        (int64_t)soc_human_count(host));
    put(out, "society_disk_full", "gauge", "1 while the disk is full.", soc_host_is_full(host));
    put_door(out, metrics);
    soc_buf_fini(&json);
}
