/* Show: formats what agents print, mail and escalate to the person, on stdout.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_SHOW_H
#define SOC_MAIN_SHOW_H

#include <stdbool.h>

#include "base/slice.h"

/* Prints one output (society.h) and flushes: text as it is, mail as "[mail] from: text", an
 * item as "[inbox] agent (priority): title  id"; with `is_json` as an object
 * {"print":…,"agent":…}, {"mail":…} or {"inbox":…}. Returns false, with errno, if stdout
 * cannot be written. On a terminal, characters of a printed line that could control it are
 * shown as \xNN. */
bool soc_show(const char *stream, const char *agent, struct soc_slice text, bool is_json);

#endif
