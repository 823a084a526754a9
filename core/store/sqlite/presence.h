/* Presence: notices that the files of an open store were removed or replaced.
 *
 * A process keeps writing into a file that has no name any more, and every sync of it
 * succeeds. So the store remembers which files it has opened, by device and inode, and
 * compares them with what has their names now: before it reports a commit as durable, and
 * once a second while idle.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_SQLITE_PRESENCE_H
#define SOC_STORE_SQLITE_PRESENCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

#define SOC_PRESENCE_COUNT 5 /* the directory, the database, its log, index and mark */

/* The files of a store. Zeroed: nothing is compared. */
struct soc_presence {
    struct soc_present {
        char *path; /* owned, absolute; NULL: it was not there */
        dev_t device;
        ino_t inode;
    } files[SOC_PRESENCE_COUNT];
};

/* Remembers the files of the directory, which are open. */
int soc_presence_note(struct soc_presence *presence, const char *directory,
                      struct soc_detail *detail);

/* Compares. SOC_EIO: one of them was removed, moved or replaced; the detail names it. */
int soc_presence_check(const struct soc_presence *presence, struct soc_detail *detail);

/* Frees the paths. */
void soc_presence_fini(struct soc_presence *presence);

#endif
