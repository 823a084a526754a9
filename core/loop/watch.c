#include "loop/watch.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"

#define SETTLE_MS 50   /* without further changes, before the report */
#define SEARCH_MS 1000 /* between polls for a directory that is missing */

/* One directory. It outlives its entry in the list until its handle is closed. */
struct folder {
    uv_fs_event_t event;
    struct soc_watch *watch;
    struct folder *next;
    char *path;
    char **names; /* of the files in it */
    int name_count;
};

struct soc_watch {
    uv_timer_t timer;
    struct soc_loop *loop;
    struct folder *folders;
    soc_watch_cb *cb;
    void *user;
    bool is_incomplete; /* some directory could not be watched */
};

static void tell(uv_timer_t *timer)
{
    struct soc_watch *watch = timer->data;
    struct soc_watchdog *dog = soc_loop_watchdog(watch->loop);
    soc_watchdog_begin(dog, "watched files");
    watch->cb(watch->user);
    soc_watchdog_end(dog);
}

static bool has_name(const struct folder *folder, const char *name)
{
    for (int i = 0; i < folder->name_count; i++)
        if (strcmp(folder->names[i], name) == 0)
            return true;
    return false;
}

/* `name` is NULL if the system does not say, and the name of the directory itself if that
 * was moved or removed. */
static void note_event(uv_fs_event_t *event, const char *name, int events, int status)
{
    (void)events;
    struct folder *folder = event->data;
    const char *slash = strrchr(folder->path, '/');
    const char *own = slash == NULL ? folder->path : slash + 1;
    if (folder->watch == NULL ||
        (status == 0 && name != NULL && !has_name(folder, name) && strcmp(name, own) != 0))
        return;
    uv_timer_start(&folder->watch->timer, tell, SETTLE_MS, 0);
}

static void free_folder(uv_handle_t *handle)
{
    struct folder *folder = handle->data;
    for (int i = 0; i < folder->name_count; i++)
        free(folder->names[i]);
    free(folder->names);
    free(folder->path);
    free(folder);
}

static void close_folders(struct folder *folders)
{
    while (folders != NULL) {
        struct folder *folder = folders;
        folders = folder->next;
        folder->watch = NULL;
        uv_close((uv_handle_t *)&folder->event, free_folder);
    }
}

struct soc_watch *soc_watch_open(struct soc_loop *loop, soc_watch_cb *cb, void *user)
{
    struct soc_watch *watch = soc_alloc_zero(sizeof(*watch));
    watch->loop = loop;
    watch->cb = cb;
    watch->user = user;
    uv_timer_init(soc_loop_uv(loop), &watch->timer);
    watch->timer.data = watch;
    return watch;
}

/* Returns the entry of that path, adding it if it is new. */
static struct folder *need_folder(struct soc_watch *watch, const char *path, size_t length)
{
    struct folder *folder = watch->folders;
    while (folder != NULL &&
           (strlen(folder->path) != length || memcmp(folder->path, path, length) != 0))
        folder = folder->next;
    if (folder != NULL)
        return folder;
    folder = soc_alloc_zero(sizeof(*folder));
    folder->watch = watch;
    folder->path = soc_copy_text(path, length);
    folder->next = watch->folders;
    watch->folders = folder;
    uv_fs_event_init(soc_loop_uv(watch->loop), &folder->event);
    folder->event.data = folder;
    if (uv_fs_event_start(&folder->event, note_event, folder->path, 0) < 0)
        watch->is_incomplete = true;
    return folder;
}

static void add_file(struct soc_watch *watch, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    struct folder *folder;
    if (slash == NULL)
        folder = need_folder(watch, ".", 1);
    else
        folder = need_folder(watch, path, slash == path ? 1 : (size_t)(slash - path));
    folder->names =
        soc_realloc(folder->names, (size_t)(folder->name_count + 1) * sizeof(*folder->names));
    folder->names[folder->name_count++] = soc_copy_text(name, strlen(name));
}

void soc_watch_set(struct soc_watch *watch, const char *const *paths, int count)
{
    struct folder *old = watch->folders;
    watch->folders = NULL;
    watch->is_incomplete = false;
    for (int i = 0; i < count; i++)
        add_file(watch, paths[i]);
    close_folders(old);
    if (watch->is_incomplete)
        uv_timer_start(&watch->timer, tell, SEARCH_MS, 0);
}

static void free_watch(uv_handle_t *timer)
{
    free(timer->data);
}

void soc_watch_close(struct soc_watch *watch)
{
    if (watch == NULL)
        return;
    close_folders(watch->folders);
    uv_close((uv_handle_t *)&watch->timer, free_watch);
}
