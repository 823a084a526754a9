#include "script/calls/exchange.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "net/http.h"
#include "script/calls/grants.h"
#include "script/calls/secrets.h"

/* What the exchanges of one society share. */
struct soc_exchanges {
    struct soc_loop *loop; /* lent; NULL: simulated */
    struct soc_http *http; /* NULL: not created yet */
    int world_ref;         /* the function that simulates the network; LUA_NOREF: none */
};

struct soc_exchange {
    struct soc_script *script;
    struct soc_outcall *call;
    struct soc_exchange_events events;
    struct soc_http_transfer *transfer; /* NULL: simulated, or refused */
    bool is_public_only;                /* the server must have a public address */
    /* The outcome if there is no transfer, until it is due. */
    int status; /* 0: it failed */
    struct soc_buf headers;
    struct soc_buf body;
    struct soc_buf pieces; /* size_t: end of each piece of the body */
    struct soc_buf error;
    struct soc_buf message;
};

void soc_exchange_open(struct soc_script *script, struct soc_loop *loop)
{
    assert(script->exchanges == NULL && script->is_simulated == (loop == NULL));
    script->exchanges = soc_alloc_zero(sizeof(*script->exchanges));
    script->exchanges->loop = loop;
    script->exchanges->world_ref = LUA_NOREF;
}

void soc_exchange_fini(struct soc_script *script)
{
    soc_http_close(script->exchanges->http);
    luaL_unref(script->L, LUA_REGISTRYINDEX, script->exchanges->world_ref);
    free(script->exchanges);
    script->exchanges = NULL;
}

void soc_exchange_set_world(lua_State *L, struct soc_script *script, int index)
{
    assert(lua_isfunction(L, index));
    luaL_unref(L, LUA_REGISTRYINDEX, script->exchanges->world_ref);
    lua_pushvalue(L, index);
    script->exchanges->world_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void free_exchange(struct soc_exchange *exchange)
{
    soc_buf_fini(&exchange->headers);
    soc_buf_fini(&exchange->body);
    soc_buf_fini(&exchange->pieces);
    soc_buf_fini(&exchange->error);
    soc_buf_fini(&exchange->message);
    free(exchange);
}

static bool is_same(struct soc_slice a, struct soc_slice b)
{
    return soc_slice_equal(a, b);
}

/* Values with the same name are joined, as in RFC 9110. */
static void put_headers(struct soc_buf *out, const struct soc_http_header *headers, int count)
{
    struct soc_buf value = {0};
    soc_buf_put_byte(out, '{');
    for (int i = 0; i < count; i++) {
        bool is_first = true;
        for (int k = 0; k < i && is_first; k++)
            is_first = !is_same(headers[k].name, headers[i].name);
        if (!is_first)
            continue;
        value.length = 0;
        soc_buf_put_slice(&value, headers[i].value);
        for (int k = i + 1; k < count; k++) {
            if (!is_same(headers[k].name, headers[i].name))
                continue;
            soc_buf_put_text(&value, ", ");
            soc_buf_put_slice(&value, headers[k].value);
        }
        if (out->data[out->length - 1] != '{')
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, headers[i].name);
        soc_buf_put_byte(out, ':');
        soc_json_put_string(out, soc_buf_slice(&value));
    }
    soc_buf_put_byte(out, '}');
    soc_buf_fini(&value);
}

static void take_head(void *user, int status, const struct soc_http_header *headers, int count)
{
    struct soc_exchange *exchange = user;
    put_headers(&exchange->headers, headers, count);
    exchange->events.head(exchange->events.user, status, soc_buf_slice(&exchange->headers));
}

static void take_body(void *user, struct soc_slice bytes)
{
    struct soc_exchange *exchange = user;
    exchange->events.body(exchange->events.user, bytes);
}

static void take_end(void *user, enum soc_http_end end, const char *detail)
{
    struct soc_exchange *exchange = user;
    struct soc_exchange_events events = exchange->events;
    struct soc_buf message = {0};
    soc_buf_put_text(&message, soc_http_end_text(end));
    if (*detail != '\0')
        soc_buf_printf(&message, " (%s)", detail);
    free_exchange(exchange);
    events.end(events.user, end == SOC_HTTP_DONE ? NULL : soc_http_end_name(end),
               soc_buf_text(&message));
    soc_buf_fini(&message);
}

/* A JSON request in the form of net/http.h; owns the unescaped texts. */
struct parcel {
    struct soc_http_request request;
    struct soc_http_header headers[SOC_HTTP_HEADERS_MAX];
    struct soc_buf texts[3 + 2 * SOC_HTTP_HEADERS_MAX];
    int text_count;
};

static struct soc_slice unpack(struct parcel *parcel, struct soc_slice value)
{
    struct soc_buf *text = &parcel->texts[parcel->text_count];
    if (value.data == NULL || !soc_json_string(value, text))
        return (struct soc_slice){0};
    parcel->text_count++;
    soc_buf_text(text);
    return soc_buf_slice(text);
}

static struct soc_slice unpack_name(struct parcel *parcel, struct soc_slice inside)
{
    struct soc_buf *text = &parcel->texts[parcel->text_count++];
    soc_buf_put_slice(text, inside); /* header names need no unescaping */
    return soc_buf_slice(text);
}

static void fill_parcel(struct parcel *parcel, const struct soc_exchange_request *request,
                        const struct soc_keys *keys)
{
    struct soc_http_request *http = &parcel->request;
    struct soc_json_walk walk;
    http->method = unpack(parcel, soc_json_member(request->json, "method"));
    http->url = unpack(parcel, soc_json_member(request->json, "url"));
    http->body = unpack(parcel, soc_json_member(request->json, "body"));
    http->headers = parcel->headers;
    soc_json_walk(&walk, soc_json_member(request->json, "headers"));
    while (soc_json_next(&walk) && http->header_count < SOC_HTTP_HEADERS_MAX - 1) {
        struct soc_http_header *header = &parcel->headers[http->header_count++];
        header->name = unpack_name(parcel, walk.name);
        header->value = unpack(parcel, walk.value);
    }
    if (request->id.data != NULL)
        parcel->headers[http->header_count++] =
            (struct soc_http_header){SOC_SLICE("Idempotency-Key"), request->id};
    if (request->secret_env != NULL) {
        http->secret_name = soc_slice_text(request->secret_header);
        http->secret_prefix = soc_slice_text(request->secret_prefix);
        http->secret = soc_slice_text(soc_keys_value(keys, request->secret_env));
    }
    http->connect_ms = request->connect_ms;
    http->first_byte_ms = request->first_byte_ms;
    http->idle_ms = request->idle_ms;
    http->total_ms = request->total_ms;
    http->body_bytes_max = request->body_bytes_max;
}

static void start_transfer(struct soc_exchange *exchange,
                           const struct soc_exchange_request *request)
{
    struct soc_script *script = exchange->script;
    struct soc_http_events events = {take_head, take_body, take_end, exchange};
    struct parcel *parcel = soc_alloc_zero(sizeof(*parcel));
    struct soc_exchanges *shared = script->exchanges;
    if (shared->http == NULL) {
        struct soc_http_options options = {.ca_file =
                                               soc_keys_setting(script->keys, "SSL_CERT_FILE")};
        shared->http = soc_http_open(shared->loop, &options);
    }
    if (request->secret_env != NULL)
        soc_secrets_note(script, request->secret_env);
    fill_parcel(parcel, request, script->keys);
    parcel->request.is_public_only = exchange->is_public_only;
    exchange->transfer = soc_http_start(shared->http, &parcel->request, &events);
    for (int i = 0; i < parcel->text_count; i++)
        soc_buf_fini(&parcel->texts[i]);
    free(parcel);
}

static void put_piece(lua_State *L, struct soc_exchange *exchange, int index)
{
    size_t length;
    const char *text = luaL_checklstring(L, index, &length);
    soc_buf_put(&exchange->body, text, length);
    soc_buf_put(&exchange->pieces, &exchange->body.length, sizeof(size_t));
}

/* Reads { status?, headers?, body?, delay_ms?, error?, message? } at `index`. An error
 * without a status is a failed exchange. */
static void read_world(lua_State *L, struct soc_exchange *exchange, int index, int64_t *delay_ms)
{
    struct soc_detail detail;
    luaL_checktype(L, index, LUA_TTABLE);
    bool is_error = lua_getfield(L, index, "error") != LUA_TNIL;
    if (is_error)
        soc_buf_put_text(&exchange->error, luaL_checkstring(L, -1));
    lua_getfield(L, index, "message");
    soc_buf_put_text(&exchange->message, luaL_optstring(L, -1, "as scripted"));
    lua_getfield(L, index, "status");
    exchange->status = (int)luaL_optinteger(L, -1, is_error ? 0 : 200);
    lua_getfield(L, index, "delay_ms");
    *delay_ms = (int64_t)luaL_optinteger(L, -1, 1);
    if (lua_getfield(L, index, "headers") == LUA_TNIL)
        soc_buf_put_text(&exchange->headers, "{}");
    else if (soc_lua_json_encode(L, lua_gettop(L), "headers", SOC_HTTP_HEAD_BYTES_MAX,
                                 &exchange->headers, &detail) < 0)
        luaL_error(L, "%s", detail.text);
    int type = lua_getfield(L, index, "body");
    int body = lua_gettop(L);
    if (type == LUA_TTABLE) {
        for (lua_Integer i = 1; lua_rawgeti(L, body, i) != LUA_TNIL; i++, lua_settop(L, body))
            put_piece(L, exchange, body + 1);
    } else if (type != LUA_TNIL) {
        put_piece(L, exchange, body);
    }
}

/* Arguments of ask_world, which is called protected. */
struct question {
    struct soc_exchange *exchange;
    const struct soc_exchange_request *request;
    int64_t delay_ms;
};

static int ask_world(lua_State *L)
{
    struct question *question = lua_touserdata(L, 1);
    struct soc_exchange *exchange = question->exchange;
    const struct soc_outcall *call = exchange->call;
    struct soc_detail detail;
    lua_settop(L, 0);
    lua_rawgeti(L, LUA_REGISTRYINDEX, exchange->script->exchanges->world_ref);
    if (soc_lua_json_decode(L, question->request->json, &detail) < 0)
        return luaL_error(L, "%s", detail.text);
    lua_pushstring(L, call->activation->agent->id);
    lua_setfield(L, -2, "agent");
    lua_pushstring(L, call->id);
    lua_setfield(L, -2, "call");
    lua_pushboolean(L, call->is_repeated);
    lua_setfield(L, -2, "repeated");
    if (question->request->secret_env != NULL) {
        lua_pushstring(L, question->request->secret_env);
        lua_setfield(L, -2, "secret");
    }
    lua_call(L, 1, 2);
    read_world(L, exchange, lua_isnil(L, 1) ? 2 : 1, &question->delay_ms);
    return 0;
}

static void fail_simulated(struct soc_exchange *exchange, const char *error, const char *message)
{
    exchange->body.length = 0;
    exchange->pieces.length = 0;
    exchange->error.length = 0;
    exchange->message.length = 0;
    exchange->status = 0;
    soc_buf_put_text(&exchange->error, error);
    soc_buf_put_text(&exchange->message, message);
}

static int64_t ms_or(int64_t asked_ms, int64_t usual_ms)
{
    return asked_ms > 0 ? asked_ms : usual_ms;
}

/* The limits of a transfer apply to simulated ones as well. */
static void bound_simulated(struct soc_exchange *exchange,
                            const struct soc_exchange_request *request, int64_t *delay_ms)
{
    int64_t first_byte_ms = ms_or(request->first_byte_ms, SOC_HTTP_FIRST_BYTE_MS);
    int64_t total_ms = ms_or(request->total_ms, SOC_HTTP_TOTAL_MS);
    size_t bytes_max =
        request->body_bytes_max > 0 ? request->body_bytes_max : SOC_HTTP_BODY_BYTES_MAX;
    enum soc_http_end end = SOC_HTTP_DONE;
    if (*delay_ms > first_byte_ms || *delay_ms > total_ms) {
        end = first_byte_ms < total_ms ? SOC_HTTP_FIRST_BYTE_TIMEOUT : SOC_HTTP_TOTAL_TIMEOUT;
        *delay_ms = first_byte_ms < total_ms ? first_byte_ms : total_ms;
    } else if (exchange->body.length > bytes_max) {
        end = SOC_HTTP_TOO_LARGE;
    }
    if (end != SOC_HTTP_DONE)
        fail_simulated(exchange, soc_http_end_name(end), soc_http_end_text(end));
}

static void start_simulated(struct soc_exchange *exchange,
                            const struct soc_exchange_request *request)
{
    struct soc_script *script = exchange->script;
    struct question question = {exchange, request, 1};
    lua_State *L = script->L;
    if (script->exchanges->world_ref == LUA_NOREF) {
        fail_simulated(exchange, "no_network",
                       "a simulation has no network: let society.new{ http = function(request) … "
                       "end } answer");
    } else {
        lua_pushcfunction(L, ask_world);
        lua_pushlightuserdata(L, &question);
        if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
            const char *text = lua_tostring(L, -1);
            fail_simulated(exchange, "world_failed", text == NULL ? "an error" : text);
            soc_log_line(soc_host_log(script->host), SOC_LOG_ERROR,
                         soc_clock_now(soc_host_clock(script->host)), "world_failed",
                         soc_agent_id(exchange->call->activation->agent),
                         soc_buf_slice(&exchange->message));
            lua_pop(L, 1);
        }
    }
    bound_simulated(exchange, request, &question.delay_ms);
    if (question.delay_ms < 1)
        question.delay_ms = 1;
    soc_calls_wake(script->host, exchange->call,
                   soc_clock_now(soc_host_clock(script->host)) + question.delay_ms);
}

/* Applies a test of net/http.h to a member of a request that has passed through Lua. */
static bool member_is(struct soc_slice value, bool (*test)(struct soc_slice text))
{
    struct soc_buf text = {0};
    bool is_good =
        value.data == NULL || (soc_json_string(value, &text) && test(soc_buf_slice(&text)));
    soc_buf_fini(&text);
    return is_good;
}

/* Returns true if only the URL decides where the request goes: virtual hosts and
 * proxies use the header Host and the request line. */
static bool is_plain(const struct soc_exchange_request *request)
{
    struct soc_json_walk walk;
    bool is_good = member_is(soc_json_member(request->json, "method"), soc_http_is_token);
    if (request->secret_env != NULL)
        is_good = is_good && soc_http_is_token(soc_slice_text(request->secret_header)) &&
                  soc_http_is_line(soc_slice_text(request->secret_prefix));
    soc_json_walk(&walk, soc_json_member(request->json, "headers"));
    while (is_good && soc_json_next(&walk)) {
        bool is_host = walk.name.length == 4 && strncasecmp(walk.name.data, "Host", 4) == 0;
        is_good = !is_host && soc_http_is_token(walk.name) && /* no token needs an escape */
                  member_is(walk.value, soc_http_is_line);
    }
    return is_good;
}

/* Appends why the request cannot carry its secret; nothing if it can, or has none. */
static void check_secret(struct soc_script *script, const struct soc_exchange_request *request,
                         struct soc_buf *fault)
{
    struct soc_buf url = {0};
    if (request->secret_env == NULL)
        return;
    assert(request->secret_header != NULL);
    soc_json_string(soc_json_member(request->json, "url"), &url);
    soc_keys_check(script->keys, request->use, request->secret_env, soc_buf_slice(&url), fault);
    if (fault->length == 0 && !is_plain(request))
        soc_buf_put_text(fault, "a request with a secret cannot set the header Host, nor use "
                                "control characters in its method and headers");
    soc_buf_fini(&url);
}

/* A proxy resolves names itself, and its own address says nothing. */
static bool has_proxy(const struct soc_script *script)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (soc_keys_setting(script->keys, names[i]) != NULL)
            return true;
    return false;
}

static bool is_framing(struct soc_slice name)
{
    static const char *const names[] = {"Host",    "Content-Length", "Transfer-Encoding",
                                        "Upgrade", "Connection",     "Trailer",
                                        "TE",      "Expect"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (name.length == strlen(names[i]) && strncasecmp(name.data, names[i], name.length) == 0)
            return true;
    return name.length >= 6 && strncasecmp(name.data, "Proxy-", 6) == 0;
}

/* Tells whether a header, be it that of the secret, says where a request goes or ends: what
 * follows on the connection could be a request that nobody has checked. */
static bool has_framing(const struct soc_exchange_request *request)
{
    struct soc_json_walk walk;
    if (request->secret_env != NULL && is_framing(soc_slice_text(request->secret_header)))
        return true;
    soc_json_walk(&walk, soc_json_member(request->json, "headers"));
    while (soc_json_next(&walk))
        if (is_framing(walk.name))
            return true;
    return false;
}

/* Appends why an isolated agent may not send the request. Model calls have been checked before:
 * their URLs are the app's. */
static void check_grants(struct soc_exchange *exchange, const struct soc_exchange_request *request,
                         struct soc_buf *fault)
{
    struct soc_script *script = exchange->script;
    const struct soc_agent *agent = exchange->call->activation->agent;
    struct soc_buf url = {0};
    if (request->use != SOC_KEYS_HTTP || !soc_registry_isolates(script->host, agent))
        return;
    soc_json_string(soc_json_member(request->json, "url"), &url);
    soc_grants_check(agent, soc_buf_slice(&url), request->secret_env, fault);
    if (fault->length == 0 && (!is_plain(request) || has_framing(request)))
        soc_buf_put_text(fault, "an isolated agent cannot set headers that say where a request "
                                "goes or ends, such as Host and Content-Length");
    exchange->is_public_only = !soc_grants_name_address(soc_buf_slice(&url)) && !has_proxy(script);
    soc_buf_fini(&url);
}

/* Fails a moment later, like a simulated failure. */
static void refuse(struct soc_exchange *exchange, const char *error, struct soc_buf *fault)
{
    struct soc_host *host = exchange->script->host;
    fail_simulated(exchange, error, soc_buf_text(fault));
    soc_calls_wake(host, exchange->call, soc_clock_now(soc_host_clock(host)) + 1);
}

struct soc_exchange *soc_exchange_start(struct soc_script *script, struct soc_outcall *call,
                                        const struct soc_exchange_request *request,
                                        const struct soc_exchange_events *events)
{
    struct soc_exchange *exchange = soc_alloc_zero(sizeof(*exchange));
    struct soc_buf fault = {0};
    exchange->script = script;
    exchange->call = call;
    exchange->events = *events;
    const char *error = "forbidden";
    check_grants(exchange, request, &fault);
    if (fault.length == 0) {
        error = "no_secret";
        check_secret(script, request, &fault);
    }
    if (fault.length > 0)
        refuse(exchange, error, &fault);
    else if (script->is_simulated)
        start_simulated(exchange, request);
    else
        start_transfer(exchange, request);
    soc_buf_fini(&fault);
    return exchange;
}

void soc_exchange_due(struct soc_exchange *exchange)
{
    struct soc_exchange_events events = exchange->events;
    if (exchange->transfer != NULL)
        return;
    if (exchange->status != 0)
        events.head(events.user, exchange->status, soc_buf_slice(&exchange->headers));
    const size_t *ends = (const void *)exchange->pieces.data;
    size_t start = 0;
    for (size_t i = 0; i < exchange->pieces.length / sizeof(*ends); i++) {
        if (ends[i] > start)
            events.body(events.user, soc_slice(exchange->body.data + start, ends[i] - start));
        start = ends[i];
    }
    struct soc_buf error = exchange->error;
    struct soc_buf message = exchange->message;
    exchange->error = exchange->message = (struct soc_buf){0};
    free_exchange(exchange);
    events.end(events.user, error.length == 0 ? NULL : soc_buf_text(&error),
               soc_buf_text(&message));
    soc_buf_fini(&error);
    soc_buf_fini(&message);
}

void soc_exchange_cancel(struct soc_exchange *exchange)
{
    if (exchange->transfer != NULL)
        soc_http_cancel(exchange->transfer);
    free_exchange(exchange);
}
