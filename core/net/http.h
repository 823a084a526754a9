/* HTTP: a client for many transfers at once, libcurl's multi interface on the loop.
 *
 * A transfer tells its status and headers once, then its body as it comes, then how
 * it ended, once; after that, and after soc_http_cancel, it is gone. Redirects are not
 * followed: they are an answer like any other, so that a secret goes to one host only.
 * Certificates are always checked. Proxies come from the environment as curl has it.
 *
 * A request may carry a secret that the caller itself need not know by heart; whatever
 * the server says of it is scrubbed before anybody sees it. One of fewer than
 * SOC_SECRET_BYTES_MIN bytes is none: what servers of one's own are content with, and
 * what stands in every other answer.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_HTTP_H
#define SOC_NET_HTTP_H

#include <stdint.h>

#include "base/slice.h"
#include "loop/loop.h"

struct soc_http;          /* the client: connections kept alive between transfers */
struct soc_http_transfer; /* one request and its answer */

/*  X(tag, wire name, sentence): how a transfer ends. */
#define SOC_HTTP_END_MAP(X)                                                                        \
    X(DONE, "done", "the answer is whole")                                                         \
    X(BAD_URL, "bad_url", "this is no http or https URL")                                          \
    X(CONNECT_FAILED, "connect_failed", "the server cannot be reached; nothing was sent")          \
    X(TLS_FAILED, "tls_failed", "the server's certificate is not trusted, or TLS failed")          \
    X(CONNECT_TIMEOUT, "connect_timeout", "no connection came about in time")                      \
    X(FIRST_BYTE_TIMEOUT, "first_byte_timeout", "the server did not begin to answer in time")      \
    X(IDLE_TIMEOUT, "idle_timeout", "the answer came to a halt")                                   \
    X(TOTAL_TIMEOUT, "timeout", "the whole took too long")                                         \
    X(CUT, "connection_cut", "the connection was cut before the answer was whole")                 \
    X(TOO_LARGE, "answer_too_large", "the answer is larger than its limit")                        \
    X(NOT_HTTP, "not_http", "what the server says is not HTTP")                                    \
    X(FAILED, "transfer_failed", "the transfer failed")

/* How a transfer ended. */
enum soc_http_end {
#define X(tag, name, text) SOC_HTTP_##tag,
    SOC_HTTP_END_MAP(X) SOC_HTTP_END_COUNT
#undef X
};

/* A header, of a request or an answer. */
struct soc_http_header {
    struct soc_slice name;
    struct soc_slice value;
};

/* What is asked of a server. */
struct soc_http_request {
    struct soc_slice method; /* absent: GET, or POST with a body */
    struct soc_slice url;
    const struct soc_http_header *headers;
    int header_count;
    struct soc_slice body; /* absent: none */
    /* A header whose value ends with a secret: `secret_name: secret_prefix secret`. */
    struct soc_slice secret_name; /* absent: none */
    struct soc_slice secret_prefix;
    struct soc_slice secret;
    /* 0: the usual one of limits.h. */
    int64_t connect_ms;
    int64_t first_byte_ms; /* from the start to the first byte of the answer */
    int64_t idle_ms;       /* between two pieces of the answer */
    int64_t total_ms;
    size_t body_bytes_max; /* of the answer, unpacked */
};

/* What a transfer tells. In `head` and `body` nothing may be done to the client but
 * soc_http_cancel; in `end` anything. */
struct soc_http_events {
    /* Names are in lower case, values without white space around. Lent. */
    void (*head)(void *user, int status, const struct soc_http_header *headers, int count);
    void (*body)(void *user, struct soc_slice bytes);
    /* `detail` says more in words, and may be empty. */
    void (*end)(void *user, enum soc_http_end end, const char *detail);
    void *user;
};

/* What a client is made with. */
struct soc_http_options {
    const char *ca_file; /* certificates to trust; NULL: the system's */
    int connections_max; /* kept alive; 0: SOC_HTTP_CONNECTIONS_MAX */
};

/* Returns a client. `options` NULL: the usual ones. End it with soc_http_close. */
struct soc_http *soc_http_open(struct soc_loop *loop, const struct soc_http_options *options);

/* Cancels every transfer and frees the client, before the loop is freed. NULL is
 * allowed. */
void soc_http_close(struct soc_http *http);

/* Begins a transfer; everything in `request` is copied. Nothing is told before the loop
 * runs again. It is lent until its end is told or it is cancelled. */
struct soc_http_transfer *soc_http_start(struct soc_http *http,
                                         const struct soc_http_request *request,
                                         const struct soc_http_events *events);

/* Ends the transfer; nothing more is told of it. */
void soc_http_cancel(struct soc_http_transfer *transfer);

/* Transfers under way. */
size_t soc_http_count(const struct soc_http *http);

/* Tells whether a text can be a method or the name of a header: letters, digits and a few
 * signs. */
bool soc_http_is_token(struct soc_slice text);

/* Tells whether a text can be the value of a header: no control character but tabs. */
bool soc_http_is_line(struct soc_slice text);

/* Lends the name and the sentence of an end. */
const char *soc_http_end_name(enum soc_http_end end);
const char *soc_http_end_text(enum soc_http_end end);

#endif
