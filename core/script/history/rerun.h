/* Rerun: activates recorded policies and asks recorded questions again.
 *
 * For a society that exists only to replay history (parts/history/replay.h): its script
 * is loaded and nothing has run.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_HISTORY_RERUN_H
#define SOC_SCRIPT_HISTORY_RERUN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct soc_script;

/* Makes the script ready, without `main`. `steps_max` 0: the default. */
void soc_rerun_begin(struct soc_script *script, uint32_t steps_max);

/* Activates the policies of a recorded list (parts/policies/policies.h) that differ
 * from the active ones. Policies made by the app come with the app. */
int soc_rerun_put_policies(struct soc_script *script, struct soc_slice list,
                           struct soc_detail *detail);

/* Asks the question of a history row again and appends the answer in the row's form.
 * SOC_EINVAL with `detail` if it cannot be asked. */
int soc_rerun_ask(struct soc_script *script, struct soc_slice row, struct soc_buf *answer,
                  struct soc_detail *detail);

#endif
