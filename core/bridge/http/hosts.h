/* Hosts: which names a client may call this server by.
 *
 * A page of another site can make a browser connect here under a name of its own choice
 * (DNS rebinding), and send requests with an origin of its own. Both headers are therefore
 * compared with a short list: the names of loopback with our port, and what the settings
 * allow.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_HTTP_HOSTS_H
#define SOC_BRIDGE_HTTP_HOSTS_H

#include <stdbool.h>

#include "base/slice.h"

/* What is allowed. */
struct soc_hosts {
    int port;          /* ours */
    bool is_secure;    /* TLS: a name without a port means 443, else 80 */
    char *const *more; /* HOST, with any port, or HOST:PORT; ends with NULL; NULL: none; lent */
};

/* Tells whether a Host header is allowed; an absent one is not. */
bool soc_hosts_has(const struct soc_hosts *hosts, struct soc_slice host);

/* Tells whether an Origin header is allowed; an absent one is not. Over TLS a page that came in
 * the clear is not, whatever its name. */
bool soc_hosts_has_origin(const struct soc_hosts *hosts, struct soc_slice origin);

#endif
