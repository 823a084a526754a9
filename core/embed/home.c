#include "embed/home.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEVELS_MAX 3 /* levels above the executable's directory that are searched */

static bool is_directory(const char *path, size_t length, const char *name)
{
    struct soc_buf full = {0};
    struct stat info;
    soc_buf_put(&full, path, length);
    soc_buf_put_text(&full, name);
    bool is_one = stat(soc_buf_text(&full), &info) == 0 && S_ISDIR(info.st_mode);
    soc_buf_fini(&full);
    return is_one;
}

static bool is_home(const char *path, size_t length)
{
    return is_directory(path, length, "/lua/society") && is_directory(path, length, "/policies");
}

static void put_path(struct soc_buf *out, const char *path, size_t length, const char *rest)
{
    soc_buf_put(out, path, length);
    soc_buf_put_text(out, rest);
    soc_buf_put_byte(out, '\0');
}

/* Shortens `path` to its parent directory; false at the root. */
static bool go_up(const char *path, size_t *length)
{
    while (*length > 0 && path[*length - 1] != '/')
        --*length;
    if (*length <= 1)
        return false;
    --*length;
    return true;
}

bool soc_home_find(struct soc_buf *out)
{
    const char *given = getenv("SOCIETY_HOME");
    if (given != NULL && given[0] != '\0') {
        put_path(out, given, strlen(given), "");
        return is_directory(given, strlen(given), "/lua");
    }
    char path[PATH_MAX];
    ssize_t read = readlink("/proc/self/exe", path, sizeof(path));
    if (read <= 0)
        return false;
    size_t length = (size_t)read;
    for (int level = 0; level <= LEVELS_MAX && go_up(path, &length); level++) {
        if (is_home(path, length)) {
            put_path(out, path, length, "");
            return true;
        }
    }
    length = (size_t)read;
    if (!go_up(path, &length) || !go_up(path, &length) ||
        !is_directory(path, length, "/share/society"))
        return false;
    put_path(out, path, length, "/share/society");
    return true;
}
