/* HTTP: agent:http, a request to a server as an effect. */
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "net/http.h"
#include "parts/models/calls.h"
#include "script/bindings/bind.h"
#include "script/calls/keys.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

#define TIMEOUT_MS 30000

static struct soc_slice text_field(lua_State *L, const char *name)
{
    size_t length;
    int type = soc_option_field(L, 2, name);
    if (type == LUA_TNIL)
        return (struct soc_slice){0};
    if (type != LUA_TSTRING)
        luaL_error(L, "http: '%s' must be a string, got %s", name, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    if (soc_utf8_fault(soc_slice(text, length)) >= 0)
        luaL_error(L, "http: '%s' is not UTF-8", name);
    return soc_slice(text, length);
}

static bool is_method(struct soc_slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] != '-' && (text.data[i] < 'A' || text.data[i] > 'Z'))
            return false;
    return text.length > 0 && text.length <= SOC_TYPE_BYTES_MAX;
}

static bool begins_with(struct soc_slice text, const char *prefix)
{
    size_t length = strlen(prefix);
    return text.length > length && strncasecmp(text.data, prefix, length) == 0;
}

static void check_headers(lua_State *L)
{
    int type = soc_option_field(L, 2, "headers");
    int headers = lua_gettop(L);
    int count = 0;
    if (type == LUA_TNIL)
        return;
    if (type != LUA_TTABLE)
        luaL_error(L, "http: 'headers' must be a table of names and texts");
    lua_pushnil(L);
    while (lua_next(L, headers) != 0) {
        size_t name_length;
        size_t length;
        if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "http: 'headers' must be a table of names and texts");
        const char *name = lua_tolstring(L, -2, &name_length);
        const char *value = lua_tolstring(L, -1, &length);
        if (!soc_http_is_token(soc_slice(name, name_length)) ||
            !soc_http_is_line(soc_slice(value, length)) ||
            soc_utf8_fault(soc_slice(value, length)) >= 0)
            luaL_error(L, "http: a header's name or value cannot be sent");
        if (++count > SOC_HTTP_HEADERS_MAX - 2)
            luaL_error(L, "http: too many headers");
        lua_pop(L, 1);
    }
}

/* Safe methods may be repeated when in doubt. */
static bool is_safe(struct soc_slice method)
{
    return soc_slice_equal(method, SOC_SLICE("GET")) || soc_slice_equal(method, SOC_SLICE("HEAD"));
}

/* Appends the option, an integer from 1 to `max`, if it is given. */
static void put_number(lua_State *L, struct soc_buf *out, const char *name, int64_t max)
{
    int64_t number = soc_option_integer(L, 2, "http", name, 1);
    if (number < 1 || number > max)
        luaL_error(L, "http: '%s' must be a whole number from 1 to %I", name, (LUAI_UACINT)max);
    if (soc_option_field(L, 2, name) == LUA_TNIL)
        return;
    soc_json_put_name(out, name);
    soc_json_put_integer(out, number);
}

/* The header that carries a secret; by default, a bearer token. */
struct secret {
    struct soc_slice env;
    struct soc_slice header;
    struct soc_slice prefix;
};

static struct soc_slice secret_field(lua_State *L, int table, const char *name)
{
    size_t length;
    if (soc_option_field(L, table, name) == LUA_TNIL)
        return (struct soc_slice){0};
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "http: 'secret.%s' must be a string", name);
    const char *text = lua_tolstring(L, -1, &length);
    return soc_slice(text, length);
}

/* Reads the option `secret`: a name, or { env, header?, prefix? }. */
static struct secret read_secret(lua_State *L)
{
    static const char *const known[] = {"env", "header", "prefix", NULL};
    struct secret secret = {.header = SOC_SLICE("Authorization"), .prefix = SOC_SLICE("Bearer ")};
    int type = soc_option_field(L, 2, "secret");
    int table = lua_gettop(L);
    if (type == LUA_TSTRING) {
        secret.env = text_field(L, "secret");
    } else if (type == LUA_TTABLE) {
        soc_option_check_names(L, table, "http: secret", known);
        secret.env = secret_field(L, table, "env");
        struct soc_slice header = secret_field(L, table, "header");
        struct soc_slice prefix = secret_field(L, table, "prefix");
        if (header.data != NULL) {
            secret.header = header;
            secret.prefix = SOC_SLICE("");
        }
        if (prefix.data != NULL)
            secret.prefix = prefix;
    } else {
        luaL_error(L, "http: 'secret' must be a name or a table { env, header?, prefix? }");
    }
    if (!soc_keys_is_name(secret.env))
        luaL_error(L, "http: 'secret' must name an environment variable");
    if (!soc_http_is_token(secret.header) || !soc_http_is_line(secret.prefix) ||
        !soc_option_is_text(secret.prefix))
        luaL_error(L, "http: the secret's header cannot be sent");
    return secret;
}

static void put_secret(lua_State *L, struct soc_frame *frame, struct soc_slice url)
{
    struct soc_script *script = frame->script;
    struct soc_buf *out = &frame->payload;
    if (soc_option_field(L, 2, "secret") == LUA_TNIL)
        return;
    struct secret secret = read_secret(L);
    const char *place = soc_keys_place(script->keys, secret.env);
    bool is_told = !soc_registry_isolates(script->host, soc_gate_activation(script->host)->agent);
    if (is_told && place == NULL) /* strangers do not learn which secrets there are */
        luaL_error(L, "http: society.config{ secrets = { … } } must say where '%s' may go",
                   secret.env.data);
    if (is_told && !soc_keys_is_within(url, place))
        luaL_error(L, "http: '%s' may go to %s only", secret.env.data, place);
    soc_json_put_name(out, "secret");
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "env", secret.env);
    soc_json_put_text_member(out, "header", secret.header);
    soc_json_put_text_member(out, "prefix", secret.prefix);
    soc_buf_put_byte(out, '}');
}

static void put_headers(lua_State *L, struct soc_buf *out)
{
    struct soc_detail detail;
    if (soc_option_field(L, 2, "headers") == LUA_TNIL)
        return;
    soc_json_put_name(out, "headers");
    if (soc_lua_json_encode(L, lua_gettop(L), "headers", SOC_HTTP_HEAD_BYTES_MAX, out, &detail) < 0)
        luaL_error(L, "http: %s", detail.text);
}

/* Writes the request to frame->payload, its members in order. */
static struct soc_call_draft read_request(lua_State *L, struct soc_frame *frame)
{
    static const char *const known[] = {
        "method",     "url",        "headers",       "body",    "timeout_ms",
        "connect_ms", "idempotent", "first_byte_ms", "idle_ms", "answer_bytes_max",
        "secret",     NULL};
    struct soc_buf *out = &frame->payload;
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    soc_option_check_names(L, 2, "http", known);
    soc_option_check(L, 2, "http", "idempotent", LUA_TBOOLEAN);
    struct soc_slice url = text_field(L, "url");
    struct soc_slice method = text_field(L, "method");
    struct soc_slice body = text_field(L, "body");
    if ((!begins_with(url, "http://") && !begins_with(url, "https://")) || !soc_http_is_line(url))
        luaL_error(L, "http: 'url' must begin with http:// or https://");
    if (method.data == NULL)
        method = body.data == NULL ? SOC_SLICE("GET") : SOC_SLICE("POST");
    if (!is_method(method))
        luaL_error(L, "http: 'method' must be an upper-case word such as GET or POST");
    check_headers(L);
    soc_option_field(L, 2, "idempotent");
    bool is_idempotent = lua_toboolean(L, -1);
    soc_buf_put_byte(out, '{');
    put_number(L, out, "answer_bytes_max", SOC_HTTP_BODY_BYTES_MAX);
    soc_json_put_text_member(out, "body", body);
    put_number(L, out, "connect_ms", INT32_MAX);
    put_number(L, out, "first_byte_ms", INT32_MAX);
    put_headers(L, out);
    soc_json_put_name(out, "idempotent");
    soc_buf_put_text(out, is_idempotent ? "true" : "false");
    put_number(L, out, "idle_ms", INT32_MAX);
    soc_json_put_text_member(out, "method", method);
    put_secret(L, frame, url);
    soc_json_put_text_member(out, "url", url);
    soc_buf_put_byte(out, '}');
    if (out->length > SOC_PAYLOAD_BYTES_MAX)
        luaL_error(L, "http: the request exceeds the limit of 16 MB");
    return (struct soc_call_draft){
        .kind = SOC_SLICE("http"),
        .timeout_ms = soc_option_timeout(L, 2, "http", TIMEOUT_MS),
        .may_repeat = is_idempotent || is_safe(method),
    };
}

/* agent:http{ method?, url, headers?, body?, timeout_ms?, idempotent?, secret?, … }
 * -> { status, headers, body } */
static int agent_http(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_call_draft draft = read_request(L, frame);
    soc_effect_check_wait(L);
    draft.request = soc_buf_slice(&frame->payload);
    struct soc_effect_hash hash = {
        soc_hash(draft.request.data, draft.request.length, 0),
        soc_hash(draft.request.data, draft.request.length, (uint64_t)draft.timeout_ms)};
    int count;
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_HTTP, hash, &count) == SOC_GATE_RECORDED)
        return count;
    soc_calls_ask(script->host, &draft);
    return soc_effect_yield(L);
}

static const luaL_Reg http_functions[] = {
    {"http", agent_http},
    {NULL, NULL},
};

void soc_bind_http(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, http_functions);
}
