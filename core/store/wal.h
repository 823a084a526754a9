/* Wal: what the store does itself to SQLite's write-ahead log.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_WAL_H
#define SOC_STORE_WAL_H

#include "base/err.h"

struct soc_store;

/* Writes the log that a former process left beside the database at `path` once more
 * and syncs it, before SQLite opens it.
 *
 * If a sync has failed there, the system may hold bytes that are not on the disk, take
 * them for written and report the error of no later sync. What is read from them now
 * would count as durable and be gone with the power. Written anew it is really
 * synced. A store that was closed in order has no log, and this costs nothing. */
int soc_wal_renew(struct soc_store *store, const char *path, struct soc_detail *detail);

#endif
