/* Batch: collects records until they are sealed and handed to the journal.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_BATCH_H
#define SOC_KERNEL_TURNS_BATCH_H

#include "store/record.h"

struct soc_host;

/* Appends a record to the current batch; a rollback of the open turn removes it. */
void soc_batch_put(struct soc_host *host, const struct soc_record *record);

/* Appends a record that survives a rollback of the open turn. */
void soc_batch_keep(struct soc_host *host, const struct soc_record *record);

/* Records a named value of the society. */
void soc_batch_put_meta(struct soc_host *host, const char *name, struct soc_slice value);

/* Seals the current batch and hands it to the writer, even if that is busy. */
void soc_batch_seal(struct soc_host *host);

/* Restores the counters from the record that ends every batch. Returns its time. */
int64_t soc_batch_read_cursor(struct soc_host *host, struct soc_slice json);

#endif
