/* Ledger: what is live according to records, one line for each thing.
 *
 * Two ledgers of the same society must agree: one of its whole history, and one of what its
 * store hands out at a start, where most of that history is folded into tables. The rules
 * come from the meaning of records (store/record.h) alone, not from the code that folds.
 * Layer: check. Thread: loop. */
#ifndef SOC_CHECK_LEDGER_H
#define SOC_CHECK_LEDGER_H

#include <stdbool.h>

#include "base/buf.h"
#include "store/record.h"
#include "store/store.h"

struct soc_ledger;

/* Returns an empty ledger. `store`, lent, is asked for a dead letter that is sent again and
 * was not among the records; NULL: all of them are. Release with soc_ledger_free(). */
struct soc_ledger *soc_ledger_new(struct soc_store *store);

/* Frees it. NULL is allowed. */
void soc_ledger_free(struct soc_ledger *ledger);

/* Reads one record. */
void soc_ledger_read(struct soc_ledger *ledger, const struct soc_record *record);

/* Returns true if what is live in `loaded` is what is live in `history`; otherwise appends
 * the first difference to `out`. */
bool soc_ledger_agrees(const struct soc_ledger *history, const struct soc_ledger *loaded,
                       struct soc_buf *out);

#endif
