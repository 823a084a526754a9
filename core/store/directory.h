/* Directory: the place of a society on disk and the lock that keeps it for one
 * process.
 *
 * It holds society.db with SQLite's own files beside it, and `lock`, which names
 * the process that runs the society. All of it is for its owner only. The directory
 * itself is locked, too: a file can be removed while it is held.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_DIRECTORY_H
#define SOC_STORE_DIRECTORY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* What people can do about a damaged database, behind a sentence that says what is wrong. */
#define SOC_DIRECTORY_REMEDY                                                                       \
    "; restore a copy of the whole directory, or begin anew with `society run --fresh`"

#define SOC_DIRECTORY_FULL "the disk is full (storage_full) and nothing was done; make room"

/* Appends the path of `name` in the directory and a NUL behind it. */
void soc_directory_path(struct soc_buf *out, const char *directory, const char *name);

/* Looks at the header of society.db without SQLite, so that nothing is touched:
 * SOC_OK for one of ours, SOC_ENOFILE, SOC_ENEWER, SOC_ECORRUPT for what is no
 * database of ours or if it is missing while its log or mark is there, SOC_EACCESS,
 * SOC_EIO. */
int soc_directory_check(const char *directory, struct soc_detail *detail);

/* Tells whether the log or the mark of a database is there, and not empty. */
bool soc_directory_has_rest(const char *directory);

/* Makes the directory if it is missing, and its entry durable. */
int soc_directory_make(const char *directory, struct soc_detail *detail);

/* Descriptors that hold a directory; -1: none. */
struct soc_directory_lock {
    int file;      /* of `lock` */
    int directory; /* of the directory itself, where such locks are to be had */
};

#define SOC_DIRECTORY_FREE ((struct soc_directory_lock){-1, -1})

/* Takes the lock. SOC_ELOCKED and the detail says who has it. */
int soc_directory_lock(const char *directory, struct soc_directory_lock *lock,
                       struct soc_detail *detail);

/* Tells whether somebody holds it now. */
bool soc_directory_is_held(const char *directory);

/* Gives the lock back; one that is free is allowed. */
void soc_directory_unlock(struct soc_directory_lock lock);

/* Removes what SQLite may have left beside a database that is itself gone. */
void soc_directory_clean(const char *path);

/* Makes an empty file for a database, for its owner only; an old one is emptied. */
int soc_directory_make_file(const char *path, struct soc_detail *detail);

/* Makes the names of the files in it durable. SQLite does this itself for a log that it has
 * made, and passes over an error. */
int soc_directory_sync(const char *directory, struct soc_detail *detail);

/* Gives the database `from` the free name `to` in the same directory, durably. */
int soc_directory_rename(const char *directory, const char *from, const char *to,
                         struct soc_detail *detail);

#endif
