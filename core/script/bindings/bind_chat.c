/* Chat: agent:chat, a model call as an effect; an agent's conversation; usage. */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "lualib/lua_json.h"
#include "parts/models/memory.h"
#include "parts/models/usage.h"
#include "script/bindings/bind.h"
#include "script/calls/chat.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

static bool is_text(struct soc_slice value)
{
    return value.data != NULL && soc_json_kind(value) == SOC_JSON_STRING;
}

static bool is_role(struct soc_slice role)
{
    static const char *const roles[] = {"\"system\"", "\"user\"", "\"assistant\"", "\"tool\""};
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        if (soc_slice_equal(role, soc_slice_text(roles[i])))
            return true;
    return false;
}

/* Returns what is wrong with a message, or NULL. */
static const char *fault_of_message(struct soc_slice message)
{
    struct soc_slice calls = soc_json_member(message, "tool_calls");
    struct soc_slice content = soc_json_member(message, "content");
    struct soc_json_walk walk;
    if (soc_json_kind(message) != SOC_JSON_OBJECT)
        return "a message is a table { role, content }";
    if (!is_role(soc_json_member(message, "role")))
        return "a message's role is system, user, assistant or tool";
    if (content.data != NULL ? !is_text(content) : calls.data == NULL)
        return "a message's content is a string";
    if (soc_slice_equal(soc_json_member(message, "role"), SOC_SLICE("\"tool\"")) &&
        !is_text(soc_json_member(message, "tool_call_id")))
        return "a message of a tool has a tool_call_id";
    if (calls.data != NULL && soc_json_kind(calls) != SOC_JSON_ARRAY)
        return "tool_calls is a list";
    soc_json_walk(&walk, calls);
    while (calls.data != NULL && soc_json_next(&walk))
        if (!is_text(soc_json_member(walk.value, "id")) ||
            !is_text(soc_json_member(walk.value, "name")) ||
            !is_text(soc_json_member(walk.value, "arguments")))
            return "a tool call is { id, name, arguments }, all strings";
    return NULL;
}

static const char *fault_of_messages(struct soc_slice list)
{
    struct soc_json_walk walk;
    const char *fault = NULL;
    if (list.data == NULL || soc_json_kind(list) != SOC_JSON_ARRAY)
        return "'messages' must be a list";
    soc_json_walk(&walk, list);
    while (fault == NULL && soc_json_next(&walk))
        fault = fault_of_message(walk.value);
    return fault;
}

static const char *fault_of_tools(struct soc_slice list)
{
    struct soc_json_walk walk;
    if (list.data == NULL)
        return NULL;
    if (soc_json_kind(list) != SOC_JSON_ARRAY)
        return "'tools' must be a list";
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        struct soc_slice schema = soc_json_member(walk.value, "parameters");
        if (soc_json_kind(walk.value) != SOC_JSON_OBJECT ||
            !is_text(soc_json_member(walk.value, "name")))
            return "a tool is { name, description?, parameters? }";
        if (schema.data != NULL && soc_json_kind(schema) != SOC_JSON_OBJECT)
            return "a tool's parameters are a JSON schema, a table";
    }
    return NULL;
}

/* Checks that the ranges { { first, last }, … } of the conversation exist. */
static const char *fault_of_history(const struct soc_script *script, struct soc_slice list)
{
    const struct soc_agent *agent = soc_gate_activation(script->host)->agent;
    int64_t count = (int64_t)soc_memory_count(script->host, agent);
    int64_t oldest = (int64_t)soc_memory_first(script->host, agent, SIZE_MAX);
    struct soc_json_walk walk;
    if (soc_json_kind(list) != SOC_JSON_ARRAY)
        return "'history' must be a list of { first, last }";
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        int64_t ends[3] = {0};
        int found = 0;
        struct soc_json_walk pair;
        soc_json_walk(&pair, walk.value);
        while (found < 3 && soc_json_next(&pair))
            if (!soc_json_integer(pair.value, &ends[found++]))
                return "'history' must be a list of { first, last }";
        if (found != 2 || ends[0] < oldest || ends[1] < ends[0] || ends[1] > count)
            return "'history' names entries that do not exist";
    }
    return NULL;
}

static const char *fault_of_chat(const struct soc_script *script, struct soc_slice chat)
{
    struct soc_slice history = soc_json_member(chat, "history");
    struct soc_slice messages = soc_json_member(chat, "messages");
    const char *fault = fault_of_tools(soc_json_member(chat, "tools"));
    if (fault != NULL)
        return fault;
    if ((history.data == NULL) == (messages.data == NULL))
        return "'messages' must be a list, or 'history' given instead";
    return history.data != NULL ? fault_of_history(script, history) : fault_of_messages(messages);
}

static void check_names(lua_State *L)
{
    static const char *const known[] = {
        "messages",   "history",       "system",     "tools",       "model",
        "provider",   "temperature",   "max_tokens", "tool_choice", "response_format",
        "timeout_ms", "interruptible", "options",    NULL};
    static const char *const texts[] = {"system", "model", "provider"};
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    soc_option_check_names(L, 2, "chat", known);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        soc_option_check(L, 2, "chat", texts[i], LUA_TSTRING);
    soc_option_check(L, 2, "chat", "temperature", LUA_TNUMBER);
    soc_option_check(L, 2, "chat", "max_tokens", LUA_TNUMBER);
    soc_option_check(L, 2, "chat", "interruptible", LUA_TBOOLEAN);
    soc_option_check(L, 2, "chat", "options", LUA_TTABLE);
    if (soc_option_field(L, 2, "max_tokens") != LUA_TNIL &&
        (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 1))
        luaL_error(L, "chat: 'max_tokens' must be a whole number above 0");
    lua_settop(L, 2);
}

/* Adds the call's number within the society and within the agent, for scripted answers. */
static void put_numbers(struct soc_script *script, struct soc_buf *out)
{
    struct soc_host *host = script->host;
    const struct soc_agent *agent = soc_gate_activation(host)->agent;
    uint64_t answered = soc_usage_total(host).calls;
    uint64_t open = soc_calls_open_count(host, SOC_SLICE("chat"));
    assert(out->length > 2 && out->data[out->length - 1] == '}');
    out->length--;
    soc_json_put_name(out, "number");
    soc_json_put_integer(out, (int64_t)(answered + open + 1));
    soc_json_put_name(out, "turn");
    soc_json_put_integer(out, (int64_t)soc_usage_of(host, agent).calls + 1);
    soc_buf_put_byte(out, '}');
}

static struct soc_slice task_of(const struct soc_script *script)
{
    const struct soc_message *message = soc_gate_activation(script->host)->message;
    return message == NULL ? (struct soc_slice){0} : soc_message_text(message, SOC_TEXT_TASK_ID);
}

static struct soc_effect_hash hash_chat(struct soc_slice request)
{
    uint64_t older = soc_hash(request.data, request.length, 0);
    if (soc_json_member(request, "timeout_ms").data == NULL)
        return (struct soc_effect_hash){older, older};
    struct soc_buf rest = {0};
    soc_json_put_changed(&rest, request, "timeout_ms", (struct soc_slice){0});
    struct soc_effect_hash hash = {soc_hash(rest.data, rest.length, 0), older};
    soc_buf_fini(&rest);
    return hash;
}

/* agent:chat{ messages, system?, tools?, model?, … } -> the model's message */
static int agent_chat(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_detail detail;
    struct soc_buf *out = &frame->payload;
    check_names(L);
    struct soc_call_draft draft = {
        .kind = SOC_SLICE("chat"),
        .timeout_ms = soc_option_timeout(L, 2, "chat", SOC_CHAT_TIMEOUT_MS),
        .may_repeat = true,
    };
    soc_option_field(L, 2, "interruptible");
    draft.is_interruptible = lua_toboolean(L, -1);
    if (soc_lua_json_encode(L, 2, "chat", SOC_PAYLOAD_BYTES_MAX, out, &detail) < 0)
        return luaL_error(L, "%s", detail.text);
    const char *fault = fault_of_chat(script, soc_buf_slice(out));
    if (fault != NULL)
        return luaL_error(L, "chat: %s", fault);
    soc_effect_check_wait(L);
    struct soc_effect_hash hash = hash_chat(soc_buf_slice(out));
    int count;
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_CHAT, hash, &count) == SOC_GATE_RECORDED)
        return count;
    const struct soc_agent *agent = soc_gate_activation(script->host)->agent;
    if (soc_usage_check(script->host, agent, task_of(script), &frame->error) < 0)
        return soc_effect_finish(L, frame, SOC_EBUDGET);
    put_numbers(script, out);
    draft.request = soc_buf_slice(out);
    soc_calls_ask(script->host, &draft);
    return soc_effect_yield(L);
}

/* agent:remember(message) -> its number: appends to the agent's conversation */
static int agent_remember(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_detail detail;
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    if (soc_lua_json_encode(L, 2, "message", SOC_STATE_BYTES_MAX, &frame->payload, &detail) < 0)
        return luaL_error(L, "remember: %s", detail.text);
    const char *fault = fault_of_message(soc_buf_slice(&frame->payload));
    if (fault != NULL)
        return luaL_error(L, "remember: %s", fault);
    uint64_t hash = soc_hash(frame->payload.data, frame->payload.length, 0);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_REMEMBER, hash, &count) == SOC_GATE_RECORDED) {
        soc_memory_repeat(script->host, (uint64_t)lua_tointeger(L, -count),
                          soc_buf_slice(&frame->payload));
        return count;
    }
    uint64_t number = soc_memory_append(script->host, soc_buf_slice(&frame->payload));
    if (number == 0) {
        soc_refuse_named(&frame->error, soc_error_name(SOC_ETOOLARGE),
                         "the conversation is full until this message has been handled");
        return soc_effect_finish(L, frame, SOC_ETOOLARGE);
    }
    soc_buf_printf(&frame->answer, "[%llu]", (unsigned long long)number);
    return soc_effect_finish(L, frame, SOC_OK);
}

/* agent:recall() -> the list of what was remembered and is kept, the number of its first.
 * Recorded is which they were: entries do not change. */
static int agent_recall(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    const struct soc_agent *agent = soc_gate_activation(script->host)->agent;
    struct soc_detail detail;
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_RECALL, 0, &count) == SOC_GATE_LIVE) {
        soc_buf_printf(
            &frame->answer, "[%llu,%llu]",
            (unsigned long long)soc_memory_first(script->host, agent, SOC_MEMORY_BYTES_MAX),
            (unsigned long long)soc_memory_count(script->host, agent));
        count = soc_effect_finish(L, frame, SOC_OK);
    }
    uint64_t first = count < 2 ? 1 : (uint64_t)lua_tointeger(L, -2);
    uint64_t last = (uint64_t)lua_tointeger(L, -1);
    if (last > soc_memory_count(script->host, agent) ||
        (first <= last && first < soc_memory_first(script->host, agent, SIZE_MAX)))
        return luaL_error(L, "recall: the conversation has no entries %d to %d", (int)first,
                          (int)last);
    soc_buf_put_byte(&frame->scratch, '[');
    if (first <= last)
        soc_memory_put(script->host, agent, first, last, &frame->scratch);
    soc_buf_put_byte(&frame->scratch, ']');
    if (soc_lua_json_decode(L, soc_buf_slice(&frame->scratch), &detail) < 0)
        return luaL_error(L, "the conversation is damaged: %s", detail.text);
    lua_pushinteger(L, (lua_Integer)first);
    return 2;
}

static const luaL_Reg chat_functions[] = {
    {"chat", agent_chat},
    {"remember", agent_remember},
    {"recall", agent_recall},
    {NULL, NULL},
};

/* society.usage{ agent?, task? } -> a list */
static int society_usage(lua_State *L)
{
    static const char *const known[] = {"agent", "task", NULL};
    struct soc_script *script = soc_bind_enter(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_slice filters[2] = {{0}};
    int count = 0;
    if (!lua_isnoneornil(L, 1)) {
        if (lua_type(L, 1) != LUA_TTABLE)
            return luaL_error(L, "society.usage: a table of filters expected, got %s",
                              luaL_typename(L, 1));
        soc_option_check_names(L, 1, "usage", known);
        for (int i = 0; i < 2; i++) {
            size_t length;
            soc_option_check(L, 1, "usage", known[i], LUA_TSTRING);
            soc_option_field(L, 1, known[i]);
            const char *text = lua_tolstring(L, -1, &length);
            if (text != NULL)
                filters[i] = soc_slice(text, length);
        }
    }
    if (soc_gate_activation(script->host) != NULL) {
        uint64_t hash = soc_hash(filters[0].data, filters[0].length, 0);
        hash = soc_hash(filters[1].data, filters[1].length, hash + 1);
        if (soc_effect_begin(L, script, SOC_EFFECT_USAGE, hash, &count) == SOC_GATE_RECORDED)
            return count;
    }
    soc_buf_put_byte(&frame->answer, '[');
    soc_usage_look(script->host, filters[0], filters[1], &frame->answer);
    soc_buf_put_byte(&frame->answer, ']');
    if (soc_gate_activation(script->host) != NULL)
        return soc_effect_finish(L, frame, SOC_OK);
    return soc_effect_push_answer(L, soc_buf_slice(&frame->answer));
}

static const luaL_Reg usage_functions[] = {
    {"usage", society_usage},
    {NULL, NULL},
};

void soc_bind_chat(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, chat_functions);
    soc_bind_functions(L, script, usage_functions);
}
