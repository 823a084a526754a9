/* Attach log: what the society's log says of one outside agent's lines.
 *
 * Layer: bridge. Thread: main. */
#ifndef SOC_BRIDGE_ATTACH_LOG_H
#define SOC_BRIDGE_ATTACH_LOG_H

#include "bridge/files/lines.h"

/* How far the society's log was read, and what for. */
struct soc_attach_log {
    const struct soc_workdir *dir; /* lent, as are the others */
    const char *id;
    void (*warn)(void *user, struct soc_slice text); /* a line was not taken: for people */
    void *user;
    struct soc_lines lines;
    int unsettled; /* lines that were said, as the caller counts, and are not told of yet */
};

/* Passes over what stands there already. */
void soc_attach_log_open(struct soc_attach_log *log);

/* Reads what is new. */
void soc_attach_log_look(struct soc_attach_log *log, int64_t now_ms);

#endif
