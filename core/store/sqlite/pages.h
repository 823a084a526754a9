/* Pages: every page of the database carries a checksum.
 *
 * A layer between SQLite and the files. At the end of each page of society.db, in bytes
 * that SQLite reserves, it writes a checksum of the page and its number, and verifies it
 * when the page is read. So a flipped bit anywhere in the file is noticed before it is
 * used, in whichever table or index. The write-ahead log has SQLite's own checksums.
 *
 * Other programs can read the database as usual. A page that one of them writes has a
 * wrong checksum and counts as damaged. But if one has only copied back the log of a
 * killed society, as SQLite does when it closes, the store adopts that.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_SQLITE_PAGES_H
#define SOC_STORE_SQLITE_PAGES_H

#include <stdbool.h>

#include <sqlite3.h>

#include "base/err.h"

/* Bytes that SQLite reserves at the end of a page. */
#define SOC_PAGES_CHECK_BYTES 8

struct soc_pages;

/* Creates the layer above `below` (NULL: SQLite's default), which it borrows. Release
 * with soc_pages_free() after the database is closed. */
struct soc_pages *soc_pages_new(sqlite3_vfs *below);

/* Frees it. NULL is allowed. */
void soc_pages_free(struct soc_pages *pages);

/* The name of the layer in SQLite, and the layer below. */
const char *soc_pages_vfs(const struct soc_pages *pages);
sqlite3_vfs *soc_pages_below(const struct soc_pages *pages);

/* Marks the database as new: all its pages get checksums. An existing one tells by itself
 * whether it has them. */
void soc_pages_begin(struct soc_pages *pages);

/* Tells whether pages are checked; those of an older version are not. */
bool soc_pages_are_checked(const struct soc_pages *pages);

/* Turns checks off, or on again. */
void soc_pages_trust(struct soc_pages *pages, bool is_trusted);

/* Rewrites the checksum of every page of the database at `path`, which is not open, and
 * syncs the file. Returns SQLite's result code. */
int soc_pages_reseal(struct soc_pages *pages, const char *path);

/* Reads every page of the database at `path`, which nobody writes, and compares its
 * checksum, also of pages that are free. Returns SQLite's result code. */
int soc_pages_check_all(struct soc_pages *pages, const char *path);

/* Lends the text that names the first damaged page that was read, empty until then. */
const char *soc_pages_damage(const struct soc_pages *pages);

#endif
