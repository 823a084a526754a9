/* Backup: a verified copy of a society in one file, and a state directory made from one.
 *
 * The copy is taken from one snapshot by a connection of its own, so a running society goes
 * on meanwhile; it contains everything that was durable when the copy began. It is an SQLite
 * database with the checksums of pages.h. A copy by another program may lack them, or
 * contain half of a transaction, and is refused.
 *
 * A file appears under its name only when it is complete, verified and synced.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_SQLITE_BACKUP_H
#define SOC_STORE_SQLITE_BACKUP_H

#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

/* What a copy or a check has found. */
struct soc_backup_report {
    uint64_t bytes;    /* of the database */
    uint64_t sequence; /* of the last batch */
    uint64_t line;     /* last line of the activity log */
    uint64_t records;  /* that a start would load */
    char host[SOC_HOST_NAME_BYTES_MAX +
              1]; /* its name among joined hosts; "": it never joined any */
    /* The hosts that know it, with a comma behind each. */
    char peers[SOC_HOSTS_MAX * (SOC_HOST_NAME_BYTES_MAX + 1) + 1];
};

/* Copies the society in `directory` to `file`, which must not exist unless `may_replace`.
 * SOC_EEXISTS, SOC_ENOFILE, SOC_ECORRUPT, SOC_EDISKFULL, SOC_EIO, SOC_EOLDER. */
int soc_backup_make(const char *directory, const char *file, int may_replace,
                    struct soc_backup_report *report, struct soc_detail *detail);

/* Makes a state directory of the backup `file`, which is verified first. SOC_EEXISTS: there
 * is a society already. */
int soc_backup_restore(const char *file, const char *directory, struct soc_backup_report *report,
                       struct soc_detail *detail);

/* Checks a backup: the checksums of all pages, the structure, and every record that a
 * start loads. */
int soc_backup_verify_file(const char *file, struct soc_backup_report *report,
                           struct soc_detail *detail);

/* The same for the pages in use of the society in `directory`, running or stopped. */
int soc_backup_verify_state(const char *directory, struct soc_backup_report *report,
                            struct soc_detail *detail);

#endif
