#include "kernel/operations/diagrams.h"

#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "env/log.h"
#include "kernel/look.h"
#include "kernel/state.h"
#include "kernel/turns/wait.h"

#define TEXT_BYTES_MAX 120 /* of a message */

/* ---- Graphviz ---- */

static const struct {
    const char *status;
    const char *colour;
} colours[] = {
    {"working", "palegreen"}, {"blocked_internal", "orange"},
    {"blocked_user", "gold"}, {"paused", "lightblue"},
    {"failed", "tomato"},     {"unresponsive", "tomato"},
    {"ending", "lightgray"},  {"stopped", "gray"},
};

static const char *colour_of(const char *status)
{
    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
        if (strcmp(colours[i].status, status) == 0)
            return colours[i].colour;
    return "white";
}

/* Appends a text within quotes. */
static void put_quoted(struct soc_buf *out, struct soc_slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '"' || c == '\\')
            soc_buf_put_byte(out, '\\');
        soc_buf_put_byte(out, (unsigned char)c < ' ' ? ' ' : c);
    }
}

static void put_node(const struct soc_host *host, const struct soc_agent *agent,
                     struct soc_buf *out)
{
    const char *status = soc_look_status(host, agent);
    soc_buf_put_text(out, "  \"");
    put_quoted(out, soc_agent_id(agent));
    soc_buf_put_text(out, "\" [label=\"");
    put_quoted(out, soc_agent_id(agent));
    soc_buf_put_text(out, "\\n");
    put_quoted(out, soc_slice_text(agent->role->name));
    soc_buf_printf(out, "\\n%s\", fillcolor=%s];\n", status, colour_of(status));
}

static void put_edge(struct soc_buf *out, struct soc_slice from, struct soc_slice to)
{
    soc_buf_put_text(out, "  \"");
    put_quoted(out, from);
    soc_buf_put_text(out, "\" -> \"");
    put_quoted(out, to);
    soc_buf_put_text(out, "\" [");
}

static void put_waits(const struct soc_host *host, const struct soc_agent *agent,
                      struct soc_buf *out)
{
    struct soc_buf targets = {0};
    struct soc_buf target = {0};
    struct soc_json_walk walk;
    if (agent->activation == NULL || agent->activation->state == SOC_ACTIVATION_READY)
        return;
    soc_wait_put_targets(host, agent, &targets);
    for (soc_json_walk(&walk, soc_buf_slice(&targets)); soc_json_next(&walk);) {
        target.length = 0;
        soc_json_string(walk.value, &target);
        put_edge(out, soc_agent_id(agent), soc_buf_slice(&target));
        soc_buf_printf(out, "style=bold, label=\"%s\"];\n", soc_wait_name(agent->activation));
    }
    soc_buf_fini(&targets);
    soc_buf_fini(&target);
}

void soc_diagrams_put_dot(const struct soc_host *host, struct soc_buf *out)
{
    const struct soc_agent *agent;
    soc_buf_put_text(out, "digraph society {\n  node [shape=box, style=filled];\n");
    for (size_t cursor = 0; (agent = soc_map_each(&host->registry.agents, &cursor)) != NULL;)
        if (!agent->is_ended)
            put_node(host, agent, out);
    for (size_t cursor = 0; (agent = soc_map_each(&host->registry.agents, &cursor)) != NULL;) {
        if (agent->is_ended)
            continue;
        if (agent->parent != NULL) {
            put_edge(out, soc_agent_id(agent->parent), soc_agent_id(agent));
            soc_buf_put_text(out, "style=dashed, arrowhead=none];\n");
        }
        put_waits(host, agent, out);
    }
    soc_buf_put_text(out, "}\n");
}

/* ---- Mermaid ---- */

/* Cuts a text between two characters. */
static struct soc_slice shorten(struct soc_slice text)
{
    size_t length = text.length;
    if (length > TEXT_BYTES_MAX) {
        length = TEXT_BYTES_MAX;
        while (length > 0 && ((unsigned char)text.data[length] & 0xc0) == 0x80)
            length--;
    }
    return soc_slice(text.data, length);
}

/* Appends a text; characters that mean something to Mermaid become its entities. */
static void put_escaped(struct soc_buf *out, struct soc_slice text)
{
    struct soc_buf harmless = {0};
    struct soc_slice cut = shorten(text);
    soc_log_put_harmless(&harmless, cut, "\n", ' ');
    for (size_t i = 0; i < harmless.length; i++) {
        char c = harmless.data[i];
        if (c == '\n')
            soc_buf_put_text(out, "<br/>");
        else if (strchr("#;%<>&", c) != NULL)
            soc_buf_printf(out, "#%d;", c);
        else
            soc_buf_put_byte(out, c == '\t' ? ' ' : c);
    }
    if (cut.length < text.length)
        soc_buf_put_text(out, "…");
    soc_buf_fini(&harmless);
}

static struct soc_slice text_of(struct soc_slice row, const char *name)
{
    return soc_json_plain_string(soc_json_member(row, name));
}

/* Appends a payload by its text, or as JSON. */
static void put_payload(struct soc_buf *out, struct soc_slice payload)
{
    struct soc_buf text = {0};
    if (payload.data != NULL && soc_json_kind(payload) == SOC_JSON_OBJECT &&
        soc_json_string(soc_json_member(payload, "text"), &text))
        put_escaped(out, soc_buf_slice(&text));
    else if (payload.data != NULL)
        put_escaped(out, payload);
    soc_buf_fini(&text);
}

/* A number stands for each id, which Mermaid might take for one of its keywords. The first
 * agent that has none yet gets the next, and is declared in `declared`. */
static uintptr_t number_of(struct soc_map *numbers, struct soc_slice id, struct soc_buf *declared)
{
    uintptr_t number = (uintptr_t)soc_map_find(numbers, id);
    if (number == 0) {
        number = numbers->count + 1;
        soc_map_put(numbers, id, (void *)number);
        soc_buf_printf(declared, "  participant p%zu as ", (size_t)number);
        put_escaped(declared, id);
        soc_buf_put_byte(declared, '\n');
    }
    return number;
}

static const char *arrow_of(struct soc_slice row)
{
    struct soc_slice status = text_of(row, "status");
    if (soc_slice_equal(status, SOC_SLICE("dead")) || soc_slice_equal(status, SOC_SLICE("expired")))
        return "-x";
    return text_of(row, "reply_to").data != NULL ? "-->>" : "->>";
}

void soc_diagrams_put_mermaid(struct soc_slice messages, struct soc_buf *out)
{
    struct soc_map numbers = {0};
    struct soc_buf arrows = {0};
    struct soc_json_walk walk;
    soc_buf_put_text(out, "sequenceDiagram\n");
    for (soc_json_walk(&walk, messages); soc_json_next(&walk);) {
        struct soc_slice from = text_of(walk.value, "from");
        struct soc_slice to = text_of(walk.value, "to");
        if (from.data == NULL || to.data == NULL)
            continue;
        size_t sender = number_of(&numbers, from, out);
        soc_buf_printf(&arrows, "  p%zu%sp%zu: ", sender, arrow_of(walk.value),
                       (size_t)number_of(&numbers, to, out));
        put_escaped(&arrows, text_of(walk.value, "type"));
        soc_buf_put_byte(&arrows, ' ');
        put_payload(&arrows, soc_json_member(walk.value, "payload"));
        soc_buf_put_byte(&arrows, '\n');
    }
    soc_buf_put_slice(out, soc_buf_slice(&arrows));
    soc_buf_fini(&arrows);
    soc_map_fini(&numbers);
}
