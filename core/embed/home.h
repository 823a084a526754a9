/* Home: where the program's own Lua modules and policies are.
 *
 * Layer: embed. Thread: any. */
#ifndef SOC_EMBED_HOME_H
#define SOC_EMBED_HOME_H

#include "base/buf.h"

/* Appends the home directory and a NUL: $SOCIETY_HOME if set; else the directory
 * of the executable or one not far above that holds lua/society and policies; else
 * ../share/society beside it. False if there is none. */
bool soc_home_find(struct soc_buf *out);

#endif
