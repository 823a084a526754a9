#include "script/outward.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "host/refusal.h"
#include "net/http.h"
#include "script/chat.h"
#include "script/exchange.h"

#define GRACE_MS 1000

/* The driver of a call over HTTP: what has come so far. */
struct visit {
    struct soc_script *script;
    struct soc_outcall *call;
    struct soc_exchange *exchange; /* NULL: over */
    int status;
    struct soc_buf headers;
    struct soc_buf body;
};

static void take_head(void *user, int status, struct soc_slice headers)
{
    struct visit *visit = user;
    visit->status = status;
    soc_buf_put_slice(&visit->headers, headers);
}

static void take_body(void *user, struct soc_slice bytes)
{
    struct visit *visit = user;
    soc_buf_put_slice(&visit->body, bytes);
}

/* Appends bytes of any kind as a JSON string of base64. */
static void put_base64(struct soc_buf *out, struct soc_slice bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    soc_buf_put_byte(out, '"');
    for (size_t i = 0; i < bytes.length; i += 3) {
        size_t left = bytes.length - i;
        uint32_t word = (uint32_t)(unsigned char)bytes.data[i] << 16;
        if (left > 1)
            word |= (uint32_t)(unsigned char)bytes.data[i + 1] << 8;
        if (left > 2)
            word |= (uint32_t)(unsigned char)bytes.data[i + 2];
        soc_buf_put_byte(out, digits[word >> 18]);
        soc_buf_put_byte(out, digits[word >> 12 & 63]);
        soc_buf_put_byte(out, left > 1 ? digits[word >> 6 & 63] : '=');
        soc_buf_put_byte(out, left > 2 ? digits[word & 63] : '=');
    }
    soc_buf_put_byte(out, '"');
}

/* A body that is no text comes as base64, under another name. */
static void put_answer(struct soc_buf *out, const struct visit *visit)
{
    struct soc_slice body = soc_buf_slice(&visit->body);
    soc_buf_put_text(out, "[{");
    if (soc_utf8_fault(body) < 0) {
        soc_json_put_name(out, "body");
        soc_json_put_string(out, body);
    } else {
        soc_json_put_name(out, "body_base64");
        put_base64(out, body);
    }
    soc_json_put_name(out, "headers");
    soc_buf_put_slice(out, soc_buf_slice(&visit->headers));
    soc_json_put_name(out, "status");
    soc_json_put_integer(out, visit->status);
    soc_buf_put_text(out, "}]");
}

static void take_end(void *user, const char *error, const char *message)
{
    struct visit *visit = user;
    struct soc_buf answer = {0};
    visit->exchange = NULL;
    if (error == NULL)
        put_answer(&answer, visit);
    else
        soc_refuse_named(&answer, error, message);
    soc_calls_answer(visit->script->host, visit->call, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

static bool is_true(struct soc_slice request, const char *name)
{
    return soc_slice_equal(soc_json_member(request, name), SOC_SLICE("true"));
}

static bool is_chat(const struct soc_outcall *call)
{
    return soc_slice_equal(call->kind, SOC_SLICE("chat"));
}

static void begin_visit(struct soc_script *script, struct soc_outcall *call)
{
    struct visit *visit = soc_alloc_zero(sizeof(*visit));
    /* The wait itself ends in time, and says so better. */
    int64_t bound_ms = call->activation->wait.timeout_ms + GRACE_MS;
    struct soc_exchange_request request = {
        .json = call->request,
        .total_ms = bound_ms,
        .first_byte_ms = bound_ms,
        .idle_ms = bound_ms,
    };
    struct soc_exchange_events events = {take_head, take_body, take_end, visit};
    if (is_true(call->request, "idempotent"))
        request.id = soc_slice_text(call->id);
    visit->script = script;
    visit->call = call;
    call->driver = visit;
    visit->exchange = soc_exchange_start(script, call, &request, &events);
}

static void end_visit(struct visit *visit)
{
    if (visit->exchange != NULL)
        soc_exchange_cancel(visit->exchange);
    soc_buf_fini(&visit->headers);
    soc_buf_fini(&visit->body);
    free(visit);
}

void soc_outward_call(void *user, struct soc_outcall *call)
{
    if (is_chat(call))
        soc_chat_begin(user, call);
    else
        begin_visit(user, call);
}

void soc_outward_due(void *user, struct soc_outcall *call)
{
    (void)user;
    if (is_chat(call))
        soc_chat_due(call->driver);
    else
        soc_exchange_due(((struct visit *)call->driver)->exchange);
}

void soc_outward_end(void *user, struct soc_outcall *call)
{
    (void)user;
    if (is_chat(call))
        soc_chat_end(call->driver);
    else
        end_visit(call->driver);
}

void soc_outward_set_world(lua_State *L, struct soc_script *script, int index)
{
    if (script->world_ref != 0)
        luaL_unref(L, LUA_REGISTRYINDEX, script->world_ref);
    lua_pushvalue(L, index);
    script->world_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

void soc_outward_take_option(lua_State *L, struct soc_script *script, int options)
{
    soc_check_option(L, options, "society.new", "http", LUA_TFUNCTION);
    if (soc_raw_field(L, options, "http") != LUA_TNIL)
        soc_outward_set_world(L, script, lua_gettop(L));
    lua_pop(L, 1);
}

void soc_outward_fini(struct soc_script *script)
{
    soc_chat_fini(script);
    soc_http_close(script->http);
    script->http = NULL;
    if (script->world_ref != 0)
        luaL_unref(script->L, LUA_REGISTRYINDEX, script->world_ref);
}
