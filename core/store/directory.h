/* Directory: the state directory of a society, and the lock that reserves it for one
 * process.
 *
 * It holds society.db with SQLite's own files beside it, and `lock`, which names the
 * process that runs the society. Only its owner may read it. The directory itself is
 * locked as well, because the file can be removed while it is locked.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_DIRECTORY_H
#define SOC_STORE_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* What to do about a damaged database, for the end of an error message. */
#define SOC_DIRECTORY_REMEDY                                                                       \
    "; restore a backup (`society restore`), or start over with `society run --fresh`"

#define SOC_DIRECTORY_FULL                                                                         \
    "the disk is full (storage_full) and nothing was changed; free some space"

/* Appends the path of `name` in the directory, with a NUL. */
void soc_directory_path(struct soc_buf *out, const char *directory, const char *name);

/* Checks the header of society.db without SQLite, so that nothing is touched. SOC_OK: one
 * of ours; SOC_ENOFILE, SOC_ENEWER, SOC_EACCESS, SOC_EIO; SOC_ECORRUPT: not a database of
 * ours, or missing while its log or mark is there. */
int soc_directory_check(const char *directory, struct soc_detail *detail);

/* The same for the file at `path`, wherever it is. */
int soc_directory_check_file(const char *path, struct soc_detail *detail);

/* Returns a seed that stays the same for as long as the directory is there, and that nobody can
 * guess who cannot look at it; 0: it is not there. */
uint32_t soc_directory_seed(const char *directory);

/* Tells whether a non-empty log or mark of a database is there. */
bool soc_directory_has_rest(const char *directory);

/* Creates the directory if it is missing, durably. */
int soc_directory_make(const char *directory, struct soc_detail *detail);

/* Descriptors that hold a directory; -1: none. */
struct soc_directory_lock {
    int file;      /* of `lock` */
    int directory; /* of the directory itself; -1 where directories cannot be locked */
};

#define SOC_DIRECTORY_FREE ((struct soc_directory_lock){-1, -1})

/* Takes the lock. SOC_ELOCKED: the detail names the holder. SOC_EACCESS: others can write
 * to the directory, or a file in it is a link, which is never followed. */
int soc_directory_lock(const char *directory, struct soc_directory_lock *lock,
                       struct soc_detail *detail);

/* Tells whether a process holds the lock now. */
bool soc_directory_is_held(const char *directory);

/* Releases the lock; one that is free is allowed. */
void soc_directory_unlock(struct soc_directory_lock lock);

/* Removes files that SQLite may have left beside a database that is gone. */
void soc_directory_clean(const char *path);

/* Creates an empty file for a database, or empties an old one; it is for its owner only. */
int soc_directory_make_file(const char *path, struct soc_detail *detail);

/* Finds a directory above `directory` that everybody can write and in which everybody may
 * rename what belongs to others: whoever does could put another state in the place of this
 * one. Appends its path; false if there is none. */
bool soc_directory_find_open(const char *directory, struct soc_buf *path);

/* Makes the directory entries durable. SQLite does this for a log that it creates, but
 * ignores errors. */
int soc_directory_sync(const char *directory, struct soc_detail *detail);

/* Renames the database `from` to the free name `to` in the same directory. It is durable
 * after soc_directory_sync. */
int soc_directory_rename(const char *from, const char *to, struct soc_detail *detail);

#endif
