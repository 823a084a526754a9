#include "store/sqlite/presence.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"

/* The path is absolute: a program that embeds a society may change its directory. */
int soc_presence_note(struct soc_presence *presence, const char *directory,
                      struct soc_detail *detail)
{
    static const char *const names[SOC_PRESENCE_COUNT] = {"", "/society.db", "/society.db-wal",
                                                          "/society.db-shm", "/society.db-mark"};
    assert(presence->files[0].path == NULL);
    char *place = realpath(directory, NULL);
    if (place == NULL)
        return soc_fail(detail, SOC_EIO, "%s: %s", directory, strerror(errno));
    for (int i = 0; i < SOC_PRESENCE_COUNT; i++) {
        struct soc_present *file = &presence->files[i];
        struct soc_buf path = {0};
        struct stat status;
        soc_buf_printf(&path, "%s%s", place, names[i]);
        soc_buf_put_byte(&path, '\0');
        if (lstat(path.data, &status) == 0) {
            *file = (struct soc_present){path.data, status.st_dev, status.st_ino};
        } else {
            soc_buf_fini(&path);
        }
    }
    free(place);
    return SOC_OK;
}

int soc_presence_check(const struct soc_presence *presence, struct soc_detail *detail)
{
    for (int i = 0; i < SOC_PRESENCE_COUNT; i++) {
        const struct soc_present *file = &presence->files[i];
        struct stat status;
        if (file->path == NULL)
            continue;
        bool is_there = lstat(file->path, &status) == 0;
        if (!is_there && errno != ENOENT && errno != ENOTDIR)
            return soc_fail(detail, SOC_EIO, "%s: %s", file->path, strerror(errno));
        if (is_there && status.st_dev == file->device && status.st_ino == file->inode)
            continue;
        return soc_fail(detail, SOC_EIO,
                        "%s was %s while the society was running; nothing that was written "
                        "since counts as stored",
                        file->path, is_there ? "replaced" : "removed or moved");
    }
    return SOC_OK;
}

void soc_presence_fini(struct soc_presence *presence)
{
    for (int i = 0; i < SOC_PRESENCE_COUNT; i++)
        free(presence->files[i].path);
    *presence = (struct soc_presence){0};
}
