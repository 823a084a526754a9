/* Joined: a society's links to other hosts over Redis, as its settings say.
 *
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_JOINED_H
#define SOC_EMBED_JOINED_H

#include "embed/assembly.h"

struct soc_links;

/* Opens the links of a started society; `*out` NULL: the settings name no hosts. SOC_EINVAL
 * with `detail`. */
int soc_joined_open(struct soc_links **out, const struct soc_assembly *parts,
                    struct soc_detail *detail);

#endif
