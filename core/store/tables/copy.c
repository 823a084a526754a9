#include "store/tables/copy.h"

#include <assert.h>

#include "store/tables/batches.h"
#include "store/tables/fold.h"

#define FOLD_BYTES (8u << 20) /* in one transaction */

int soc_copy_pages(struct soc_database *from, struct soc_database *to, struct soc_detail *detail)
{
    sqlite3_backup *backup = sqlite3_backup_init(to->db, "main", from->db, "main");
    if (backup == NULL)
        return soc_database_fail(to, sqlite3_errcode(to->db), detail);
    sqlite3_backup_step(backup, -1);
    int rc = sqlite3_backup_finish(backup);
    /* Of the two, only `from` can say which page is damaged. */
    return rc == SQLITE_OK ? SOC_OK : soc_database_fail(from, rc, detail);
}

static int fold_rest(struct soc_database *database, struct soc_store_position *at,
                     struct soc_detail *detail)
{
    struct soc_fold_source source = {soc_batches_read, database};
    struct soc_fold *fold = soc_fold_new(database);
    int rc = SOC_OK;
    while (rc == SOC_OK && at->folded < at->sequence)
        rc = soc_fold_run(fold, &source, at, FOLD_BYTES, detail);
    soc_fold_free(fold);
    return rc;
}

int soc_copy_make(struct soc_database *from, struct soc_database *to, struct soc_store_position *at,
                  struct soc_detail *detail)
{
    assert(from->db != NULL && to->db == NULL);
    int rc = soc_database_open(to, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, detail);
    if (rc == SOC_OK)
        rc = soc_copy_pages(from, to, detail);
    if (rc == SOC_OK)
        rc = soc_database_exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", detail);
    if (rc == SOC_OK)
        rc = soc_batches_position(to, at, detail);
    if (rc == SOC_OK)
        rc = soc_batches_last_line(to, at, detail);
    if (rc == SOC_OK)
        rc = fold_rest(to, at, detail);
    if (rc < 0)
        soc_database_close(to);
    return rc;
}
