/* Fold: batches are applied to the tables, many at a time.
 *
 * Batches are taken in windows of bounded size. What comes and goes inside one window is
 * never written: a message and its end become one row, the effects of an activation that
 * ended leave none, and of several states only the last one counts. The tables end up as
 * if every record had been written by itself, whatever the windows were:
 *   1. messages, activations with their effects and takes, states, outputs and links of the
 *      window are kept in memory and written at its end; so are the ends of messages that
 *      were sent before it, unless something else happens to those;
 *   2. any other record about something outside the window changes the tables at once;
 *   3. everything else is written at once, in order.
 *
 * A line of the activity log (line.h) keeps its number. A message row holds the numbers of
 * its own line and of the line of its end (`place`, `end_place`). Rows that change or go
 * away cannot hold one, so their lines are rows of `events`. lines.h finds the row of a
 * line.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_FOLD_H
#define SOC_STORE_TABLES_FOLD_H

#include "store/store.h"
#include "store/tables/database.h"

struct soc_fold;

/* Where batches come from. `read` appends the bytes of the batches after `*last` to `out`
 * until that has `bytes_max` or `until` is in it, and moves `*last` to the last one read. */
struct soc_fold_source {
    int (*read)(void *user, uint64_t *last, uint64_t until, size_t bytes_max, struct soc_buf *out,
                struct soc_detail *detail);
    void *user;
};

/* Returns a fold into `database`, which it borrows. Release with soc_fold_free(). */
struct soc_fold *soc_fold_new(struct soc_database *database);

/* Frees it. NULL is allowed. */
void soc_fold_free(struct soc_fold *fold);

/* Folds about `bytes_max` bytes of batches in one transaction, which also removes them from
 * the table `journal`, and moves `at`. */
int soc_fold_run(struct soc_fold *fold, const struct soc_fold_source *source,
                 struct soc_store_position *at, size_t bytes_max, struct soc_detail *detail);

#endif
