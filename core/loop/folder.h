/* Folder: reports each change in a directory at once.
 *
 * Unlike watch.h, which waits until an editor is done, this is for directories that others
 * write to all the time: every change is reported as the system reports it. Where the
 * system cannot (some network file systems), the user must poll. Polling slowly is wise in
 * any case, because the system may drop events that come too fast.
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_FOLDER_H
#define SOC_LOOP_FOLDER_H

#include "loop/loop.h"

struct soc_folder;

/* `name` was created, written, moved or removed; NULL: the system does not say what. */
typedef void soc_folder_cb(void *user, const char *name);

/* Watches the directory; NULL if the system cannot. Release with soc_folder_close. */
struct soc_folder *soc_folder_open(struct soc_loop *loop, const char *path, soc_folder_cb *cb,
                                   void *user);

/* Stops watching. The memory is freed once the loop has run the close callback, by
 * soc_loop_free at the latest. NULL is allowed. */
void soc_folder_close(struct soc_folder *folder);

#endif
