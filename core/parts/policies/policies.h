/* Policies: which ones are in force, as the journal knows it.
 *
 * The script layer says it at the start and with every swap; whoever looks, also
 * at a society that has stopped, reads it from here.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_POLICIES_POLICIES_H
#define SOC_PARTS_POLICIES_POLICIES_H

#include <stdbool.h>

#include "base/slice.h"

struct soc_host;

/* Lends what was recorded last, by this run or the one before: a JSON list of
 * { kind, name, hash, version, path?, settings? }; `[]` if nothing ever was. */
struct soc_slice soc_policies_recorded(const struct soc_host *host);

/* Tells whether any run has recorded a list. */
bool soc_policies_are_recorded(const struct soc_host *host);

/* Records the list, if it is another one than the last. */
void soc_policies_record(struct soc_host *host, struct soc_slice list);

#endif
