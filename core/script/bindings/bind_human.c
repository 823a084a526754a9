/* Human: agent:escalate, and user:decide. */
#include "script/bindings/bind_human.h"

#include <assert.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "parts/tasks/tasks.h"
#include "script/bindings/bind.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

/* Lends a text field of the table at `index`; absent for nil. */
static struct soc_slice read_text(lua_State *L, int index, const char *call, const char *name)
{
    size_t length;
    int type = soc_option_field(L, index, name);
    if (type == LUA_TNIL)
        return (struct soc_slice){0};
    if (type != LUA_TSTRING)
        luaL_error(L, "%s: '%s' must be a string, got %s", call, name, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    if (soc_utf8_fault(soc_slice(text, length)) >= 0)
        luaL_error(L, "%s: '%s' is not UTF-8", call, name);
    if (memchr(text, '\0', length) != NULL)
        luaL_error(L, "%s: '%s' holds a zero byte", call, name);
    return soc_slice(text, length);
}

/* Where read_json has appended a field to frame->payload; empty for nil. */
struct span {
    size_t start;
    size_t length;
};

static struct span read_json(lua_State *L, struct soc_frame *frame, int index, const char *call,
                             const char *name)
{
    struct soc_detail detail;
    struct soc_buf *out = &frame->payload;
    struct span span = {.start = out->length};
    if (soc_option_field(L, index, name) == LUA_TNIL)
        return span;
    if (soc_lua_json_encode(L, lua_gettop(L), name, SOC_BRIEF_BYTES_MAX, out, &detail) < 0)
        luaL_error(L, "%s: %s", call, detail.text);
    span.length = out->length - span.start;
    return span;
}

static struct soc_slice slice_of(const struct soc_frame *frame, struct span span)
{
    assert(span.start + span.length <= frame->payload.length);
    return span.length == 0 ? (struct soc_slice){0}
                            : soc_slice(frame->payload.data + span.start, span.length);
}

void soc_bind_human_read(lua_State *L, struct soc_frame *frame, int index,
                         struct soc_verdict *verdict)
{
    static const char *const known[] = {"decision", "choice", "changes", "comment", NULL};
    size_t length;
    const char *id = luaL_checklstring(L, index, &length);
    luaL_checktype(L, index + 1, LUA_TTABLE);
    lua_settop(L, index + 1);
    soc_option_check_names(L, index + 1, "decide", known);
    *verdict = (struct soc_verdict){
        .item_id = soc_slice(id, length),
        .decision = read_text(L, index + 1, "decide", "decision"),
        .comment = read_text(L, index + 1, "decide", "comment"),
    };
    struct span changes = read_json(L, frame, index + 1, "decide", "changes");
    struct span choice = read_json(L, frame, index + 1, "decide", "choice");
    verdict->changes = slice_of(frame, changes);
    verdict->choice = slice_of(frame, choice);
}

/* The checked arguments of escalate{ … }. */
struct request {
    struct soc_escalation escalation;
    struct span body;
    struct span options;
    bool waits;
};

static void read_title(lua_State *L, struct request *request)
{
    struct soc_slice title = read_text(L, 2, "escalate", "title");
    if (title.length == 0)
        luaL_error(L, "escalate: 'title' must be a text that says what to decide");
    request->escalation.title = title;
}

/* Tells whether two elements of a list are the same. */
static bool has_double(struct soc_slice list)
{
    struct soc_json_walk walk;
    struct soc_map seen = {0};
    bool is_double = false;
    soc_json_walk(&walk, list);
    while (!is_double && soc_json_next(&walk)) {
        is_double = soc_map_find(&seen, walk.value) != NULL;
        if (!is_double)
            soc_map_put(&seen, walk.value, &seen);
    }
    soc_map_fini(&seen);
    return is_double;
}

static void read_options(lua_State *L, struct soc_frame *frame, struct request *request)
{
    request->options = read_json(L, frame, 2, "escalate", "options");
    struct soc_slice list = slice_of(frame, request->options);
    if (list.data != NULL && soc_json_kind(list) != SOC_JSON_ARRAY)
        luaL_error(L, "escalate: 'options' must be a list of choices");
    if (list.data != NULL && has_double(list))
        luaL_error(L, "escalate: 'options' has the same choice twice; each must be different");
}

static void read_priority(lua_State *L, struct request *request)
{
    struct soc_slice text = read_text(L, 2, "escalate", "priority");
    request->escalation.priority = SOC_PRIORITY_NORMAL;
    if (text.data != NULL && !soc_priority_parse(text, &request->escalation.priority))
        luaL_error(L, "escalate: 'priority' must be urgent, high, normal, low or P0 to P3");
}

static void read_time(lua_State *L, struct request *request)
{
    request->escalation.timeout_ms = -1;
    request->waits = true;
    if (soc_option_field(L, 2, "timeout_ms") != LUA_TNIL) {
        lua_Number ms = lua_tonumber(L, -1);
        if (lua_type(L, -1) != LUA_TNUMBER || !(ms >= 0 && ms <= 1e14))
            luaL_error(L, "escalate: 'timeout_ms' must be a number from 0 to 10^14");
        request->escalation.timeout_ms = (int64_t)ms;
    }
    int type = soc_option_field(L, 2, "wait");
    if (type == LUA_TNIL)
        return;
    if (type != LUA_TBOOLEAN)
        luaL_error(L, "escalate: 'wait' must be true or false");
    request->waits = lua_toboolean(L, -1);
}

static uint64_t hash_request(const struct soc_frame *frame, const struct request *request,
                             int64_t timeout_ms)
{
    const struct soc_escalation *escalation = &request->escalation;
    const int64_t numbers[] = {escalation->priority, timeout_ms, request->waits,
                               (int64_t)request->body.length};
    uint64_t hash = soc_hash(numbers, sizeof(numbers), 0);
    hash = soc_hash(escalation->title.data, escalation->title.length, hash);
    return soc_hash(frame->payload.data, frame->payload.length, hash);
}

/* Reads the table at 2 and returns its hash. */
static struct soc_effect_hash read_request(lua_State *L, struct soc_frame *frame,
                                           struct request *request)
{
    static const char *const known[] = {"title",      "body", "options", "priority",
                                        "timeout_ms", "wait", NULL};
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    soc_option_check_names(L, 2, "escalate", known);
    *request = (struct request){0};
    read_title(L, request);
    request->body = read_json(L, frame, 2, "escalate", "body");
    read_options(L, frame, request);
    read_priority(L, request);
    read_time(L, request);
    struct soc_escalation *escalation = &request->escalation;
    escalation->body = slice_of(frame, request->body);
    escalation->options = slice_of(frame, request->options);
    return (struct soc_effect_hash){hash_request(frame, request, -1),
                                    hash_request(frame, request, escalation->timeout_ms)};
}

/* agent:escalate{ title, body?, options?, priority?, timeout_ms?, wait = true }
 * -> { decision, choice?, changes?, comment? }, or without waiting { item_id }; refused if what it
 * is about was cancelled meanwhile */
static int agent_escalate(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct request request;
    struct soc_effect_hash hash = read_request(L, frame, &request);
    if (request.waits)
        soc_effect_check_wait(L);
    int count;
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_ESCALATE, hash, &count) == SOC_GATE_RECORDED)
        return count;
    int rc = soc_tasks_check_asking(script->host, &frame->error);
    if (rc < 0)
        return soc_effect_finish(L, frame, rc);
    const struct soc_item *item = soc_human_escalate(script->host, &request.escalation);
    if (request.waits) {
        struct soc_wait wait = soc_human_wait(script->host, item, request.escalation.timeout_ms);
        assert(wait.kind != SOC_WAIT_NONE);
        soc_gate_wait(script->host, &wait);
        return soc_effect_yield(L);
    }
    soc_buf_put_text(&frame->answer, "[{");
    soc_human_put_id(&frame->answer, "item_id", item->time_ms, item->key);
    soc_buf_put_text(&frame->answer, "}]");
    return soc_effect_finish(L, frame, SOC_OK);
}

/* user:decide(item_id, { decision?, choice?, changes?, comment? }) -> what came of it */
static int agent_decide(lua_State *L)
{
    return soc_bind_human_decide(L, soc_handle_script(L), 2);
}

int soc_bind_human_decide(lua_State *L, struct soc_script *script, int index)
{
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_verdict verdict;
    soc_bind_human_read(L, frame, index, &verdict);
    uint64_t hash = soc_hash(verdict.item_id.data, verdict.item_id.length, 0);
    hash = soc_hash(verdict.decision.data, verdict.decision.length, hash);
    hash = soc_hash(verdict.changes.data, verdict.changes.length, hash + 1);
    hash = soc_hash(verdict.comment.data, verdict.comment.length, hash + 2);
    if (verdict.choice.data != NULL) /* older records know none */
        hash = soc_hash(verdict.choice.data, verdict.choice.length, hash + 3);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_DECIDE, hash, &count) == SOC_GATE_RECORDED)
        return count;
    struct soc_host *host = script->host;
    int rc;
    if (soc_gate_activation(host)->agent == soc_registry_user(host))
        rc = soc_human_decide(host, &verdict, &frame->answer);
    else
        rc = soc_refuse(&frame->answer, SOC_EFORBIDDEN, "only the user decides; escalate instead",
                        "item_id", verdict.item_id);
    (void)rc;
    return soc_effect_end(L, script, soc_buf_slice(&frame->answer));
}

static const luaL_Reg human_functions[] = {
    {"escalate", agent_escalate},
    {"decide", agent_decide},
    {NULL, NULL},
};

void soc_bind_human(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, human_functions);
}
