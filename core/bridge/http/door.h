/* Door: the society over HTTP.
 *
 * A request goes through these steps, and the first that fails answers it:
 *   1. framing (net/server.h)
 *   2. Host and Origin: 403
 *   3. who asks: 401, with the body unread; too many wrong tokens: 429
 *   4. route: 404, 405
 *   5. scope: 403
 *   6. body: 413, 415, 400
 *   7. the operation, which answers when what it did is durable
 * If the client leaves, the deed stands and the answer is dropped. Errors are the same
 * objects as in Lua; statuses.h has their status.
 *
 * The address is in STATE/http.url while the door is open. routes.h lists what can be asked.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_HTTP_DOOR_H
#define SOC_BRIDGE_HTTP_DOOR_H

#include <stdbool.h>

#include "kernel/operations/operation.h"
#include "loop/loop.h"
#include "net/web_settings.h"

struct soc_door;

/* Options. */
struct soc_door_options {
    struct soc_operations society;           /* receives the requests */
    struct soc_loop *loop;                   /* lent, that of the host */
    const char *directory;                   /* the state directory */
    const struct soc_web_settings *settings; /* lent as long as the door */
    const char *listen;                      /* [HOST:]PORT; NULL: as the settings say */
    const char *pages;                       /* the directory of the page; NULL: none */
    bool is_open;                            /* needs no token; on loopback only */
    bool is_insecure;                        /* may listen beyond loopback without TLS */
};

/* Listens. Errors with `detail`. End it with soc_door_stop(), then soc_door_close(). */
int soc_door_open(struct soc_door **out, const struct soc_door_options *options,
                  struct soc_detail *detail);

/* Lends the address, such as http://127.0.0.1:8080. */
const char *soc_door_url(const struct soc_door *door);

/* Tells whether the society is about to end, so that /healthz says so while it waits for its
 * disk; requests are still answered. NULL is allowed. */
void soc_door_set_ending(struct soc_door *door, bool is_ending);

/* Accepts no more requests; answers are still sent. NULL is allowed. */
void soc_door_stop(struct soc_door *door);

/* Sends what is left to send, for a moment at most, and closes every connection. The host
 * must have been freed, so that no answer is pending. NULL is allowed. */
void soc_door_close(struct soc_door *door);

#endif
