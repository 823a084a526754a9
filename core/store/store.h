/* Store: where a society's history is kept, whatever keeps it.
 *
 * A society writes batches of records, in order. A store keeps them and folds them,
 * later, into tables that can be queried. Two implementations fill the functions
 * below: memory.h, and sqlite/sqlite.h for a state directory. One suite of tests runs
 * over both (store_test.c).
 *
 * A store belongs to one thread at a time: the one that opened it until
 * soc_journal_open, then the journal's.
 * Layer: store. Thread: as said. */
#ifndef SOC_STORE_STORE_H
#define SOC_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/record.h"

struct soc_past;
struct soc_snapshot;
struct soc_store;

/* Called for each record of a load. A negative result ends the load. */
typedef int soc_record_cb(const struct soc_record *record, void *user);

/* Which dead letters to hand out. */
struct soc_letters_span {
    uint64_t key;   /* only this one; 0: all */
    uint64_t after; /* those with a higher key */
    uint64_t line;  /* those that died up to this line of the activity log; 0: all */
    bool is_count;  /* only count them */
};

/* What a page of dead letters begins with. */
struct soc_letters_page {
    uint64_t next;  /* where the next page begins (`after`); 0: this is the last one */
    uint64_t line;  /* the last line of the activity log */
    uint64_t count; /* letters that fit, of those looked at */
};

/* What a page says beside its rows. Lines are those of the activity log. */
struct soc_page {
    uint64_t next;     /* ask for rows after this line to go on; 0: there are none */
    uint64_t previous; /* ask for rows before this line to go back; 0: there are none */
    uint64_t as_of;    /* last line that the page knows of */
    uint64_t last;     /* last cursor of the list; as_of, unless cursors are keys */
    uint64_t first;    /* first line there is */
};

/* A query of the tables. Which filters apply depends on `what`. */
struct soc_query {
    const char *what; /* agents contacts messages dead_letters activity tasks roles meta dump … */
    struct soc_slice from;   /* of dead letters and `letters` only … */
    struct soc_slice to;     /* … */
    struct soc_slice reason; /* … the code of the error they ended with */
    struct soc_slice agent;
    struct soc_slice task;
    struct soc_slice type;
    struct soc_slice correlation_id;
    struct soc_slice state; /* of the inbox only: open (default), decided, withdrawn, all */
    uint64_t key;           /* of `message`, `life` and `item` only: which one */
    struct soc_slice id;    /* of `message`, `life` and one of `letters`: as it is shown */
    int64_t since_ms;       /* inclusive; 0: from the beginning */
    int64_t until_ms;       /* exclusive; 0: no end */
    int64_t now_ms;         /* the date, which tells what is overdue; 0: the machine's */
    int64_t limit;          /* the latest so many rows; 0: all */
    /* Of activity, messages, dead letters and tasks: one page, with up to `limit` rows after
     * line `after` in ascending order; or, unless it `has_after`, the latest before line
     * `before` (0: of all). Of inbox items that are over, these are keys. */
    bool is_page;
    bool has_after;
    uint64_t after;
    uint64_t before;
    uint64_t upto;         /* no rows beyond this line; 0: all */
    int64_t budget_us;     /* time for the page; 0: as long as it takes */
    size_t bytes_max;      /* after which the page ends; 0: SOC_PAGE_BYTES_MAX. Of all rows of a
                            * list without pages: beyond which they are refused; 0: no bound */
    struct soc_past *past; /* of `at` only: what earlier pages found (tables/past.h) */
    bool is_prompt;        /* to a journal: it does not wait while the reader rests */
    bool is_of_durable;    /* to a journal: as of what is durable, not of all that was submitted */
    struct soc_letters_span span; /* of `letters` only */
    /* To a journal: wait while the disk is full instead of failing. */
    bool waits_for_room;
};

/* A row of the history that is kept for replay (kernel/history.h); its texts are lent. */
struct soc_history_row {
    int64_t number; /* rises by one */
    int64_t time_ms;
    struct soc_slice what;
    struct soc_slice agent;  /* absent: no agent's */
    struct soc_slice detail; /* JSON */
    bool is_damaged;         /* the checksum of the detail is wrong */
};

/* Called for each row of the history. A negative result ends the walk. */
typedef int soc_history_cb(void *user, const struct soc_history_row *row);

/* Called for each entry of an agent's conversation. */
typedef void soc_memory_cb(void *user, const struct soc_record_memory *entry);

/* What an implementation fills in. The functions below say what each does. */
struct soc_store_ops {
    int (*load)(struct soc_store *store, soc_record_cb *cb, void *user, struct soc_detail *detail);
    int (*commit)(struct soc_store *store, const struct soc_slice *batches, size_t count,
                  struct soc_detail *detail);
    int (*fold)(struct soc_store *store, size_t bytes_max, struct soc_detail *detail);
    int (*look)(struct soc_store *store, const struct soc_query *query, struct soc_page *page,
                struct soc_buf *out, struct soc_detail *detail);
    int (*open_reader)(struct soc_store *store, struct soc_store **out, struct soc_detail *detail);
    int (*letter)(struct soc_store *store, uint64_t key, soc_record_cb *cb, void *user,
                  struct soc_detail *detail);
    int (*history)(struct soc_store *store, soc_history_cb *cb, void *user,
                   struct soc_detail *detail);
    int (*history_count)(struct soc_store *store, int64_t *count, struct soc_detail *detail);
    int (*source)(struct soc_store *store, struct soc_slice hash, struct soc_buf *out,
                  struct soc_detail *detail);
    int (*memories)(struct soc_store *store, soc_memory_cb *cb, void *user,
                    struct soc_detail *detail);
    int (*keep)(struct soc_store *store, struct soc_snapshot *snapshot, struct soc_detail *detail);
    int (*tidy)(struct soc_store *store, bool is_last, struct soc_detail *detail);
    int (*check)(struct soc_store *store, struct soc_detail *detail);
    void (*close)(struct soc_store *store);
};

/* How far a store has come. */
struct soc_store_position {
    uint64_t sequence;  /* of the last batch committed; 0 in a new store */
    uint64_t folded;    /* of the last batch in the tables */
    uint64_t backlog;   /* bytes of the batches in between */
    uint64_t lines;     /* of the activity log, in the tables */
    uint64_t last_line; /* of the activity log, in all batches (line.h) */
    uint64_t last_key;  /* highest key of a message in all batches */
};

/* How long what is over is kept. Zeroed: for ever. */
struct soc_retention {
    int64_t days;  /* what is older is removed; 0: whatever its age */
    int64_t bytes; /* of the database, beyond which the oldest is removed; 0: no limit */
};

/* What all stores have in common; the first member of an implementation's struct. */
struct soc_store {
    const struct soc_store_ops *ops;
    struct soc_store_position at;
    struct soc_retention retention; /* set by whoever uses the store; memory keeps all */
    bool is_durable; /* it outlives the process, so the journal folds it ahead of need */
    bool is_untidy;  /* soc_store_tidy has something to do */
    bool is_crowded; /* readers should pause, so that it can tidy up */
};

/* Closes the store and frees it. NULL is allowed. */
void soc_store_close(struct soc_store *store);

/* Hands out what a host needs to resume. From the tables come meta, roles, agents and
 * contacts in their order of origin, states, pending messages, the dead letters to which
 * a reply is pending, activations, effects, open tasks with their messages, the last ended
 * tasks of each agent, takes and open outputs. Then follows every record of the batches
 * that are not folded yet. The cost depends on what is live and on how many agents have
 * ended, not on history: other finished messages are not read. */
int soc_store_load(struct soc_store *store, soc_record_cb *cb, void *user,
                   struct soc_detail *detail);

/* The sequence of the last batch committed, 0 in a new store; the last one that is in the
 * tables; and the bytes of the batches in between. */
uint64_t soc_store_sequence(const struct soc_store *store);
uint64_t soc_store_folded(const struct soc_store *store);
uint64_t soc_store_backlog(const struct soc_store *store);

/* Commits batches in one transaction; they are durable when it returns SOC_OK. `first`
 * is the sequence of the first one and must be the next. SOC_EDISKFULL: nothing was
 * written, try again later. SOC_EIO: it is unknown what was written; close the store. */
int soc_store_commit(struct soc_store *store, uint64_t first, const struct soc_slice *batches,
                     size_t count, struct soc_detail *detail);

/* Folds batches into the tables, about `bytes_max` bytes of them, in one transaction.
 * Returns 1 if there are more, 0 if not, or an error. */
int soc_store_fold(struct soc_store *store, size_t bytes_max, struct soc_detail *detail);

/* Answers a query from the tables as they are, without folding. A read-only store, which
 * cannot fold, includes the batches that are not folded; so does every store for
 * `activity`. A query that `is_page` appends the rows of one page, separated by commas
 * (tables/page.h); any other appends a JSON array of row objects in ascending order of
 * time or origin. lookup.h asks for all rows of a list.
 *
 * `dump` gives every row of every table, sorted, with `table` as a member: the same
 * history gives the same bytes. SOC_EINVAL: `what` is unknown.
 *
 * `letters` gives a page of dead letters as bytes instead: a struct soc_letters_page, then
 * for each letter, in the order of their keys, the records of its message, its end, its
 * failed task and the ended tasks above that. A page looks at a bounded number of letters,
 * and its bytes are bounded too unless one letter alone has more. */
int soc_store_look(struct soc_store *store, const struct soc_query *query, struct soc_page *page,
                   struct soc_buf *out, struct soc_detail *detail);

/* Opens a connection beside that of a store that is being written, for another thread. It
 * only answers soc_store_look, from one snapshot each time; other lists than `activity` as
 * far as they are folded. SOC_EINVAL: the store has none. Release with soc_store_close(). */
int soc_store_open_reader(struct soc_store *store, struct soc_store **out,
                          struct soc_detail *detail);

/* Hands out a dead letter that is in the tables: its message and its end. Nothing if there
 * is none with that key. May be called during a load. */
int soc_store_letter(struct soc_store *store, uint64_t key, soc_record_cb *cb, void *user,
                     struct soc_detail *detail);

/* Calls `cb` with every row of the history that is folded, in order. */
int soc_store_history(struct soc_store *store, soc_history_cb *cb, void *user,
                      struct soc_detail *detail);

/* Counts those rows, for a progress display. */
int soc_store_history_count(struct soc_store *store, int64_t *count, struct soc_detail *detail);

/* Appends the source text with that hash. SOC_ENOFILE: it was not kept; SOC_ECORRUPT: its
 * bytes have another hash. */
int soc_store_source(struct soc_store *store, struct soc_slice hash, struct soc_buf *out,
                     struct soc_detail *detail);

/* Calls `cb` with every entry of every agent's conversation that is folded, in order for
 * each agent. */
int soc_store_memories(struct soc_store *store, soc_memory_cb *cb, void *user,
                       struct soc_detail *detail);

/* Stores a bounded part of a snapshot (tables/snapshots.h) that a look has left. Returns 1 if
 * there is more of it, SOC_OK if it is stored, or an error. */
int soc_store_keep(struct soc_store *store, struct soc_snapshot *snapshot,
                   struct soc_detail *detail);

/* Does maintenance that is best done when nothing else waits. `is_last`: before a close,
 * everything that is left, so that an error is reported, which a close does not. */
int soc_store_tidy(struct soc_store *store, bool is_last, struct soc_detail *detail);

/* Checks, cheaply, that what is stored is still where it is looked for. A commit does so
 * before it returns; while nothing is committed the journal asks once a second. SOC_EIO:
 * files were removed or replaced; close the store. */
int soc_store_check(struct soc_store *store, struct soc_detail *detail);

/* For implementations: hands out every record of one batch. */
int soc_store_load_batch(struct soc_slice batch, uint64_t sequence, soc_record_cb *cb, void *user,
                         struct soc_detail *detail);

#endif
