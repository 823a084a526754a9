/* Policy watch: a policy whose file is saved is put in force.
 *
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_POLICY_WATCH_H
#define SOC_EMBED_POLICY_WATCH_H

#include "embed/assembly.h"

struct soc_policy_watch;

/* Watches the files of the policies in force, also of those that come into force
 * later. For a society with a loop, which is lent. */
struct soc_policy_watch *soc_policy_watch_open(struct soc_assembly *parts);

/* Watches what is in force now: after a swap that was no saved file. */
void soc_policy_watch_renew(struct soc_policy_watch *watch);

/* Ends it; before the script and the loop are freed. NULL is allowed. */
void soc_policy_watch_close(struct soc_policy_watch *watch);

#endif
