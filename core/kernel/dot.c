#include "kernel/dot.h"

#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/wait.h"

/* Appends text inside quotes: as it is, but for what the language would read. */
static void put_text(struct soc_buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            soc_buf_put_byte(out, '\\');
        soc_buf_put_byte(out, (unsigned char)*text < 0x20 ? ' ' : *text);
    }
}

static void put_id(struct soc_buf *out, const struct soc_agent *agent)
{
    soc_buf_put_byte(out, '"');
    put_text(out, agent->id);
    soc_buf_put_byte(out, '"');
}

static const char *colour_of(enum soc_status status)
{
    switch (status) {
    case SOC_STATUS_WORKING:
        return "palegreen";
    case SOC_STATUS_BLOCKED_INTERNAL:
        return "orange";
    case SOC_STATUS_BLOCKED_USER:
        return "gold";
    case SOC_STATUS_PAUSED:
        return "lightblue";
    case SOC_STATUS_FAILED:
    case SOC_STATUS_UNRESPONSIVE:
        return "tomato";
    case SOC_STATUS_ENDING:
        return "lightgray";
    case SOC_STATUS_STOPPED:
        return "gray";
    case SOC_STATUS_IDLE:
        break;
    }
    return "white";
}

static void put_agent(struct soc_buf *out, const struct soc_host *host,
                      const struct soc_agent *agent)
{
    enum soc_status status = soc_status_of(host, agent);
    soc_buf_put_text(out, "  ");
    put_id(out, agent);
    soc_buf_put_text(out, " [label=\"");
    put_text(out, agent->id);
    soc_buf_put_text(out, "\\n");
    put_text(out, agent->role->name);
    soc_buf_printf(out, "\\n%s\", fillcolor=%s];\n", soc_status_name(status), colour_of(status));
}

static void put_edge(struct soc_buf *out, const struct soc_agent *from, const struct soc_agent *to)
{
    soc_buf_put_text(out, "  ");
    put_id(out, from);
    soc_buf_put_text(out, " -> ");
    put_id(out, to);
}

static void put_edges(struct soc_buf *out, const struct soc_host *host,
                      const struct soc_agent *agent)
{
    const struct soc_agent *target;
    if (agent->parent != NULL) {
        put_edge(out, agent->parent, agent);
        soc_buf_put_text(out, " [style=dashed, arrowhead=none];\n");
    }
    for (size_t i = 0; (target = soc_wait_target(host, agent, i)) != NULL; i++) {
        put_edge(out, agent, target);
        soc_buf_printf(out, " [style=bold, label=\"%s\"];\n", soc_wait_name(agent->activation));
    }
}

void soc_dot_put(const struct soc_host *host, struct soc_buf *out)
{
    size_t cursor = 0;
    const struct soc_agent *agent;
    soc_buf_put_text(out, "digraph society {\n  node [shape=box, style=filled];\n");
    while ((agent = soc_map_each(&host->agents, &cursor)) != NULL)
        if (!agent->is_ended)
            put_agent(out, host, agent);
    for (cursor = 0; (agent = soc_map_each(&host->agents, &cursor)) != NULL;)
        if (!agent->is_ended)
            put_edges(out, host, agent);
    soc_buf_put_text(out, "}\n");
}
