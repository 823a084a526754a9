/* SQLite: the store in a state directory, or on a simulated disk.
 *
 * A batch becomes one row of the table `journal`, in one transaction, and is folded later
 * into tables that people and tools can query: agents, roles, contacts, messages, tasks,
 * activations, effects, outputs, events, meta and the view activity_logs. Folding removes
 * the batches from the journal in the same transaction.
 *
 * A writer holds the lock of the directory. Readers open connections of their own that do
 * not write, whether or not a writer is there.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_SQLITE_SQLITE_H
#define SOC_STORE_SQLITE_SQLITE_H

#include "store/store.h"

struct soc_database;
struct soc_disk;

/* How a reader sees the store. */
enum soc_sqlite_access {
    SOC_SQLITE_WRITE,
    SOC_SQLITE_READ,     /* each query and load sees what is committed by then */
    SOC_SQLITE_SNAPSHOT, /* as it was when it was opened, with everything folded */
};

/* Where a store is, and how it is opened. */
struct soc_sqlite_options {
    const char *directory; /* or: */
    struct soc_disk *disk; /* a simulated disk (disk/disk.h), lent */
    enum soc_sqlite_access access;
    const char *sync; /* SQLite's `synchronous`; NULL: FULL. Only tests that must fail say less */
};

/* Tells SQLite not to count what it allocates: it takes a lock each time, a tenth of what folding
 * costs. For programs, before their first store: whoever embeds the library decides for itself. */
void soc_sqlite_count_nothing(void);

/* Tells SQLite that this process has one thread: it takes no locks and does not count what
 * it allocates. Call it before the first store, in programs of which that is true. */
void soc_sqlite_be_alone(void);

/* Opens or creates the store. A writer locks the directory first and upgrades an older
 * store. SOC_ELOCKED (the detail names the process), SOC_ENEWER, SOC_EACCESS, SOC_ENOFILE
 * (a reader, and nothing there), SOC_EOLDER (a reader), SOC_ECORRUPT, SOC_EIO; nothing is
 * changed then. The caller owns `*out`; release with soc_store_close(). */
int soc_sqlite_open(struct soc_store **out, const struct soc_sqlite_options *options,
                    struct soc_detail *detail);

/* Lends the connection of a store that was opened here, and tells whether its pages have
 * checksums (NULL: not asked). For backup.h. */
struct soc_database *soc_sqlite_lend(struct soc_store *store, bool *are_checked);

#endif
