/* URL fuzz: any bytes as a query string, a body, a path, a cookie, a host, an origin and an
 * address.
 *
 * Whatever comes, nothing is read beyond its end; what is decoded is UTF-8 without NUL, and
 * the parameters of a route are a JSON object or a fault.
 * Layer: tests. Thread: one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "bridge/http/hosts.h"
#include "bridge/http/logins.h"
#include "bridge/http/routes.h"
#include "net/url.h"
#include "net/web_settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "url_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

static void fuzz_decode(struct soc_slice text)
{
    for (int is_query = 0; is_query < 2; is_query++) {
        struct soc_buf out = {0};
        if (soc_url_decode(text, is_query != 0, &out)) {
            MUST(out.length <= text.length);
            MUST(soc_utf8_fault(soc_buf_slice(&out)) < 0);
            MUST(out.length == 0 || memchr(out.data, '\0', out.length) == NULL);
        } else {
            MUST(out.length == 0);
        }
        soc_buf_fini(&out);
    }
}

static void fuzz_walks(struct soc_slice text)
{
    struct soc_url_walk walk;
    struct soc_slice path = text;
    struct soc_slice segment;
    size_t count = 0;
    soc_url_walk(&walk, text);
    while (soc_url_next(&walk))
        MUST(++count <= text.length);
    count = 0;
    while ((segment = soc_url_segment(&path)).data != NULL)
        MUST(segment.length < text.length && ++count <= text.length);
}

/* The query of each route, the body if it is an object, and the path of those that fit. The text
 * may be both: a query, a line feed and a body. */
static void fuzz_routes(struct soc_slice text)
{
    const struct soc_route *route;
    struct soc_buf allow = {0};
    struct soc_slice query = text;
    struct soc_slice body = {0};
    const char *feed = text.length == 0 ? NULL : memchr(text.data, '\n', text.length);
    soc_routes_find(SOC_SLICE("GET"), text, &allow);
    soc_buf_fini(&allow);
    if (feed != NULL) {
        query.length = (size_t)(feed - text.data);
        body = soc_slice(feed + 1, text.length - query.length - 1);
        if (soc_json_check(body, NULL) < 0 || soc_json_kind(body) != SOC_JSON_OBJECT)
            body = (struct soc_slice){0};
    }
    for (size_t i = 0; (route = soc_routes_at(i)) != NULL; i++) {
        struct soc_buf out = {0};
        struct soc_buf fault = {0};
        if (route->operation == NULL)
            continue;
        bool is_read =
            soc_routes_read(route, soc_slice_text(route->path), query, body, &out, &fault);
        MUST(!is_read || soc_json_check(soc_buf_slice(&out), NULL) == SOC_OK);
        soc_buf_fini(&out);
        soc_buf_fini(&fault);
    }
}

static void fuzz_names(struct soc_slice text)
{
    static char *const more[] = {(char *)"society.example.org", (char *)"other.org:8443", NULL};
    struct soc_hosts hosts = {.port = 8080, .more = more};
    struct soc_slice host;
    char address[SOC_WEB_ADDRESS_BYTES];
    int port;
    soc_hosts_has(&hosts, text);
    soc_hosts_has_origin(&hosts, text);
    soc_url_cookie(text, SOC_SLICE("society_8080"));
    if (soc_url_authority(text, &host, &port))
        MUST(host.length > 0 && port >= 0 && port <= 65535);
    struct soc_buf copy = {0};
    soc_buf_put_slice(&copy, text);
    soc_web_settings_address(soc_buf_text(&copy), address, &port, NULL);
    soc_buf_fini(&copy);
    struct soc_logins *logins = soc_logins_new(SOC_SLICE("soc_fuzz"), 0);
    MUST(!soc_logins_take_code(logins, text, 1767225600000));
    MUST(!soc_logins_has_cookie(logins, text, 1767225600000));
    soc_logins_free(logins);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just that size, so that a byte beyond it is noticed. */
    char *bytes = malloc(size == 0 ? 1 : size);
    memcpy(bytes, data, size);
    struct soc_slice text = soc_slice(bytes, size);
    fuzz_decode(text);
    fuzz_walks(text);
    fuzz_routes(text);
    fuzz_names(text);
    free(bytes);
    return 0;
}
