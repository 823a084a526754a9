#include "bridge/http/door.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bridge/http/entry.h"
#include "bridge/http/hosts.h"
#include "bridge/http/metrics.h"
#include "bridge/http/openapi.h"
#include "bridge/http/routes.h"
#include "bridge/http/statuses.h"
#include "bridge/http/streams.h"
#include "bridge/http/website.h"
#include "kernel/host.h"
#include "kernel/operations/catalogue.h"
#include "kernel/refusal.h"
#include "net/server.h"
#include "parts/table.h"

#define URL_FILE      "http.url"
#define FLUSH_POLL_MS 10
#define FLUSH_POLLS   100
#define RETRY_SECONDS "1"

/* A request that was let in, until its answer has left. */
struct exchange {
    struct soc_call base; /* first: answer_call casts back */
    struct exchange *previous;
    struct exchange *next;
    struct soc_door *door;
    struct soc_server_request *request; /* NULL: the client has left */
    const struct soc_route *route;
    const struct soc_operation *operation; /* of the route; NULL: it has none */
    struct soc_visitor visitor;
    struct soc_stream_wish wish; /* of a stream */
    struct soc_stream *stream;   /* NULL: it is none, or not begun */
    bool is_running;             /* the operation has not answered yet */
    bool is_answered;            /* the response has not left yet */
};

struct soc_door {
    struct soc_door_options options;
    struct soc_server *server;
    struct soc_entry *entry;
    struct soc_website *pages;
    struct soc_streams *streams;
    struct soc_hosts hosts;
    struct soc_metrics metrics;
    struct exchange *exchanges;
    struct soc_buf url;
    struct soc_buf out; /* one answer at a time */
    int directory;
    bool is_stopped;
};

static void count_response(struct soc_door *door, int status)
{
    assert(status >= 100 && status < 600);
    door->metrics.responses[status / 100]++;
}

/* Responds with a body of that type; `more` is one more header, or its name is NULL. */
static void respond_as(struct soc_door *door, struct soc_server_request *request, int status,
                       const char *type, struct soc_server_header more, struct soc_slice body)
{
    const struct soc_server_header headers[] = {{"Content-Type", type},
                                                {"Cache-Control", "no-store"},
                                                {"X-Content-Type-Options", "nosniff"},
                                                more,
                                                {NULL, NULL}};
    count_response(door, status);
    soc_server_respond(request, status, headers, body);
}

/* Responds with JSON. */
static void respond(struct soc_door *door, struct soc_server_request *request, int status,
                    struct soc_server_header more, struct soc_slice body)
{
    respond_as(door, request, status, "application/json", more, body);
}

/* The header that goes with a status and an error (absent: none); a NULL name: none. Only
 * what passes by itself is worth another try. */
static struct soc_server_header header_of(int status, struct soc_slice error)
{
    if (status == 401)
        return (struct soc_server_header){"WWW-Authenticate", "Bearer realm=\"society\""};
    if (status == 503 || status == 507 || soc_slice_equal(error, SOC_SLICE("mailbox_full")))
        return (struct soc_server_header){"Retry-After", RETRY_SECONDS};
    if (soc_slice_equal(error, SOC_SLICE("too_many_tries")))
        return (struct soc_server_header){"Retry-After", "60"};
    return (struct soc_server_header){NULL, NULL};
}

/* Responds with an error object, given without its end. */
static void respond_error(struct soc_door *door, struct soc_server_request *request, int status,
                          struct soc_slice error)
{
    door->out.length = 0;
    soc_buf_put_slice(&door->out, error);
    soc_buf_put_byte(&door->out, '\n');
    struct soc_slice code = soc_json_plain_string(soc_json_member(error, "error"));
    respond(door, request, status, header_of(status, code), soc_buf_slice(&door->out));
}

static void refuse(struct soc_door *door, struct soc_server_request *request, int status,
                   const char *error, const char *message)
{
    struct soc_buf object = {0};
    soc_refuse_named(&object, error, message);
    respond_error(door, request, status, soc_buf_slice(&object));
    soc_buf_fini(&object);
}

static bool is_method(const struct soc_server_request *request, const char *method)
{
    return soc_slice_equal(soc_server_method(request), soc_slice_text(method));
}

static bool is_looking(const struct soc_server_request *request)
{
    return is_method(request, "GET") || is_method(request, "HEAD");
}

/* ---- the door's own answers ---- */

static void respond_health(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_host *host = door->options.society.host;
    if (door->is_stopped || soc_host_is_failed(host))
        refuse(door, request, 503, soc_host_is_failed(host) ? "storage_failed" : "stopping",
               "the society does not run");
    else
        respond(door, request, 200, (struct soc_server_header){NULL, NULL},
                SOC_SLICE("{\"status\":\"ok\"}\n"));
}

static void respond_login(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_buf cookie = {0};
    if (!is_method(request, "GET")) {
        refuse(door, request, 405, "method_not_allowed", "a login needs GET");
        return;
    }
    switch (soc_entry_login(door->entry, request, &cookie)) {
    case SOC_ENTRY_GRANTED: {
        const struct soc_server_header headers[] = {{"Location", "/"},
                                                    {"Set-Cookie", soc_buf_text(&cookie)},
                                                    {"Cache-Control", "no-store"},
                                                    {"Referrer-Policy", "no-referrer"},
                                                    {NULL, NULL}};
        count_response(door, 303);
        soc_server_respond(request, 303, headers, SOC_SLICE(""));
        break;
    }
    case SOC_ENTRY_LIMITED:
        refuse(door, request, 429, "too_many_tries",
               "too many wrong codes came from this address; wait a minute");
        break;
    default:
        refuse(door, request, 401, "wrong_code",
               "a code can be used once, within a minute; `society open` makes another");
        break;
    }
    soc_buf_fini(&cookie);
}

static void respond_metrics(struct soc_door *door, struct soc_server_request *request)
{
    static const struct soc_server_header headers[] = {
        {"Content-Type", SOC_METRICS_TYPE}, {"Cache-Control", "no-store"}, {NULL, NULL}};
    door->out.length = 0;
    door->metrics.connections = soc_server_connections(door->server);
    door->metrics.streams = soc_server_streams(door->server);
    soc_metrics_put(&door->metrics, door->options.society.host, &door->out);
    count_response(door, 200);
    soc_server_respond(request, 200, headers, soc_buf_slice(&door->out));
}

static void respond_openapi(struct soc_door *door, struct soc_server_request *request)
{
    door->out.length = 0;
    soc_openapi_put(&door->out, soc_buf_text(&door->url), soc_entry_cookie(door->entry));
    soc_buf_put_byte(&door->out, '\n');
    respond(door, request, 200, (struct soc_server_header){NULL, NULL}, soc_buf_slice(&door->out));
}

/* Responds with a file of the page; false if the path names none. */
static bool respond_page(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_website_file page;
    if (!is_looking(request) || !soc_website_find(door->pages, soc_server_path(request), &page))
        return false;
    const struct soc_server_header headers[] = {
        {"Content-Type", page.type},
        {"ETag", page.tag},
        {"Cache-Control", "no-cache"},
        {"Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {NULL, NULL}};
    bool is_known =
        soc_slice_equal(soc_server_header(request, "If-None-Match"), soc_slice_text(page.tag));
    count_response(door, is_known ? 304 : 200);
    soc_server_respond(request, is_known ? 304 : 200, headers,
                       is_known ? SOC_SLICE("") : soc_buf_slice(&page.body));
    soc_buf_fini(&page.body);
    return true;
}

/* ---- an exchange ---- */

static void free_exchange(struct exchange *exchange)
{
    if (exchange->previous != NULL)
        exchange->previous->next = exchange->next;
    else
        exchange->door->exchanges = exchange->next;
    if (exchange->next != NULL)
        exchange->next->previous = exchange->previous;
    soc_call_fini(&exchange->base);
    soc_stream_wish_fini(&exchange->wish);
    free(exchange);
}

/* Appends a member with a line; null if there is none. */
static void put_line(struct soc_buf *out, const char *name, uint64_t line)
{
    soc_json_put_name(out, name);
    if (line == 0)
        soc_buf_put_text(out, "null");
    else
        soc_json_put_integer(out, (int64_t)line);
}

/* Appends the body of a success; returns its status, or 0 if what was asked for is not there. */
static int put_success(const struct exchange *exchange, struct soc_slice list, struct soc_buf *out)
{
    const struct soc_route *route = exchange->route;
    struct soc_json_walk walk;
    int status = route->status == 0 ? 200 : route->status;
    if (route->shape == SOC_ROUTE_NONE) {
        soc_buf_put_text(out, "{}\n");
        return status;
    }
    if (route->shape == SOC_ROUTE_LIST) {
        soc_buf_put_text(out, "{\"items\":");
        soc_buf_put_slice(out, list);
        put_line(out, "next", exchange->base.next);
        put_line(out, "previous", exchange->base.previous);
        put_line(out, "as_of", exchange->base.as_of);
        soc_buf_put_text(out, "}\n");
        return status;
    }
    soc_json_walk(&walk, list);
    if (route->shape == SOC_ROUTE_LINES) {
        while (soc_json_next(&walk)) {
            soc_buf_put_slice(out, walk.value);
            soc_buf_put_byte(out, '\n');
        }
        return status;
    }
    if (!soc_json_next(&walk))
        return 0;
    if (route->shape == SOC_ROUTE_TEXT) {
        soc_json_string(soc_json_member(walk.value, "text"), out);
        return status;
    }
    soc_buf_put_slice(out, walk.value);
    soc_buf_put_byte(out, '\n');
    bool is_done = route->done != NULL && soc_json_member(walk.value, route->done).data != NULL;
    return is_done ? 200 : status;
}

static void respond_answer(struct exchange *exchange, bool is_error, struct soc_slice answer)
{
    struct soc_door *door = exchange->door;
    if (is_error) {
        int status = soc_statuses_of(soc_json_plain_string(soc_json_member(answer, "error")));
        respond_error(door, exchange->request, status, answer);
        return;
    }
    char scopes[SOC_VISITOR_SCOPES_BYTES];
    soc_visitor_scopes(&exchange->visitor, scopes);
    door->out.length = 0;
    int status = put_success(exchange, answer, &door->out);
    if (status != 0)
        respond_as(door, exchange->request, status,
                   exchange->route->type == NULL ? "application/json" : exchange->route->type,
                   (struct soc_server_header){"X-Society-Scopes", scopes},
                   soc_buf_slice(&door->out));
    else
        refuse(door, exchange->request, 404, "not_found", "there is none with that id");
    if (door->out.capacity > SOC_SERVER_BODY_BYTES)
        soc_buf_fini(&door->out);
}

/* ---- streams ---- */

static void begin_stream(struct exchange *exchange)
{
    struct soc_door *door = exchange->door;
    int status = 200;
    if (exchange->route->own == SOC_ROUTE_WEBSOCKET)
        exchange->stream = soc_streams_add_websocket(door->streams, exchange->request,
                                                     &exchange->wish, &exchange->visitor, &status);
    else
        exchange->stream = soc_streams_add_events(door->streams, exchange->request, &exchange->wish,
                                                  &exchange->visitor);
    if (exchange->stream == NULL && status == 200)
        refuse(door, exchange->request, 503, "too_many_streams",
               "there are too many event streams; web.streams allows more");
    else
        count_response(door, status);
}

static void answer_call(struct soc_call *base, bool is_error, struct soc_slice answer)
{
    struct exchange *exchange = (struct exchange *)base;
    assert(exchange->is_running);
    exchange->is_running = false;
    exchange->is_answered = true;
    if (exchange->request == NULL)
        free_exchange(exchange);
    else if (!is_error && exchange->route->operation == NULL)
        begin_stream(exchange); /* what comes after its cursor is there */
    else
        respond_answer(exchange, is_error, answer);
}

static struct exchange *new_exchange(struct soc_door *door, struct soc_server_request *request,
                                     const struct soc_route *route,
                                     const struct soc_operation *operation,
                                     const struct soc_visitor *visitor)
{
    struct exchange *exchange = soc_alloc_zero(sizeof(*exchange));
    exchange->base.answer = answer_call;
    exchange->base.is_strict = true;
    exchange->base.is_paged = route->shape == SOC_ROUTE_LIST;
    exchange->door = door;
    exchange->request = request;
    exchange->route = route;
    exchange->operation = operation;
    exchange->visitor = *visitor;
    exchange->next = door->exchanges;
    if (exchange->next != NULL)
        exchange->next->previous = exchange;
    door->exchanges = exchange;
    soc_server_set_user(request, exchange);
    return exchange;
}

/* ---- the head of a request ---- */

static bool check_names(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_slice origin = soc_server_header(request, "Origin");
    if (!soc_hosts_has(&door->hosts, soc_server_header(request, "Host"))) {
        refuse(door, request, 403, "forbidden",
               "this host name is not allowed; web.hosts lists the names that are");
        return false;
    }
    if (origin.data != NULL && !soc_hosts_has_origin(&door->hosts, origin)) {
        refuse(door, request, 403, "forbidden",
               "this origin is not allowed; web.hosts lists the names that are");
        return false;
    }
    return true;
}

/* Answers what needs no token; false if the path is not such. */
static bool respond_publicly(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_slice path = soc_server_path(request);
    if (!is_looking(request))
        return false;
    if (soc_slice_equal(path, SOC_SLICE("/healthz")))
        respond_health(door, request);
    else if (soc_slice_equal(path, SOC_SLICE("/login")))
        respond_login(door, request);
    else
        return respond_page(door, request);
    return true;
}

static bool check_entry(struct soc_door *door, struct soc_server_request *request,
                        struct soc_visitor *visitor)
{
    switch (soc_entry_check(door->entry, request, visitor)) {
    case SOC_ENTRY_GRANTED:
        soc_server_trust(request);
        return true;
    case SOC_ENTRY_MISSING:
        refuse(door, request, 401, "missing_token",
               "send the header Authorization: Bearer TOKEN; the owner's is in STATE/http.token");
        return false;
    case SOC_ENTRY_WRONG:
        door->metrics.refused++;
        refuse(door, request, 401, "wrong_token",
               "this token is not valid; `society token list` shows whose are");
        return false;
    case SOC_ENTRY_LIMITED:
        break;
    }
    door->metrics.refused++;
    refuse(door, request, 429, "too_many_tries",
           "too many wrong tokens came from this address; wait a minute");
    return false;
}

static const struct soc_route *check_route(struct soc_door *door,
                                           struct soc_server_request *request)
{
    struct soc_buf allow = {0};
    const struct soc_route *route =
        soc_routes_find(soc_server_method(request), soc_server_path(request), &allow);
    if (route == NULL && allow.length > 0) {
        struct soc_buf error = {0};
        soc_refuse_named(&error, "method_not_allowed", "the path does not have this method");
        soc_buf_put_byte(&error, '\n');
        respond(door, request, 405, (struct soc_server_header){"Allow", soc_buf_text(&allow)},
                soc_buf_slice(&error));
        soc_buf_fini(&error);
    } else if (route == NULL) {
        refuse(door, request, 404, "path_not_found", "there is no such path; see /openapi.json");
    }
    soc_buf_fini(&allow);
    return route;
}

/* A cookie comes along with whatever any page makes a browser send, so a change needs what
 * only a page of ours can add. */
static bool check_scope(struct soc_door *door, struct soc_server_request *request,
                        const struct soc_route *route, const struct soc_operation *operation,
                        const struct soc_visitor *visitor)
{
    unsigned scope = operation == NULL ? soc_routes_scope(route) : operation->scope;
    bool is_barred = visitor->agent[0] != '\0' && (operation == NULL || !operation->is_for_agents);
    if (scope != 0 && ((visitor->scopes & scope) == 0 || is_barred)) {
        refuse(door, request, 403, "forbidden",
               is_barred ? "a token of an agent may not do that"
                         : "the token lacks the scope for that; /openapi.json names it");
        return false;
    }
    if (visitor->is_by_cookie && !is_looking(request) &&
        (!soc_slice_equal(soc_server_header(request, "X-Society"), SOC_SLICE("1")) ||
         soc_server_header(request, "Origin").data == NULL)) {
        refuse(door, request, 403, "forbidden",
               "a change by cookie needs the header X-Society: 1 and an Origin");
        return false;
    }
    return true;
}

static void on_head(void *user, struct soc_server_request *request)
{
    struct soc_door *door = user;
    struct soc_visitor visitor;
    const struct soc_route *route;
    if (!check_names(door, request) || respond_publicly(door, request) ||
        !check_entry(door, request, &visitor))
        return;
    route = check_route(door, request);
    if (route == NULL)
        return;
    const struct soc_operation *operation = soc_routes_operation(route);
    if (check_scope(door, request, route, operation, &visitor))
        new_exchange(door, request, route, operation, &visitor);
}

/* ---- its body ---- */

static bool is_json(struct soc_slice type)
{
    size_t length = sizeof("application/json") - 1;
    return type.length >= length && strncasecmp(type.data, "application/json", length) == 0 &&
           (type.length == length || type.data[length] == ';' || type.data[length] == ' ');
}

/* Checks the body, a JSON object; absent if there is none. False after it has answered. */
static bool read_body(struct exchange *exchange, struct soc_slice *body)
{
    struct soc_door *door = exchange->door;
    struct soc_server_request *request = exchange->request;
    struct soc_json_fault fault = {0};
    *body = soc_server_body(request);
    if (body->length == 0) {
        *body = (struct soc_slice){0};
        return true;
    }
    if (!is_json(soc_server_header(request, "Content-Type"))) {
        refuse(door, request, 415, "invalid_type",
               "a body needs the header Content-Type: application/json");
        return false;
    }
    int rc = soc_json_check(*body, &fault);
    if (rc < 0 || soc_json_kind(*body) != SOC_JSON_OBJECT) {
        char sentence[160];
        snprintf(sentence, sizeof(sentence), "%s at byte %zu of the body",
                 rc == SOC_OK           ? "an object is expected"
                 : fault.reason == NULL ? soc_error_text(rc)
                                        : fault.reason,
                 fault.position + 1);
        refuse(door, request, 400, "invalid_json", sentence);
        return false;
    }
    return true;
}

static void refuse_param(struct exchange *exchange, struct soc_slice name, const char *sentence)
{
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_EINVAL, sentence, "member", name);
    respond_error(exchange->door, exchange->request, 400, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

static void do_operation(struct exchange *exchange, const struct soc_operation *operation,
                         struct soc_slice params)
{
    struct soc_caller caller = soc_visitor_caller(&exchange->visitor);
    struct soc_slice key = soc_server_header(exchange->request, "Idempotency-Key");
    bool has_key = key.data != NULL && is_method(exchange->request, "POST");
    if (has_key && (key.length == 0 || key.length > SOC_KEY_BYTES_MAX)) {
        char sentence[64];
        snprintf(sentence, sizeof(sentence), "a key has 1 to %d bytes", SOC_KEY_BYTES_MAX);
        refuse_param(exchange, SOC_SLICE("Idempotency-Key"), sentence);
        return;
    }
    if (has_key)
        caller.key = key;
    exchange->is_running = true;
    soc_operation_do(&exchange->door->options.society, operation, &caller, &exchange->base, params);
}

static void run_operation(struct exchange *exchange)
{
    struct soc_door *door = exchange->door;
    struct soc_server_request *request = exchange->request;
    const struct soc_operation *operation = exchange->operation;
    struct soc_buf params = {0};
    struct soc_buf fault = {0};
    struct soc_slice body;
    if (!read_body(exchange, &body))
        return;
    if (operation->changes && soc_host_is_saturated(door->options.society.host)) {
        refuse(door, request, 503, "saturated", "the disk is too slow for all this; try again");
        return;
    }
    if (!soc_routes_read(exchange->route, soc_server_path(request), soc_server_query(request), body,
                         &params, &fault))
        refuse_param(exchange, soc_buf_slice(&fault),
                     "a parameter is given twice, or is not UTF-8 in percent-encoding");
    else
        do_operation(exchange, operation, soc_buf_slice(&params));
    soc_buf_fini(&params);
    soc_buf_fini(&fault);
}

/* A stream that begins in the past first looks whether that is still there: once it has
 * begun, there is no status any more to say so. */
static void run_stream(struct exchange *exchange)
{
    const char *fault = soc_stream_wish_read(&exchange->wish, exchange->request);
    if (fault != NULL) {
        refuse_param(exchange, soc_slice_text(fault), soc_stream_wish_sentence(fault));
    } else if (!is_method(exchange->request, "GET")) {
        refuse(exchange->door, exchange->request, 405, "method_not_allowed", "a stream needs GET");
    } else if (exchange->wish.has_after) {
        struct soc_buf params = {0};
        exchange->base.is_paged = true;
        soc_buf_printf(&params, "{\"after\":%" PRIu64 ",\"limit\":1}", exchange->wish.after);
        do_operation(exchange, soc_catalogue_find(soc_part_table, SOC_SLICE("activity")),
                     soc_buf_slice(&params));
        soc_buf_fini(&params);
    } else {
        begin_stream(exchange);
    }
}

static void on_body(void *user, struct soc_server_request *request)
{
    struct soc_door *door = user;
    struct exchange *exchange = soc_server_user(request);
    assert(exchange != NULL);
    switch (exchange->route->own) {
    case SOC_ROUTE_OPERATION:
        run_operation(exchange);
        break;
    case SOC_ROUTE_METRICS:
        respond_metrics(door, request);
        break;
    case SOC_ROUTE_OPENAPI:
        respond_openapi(door, request);
        break;
    case SOC_ROUTE_EVENTS:
    case SOC_ROUTE_WEBSOCKET:
        run_stream(exchange);
        break;
    case SOC_ROUTE_HEALTH:
    case SOC_ROUTE_LOGIN:
        refuse(door, request, 405, "method_not_allowed", "the path needs GET");
        break;
    }
    exchange->is_answered = !exchange->is_running;
}

static void on_gone(void *user, struct soc_server_request *request)
{
    struct exchange *exchange = soc_server_user(request);
    (void)user;
    if (exchange == NULL)
        return;
    exchange->request = NULL;
    if (exchange->stream != NULL)
        soc_stream_end(exchange->stream);
    exchange->stream = NULL;
    if (exchange->is_running)
        soc_call_drop(&exchange->base);
    else
        free_exchange(exchange);
}

/* ---- the door ---- */

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static int check_options(const struct soc_door_options *options, const char *address,
                         struct soc_detail *detail)
{
    if (is_loopback(address))
        return SOC_OK;
    if (options->is_open)
        return soc_fail(detail, SOC_EINVAL,
                        "--http-open needs no token and is for loopback only, not for %s", address);
    if (options->settings->tls_cert == NULL && !options->is_insecure)
        return soc_fail(detail, SOC_EINVAL,
                        "listening on %s, beyond loopback, needs web.tls = { cert, key }, or "
                        "--insecure to send tokens in the clear",
                        address);
    return SOC_OK;
}

static int read_pem(const char *path, struct soc_buf *out, struct soc_detail *detail)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    while (file >= 0 && out->length < (1u << 20) &&
           (got = read(file, soc_buf_reserve(out, 4096), 4096)) > 0)
        out->length += (size_t)got;
    int error = errno;
    if (file >= 0)
        close(file);
    if (got != 0)
        return soc_fail(detail, SOC_EACCESS, "web.tls: %s: %s", path, strerror(error));
    return SOC_OK;
}

static int open_server(struct soc_door *door, const char *address, int port,
                       struct soc_detail *detail)
{
    const struct soc_web_settings *settings = door->options.settings;
    struct soc_buf cert = {0};
    struct soc_buf key = {0};
    int rc = SOC_OK;
    if (settings->tls_cert != NULL)
        rc = read_pem(settings->tls_cert, &cert, detail);
    if (rc == SOC_OK && settings->tls_key != NULL)
        rc = read_pem(settings->tls_key, &key, detail);
    struct soc_server_options server = {
        .loop = door->options.loop,
        .events = {on_head, on_body, on_gone, door},
        .address = address,
        .port = port,
        .tls_cert = settings->tls_cert == NULL ? NULL : soc_buf_text(&cert),
        .tls_key = settings->tls_key == NULL ? NULL : soc_buf_text(&key),
        .connections_max = (int)settings->connections,
        .streams_max = (int)settings->streams,
        .body_bytes_max = (size_t)settings->body_bytes,
    };
    if (rc == SOC_OK)
        rc = soc_server_open(&door->server, &server, detail);
    if (key.length > 0)
        explicit_bzero(key.data, key.capacity);
    soc_buf_fini(&cert);
    soc_buf_fini(&key);
    return rc;
}

/* Writes the address to STATE/http.url, as a whole. */
static int write_url(const struct soc_door *door, struct soc_detail *detail)
{
    struct soc_slice url = soc_buf_slice(&door->url);
    int file = openat(door->directory, URL_FILE ".new",
                      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_written = file >= 0 && write(file, url.data, url.length) == (ssize_t)url.length &&
                      write(file, "\n", 1) == 1;
    if (file >= 0)
        close(file);
    if (is_written)
        is_written = renameat(door->directory, URL_FILE ".new", door->directory, URL_FILE) == 0;
    return is_written ? SOC_OK
                      : soc_fail(detail, SOC_EACCESS, "%s/" URL_FILE ": %s",
                                 door->options.directory, strerror(errno));
}

static int open_parts(struct soc_door *door, struct soc_detail *detail)
{
    const struct soc_web_settings *settings = door->options.settings;
    const char *listen = door->options.listen == NULL ? settings->listen : door->options.listen;
    char address[SOC_WEB_ADDRESS_BYTES];
    int port;
    int rc = soc_web_settings_address(listen == NULL ? "0" : listen, address, &port, detail);
    if (rc == SOC_OK)
        rc = check_options(&door->options, address, detail);
    struct soc_entry_options entry = {
        .directory = door->options.directory,
        .wrong_tokens = settings->wrong_tokens == 0 ? SOC_WEB_WRONG_TOKENS : settings->wrong_tokens,
        .is_open = door->options.is_open,
    };
    if (rc == SOC_OK)
        rc = soc_entry_open(&door->entry, &entry, detail);
    if (rc < 0)
        return rc;
    door->streams = soc_streams_new(door->options.loop, door->options.society.host, door->entry);
    rc = open_server(door, address, port, detail);
    if (rc < 0)
        return rc;
    bool is_secure = settings->tls_cert != NULL;
    door->hosts = (struct soc_hosts){
        .port = soc_server_port(door->server), .is_secure = is_secure, .more = settings->hosts};
    soc_entry_set_port(door->entry, door->hosts.port);
    bool is_six = strchr(address, ':') != NULL;
    soc_buf_printf(&door->url, "%s://%s%s%s:%d", is_secure ? "https" : "http", is_six ? "[" : "",
                   address, is_six ? "]" : "", door->hosts.port);
    door->directory = open(door->options.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return write_url(door, detail);
}

int soc_door_open(struct soc_door **out, const struct soc_door_options *options,
                  struct soc_detail *detail)
{
    assert(options->society.host != NULL && options->loop != NULL && options->settings != NULL);
    assert(options->directory != NULL);
    struct soc_door *door = soc_alloc_zero(sizeof(*door));
    door->options = *options;
    door->directory = -1;
    door->pages = soc_website_new(options->pages);
    int rc = open_parts(door, detail);
    door->options.directory = door->options.listen = door->options.pages = NULL;
    if (rc < 0) {
        soc_door_close(door);
        return rc;
    }
    *out = door;
    return SOC_OK;
}

const char *soc_door_url(const struct soc_door *door)
{
    return door->url.data;
}

void soc_door_stop(struct soc_door *door)
{
    if (door == NULL || door->is_stopped)
        return;
    door->is_stopped = true;
    soc_streams_stop(door->streams);
    if (door->server != NULL)
        soc_server_stop(door->server);
}

static bool has_answers(const struct soc_door *door)
{
    const struct exchange *exchange = door->exchanges;
    while (exchange != NULL && !exchange->is_answered)
        exchange = exchange->next;
    return exchange != NULL;
}

/* Lets answers leave that are ready; a client that does not read them is not waited for. */
static void flush(struct soc_door *door)
{
    for (int i = 0; i < FLUSH_POLLS && has_answers(door); i++)
        soc_loop_poll(door->options.loop, FLUSH_POLL_MS);
}

/* The host is gone, so these are not answered any more. */
static void end_running(struct soc_door *door)
{
    for (struct exchange *each = door->exchanges, *next; each != NULL; each = next) {
        next = each->next;
        if (!each->is_running)
            continue;
        each->is_running = false;
        each->is_answered = true;
        if (each->request == NULL)
            free_exchange(each);
        else
            refuse(door, each->request, 503, "stopping", "the society has stopped");
    }
}

void soc_door_close(struct soc_door *door)
{
    if (door == NULL)
        return;
    soc_door_stop(door);
    end_running(door);
    if (door->server != NULL) {
        flush(door);
        soc_streams_cut(door->streams);
        soc_server_close(door->server);
    }
    if (door->directory >= 0) {
        unlinkat(door->directory, URL_FILE, 0);
        close(door->directory);
    }
    assert(door->exchanges == NULL);
    soc_entry_free(door->entry);
    soc_website_free(door->pages);
    soc_streams_free(door->streams);
    soc_buf_fini(&door->url);
    soc_buf_fini(&door->out);
    free(door);
}
