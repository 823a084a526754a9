/* Watch: when the file door looks at its files.
 *
 * The system reports changes (inotify). In addition, and alone where that is not
 * available or switched off, all files are swept at intervals that grow while nothing
 * comes in.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_WATCH_H
#define SOC_BRIDGE_FILES_WATCH_H

#include "bridge/files/state.h"

/* Starts and stops watching. */
void soc_files_watch_open(struct soc_files *files);
void soc_files_watch_close(struct soc_files *files);

/* Looks at every file now, as nobody writes any more: a last line without its newline is
 * taken as well. Returns whether there is more than one step takes. */
bool soc_files_watch_take_rest(struct soc_files *files);

#endif
