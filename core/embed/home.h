/* Home: finds the program's own Lua modules and policies.
 * Layer: embed. Thread: any. */
#ifndef SOC_EMBED_HOME_H
#define SOC_EMBED_HOME_H

#include "base/buf.h"

/* Appends the home directory and a NUL: $SOCIETY_HOME if set; else the executable's
 * directory or a close ancestor that holds lua/society and policies; else
 * ../share/society next to it. Returns false if there is none. */
bool soc_home_find(struct soc_buf *out);

#endif
