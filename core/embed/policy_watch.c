#include "embed/policy_watch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/watch.h"

struct soc_policy_watch {
    struct soc_script *script;
    struct soc_watch *files;
};

/* Paths, lent by the script. */
struct paths {
    const char **items;
    int count;
};

static void add_path(void *user, const char *path)
{
    struct paths *paths = user;
    paths->items = soc_realloc(paths->items, (size_t)(paths->count + 1) * sizeof(*paths->items));
    paths->items[paths->count++] = path;
}

void soc_policy_watch_renew(struct soc_policy_watch *watch)
{
    struct paths paths = {0};
    soc_script_each_policy_file(watch->script, add_path, &paths);
    soc_watch_set(watch->files, paths.items, paths.count);
    free(paths.items);
}

/* Watches are renewed before the files are read: a directory may have been replaced,
 * and later changes must be noticed. */
static void look(void *user)
{
    struct soc_policy_watch *watch = user;
    soc_policy_watch_renew(watch);
    soc_script_reload_policies(watch->script);
}

struct soc_policy_watch *soc_policy_watch_open(struct soc_assembly *parts)
{
    assert(parts->script != NULL && parts->loop != NULL);
    struct soc_policy_watch *watch = soc_alloc_zero(sizeof(*watch));
    watch->script = parts->script;
    watch->files = soc_watch_open(parts->loop, look, watch);
    look(watch);
    return watch;
}

void soc_policy_watch_close(struct soc_policy_watch *watch)
{
    if (watch == NULL)
        return;
    soc_watch_close(watch->files);
    free(watch);
}
