#include "script/calls/chat.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/refusal.h"
#include "kernel/trace.h"
#include "lualib/lua_json.h"
#include "parts/models/usage.h"
#include "parts/telemetry/telemetry.h"
#include "script/calls/chat_host.h"
#include "script/calls/chat_show.h"
#include "script/calls/exchange.h"
#include "script/calls/grants.h"
#include "script/calls/secrets.h"
#include "script/turns/environments.h"
#include "script/turns/run.h"

/* Bytes shown of the prompt of an unexpected call. */
#define SHOWN_BYTES_MAX 400

struct soc_chat {
    struct soc_script *script;
    struct soc_outcall *call;
    struct soc_exchange *exchange; /* NULL: no request is open */
    struct soc_secrets_tail tail;  /* held back of the current try's text, not shown yet */
    bool is_answered;              /* the engine has finished with it */
};

struct event;

struct soc_chats {
    int engine_ref;
    void (*tell)(struct event *event); /* passes the result of an order to the engine later */
    struct soc_map calls;              /* id -> soc_chat, lent by their calls */
    struct soc_buf unexpected;         /* a sentence about an unexpected call in a simulation */
};

/* An event for the engine, delivered protected. */
struct event {
    struct soc_script *script;
    const char *method;
    struct soc_chat *chat;
    void (*push)(lua_State *L, const struct event *event); /* pushes the arguments after the id */
    int status;
    struct soc_slice text; /* headers, bytes, or the code of an error */
    struct soc_slice more; /* the error's message */
};

static struct soc_slice task_of(const struct soc_chat *chat)
{
    const struct soc_message *message = chat->call->activation->message;
    return message == NULL ? (struct soc_slice){0} : soc_message_text(message, SOC_TEXT_TASK_ID);
}

/* room(id) -> the limits that apply to the call, as in soc_usage_look_room */
static int engine_room(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    const struct soc_chat *chat =
        soc_map_find(&script->chats->calls, soc_slice_text(luaL_checkstring(L, 1)));
    struct soc_buf json = {0};
    if (chat == NULL)
        return luaL_error(L, "the engine names an unknown call");
    soc_usage_look_room(script->host, chat->call->activation->agent, task_of(chat), &json);
    soc_lua_json_decode(L, soc_buf_slice(&json), NULL);
    soc_buf_fini(&json);
    return 1;
}

/* Pushes the engine, created when first needed. */
static void push_engine(lua_State *L, struct soc_script *script)
{
    if (script->chats->engine_ref != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, script->chats->engine_ref);
        return;
    }
    soc_environments_require(L, script, "society.llm.engine");
    lua_getfield(L, -1, "new");
    soc_environments_push_llm(L, script);
    soc_chat_host_push(L, script);
    lua_pushlightuserdata(L, script);
    lua_pushcclosure(L, engine_room, 1);
    lua_setfield(L, -2, "room");
    lua_call(L, 2, 1);
    lua_pushvalue(L, -1);
    script->chats->engine_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

static struct soc_slice text_at(lua_State *L, int table, const char *name)
{
    size_t length = 0;
    bool is_text = soc_option_field(L, table, name) == LUA_TSTRING;
    const char *text = is_text ? lua_tolstring(L, -1, &length) : NULL;
    return text == NULL ? (struct soc_slice){0} : soc_slice(text, length);
}

static void push_head(lua_State *L, const struct event *event)
{
    lua_pushinteger(L, event->status);
    soc_lua_json_decode(L, event->text, NULL);
}

static void push_text(lua_State *L, const struct event *event)
{
    if (event->text.data == NULL)
        return;
    lua_pushlstring(L, event->text.data, event->text.length);
    if (event->more.data != NULL)
        lua_pushlstring(L, event->more.data, event->more.length);
}

static void take_head(void *user, int status, struct soc_slice headers)
{
    struct soc_chat *chat = user;
    chat->script->chats->tell(
        &(struct event){chat->script, "head", chat, push_head, status, headers, {0}});
}

static void take_body(void *user, struct soc_slice bytes)
{
    struct soc_chat *chat = user;
    chat->script->chats->tell(
        &(struct event){chat->script, "body", chat, push_text, 0, bytes, {0}});
}

static void take_end(void *user, const char *error, const char *message)
{
    struct soc_chat *chat = user;
    chat->exchange = NULL;
    chat->script->chats->tell(&(struct event){chat->script, "done", chat, push_text, 0,
                                              soc_slice_text(error),
                                              soc_slice_text(error == NULL ? NULL : message)});
}

static uint64_t number_at(lua_State *L, int table, const char *name)
{
    lua_getfield(L, table, name);
    lua_Integer number = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return number < 0 ? 0 : (uint64_t)number;
}

/* Sets the timeouts of one try; 0 for the defaults. */
static void set_bounds(lua_State *L, struct soc_script *script,
                       struct soc_exchange_request *exchange)
{
    soc_environments_push_llm(L, script);
    int settings = lua_gettop(L);
    exchange->connect_ms = (int64_t)number_at(L, settings, "connect_ms");
    exchange->first_byte_ms = (int64_t)number_at(L, settings, "first_byte_ms");
    exchange->idle_ms = (int64_t)number_at(L, settings, "idle_ms");
    exchange->total_ms = (int64_t)number_at(L, settings, "total_ms");
    lua_pop(L, 1);
}

/* Removes `secret` from the request at `request` and enters it in `exchange` if the key
 * is set: servers that need no key refuse a bare "Bearer ". Its texts stay on the
 * stack. */
static void take_secret(lua_State *L, const struct soc_keys *keys, int request,
                        struct soc_exchange_request *exchange)
{
    bool is_there = soc_option_field(L, request, "secret") == LUA_TTABLE;
    int secret = lua_gettop(L);
    lua_pushliteral(L, "secret");
    lua_pushnil(L);
    lua_rawset(L, request);
    const char *name = is_there ? text_at(L, secret, "env").data : NULL;
    const char *header = is_there ? text_at(L, secret, "header").data : NULL;
    if (name == NULL || header == NULL || soc_keys_value(keys, name) == NULL)
        return;
    exchange->secret_env = name;
    exchange->secret_header = header;
    exchange->secret_prefix = text_at(L, secret, "prefix").data;
}

/* { "send", id, request } */
static void send(lua_State *L, struct soc_chat *chat, int request)
{
    struct soc_detail detail;
    struct soc_script *script = chat->script;
    struct soc_exchange_events events = {take_head, take_body, take_end, chat};
    struct soc_buf json = {0};
    struct soc_exchange_request exchange = {.id = soc_slice_text(chat->call->id),
                                            .use = SOC_KEYS_MODEL};
    luaL_checktype(L, request, LUA_TTABLE);
    take_secret(L, script->keys, request, &exchange);
    set_bounds(L, script, &exchange);
    if (soc_lua_json_encode(L, request, "request", SOC_JSON_BYTES_MAX, &json, &detail) < 0) {
        soc_buf_fini(&json);
        luaL_error(L, "the request to the model is not JSON: %s", detail.text);
    }
    exchange.json = soc_buf_slice(&json);
    soc_secrets_drop_tail(&chat->tail);
    chat->exchange = soc_exchange_start(script, chat->call, &exchange, &events);
    soc_buf_fini(&json);
}

/* Records and logs the usage of the answer; `message` is its index, 0 for an error, and
 * `json` the text of either without secrets. */
static void count_usage(lua_State *L, struct soc_chat *chat, int message, struct soc_slice json)
{
    const struct soc_activation *activation = chat->call->activation;
    struct soc_usage used = {.calls = 1};
    struct soc_buf model = {0};
    int top = lua_gettop(L);
    if (message != 0) {
        struct soc_slice name = soc_json_member(json, "model");
        if (name.data != NULL && name.length <= SOC_KEY_BYTES_MAX)
            soc_json_string(name, &model);
        used.cost_micros = number_at(L, message, "cost_micros");
        lua_getfield(L, message, "usage");
        used.input_tokens = number_at(L, lua_gettop(L), "input_tokens");
        used.output_tokens = number_at(L, lua_gettop(L), "output_tokens");
    }
    if (model.length == 0)
        soc_buf_put_text(&model, "none");
    soc_usage_add(chat->script->host, activation->agent, task_of(chat), soc_buf_slice(&model),
                  used);
    soc_chat_show_answer(chat->script->host, activation->agent, used, json);
    soc_buf_fini(&model);
    lua_settop(L, top);
}

/* Records the usage of failed tries, if the value at `index` has any. They do not count
 * as calls, which are counted when they are answered. */
static void count_spent(lua_State *L, struct soc_chat *chat, int index)
{
    if (!lua_istable(L, index))
        return;
    struct soc_usage used = {
        .input_tokens = number_at(L, index, "input_tokens"),
        .output_tokens = number_at(L, index, "output_tokens"),
        .cost_micros = number_at(L, index, "cost_micros"),
    };
    soc_usage_add(chat->script->host, chat->call->activation->agent, task_of(chat),
                  text_at(L, index, "model"), used);
    lua_pop(L, 1);
}

static void finish(struct soc_chat *chat, struct soc_slice answer)
{
    soc_map_take(&chat->script->chats->calls, soc_slice_text(chat->call->id));
    chat->is_answered = true;
    soc_calls_answer(chat->script->host, chat->call, answer);
}

/* Appends the last message to the model, cut between characters. */
static void put_last_message(struct soc_buf *out, const struct soc_chat *chat)
{
    struct soc_buf json = {0};
    struct soc_buf text = {0};
    struct soc_slice last = SOC_SLICE("nothing");
    struct soc_json_walk walk;
    soc_calls_put_messages(chat->script->host, chat->call, &json);
    soc_json_walk(&walk, soc_buf_slice(&json));
    while (soc_json_next(&walk))
        last = walk.value;
    if (last.data[0] == '{' && soc_json_string(soc_json_member(last, "content"), &text))
        last = soc_buf_slice(&text);
    size_t length = last.length;
    if (length > SHOWN_BYTES_MAX)
        for (length = SHOWN_BYTES_MAX; ((unsigned char)last.data[length] & 0xc0) == 0x80;)
            length--;
    soc_buf_put_slice(out, soc_slice(last.data, length));
    soc_buf_put_text(out, length < last.length ? "…" : "");
    soc_buf_fini(&text);
    soc_buf_fini(&json);
}

/* Keeps the first unexpected call of a simulation; `error` is its index. */
static void note_unexpected(lua_State *L, struct soc_chat *chat, int error)
{
    struct soc_buf *out = &chat->script->chats->unexpected;
    if (!chat->script->is_simulated || out->length > 0 || lua_type(L, error) != LUA_TTABLE)
        return;
    int top = lua_gettop(L);
    const char *code =
        soc_option_field(L, error, "error") == LUA_TSTRING ? lua_tostring(L, -1) : "";
    const char *text =
        soc_option_field(L, error, "message") == LUA_TSTRING ? lua_tostring(L, -1) : "";
    struct soc_slice id = soc_agent_id(chat->call->activation->agent);
    bool is_unscripted = strcmp(code, "no_network") == 0;
    if (strcmp(code, "script_mismatch") == 0 || is_unscripted)
        soc_buf_printf(out, "%.*s made an unexpected model call: %s: %s", (int)id.length, id.data,
                       code, text);
    if (is_unscripted) { /* the others show it */
        soc_buf_put_text(out, "\nit asked: ");
        put_last_message(out, chat);
    }
    lua_settop(L, top);
}

const char *soc_chat_unexpected(struct soc_script *script)
{
    return soc_buf_text(&script->chats->unexpected);
}

void soc_chat_expect_again(struct soc_script *script)
{
    script->chats->unexpected.length = 0;
}

static void refuse_large(struct soc_buf *json, lua_Integer tries)
{
    struct soc_buf text = {0};
    soc_buf_printf(&text, "the model's answer has %zu bytes; the limit is %u", json->length,
                   SOC_CHAT_BYTES_MAX);
    soc_refuse_named(json, "answer_too_large", soc_buf_text(&text));
    json->length--; /* the closing brace */
    soc_json_put_name(json, "tries");
    soc_json_put_integer(json, tries);
    soc_buf_put_byte(json, '}');
    soc_buf_fini(&text);
}

/* { "answer", id, message, err, spent, tries } at `action`. The pieces of a message
 * were scrubbed one by one; together they are scrubbed again. */
static void answer(lua_State *L, struct soc_chat *chat, int action)
{
    struct soc_detail detail;
    struct soc_buf json = {0};
    bool is_message = lua_rawgeti(L, action, 3) == LUA_TTABLE;
    if (!is_message)
        lua_rawgeti(L, action, 4);
    int value = lua_gettop(L);
    if (!is_message)
        note_unexpected(L, chat, value);
    if (is_message)
        soc_buf_put_byte(&json, '[');
    if (soc_lua_json_encode(L, value, "answer", SOC_JSON_BYTES_MAX, &json, &detail) < 0) {
        soc_refuse_named(&json, "bad_answer", detail.text);
        is_message = false;
    } else if (is_message) {
        soc_buf_put_byte(&json, ']');
    }
    soc_secrets_scrub(chat->script, &json);
    count_usage(L, chat, is_message ? value : 0,
                is_message ? soc_slice(json.data + 1, json.length - 2) : soc_buf_slice(&json));
    lua_rawgeti(L, action, 5);
    count_spent(L, chat, lua_gettop(L));
    lua_rawgeti(L, action, 6);
    if (json.length > SOC_CHAT_BYTES_MAX)
        refuse_large(&json, lua_tointeger(L, -1));
    finish(chat, soc_buf_slice(&json));
    soc_buf_fini(&json);
}

static void put_retry(struct soc_buf *out, const struct soc_chat *chat, int64_t date_ms,
                      struct soc_slice why)
{
    char time[SOC_TIME_BYTES];
    soc_time_format(time, date_ms);
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "call_id", soc_slice_text(chat->call->id));
    soc_json_put_text_member(out, "reason", why);
    soc_json_put_text_member(out, "retry_at", soc_slice(time, sizeof(time)));
    soc_buf_put_byte(out, '}');
}

/* { "wake", id, at_ms, why? } at `action`, where `at_ms` is a date; `why` is shown to whoever
 * watches */
static void wake(lua_State *L, struct soc_chat *chat, int action)
{
    struct soc_host *host = chat->script->host;
    lua_rawgeti(L, action, 3);
    int64_t date_ms = (int64_t)luaL_checknumber(L, -1);
    soc_calls_wake(host, chat->call, soc_clock_time_of(soc_host_clock(host), date_ms));
    if (lua_rawgeti(L, action, 4) == LUA_TSTRING) {
        struct soc_buf why = {0};
        struct soc_buf detail = {0};
        soc_buf_put_text(&why, lua_tostring(L, -1));
        soc_secrets_scrub(chat->script, &why);
        put_retry(&detail, chat, date_ms, soc_buf_slice(&why));
        soc_trace(host, "retry", chat->call->activation->agent, soc_buf_slice(&detail), "%s",
                  soc_buf_text(&why));
        soc_buf_fini(&detail);
        soc_buf_fini(&why);
    }
}

static void carry_out(lua_State *L, struct soc_script *script, int action)
{
    size_t length;
    lua_rawgeti(L, action, 1);
    const char *what = luaL_checkstring(L, -1);
    lua_rawgeti(L, action, 2);
    const char *id = luaL_checklstring(L, -1, &length);
    struct soc_chat *chat = soc_map_find(&script->chats->calls, soc_slice(id, length));
    if (chat == NULL)
        luaL_error(L, "the engine names an unknown call");
    lua_rawgeti(L, action, 3);
    if (strcmp(what, "send") == 0)
        send(L, chat, lua_gettop(L));
    else if (strcmp(what, "spent") == 0)
        count_spent(L, chat, lua_gettop(L));
    else if (strcmp(what, "wake") == 0)
        wake(L, chat, action);
    else
        answer(L, chat, action);
}

/* Shows text as the model streams it. Raw pieces cannot be shown: together they may
 * form the key. */
static void show_said(lua_State *L, struct soc_chat *chat, int index)
{
    size_t length;
    struct soc_buf clean = {0};
    const char *said = lua_tolstring(L, index, &length);
    soc_secrets_scrub_part(chat->script, &chat->tail, soc_slice(said, length), &clean);
    soc_calls_say(chat->script->host, chat->call, soc_buf_slice(&clean));
    soc_buf_fini(&clean);
}

static int tell_engine(lua_State *L)
{
    const struct event *event = lua_touserdata(L, 1);
    struct soc_script *script = event->script;
    lua_settop(L, 0);
    push_engine(L, script);
    lua_getfield(L, -1, event->method);
    lua_pushvalue(L, -2);
    lua_pushstring(L, event->chat->call->id);
    int before = lua_gettop(L);
    if (event->push != NULL)
        event->push(L, event);
    lua_call(L, 2 + lua_gettop(L) - before, 1);
    int actions = lua_gettop(L);
    if (lua_type(L, actions) == LUA_TSTRING && soc_calls_is_watched(script->host))
        show_said(L, event->chat, actions);
    if (!lua_istable(L, actions))
        return 0;
    for (lua_Integer i = 1; lua_rawgeti(L, actions, i) == LUA_TTABLE; i++) {
        carry_out(L, script, actions + 1);
        lua_settop(L, actions);
    }
    return 0;
}

/* The engine raised: a bug in it or in a provider, which must be reported. It forgets
 * the call, so that others do not wait for it. */
static void give_up(struct event *event, const char *text)
{
    struct soc_script *script = event->script;
    struct soc_buf error = {0};
    soc_refuse_named(&error, "provider_failed", text == NULL ? "an error" : text);
    soc_secrets_scrub(script, &error);
    soc_log_event(soc_host_log(script->host), SOC_LOG_ERROR,
                  soc_clock_now(soc_host_clock(script->host)), "provider_failed",
                  soc_agent_id(event->chat->call->activation->agent), soc_buf_slice(&error));
    script->chats->tell(&(struct event){.script = script, .method = "cancel", .chat = event->chat});
    if (!event->chat->is_answered)
        finish(event->chat, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

/* A turn may cancel a call: the engine's steps do not count against the turn. */
static void tell(struct event *event)
{
    struct soc_script *script = event->script;
    lua_State *L = script->L;
    int64_t steps_left = script->steps_left;
    bool is_broken = script->is_broken;
    bool is_last = strcmp(event->method, "cancel") == 0;
    lua_pushcfunction(L, tell_engine);
    lua_pushlightuserdata(L, event);
    int status = soc_run_limited(script, L, 1, 0);
    script->steps_left = steps_left;
    script->is_broken = is_broken;
    if (status == LUA_OK)
        return;
    if (!is_last && strcmp(event->method, "head") != 0 && strcmp(event->method, "body") != 0)
        give_up(event, lua_tostring(L, -1));
    lua_pop(L, 1);
}

/* Sets `chat.messages` to the entries of the conversation that `history` names. */
static void push_history(lua_State *L, const struct soc_chat *chat, int table)
{
    struct soc_buf json = {0};
    if (soc_json_member(chat->call->request, "history").data == NULL)
        return;
    soc_calls_put_messages(chat->script->host, chat->call, &json);
    soc_lua_json_decode(L, soc_buf_slice(&json), NULL);
    soc_buf_fini(&json);
    lua_setfield(L, table, "messages");
}

static void set_number(lua_State *L, const char *name, struct soc_slice request)
{
    int64_t number = 0;
    soc_json_integer(soc_json_member(request, name), &number);
    lua_pushinteger(L, number);
    lua_setfield(L, -2, name);
}

/* Replaces the id with the call as the engine expects it. */
static void push_call(lua_State *L, const struct event *event)
{
    const struct soc_outcall *call = event->chat->call;
    const struct soc_agent *agent = call->activation->agent;
    const struct soc_clock *clock = soc_host_clock(event->chat->script->host);
    lua_createtable(L, 0, 7);
    lua_insert(L, -2);
    lua_setfield(L, -2, "id");
    lua_pushstring(L, agent->id);
    lua_setfield(L, -2, "agent");
    lua_pushstring(L, agent->role->id);
    lua_setfield(L, -2, "role");
    lua_pushinteger(L, soc_clock_date_of(clock, call->activation->wait.deadline_ms));
    lua_setfield(L, -2, "deadline_ms");
    set_number(L, "turn", call->request);
    set_number(L, "number", call->request);
    soc_lua_json_decode(L, call->request, NULL);
    push_history(L, event->chat, lua_gettop(L));
    lua_setfield(L, -2, "chat");
}

/* Tells telemetry what the app's settings say about the call. */
static void note_model(struct soc_script *script, const struct soc_outcall *call)
{
    lua_State *L = script->L;
    int top = lua_gettop(L);
    soc_environments_push_llm(L, script);
    struct soc_slice provider = text_at(L, top + 1, "provider");
    if (provider.data == NULL)
        provider = SOC_SLICE("openai");
    soc_telemetry_note_model(script->host, call->activation, provider,
                             text_at(L, top + 1, "model"));
    lua_settop(L, top);
}

/* The engine never hears of it. */
static void refuse_stranger(struct soc_chat *chat)
{
    struct soc_buf text = {0};
    struct soc_buf error = {0};
    soc_buf_printf(&text,
                   "this agent is isolated, and it or the agent that spawned it is not granted "
                   "models: society.role{ id = \"%s\", isolated = { chat = true } }",
                   chat->call->activation->agent->role->id);
    soc_refuse_named(&error, "forbidden", soc_buf_text(&text));
    finish(chat, soc_buf_slice(&error));
    soc_buf_fini(&error);
    soc_buf_fini(&text);
}

void soc_chat_begin(struct soc_script *script, struct soc_outcall *call)
{
    struct soc_chat *chat = soc_alloc_zero(sizeof(*chat));
    chat->script = script;
    chat->call = call;
    call->driver = chat;
    soc_map_put(&script->chats->calls, soc_slice_text(call->id), chat);
    if (!soc_grants_chat(script, call->activation->agent)) {
        refuse_stranger(chat);
        return;
    }
    note_model(script, call);
    tell(&(struct event){.script = script, .method = "begin", .chat = chat, .push = push_call});
}

void soc_chat_due(struct soc_chat *chat)
{
    if (chat->exchange != NULL)
        soc_exchange_due(chat->exchange);
    else
        tell(&(struct event){.script = chat->script, .method = "due", .chat = chat});
}

void soc_chat_end(struct soc_chat *chat)
{
    if (chat->exchange != NULL)
        soc_exchange_cancel(chat->exchange);
    if (!chat->is_answered) {
        if (!chat->call->is_left)
            tell(&(struct event){.script = chat->script, .method = "cancel", .chat = chat});
        soc_map_take(&chat->script->chats->calls, soc_slice_text(chat->call->id));
    }
    soc_secrets_drop_tail(&chat->tail);
    free(chat);
}

void soc_chat_open(struct soc_script *script)
{
    assert(script->chats == NULL);
    script->chats = soc_alloc_zero(sizeof(*script->chats));
    script->chats->tell = tell;
    script->chats->engine_ref = LUA_NOREF;
}

void soc_chat_fini(struct soc_script *script)
{
    assert(script->chats->calls.count == 0);
    luaL_unref(script->L, LUA_REGISTRYINDEX, script->chats->engine_ref);
    soc_map_fini(&script->chats->calls);
    soc_buf_fini(&script->chats->unexpected);
    free(script->chats);
    script->chats = NULL;
}
