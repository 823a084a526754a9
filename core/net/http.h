/* HTTP: a client for many transfers at once, libcurl's multi interface on the loop.
 *
 * A transfer reports its status and headers once, then its body as it arrives, then its
 * end, once. After that, and after soc_http_cancel, it is gone. Redirects are not followed:
 * they are a response like any other, so that a secret goes to one host only. Certificates
 * are always verified. Proxies come from the environment, as usual with curl.
 *
 * No server holds up the loop: bodies are handed out for at most SOC_HTTP_STEP_US at a time.
 * What has come beyond that waits, its connection is not read meanwhile, and the loop has
 * its turn in between. A response may be compressed once (gzip, deflate and what else curl
 * decodes), not several times over.
 *
 * A request may carry a secret that its caller does not know. Every echo of it in the
 * response is removed before anyone sees it. A secret shorter than SOC_SECRET_BYTES_MIN is
 * not treated as one: only private servers accept such keys, and their text may occur in
 * any response.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_HTTP_H
#define SOC_NET_HTTP_H

#include <stdint.h>

#include "base/slice.h"
#include "loop/loop.h"

struct soc_http;          /* the client, with its idle connections */
struct soc_http_transfer; /* one request and its response */

/* X(tag, wire name, text for people): how a transfer ends. */
#define SOC_HTTP_END_MAP(X)                                                                        \
    X(DONE, "done", "the response is complete")                                                    \
    X(BAD_URL, "bad_url", "this is not an http or https URL")                                      \
    X(CONNECT_FAILED, "connect_failed", "the server cannot be reached; nothing was sent")          \
    X(TLS_FAILED, "tls_failed", "the server's certificate is not trusted, or TLS failed")          \
    X(CONNECT_TIMEOUT, "connect_timeout", "the connection timed out")                              \
    X(FIRST_BYTE_TIMEOUT, "first_byte_timeout", "the server did not start to respond in time")     \
    X(IDLE_TIMEOUT, "idle_timeout", "the response stalled")                                        \
    X(TOTAL_TIMEOUT, "timeout", "the request took too long")                                       \
    X(CUT, "connection_cut", "the connection was closed before the response was complete")         \
    X(TOO_LARGE, "answer_too_large", "the response exceeds its size limit")                        \
    X(NOT_HTTP, "not_http", "the server does not speak HTTP")                                      \
    X(PRIVATE, "forbidden", "the server has a private address, which is not granted by name")      \
    X(FAILED, "transfer_failed", "the transfer failed")

/* How a transfer ended. */
enum soc_http_end {
#define X(tag, name, text) SOC_HTTP_##tag,
    SOC_HTTP_END_MAP(X) SOC_HTTP_END_COUNT
#undef X
};

/* A header of a request or a response. */
struct soc_http_header {
    struct soc_slice name;
    struct soc_slice value;
};

/* A request. */
struct soc_http_request {
    struct soc_slice method; /* absent: GET, or POST with a body */
    struct soc_slice url;
    const struct soc_http_header *headers;
    int header_count;
    struct soc_slice body; /* absent: none */
    /* A header that ends with a secret: `secret_name: secret_prefix secret`. */
    struct soc_slice secret_name; /* absent: none */
    struct soc_slice secret_prefix;
    struct soc_slice secret;
    /* 0: the default of limits.h. */
    int64_t connect_ms;
    int64_t first_byte_ms; /* from the start to the first byte of the response */
    int64_t idle_ms;       /* between two pieces of the response */
    int64_t total_ms;
    size_t body_bytes_max; /* of the response, decompressed */
    bool is_public_only;   /* nothing is sent to a private address, whatever the name says */
};

/* Events of a transfer. `head` and `body` may do nothing to the client except
 * soc_http_cancel; `end` may do anything. */
struct soc_http_events {
    /* Names are in lower case, values without white space around. Lent. */
    void (*head)(void *user, int status, const struct soc_http_header *headers, int count);
    void (*body)(void *user, struct soc_slice bytes);
    /* `detail` has more text, or is empty. */
    void (*end)(void *user, enum soc_http_end end, const char *detail);
    void *user;
};

/* Options of a client. */
struct soc_http_options {
    const char *ca_file; /* trusted certificates; NULL: the system's */
    int connections_max; /* idle; 0: SOC_HTTP_CONNECTIONS_MAX */
};

/* Returns a client. `options` NULL: defaults. Release with soc_http_close. */
struct soc_http *soc_http_open(struct soc_loop *loop, const struct soc_http_options *options);

/* Cancels every transfer and frees the client, before the loop is freed. NULL is
 * allowed. */
void soc_http_close(struct soc_http *http);

/* Starts a transfer; `request` is copied. Nothing is reported before the loop runs again.
 * The transfer is lent until its end is reported or it is cancelled. */
struct soc_http_transfer *soc_http_start(struct soc_http *http,
                                         const struct soc_http_request *request,
                                         const struct soc_http_events *events);

/* Cancels the transfer; nothing more is reported about it. */
void soc_http_cancel(struct soc_http_transfer *transfer);

/* Returns the number of transfers in progress. */
size_t soc_http_count(const struct soc_http *http);

/* Tells whether a text is a valid method or header name: letters, digits and a few
 * symbols. */
bool soc_http_is_token(struct soc_slice text);

/* Tells whether a text is a valid header value: no control characters except tabs. */
bool soc_http_is_line(struct soc_slice text);

/* Lends the wire name and the text of an end. */
const char *soc_http_end_name(enum soc_http_end end);
const char *soc_http_end_text(enum soc_http_end end);

#endif
