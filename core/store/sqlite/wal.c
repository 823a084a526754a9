#include "store/sqlite/wal.h"

#include <stdlib.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/mem.h"

#define PIECE_BYTES (64 << 10) /* SQLite writes less than 128 KB at once */

static int copy_over(sqlite3_file *file)
{
    sqlite3_int64 length;
    int rc = file->pMethods->xFileSize(file, &length);
    char *piece = soc_alloc(PIECE_BYTES);
    for (sqlite3_int64 at = 0; rc == SQLITE_OK && at < length; at += PIECE_BYTES) {
        int count = length - at < PIECE_BYTES ? (int)(length - at) : PIECE_BYTES;
        rc = file->pMethods->xRead(file, piece, count, at);
        if (rc == SQLITE_OK)
            rc = file->pMethods->xWrite(file, piece, count, at);
    }
    free(piece);
    return rc == SQLITE_OK && length > 0 ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) : rc;
}

int soc_wal_renew(sqlite3_vfs *vfs, const char *path)
{
    struct soc_buf name = {0};
    soc_buf_printf(&name, "%s-wal", path);
    int is_there = 0;
    int rc = vfs->xAccess(vfs, soc_buf_text(&name), SQLITE_ACCESS_EXISTS, &is_there);
    if (rc == SQLITE_OK && is_there) {
        sqlite3_file *file = soc_alloc_zero((size_t)vfs->szOsFile);
        rc = vfs->xOpen(vfs, soc_buf_text(&name), file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL,
                        NULL);
        if (rc == SQLITE_OK)
            rc = copy_over(file);
        if (file->pMethods != NULL)
            file->pMethods->xClose(file);
        free(file);
    }
    soc_buf_fini(&name);
    return rc;
}
