/* Show: how what agents print and write to the person looks on stdout.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_SHOW_H
#define SOC_MAIN_SHOW_H

#include <stdbool.h>

#include "base/slice.h"

/* Prints one thing shown (society.h) and hands it to the system at once: as it is,
 * mail as "[mail] from: text", an item as "[inbox] agent (priority): title  id"; with
 * `is_json` as an object {"print":…,"agent":…}, {"mail":…} or {"inbox":…}. False,
 * with errno, if stdout takes no more. */
bool soc_show(const char *stream, const char *agent, struct soc_slice text, bool is_json);

#endif
