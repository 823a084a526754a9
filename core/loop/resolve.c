#include "loop/resolve.h"

#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <uv.h>

#include "base/mem.h"

struct soc_resolve {
    uv_getaddrinfo_t query;
    struct soc_loop *loop;
    soc_resolve_cb *cb; /* NULL: cancelled */
    void *user;
};

/* A cancelled query ends here as well: its thread may be at work until then. */
static void answer(uv_getaddrinfo_t *query, int status, struct addrinfo *list)
{
    struct soc_resolve *resolve = query->data;
    if (resolve->cb != NULL) {
        struct soc_watchdog *dog = soc_loop_watchdog(resolve->loop);
        soc_watchdog_begin(dog, "resolve");
        resolve->cb(resolve->user, status == 0 ? list : NULL,
                    status == 0 ? "" : uv_strerror(status));
        soc_watchdog_end(dog);
    }
    uv_freeaddrinfo(list);
    free(resolve);
}

struct soc_resolve *soc_resolve_start(struct soc_loop *loop, const char *host, const char *port,
                                      soc_resolve_cb *cb, void *user)
{
    struct soc_resolve *resolve = soc_alloc_zero(sizeof(*resolve));
    resolve->query.data = resolve;
    resolve->loop = loop;
    resolve->cb = cb;
    resolve->user = user;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    if (uv_getaddrinfo(soc_loop_uv(loop), &resolve->query, answer, host, port, &hints) == 0)
        return resolve;
    free(resolve);
    return NULL;
}

void soc_resolve_cancel(struct soc_resolve *resolve)
{
    if (resolve == NULL)
        return;
    resolve->cb = NULL;
    uv_cancel((uv_req_t *)&resolve->query);
}
