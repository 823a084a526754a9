/* Archive: removes old files from the archive of a workflow directory.
 *
 * They are what rotations and ended workflows have left: nobody reads them any more. Those
 * that have another name are left alone, since a rotation gives a file two for a moment.
 * Layer: bridge. Thread: any, one at a time. */
#ifndef SOC_BRIDGE_FILES_ARCHIVE_H
#define SOC_BRIDGE_FILES_ARCHIVE_H

#include <stdint.h>

#include "bridge/files/workdir.h"

/* What may stay. */
struct soc_archive_limits {
    int64_t oldest_ms; /* files last written before are removed; INT64_MIN: none is too old */
    int64_t bytes_max; /* beyond which the oldest are removed; 0: no limit */
};

/* Removes what exceeds the limits, up to a bound at a time, and folders that are empty then.
 * Returns how many files were removed. What cannot be read or removed stays. */
int soc_archive_prune(const struct soc_workdir *dir, const struct soc_archive_limits *limits);

#endif
