/* Statuses: the HTTP status of each error.
 *
 * Layer: bridge. Thread: any. */
#ifndef SOC_BRIDGE_HTTP_STATUSES_H
#define SOC_BRIDGE_HTTP_STATUSES_H

#include "base/slice.h"

/* Returns the status for the wire name of an error: that of the table, or by the form of its
 * name, or 500. */
int soc_statuses_of(struct soc_slice error);

#endif
