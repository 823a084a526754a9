/* Watch: tells that some of a list of files may have been saved.
 *
 * Editors write a file in place, or a new one and rename it over the old one, or
 * remove and make it; so the directories are watched, not the files, and what comes
 * together is told once. It does not say which file: whoever wants to know compares
 * what they hold. A directory that is not there is looked for now and then.
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_WATCH_H
#define SOC_LOOP_WATCH_H

#include "loop/loop.h"

struct soc_watch;

/* Some of the files may have changed. It may call soc_watch_set. */
typedef void soc_watch_cb(void *user);

/* Returns a watch of no files. End it with soc_watch_close before the loop is freed. */
struct soc_watch *soc_watch_open(struct soc_loop *loop, soc_watch_cb *cb, void *user);

/* Watches these files, `count` paths, instead of those before. Changes from now on
 * are told; look at the files afterwards, so that none is missed between. */
void soc_watch_set(struct soc_watch *watch, const char *const *paths, int count);

/* Tells nothing more. The memory goes when the loop has run the closing, at
 * soc_loop_free at the latest. NULL is allowed. */
void soc_watch_close(struct soc_watch *watch);

#endif
