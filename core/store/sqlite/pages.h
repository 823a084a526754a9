/* Pages: every page of the database carries a checksum.
 *
 * A layer between SQLite and the files, own to one store: at the end of each page that
 * goes into society.db it writes a checksum of the page and its number, in bytes that
 * SQLite leaves free, and checks it when the page is read. So a flipped bit anywhere in
 * the file is noticed before anything is made of it, whatever table or index it is in.
 * The write-ahead log has checksums of SQLite's own.
 *
 * Other programs can read the database as any other. A page that one of them writes
 * has the wrong checksum and is taken for damaged; but if one has only copied the log
 * of a killed society back, as SQLite does when it closes, the store takes that over.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_SQLITE_PAGES_H
#define SOC_STORE_SQLITE_PAGES_H

#include <stdbool.h>

#include <sqlite3.h>

#include "base/err.h"

/* What SQLite is asked to leave free at the end of a page. */
#define SOC_PAGES_CHECK_BYTES 8

struct soc_pages;

/* Makes the layer above `below` (NULL: SQLite's own way to files), which it borrows.
 * Release with soc_pages_free() when the database is closed. */
struct soc_pages *soc_pages_new(sqlite3_vfs *below);

/* Frees it. NULL is allowed. */
void soc_pages_free(struct soc_pages *pages);

/* The name under which SQLite knows the layer, and what lies below. */
const char *soc_pages_vfs(const struct soc_pages *pages);
sqlite3_vfs *soc_pages_below(const struct soc_pages *pages);

/* Says that the database is new: its pages get checksums from the first on. One that
 * is opened tells by itself whether it has them. */
void soc_pages_begin(struct soc_pages *pages);

/* Whether pages are checked; those of a database of an older version are not. */
bool soc_pages_are_checked(const struct soc_pages *pages);

/* Reads pages whatever their checksums say, until it is told otherwise. */
void soc_pages_trust(struct soc_pages *pages, bool is_trusted);

/* Gives every page of the database at `path`, which is not open, the checksum of what
 * it holds, and syncs the file. Returns SQLite's result. */
int soc_pages_reseal(struct soc_pages *pages, const char *path);

/* Lends the text that names the first damaged page that was read, empty until then. */
const char *soc_pages_damage(const struct soc_pages *pages);

#endif
