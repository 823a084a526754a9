/* Policies: the policies in force, as recorded in the journal.
 *
 * The script layer records them at the start and with every swap, so that they can be
 * inspected even after the society has stopped.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_POLICIES_POLICIES_H
#define SOC_PARTS_POLICIES_POLICIES_H

#include <stdbool.h>

#include "base/slice.h"

struct soc_host;

/* Lends the list recorded last, by this run or an earlier one: JSON objects { kind,
 * name, hash, version, path?, settings? }; `[]` if none was ever recorded. */
struct soc_slice soc_policies_recorded(const struct soc_host *host);

/* Tells whether any run has recorded a list. */
bool soc_policies_are_recorded(const struct soc_host *host);

/* Records the list unless it equals the last one. */
void soc_policies_record(struct soc_host *host, struct soc_slice list);

#endif
