/* URL: what a client writes into the request line and its headers, taken apart.
 *
 * Nothing is trusted: every function takes any bytes.
 * Layer: net. Thread: any. */
#ifndef SOC_NET_URL_H
#define SOC_NET_URL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

/* Appends `text` with its %XX decoded, and in a query `+` as a space. False, with `out` as
 * it was, if an escape is malformed or the outcome is not UTF-8 without NUL. */
bool soc_url_decode(struct soc_slice text, bool is_query, struct soc_buf *out);

/* A walk over the parameters of a query string, still encoded. */
struct soc_url_walk {
    struct soc_slice name;
    struct soc_slice value; /* absent: there is no `=` */
    struct soc_slice rest;  /* private */
};

/* Begins a walk. soc_url_next moves to the first and each further parameter and returns
 * false after the last; empty ones are passed over. */
void soc_url_walk(struct soc_url_walk *walk, struct soc_slice query);
bool soc_url_next(struct soc_url_walk *walk);

/* Takes the next segment of a path, which begins with `/`, from `*path`; absent at its end. */
struct soc_slice soc_url_segment(struct soc_slice *path);

/* Lends the value of a cookie in a Cookie header; absent if there is none of that name. */
struct soc_slice soc_url_cookie(struct soc_slice header, struct soc_slice name);

/* Lends the authority, `host` or `host:port`, of an origin such as http://host:port; absent
 * if it is none. */
struct soc_slice soc_url_origin(struct soc_slice origin);

/* Parts an authority. False if it has no host, or a port that is no number up to 65535.
 * `*port` is 0 if there is none. Brackets around an IPv6 address are part of the host. */
bool soc_url_authority(struct soc_slice authority, struct soc_slice *host, int *port);

#endif
