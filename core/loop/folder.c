#include "loop/folder.h"

#include <assert.h>
#include <stdlib.h>

#include <uv.h>

#include "base/mem.h"

struct soc_folder {
    uv_fs_event_t event;
    struct soc_loop *loop;
    soc_folder_cb *cb;
    void *user;
};

static void note_event(uv_fs_event_t *event, const char *name, int events, int status)
{
    (void)events;
    const struct soc_folder *folder = event->data;
    if (folder->cb == NULL)
        return;
    struct soc_watchdog *dog = soc_loop_watchdog(folder->loop);
    soc_watchdog_begin(dog, "folder");
    folder->cb(folder->user, status < 0 ? NULL : name);
    soc_watchdog_end(dog);
}

static void free_folder(uv_handle_t *handle)
{
    free(handle->data);
}

struct soc_folder *soc_folder_open(struct soc_loop *loop, const char *path, soc_folder_cb *cb,
                                   void *user)
{
    struct soc_folder *folder = soc_alloc_zero(sizeof(*folder));
    int rc = uv_fs_event_init(soc_loop_uv(loop), &folder->event);
    assert(rc == 0);
    folder->event.data = folder;
    folder->loop = loop;
    folder->cb = cb;
    folder->user = user;
    rc = uv_fs_event_start(&folder->event, note_event, path, 0);
    if (rc == 0)
        return folder;
    uv_close((uv_handle_t *)&folder->event, free_folder);
    return NULL;
}

void soc_folder_close(struct soc_folder *folder)
{
    if (folder == NULL)
        return;
    folder->cb = NULL;
    uv_close((uv_handle_t *)&folder->event, free_folder);
}
