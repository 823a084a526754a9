/* Wal: what the store itself does with SQLite's write-ahead log.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_SQLITE_WAL_H
#define SOC_STORE_SQLITE_WAL_H

#include <sqlite3.h>

/* Rewrites and syncs the log that a former process left beside the database at `path`,
 * before SQLite opens it. `vfs` is how SQLite gets at files. Returns SQLite's result code.
 *
 * If a sync has failed there, the kernel may hold bytes that are not on the disk, consider
 * them written and report no error from later syncs. What is read from them now would
 * count as durable and be gone after a power loss. Rewriting makes the sync real. A store
 * that was closed properly has no log, so this costs nothing. */
int soc_wal_renew(sqlite3_vfs *vfs, const char *path);

#endif
