/* Watch: reports that files of a list may have been saved.
 *
 * Editors write a file in place, or write a new one and rename it, or remove and create
 * it. So directories are watched, not files, and changes that come together are reported
 * once. Which file changed is not said: users compare what they have. A directory that is
 * missing is polled for.
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_WATCH_H
#define SOC_LOOP_WATCH_H

#include "loop/loop.h"

struct soc_watch;

/* Files may have changed. It may call soc_watch_set. */
typedef void soc_watch_cb(void *user);

/* Returns a watch without files. Release with soc_watch_close before the loop is freed. */
struct soc_watch *soc_watch_open(struct soc_loop *loop, soc_watch_cb *cb, void *user);

/* Watches these files, `count` paths, instead of the previous ones. Changes from now on
 * are reported; check the files afterwards, so that none is missed in between. */
void soc_watch_set(struct soc_watch *watch, const char *const *paths, int count);

/* Stops watching. The memory is freed once the loop has run the close callback, by
 * soc_loop_free at the latest. NULL is allowed. */
void soc_watch_close(struct soc_watch *watch);

#endif
