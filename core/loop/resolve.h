/* Resolve: asks the system for the addresses of a host name, on a thread of libuv's.
 *
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_RESOLVE_H
#define SOC_LOOP_RESOLVE_H

#include "loop/loop.h"

struct addrinfo;
struct soc_resolve;

/* The answer. `list` is lent for the call; NULL: there is none, and `why` says so. The
 * query is gone afterwards. */
typedef void soc_resolve_cb(void *user, const struct addrinfo *list, const char *why);

/* Starts a query for TCP addresses; `host` and `port` are copied. Nothing is reported before
 * the loop runs again. Lent until it is answered or cancelled; NULL: it cannot be started. */
struct soc_resolve *soc_resolve_start(struct soc_loop *loop, const char *host, const char *port,
                                      soc_resolve_cb *cb, void *user);

/* Ends a query without an answer. NULL is allowed. */
void soc_resolve_cancel(struct soc_resolve *resolve);

#endif
