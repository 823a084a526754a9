#include "loop/descriptor.h"

#include <assert.h>
#include <stdlib.h>

#include <uv.h>

#include "base/mem.h"

struct soc_descriptor {
    uv_poll_t poll;
    struct soc_loop *loop;
    const char *name;
    soc_descriptor_cb *cb;
    void *user;
    int socket;
};

struct soc_descriptor *soc_descriptor_open(struct soc_loop *loop, const char *name, int socket,
                                           soc_descriptor_cb *cb, void *user)
{
    struct soc_descriptor *descriptor = soc_alloc_zero(sizeof(*descriptor));
    int rc = uv_poll_init_socket(soc_loop_uv(loop), &descriptor->poll, socket);
    assert(rc == 0);
    (void)rc;
    descriptor->poll.data = descriptor;
    descriptor->loop = loop;
    descriptor->name = name;
    descriptor->cb = cb;
    descriptor->user = user;
    descriptor->socket = socket;
    return descriptor;
}

static void tell(uv_poll_t *poll, int status, int events)
{
    struct soc_descriptor *descriptor = poll->data;
    struct soc_watchdog *dog = soc_loop_watchdog(descriptor->loop);
    soc_watchdog_begin(dog, descriptor->name);
    descriptor->cb(descriptor->user, descriptor->socket, status < 0 || events & UV_READABLE,
                   status < 0 || events & UV_WRITABLE);
    soc_watchdog_end(dog);
}

void soc_descriptor_set(struct soc_descriptor *descriptor, bool reads, bool writes)
{
    int events = (reads ? UV_READABLE : 0) | (writes ? UV_WRITABLE : 0);
    if (events == 0)
        uv_poll_stop(&descriptor->poll);
    else
        uv_poll_start(&descriptor->poll, events, tell);
}

static void free_descriptor(uv_handle_t *handle)
{
    free(handle->data);
}

void soc_descriptor_close(struct soc_descriptor *descriptor)
{
    uv_close((uv_handle_t *)&descriptor->poll, free_descriptor);
}
