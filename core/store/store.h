/* Store: the state directory's database, or the same in memory.
 *
 * A batch of records is appended as one row of the table `journal`, in one
 * transaction, and folded later into tables that people and tools can ask:
 * agents, roles, contacts, messages, tasks, activations, effects, outputs, events,
 * meta and the view activity_logs. Folded batches leave the journal in the same
 * transaction. Each batch carries a checksum.
 *
 * There is one connection that writes. It belongs to one thread at a time: the
 * opener's until soc_journal_open, then the journal's. Queries from elsewhere
 * open a connection of their own that only reads (is_read_only).
 * Layer: store. Thread: as said. */
#ifndef SOC_STORE_STORE_H
#define SOC_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/record.h"

struct soc_disk;
struct soc_store;

/* Where a store is, and how it is opened. */
struct soc_store_options {
    const char *directory; /* NULL: in memory, gone with the store */
    bool is_read_only;     /* look at a directory, whoever holds it */
    struct soc_disk *disk; /* instead of a directory, lent: a simulated disk (disk.h) */
    const char *sync;      /* of SQLite; NULL: FULL. Only tests that must fail say less */
    struct soc_buf *blank; /* lent: a database in memory without rows, which the first store
                            * that needs one leaves there for the next; NULL: each makes its own */
};

/* Tells SQLite that this process has one thread: it takes no locks and does not count
 * what it allocates. For programs of which that is true, before the first store. */
void soc_store_be_alone(void);

/* Opens or creates the store. A writer takes the lock of the directory first.
 * SOC_ELOCKED (the detail names the process), SOC_ENEWER, SOC_EACCESS, SOC_ENOFILE
 * (read-only and nothing there), SOC_EOLDER (read-only), SOC_ECORRUPT, SOC_EIO;
 * nothing is changed then. A writer brings an older store up to date.
 * The caller owns `*out`; release with soc_store_close(). */
int soc_store_open(struct soc_store **out, const struct soc_store_options *options,
                   struct soc_detail *detail);

/* Closes the database and gives the lock back. NULL is allowed. */
void soc_store_close(struct soc_store *store);

/* Called for each record of a load; a negative result ends it. */
typedef int soc_record_cb(const struct soc_record *record, void *user);

/* Hands out what is needed to go on: first meta, roles, agents and contacts as
 * they came, states, pending messages and dead letters, activations, effects, open tasks
 * with their messages and the last ended ones of each agent, takes and open outputs from
 * the tables (each kind in its order of origin), then every
 * record of the batches not folded yet, in order. Its time depends on what is
 * live and on how many agents have ended, not on history: finished messages are not
 * read, and of ended agents only who they were. */
int soc_store_load(struct soc_store *store, soc_record_cb *cb, void *user,
                   struct soc_detail *detail);

/* Number of the last batch appended, 0 in a new store. */
uint64_t soc_store_sequence(const struct soc_store *store);

/* Appends one batch, durable when it returns SOC_OK. `sequence` is one more than
 * the last. SOC_EDISKFULL: nothing was written, try again. SOC_EIO: unknown what
 * was; the store must be closed. */
int soc_store_append(struct soc_store *store, uint64_t sequence, struct soc_slice batch,
                     struct soc_detail *detail);

/* Folds batches until about `bytes_max` bytes of them are done, in one
 * transaction. Returns 1 if more are left, 0 if none are, or an error. */
int soc_store_fold(struct soc_store *store, size_t bytes_max, struct soc_detail *detail);

/* Bytes of batches not folded yet. */
uint64_t soc_store_backlog(const struct soc_store *store);

/* A question to the tables. Which fields apply depends on `what`. */
struct soc_query {
    const char *what; /* agents contacts messages dead_letters activity tasks roles meta dump */
    struct soc_slice agent;
    struct soc_slice task;
    struct soc_slice type;
    struct soc_slice correlation_id;
    int64_t since_ms; /* inclusive; 0: from the beginning */
    int64_t until_ms; /* exclusive; 0: no end */
    int64_t limit;    /* the latest so many rows; 0: all */
    /* To a journal: while the disk is full it is kept, not refused. */
    bool waits_for_room;
};

/* Appends a JSON array of row objects in ascending order of time or origin.
 * Folds everything first, where it may write. A read-only store sees batches
 * not folded yet as well. `dump` gives every row of every table, sorted, with
 * `table` as a member: the same history gives the same bytes. */
int soc_store_query(struct soc_store *store, const struct soc_query *query, struct soc_buf *out,
                    struct soc_detail *detail);

#endif
