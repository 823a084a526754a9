/* The spans of tools, which begin and end inside turns that may be rolled back. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kernel/turns/turn.h"
#include "parts/telemetry/span.h"
#include "parts/telemetry/telemetry.h"
#include "parts/telemetry/telemetry_state.h"

void soc_telemetry_free_tool(struct soc_tool *tool)
{
    free(tool->name);
    free(tool->id);
    soc_buf_fini(&tool->arguments);
    soc_buf_fini(&tool->result);
    free(tool);
}

static struct soc_tool *open_tool(const struct soc_scope *scope)
{
    struct soc_tool *tool = scope->tools;
    while (tool != NULL && tool->is_ended)
        tool = tool->next;
    return tool;
}

static void remove_tool(struct soc_scope *scope, struct soc_tool *tool)
{
    struct soc_tool **at = &scope->tools;
    while (*at != NULL && *at != tool)
        at = &(*at)->next;
    assert(*at == tool);
    *at = tool->next;
    soc_telemetry_free_tool(tool);
}

static void put_tool(struct soc_host *host, const struct soc_activation *activation,
                     const struct soc_tool *tool, struct soc_slice error)
{
    struct soc_trace_place place = soc_telemetry_place(host, activation);
    struct soc_buf *out = soc_telemetry_out(host, &place);
    if (out == NULL)
        return;
    struct soc_span span = {
        .trace_id = {place.own.trace_id[0], place.own.trace_id[1]},
        .span_id = tool->span_id,
        .parent_id = place.own.span_id,
        .verb = "execute_tool",
        .object = soc_slice_text(tool->name),
        .kind = SOC_SPAN_INTERNAL,
        .start_ms = tool->start_ms,
        .end_ms = tool->end_ms,
        .behind_ms = soc_calendar_behind(&host->clock.calendar),
    };
    soc_span_begin(out, &span);
    soc_span_put_text(out, "gen_ai.operation.name", SOC_SLICE("execute_tool"));
    soc_span_put_text(out, "gen_ai.tool.name", soc_slice_text(tool->name));
    soc_span_put_text(out, "gen_ai.tool.type", SOC_SLICE("function"));
    soc_span_put_text(out, "gen_ai.tool.call.id", soc_slice_text(tool->id));
    if (tool->arguments.length > 0)
        soc_span_put_text(out, "gen_ai.tool.call.arguments", soc_buf_slice(&tool->arguments));
    if (tool->result.length > 0)
        soc_span_put_text(out, "gen_ai.tool.call.result", soc_buf_slice(&tool->result));
    soc_telemetry_end(host, out, error);
    soc_telemetry_emit(host);
}

/* The turn in which the tool began is rolled back; or its span left with an earlier turn, which
 * the script has run over again. */
static void forget_tool(struct soc_host *host, struct soc_undo *undo)
{
    remove_tool(soc_telemetry_scope(host, undo->agent), undo->data);
}

/* The turn in which it ended is rolled back. */
static void unend(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_tool *tool = undo->data;
    (void)host;
    tool->is_ended = false;
    tool->is_failed = false;
    tool->result.length = 0;
}

static void finish_tool(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_tool *tool = undo->data;
    struct soc_slice error = {0};
    if (tool->is_failed)
        error = SOC_SLICE("{\"error\":\"tool_error\"}");
    put_tool(host, undo->agent->activation, tool, error);
    remove_tool(soc_telemetry_scope(host, undo->agent), tool);
}

static const struct soc_undo_ops begin_ops = {.roll_back = forget_tool, .is_talk = true};
static const struct soc_undo_ops end_ops = {
    .roll_back = unend, .commit = finish_tool, .is_talk = true};
static const struct soc_undo_ops forget_ops = {
    .roll_back = unend, .commit = forget_tool, .is_talk = true};

/* The script runs again over turns that have committed: what ends there has left already. */
static bool is_replayed(const struct soc_activation *activation)
{
    return activation->cursor < activation->effects_kept;
}

static struct soc_tool *find_tool(const struct soc_scope *scope, uint64_t span_id)
{
    struct soc_tool *tool = scope->tools;
    while (tool != NULL && tool->span_id != span_id)
        tool = tool->next;
    return tool;
}

/* A tool that began before a rollback is still known. One that began before a crash is not: it
 * began before its last wait at the latest. */
void soc_telemetry_begin_tool(struct soc_host *host, struct soc_slice name, struct soc_slice id,
                              struct soc_slice arguments)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    struct soc_activation *activation = host->turn.activation;
    if (state == NULL || activation == NULL)
        return;
    struct soc_trace_place place = soc_telemetry_place(host, activation);
    struct soc_scope *scope = soc_telemetry_scope(host, activation->agent);
    uint64_t span_id = soc_telemetry_tool_id(host, place.own.span_id, activation->cursor, id);
    activation->span = span_id;
    if (find_tool(scope, span_id) != NULL)
        return;
    struct soc_tool *tool = soc_alloc_zero(sizeof(*tool));
    name = soc_slice_cut(name, SOC_KEY_BYTES_MAX);
    id = soc_slice_cut(id, SOC_KEY_BYTES_MAX);
    tool->span_id = span_id;
    tool->name = soc_copy_text(name.data, name.length);
    tool->id = id.data == NULL ? NULL : soc_copy_text(id.data, id.length);
    tool->start_ms =
        is_replayed(activation) && scope->wait_ms != 0 ? scope->wait_ms : soc_host_now(host);
    if (state->has_content)
        soc_buf_put_slice(&tool->arguments, soc_slice_cut(arguments, SOC_SPAN_TEXT_BYTES_MAX));
    tool->next = scope->tools;
    scope->tools = tool;
    soc_turn_note(host,
                  (struct soc_undo){.ops = &begin_ops, .agent = activation->agent, .data = tool});
}

void soc_telemetry_end_tool(struct soc_host *host, struct soc_slice result, bool is_failed)
{
    struct soc_telemetry *state = soc_telemetry_state(host);
    struct soc_activation *activation = host->turn.activation;
    if (state == NULL || activation == NULL)
        return;
    struct soc_tool *tool = open_tool(soc_telemetry_scope(host, activation->agent));
    activation->span = 0;
    if (tool == NULL)
        return;
    tool->is_ended = true;
    tool->is_failed = is_failed;
    tool->end_ms = soc_host_now(host);
    if (state->has_content)
        soc_buf_put_slice(&tool->result, soc_slice_cut(result, SOC_SPAN_TEXT_BYTES_MAX));
    soc_turn_note(host, (struct soc_undo){.ops = is_replayed(activation) ? &forget_ops : &end_ops,
                                          .agent = activation->agent,
                                          .data = tool});
}

void soc_telemetry_close_tools(struct soc_host *host, const struct soc_activation *activation,
                               struct soc_slice error)
{
    struct soc_scope *scope = soc_telemetry_scope(host, activation->agent);
    while (scope->tools != NULL) {
        struct soc_tool *tool = scope->tools;
        tool->end_ms = soc_host_now(host);
        put_tool(host, activation, tool, error);
        remove_tool(scope, tool);
    }
}
