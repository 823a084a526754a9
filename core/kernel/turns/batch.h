/* Batch: the records of what happens, until they are sealed for the journal.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_BATCH_H
#define SOC_KERNEL_TURNS_BATCH_H

#include "store/record.h"

struct soc_host;

/* Appends a record to the batch under way. */
void soc_batch_put(struct soc_host *host, const struct soc_record *record);

/* Appends one that stays whatever becomes of the turn under way. */
void soc_batch_keep(struct soc_host *host, const struct soc_record *record);

/* Appends a named value of the society. */
void soc_batch_put_meta(struct soc_host *host, const char *name, struct soc_slice value);

/* Seals what is in the batch and hands it to the writer, even if that is busy. */
void soc_batch_seal(struct soc_host *host);

/* Reads the counters back that every batch ends with. */
void soc_batch_read_cursor(struct soc_host *host, struct soc_slice json);

#endif
