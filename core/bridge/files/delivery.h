/* Delivery: messages on their way out through the file door.
 *
 * A message is appended to the queue of its receiver, a broadcast to the one file that
 * all agents read. A queue that is full is rotated; one that somebody else changed is
 * repaired.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_DELIVERY_H
#define SOC_BRIDGE_FILES_DELIVERY_H

#include "bridge/files/state.h"

/* Returns the door for soc_outside_open(). */
struct soc_door soc_files_delivery_door(struct soc_files *files);

/* Checks that the queue of an agent is as we left it, and has missing messages written
 * again. `client` NULL: the broadcasts. */
void soc_files_delivery_check(struct soc_files *files, struct soc_files_client *client);

/* Rotates the queue of an agent if it is full and enough of it is done. `client` NULL:
 * the broadcasts. */
void soc_files_delivery_rotate(struct soc_files *files, struct soc_files_client *client);

#endif
