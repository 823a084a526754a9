#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bridge/http/door_state.h"
#include "bridge/http/statuses.h"
#include "kernel/host.h"
#include "kernel/operations/catalogue.h"
#include "kernel/refusal.h"
#include "parts/table.h"

static void free_exchange(struct soc_exchange *exchange)
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
static int put_success(const struct soc_exchange *exchange, struct soc_slice list,
                       struct soc_buf *out)
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

static void respond_answer(struct soc_exchange *exchange, bool is_error, struct soc_slice answer)
{
    struct soc_door *door = exchange->door;
    if (is_error) {
        int status = soc_statuses_of(soc_json_plain_string(soc_json_member(answer, "error")));
        soc_door_respond_error(door, exchange->request, status, answer);
        return;
    }
    char scopes[SOC_VISITOR_SCOPES_BYTES];
    soc_visitor_scopes(&exchange->visitor, scopes);
    door->out.length = 0;
    int status = put_success(exchange, answer, &door->out);
    if (status != 0)
        soc_door_respond_as(
            door, exchange->request, status,
            exchange->route->type == NULL ? "application/json" : exchange->route->type,
            (struct soc_server_header){"X-Society-Scopes", scopes}, soc_buf_slice(&door->out));
    else
        soc_door_refuse(door, exchange->request, 404, "not_found", "there is none with that id");
    if (door->out.capacity > SOC_SERVER_BODY_BYTES)
        soc_buf_fini(&door->out);
}

/* ---- streams ---- */

static void begin_stream(struct soc_exchange *exchange)
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
        soc_door_refuse(door, exchange->request, 503, "too_many_streams",
                        "there are too many event streams; web.streams allows more");
    else
        soc_door_count(door, status);
}

static void answer_call(struct soc_call *base, bool is_error, struct soc_slice answer)
{
    struct soc_exchange *exchange = (struct soc_exchange *)base;
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

void soc_exchange_new(struct soc_door *door, struct soc_server_request *request,
                      const struct soc_route *route, const struct soc_operation *operation,
                      const struct soc_visitor *visitor)
{
    struct soc_exchange *exchange = soc_alloc_zero(sizeof(*exchange));
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
}

/* ---- the body of a request ---- */

static bool is_json(struct soc_slice type)
{
    size_t length = sizeof("application/json") - 1;
    return type.length >= length && strncasecmp(type.data, "application/json", length) == 0 &&
           (type.length == length || type.data[length] == ';' || type.data[length] == ' ');
}

/* Checks the body, a JSON object; absent if there is none. False after it has answered. */
static bool read_body(struct soc_exchange *exchange, struct soc_slice *body)
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
        soc_door_refuse(door, request, 415, "invalid_type",
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
        soc_door_refuse(door, request, 400, "invalid_json", sentence);
        return false;
    }
    return true;
}

static void refuse_param(struct soc_exchange *exchange, struct soc_slice name, const char *sentence)
{
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_EINVAL, sentence, "member", name);
    soc_door_respond_error(exchange->door, exchange->request, 400, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

static void do_operation(struct soc_exchange *exchange, const struct soc_operation *operation,
                         struct soc_slice params)
{
    struct soc_caller caller = soc_visitor_caller(&exchange->visitor);
    struct soc_slice key = soc_server_header(exchange->request, "Idempotency-Key");
    bool has_key = key.data != NULL && soc_door_is_method(exchange->request, "POST");
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

static void run_operation(struct soc_exchange *exchange)
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
        soc_door_refuse(door, request, 503, "saturated",
                        "the disk is too slow for all this; try again");
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
static void run_stream(struct soc_exchange *exchange)
{
    const char *fault = soc_stream_wish_read(&exchange->wish, exchange->request);
    if (fault != NULL) {
        refuse_param(exchange, soc_slice_text(fault),
                     soc_stream_wish_sentence(&exchange->wish, fault));
    } else if (!soc_door_is_method(exchange->request, "GET")) {
        soc_door_refuse(exchange->door, exchange->request, 405, "method_not_allowed",
                        "a stream needs GET");
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

void soc_door_on_body(void *user, struct soc_server_request *request)
{
    struct soc_door *door = user;
    struct soc_exchange *exchange = soc_server_user(request);
    assert(exchange != NULL);
    switch (exchange->route->own) {
    case SOC_ROUTE_OPERATION:
        run_operation(exchange);
        break;
    case SOC_ROUTE_METRICS:
        soc_door_respond_metrics(door, request);
        break;
    case SOC_ROUTE_OPENAPI:
        soc_door_respond_openapi(door, request);
        break;
    case SOC_ROUTE_EVENTS:
    case SOC_ROUTE_WEBSOCKET:
        run_stream(exchange);
        break;
    case SOC_ROUTE_HEALTH:
    case SOC_ROUTE_LOGIN:
        soc_door_refuse(door, request, 405, "method_not_allowed", "the path needs GET");
        break;
    }
    exchange->is_answered = !exchange->is_running;
}

void soc_door_on_gone(void *user, struct soc_server_request *request)
{
    struct soc_exchange *exchange = soc_server_user(request);
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

/* ---- the end ---- */

bool soc_exchange_has_answers(const struct soc_door *door)
{
    const struct soc_exchange *exchange = door->exchanges;
    while (exchange != NULL && !exchange->is_answered)
        exchange = exchange->next;
    return exchange != NULL;
}

void soc_exchange_end_running(struct soc_door *door)
{
    for (struct soc_exchange *each = door->exchanges, *next; each != NULL; each = next) {
        next = each->next;
        if (!each->is_running)
            continue;
        each->is_running = false;
        each->is_answered = true;
        if (each->request == NULL)
            free_exchange(each);
        else
            soc_door_refuse(door, each->request, 503, "stopping", "the society has stopped");
    }
}
