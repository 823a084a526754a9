/* Policy watch: reloads a policy when its file is saved.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_POLICY_WATCH_H
#define SOC_EMBED_POLICY_WATCH_H

#include "embed/assembly.h"

struct soc_policy_watch;

/* Watches the files of the active policies, including those activated later. For a
 * society with a loop, which is lent. */
struct soc_policy_watch *soc_policy_watch_open(struct soc_assembly *parts);

/* Watches the policies that are active now: after a swap that was not caused by a saved
 * file. */
void soc_policy_watch_renew(struct soc_policy_watch *watch);

/* Ends it, before the script and the loop are freed. NULL is allowed. */
void soc_policy_watch_close(struct soc_policy_watch *watch);

#endif
