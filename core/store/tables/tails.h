/* Tails: batches that are not folded yet, read and indexed for looks.
 *
 * A batch never changes, and many looks in a row want the last ones, so a few are kept: to
 * copy, check and walk a large batch takes longer than the look.
 * Layer: store. Thread: that of the database. */
#ifndef SOC_STORE_TABLES_TAILS_H
#define SOC_STORE_TABLES_TAILS_H

#include "store/record.h"
#include "store/tables/database.h"

/* A batch. */
struct soc_tail {
    uint64_t sequence;       /* 0: none */
    uint64_t used;           /* when it was used last, counted by uses */
    uint64_t lines;          /* the last line before it */
    struct soc_buf messages; /* where its messages are, in ascending order of their keys */
    struct soc_buf starts;   /* of the records that make lines, size_t each */
    struct soc_buf bytes;
};

struct soc_tails;

/* Returns a keeper without any. Release with soc_tails_free(). */
struct soc_tails *soc_tails_new(void);

/* Frees it. NULL is allowed. */
void soc_tails_free(struct soc_tails *tails);

/* Lends batch `sequence` of the journal, for as long as it is `kept` or not yet one of those
 * that make way: the others may be replaced by the next call. `kept` may be NULL. */
int soc_tails_read(struct soc_tails *tails, struct soc_database *database, uint64_t sequence,
                   const struct soc_tail *kept, const struct soc_tail **out,
                   struct soc_detail *detail);

/* Frees what is too large to be kept until the next look. */
void soc_tails_trim(struct soc_tails *tails);

/* Looks for the record of a message in a batch, and reads it. */
bool soc_tail_find(const struct soc_tail *tail, uint64_t key, struct soc_record *record);

#endif
