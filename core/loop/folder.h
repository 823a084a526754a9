/* Folder: tells at once that something in a directory has changed, and what.
 *
 * Unlike watch.h, which waits until an editor is done, this is for directories that
 * others write into all the time: every change is told as the system tells it. Where the
 * system cannot (some network file systems), whoever asks has to look now and then; a
 * slow look beside it is wise anyway, since the system may drop what comes too fast.
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_FOLDER_H
#define SOC_LOOP_FOLDER_H

#include "loop/loop.h"

struct soc_folder;

/* Something called `name` was made, written, moved or removed; NULL: the system does not
 * say what. */
typedef void soc_folder_cb(void *user, const char *name);

/* Watches the directory; NULL if the system cannot. End it with soc_folder_close. */
struct soc_folder *soc_folder_open(struct soc_loop *loop, const char *path, soc_folder_cb *cb,
                                   void *user);

/* Tells nothing more. The memory goes when the loop has run the closing, at
 * soc_loop_free at the latest. NULL is allowed. */
void soc_folder_close(struct soc_folder *folder);

#endif
