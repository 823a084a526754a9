#include <assert.h>

#include "base/json.h"
#include "bridge/http/door_state.h"
#include "bridge/http/openapi.h"
#include "kernel/host.h"
#include "kernel/refusal.h"

#define RETRY_SECONDS "1"

void soc_door_count(struct soc_door *door, int status)
{
    assert(status >= 100 && status < 600);
    door->metrics.responses[status / 100]++;
}

void soc_door_respond_as(struct soc_door *door, struct soc_server_request *request, int status,
                         const char *type, struct soc_server_header more, struct soc_slice body)
{
    const struct soc_server_header headers[] = {{"Content-Type", type},
                                                {"Cache-Control", "no-store"},
                                                {"X-Content-Type-Options", "nosniff"},
                                                more,
                                                {NULL, NULL}};
    soc_door_count(door, status);
    soc_server_respond(request, status, headers, body);
}

void soc_door_respond(struct soc_door *door, struct soc_server_request *request, int status,
                      struct soc_server_header more, struct soc_slice body)
{
    soc_door_respond_as(door, request, status, "application/json", more, body);
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

void soc_door_respond_error(struct soc_door *door, struct soc_server_request *request, int status,
                            struct soc_slice error)
{
    door->out.length = 0;
    soc_buf_put_slice(&door->out, error);
    soc_buf_put_byte(&door->out, '\n');
    struct soc_slice code = soc_json_plain_string(soc_json_member(error, "error"));
    soc_door_respond(door, request, status, header_of(status, code), soc_buf_slice(&door->out));
}

void soc_door_refuse(struct soc_door *door, struct soc_server_request *request, int status,
                     const char *error, const char *message)
{
    struct soc_buf object = {0};
    soc_refuse_named(&object, error, message);
    soc_door_respond_error(door, request, status, soc_buf_slice(&object));
    soc_buf_fini(&object);
}

bool soc_door_is_method(const struct soc_server_request *request, const char *method)
{
    return soc_slice_equal(soc_server_method(request), soc_slice_text(method));
}

bool soc_door_is_look(const struct soc_server_request *request)
{
    return soc_door_is_method(request, "GET") || soc_door_is_method(request, "HEAD");
}

/* ---- the door's own answers ---- */

void soc_door_respond_health(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_host *host = door->options.society.host;
    if (door->is_stopped || door->is_ending || soc_host_is_failed(host))
        soc_door_refuse(door, request, 503,
                        soc_host_is_failed(host) ? "storage_failed" : "stopping",
                        "the society does not run");
    else
        soc_door_respond(door, request, 200, (struct soc_server_header){NULL, NULL},
                         SOC_SLICE("{\"status\":\"ok\"}\n"));
}

void soc_door_respond_login(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_buf cookie = {0};
    if (!soc_door_is_method(request, "GET")) {
        soc_door_refuse(door, request, 405, "method_not_allowed", "a login needs GET");
        return;
    }
    switch (soc_entry_login(door->entry, request, &cookie)) {
    case SOC_ENTRY_GRANTED: {
        const struct soc_server_header headers[] = {{"Location", "/"},
                                                    {"Set-Cookie", soc_buf_text(&cookie)},
                                                    {"Cache-Control", "no-store"},
                                                    {"Referrer-Policy", "no-referrer"},
                                                    {NULL, NULL}};
        soc_door_count(door, 303);
        soc_server_respond(request, 303, headers, SOC_SLICE(""));
        break;
    }
    case SOC_ENTRY_LIMITED:
        soc_door_refuse(door, request, 429, "too_many_tries",
                        "too many wrong codes came from this address; wait a minute");
        break;
    default:
        soc_door_refuse(door, request, 401, "wrong_code",
                        "a code can be used once, within a minute; `society open` makes another");
        break;
    }
    soc_buf_fini(&cookie);
}

void soc_door_respond_metrics(struct soc_door *door, struct soc_server_request *request)
{
    static const struct soc_server_header headers[] = {
        {"Content-Type", SOC_METRICS_TYPE}, {"Cache-Control", "no-store"}, {NULL, NULL}};
    door->out.length = 0;
    door->metrics.connections = soc_server_connections(door->server);
    door->metrics.streams = soc_server_streams(door->server);
    soc_metrics_put(&door->metrics, door->options.society.host, &door->out);
    soc_door_count(door, 200);
    soc_server_respond(request, 200, headers, soc_buf_slice(&door->out));
}

void soc_door_respond_openapi(struct soc_door *door, struct soc_server_request *request)
{
    door->out.length = 0;
    soc_openapi_put(&door->out, soc_buf_text(&door->url), soc_entry_cookie(door->entry));
    soc_buf_put_byte(&door->out, '\n');
    soc_door_respond(door, request, 200, (struct soc_server_header){NULL, NULL},
                     soc_buf_slice(&door->out));
}

bool soc_door_respond_page(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_website_file page;
    if (!soc_door_is_look(request) ||
        !soc_website_find(door->pages, soc_server_path(request), &page))
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
    soc_door_count(door, is_known ? 304 : 200);
    soc_server_respond(request, is_known ? 304 : 200, headers,
                       is_known ? SOC_SLICE("") : soc_buf_slice(&page.body));
    soc_buf_fini(&page.body);
    return true;
}
