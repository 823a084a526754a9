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

/* Lends the swaps that outlast the run, in order: JSON objects { kind, name, settings? };
 * `[]` if there are none. */
struct soc_slice soc_policies_kept(const struct soc_host *host);

/* Keeps a swap, with settings (JSON) or without, in place of the last one of its kind. A kind
 * of which several are in force keeps those, unless the name lists all of them, with commas.
 * An empty name keeps nothing of that kind. */
void soc_policies_keep(struct soc_host *host, struct soc_slice kind, struct soc_slice name,
                       struct soc_slice settings);

#endif
