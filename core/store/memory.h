/* Memory: the store of a society that leaves nothing behind.
 *
 * It keeps batches as they came. The tables exist only once something is folded or
 * queried: a society that lives and ends without being asked needs no SQLite at all.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_MEMORY_H
#define SOC_STORE_MEMORY_H

#include "store/store.h"

/* Returns an empty store. `blank`, lent, may be NULL: the first store that needs tables
 * leaves an empty database there, which later ones copy instead of creating their own.
 * The caller owns the store; release with soc_store_close(). */
struct soc_store *soc_memory_open(struct soc_buf *blank);

#endif
