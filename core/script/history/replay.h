/* Replay of scripts: policies are put in force again and asked again.
 *
 * For a society that is made only to replay history (parts/history/replay.h); its script was
 * loaded and nothing has run.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_HISTORY_REPLAY_H
#define SOC_SCRIPT_HISTORY_REPLAY_H

#include "script/script.h"

/* Makes it ready, without `main`. */
void soc_script_begin_replay(struct soc_script *script, uint32_t steps_max);

/* Finds behaviours for roles that were made since. */
void soc_script_find_behaviours(struct soc_script *script);

/* Puts the policies of a recorded list (kernel/policies.h) in force where others are.
 * Those that the app made itself come with the app. */
int soc_script_put_policies(struct soc_script *script, struct soc_slice list,
                            struct soc_detail *detail);

/* Puts the question of a row of history again and appends the answer as such a row
 * has it. SOC_EINVAL with `detail` if it cannot be put. */
int soc_script_ask_again(struct soc_script *script, struct soc_slice row, struct soc_buf *answer,
                         struct soc_detail *detail);

#endif
