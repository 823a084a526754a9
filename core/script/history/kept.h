/* Kept: what a script holds for history, which script/history/history.c uses.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_HISTORY_KEPT_H
#define SOC_SCRIPT_HISTORY_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What is written down for history on the way. */
struct soc_kept {
    char *app_file;               /* owned; NULL: the app is a function */
    struct soc_buf app_arguments; /* JSON, a list */
    struct soc_buf arguments;     /* of one effect or question at a time; JSON, a list */
    struct soc_buf failure;       /* why the policy asked last did not answer; else empty */
    size_t sources;               /* files that history has */
    uint32_t days;                /* for so long, if any history is kept */
};

#endif
