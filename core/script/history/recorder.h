/* Recorder: writes what a replay must know about scripts to parts/history.
 *
 * The row `start` holds the app, the texts of all its files and the active policies;
 * rows `file` hold files read later. Arguments of effects and policy questions are
 * written where they occur (turns/effect.c, policies/policy_log.c).
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_HISTORY_RECORDER_H
#define SOC_SCRIPT_HISTORY_RECORDER_H

#include "script/turns/box.h"

/* Prepare the script, whose society keeps no history yet, and release it. */
void soc_recorder_open(struct soc_script *script);
void soc_recorder_fini(struct soc_script *script);

/* Starts or stops keeping history. */
void soc_recorder_keep(struct soc_script *script, bool is_kept);

/* Sets for how many days history is kept. */
void soc_recorder_set_days(struct soc_script *script, uint32_t days);

/* Records that the app is the file at `path`, run with the `argc` texts at `argv`. */
void soc_recorder_set_app(struct soc_script *script, const char *path, int argc, char **argv);

/* Returns a hash of the texts of all files that the society's scripts have been read from so
 * far, wherever they lie. Never 0. */
uint64_t soc_recorder_hash(lua_State *L, struct soc_script *script);

/* The hooks history_start and history_turn of turns/box.h: write the row `start`, and a
 * row for each file read since. */
void soc_recorder_start(lua_State *L, struct soc_script *script);
void soc_recorder_turn(lua_State *L, struct soc_script *script);

#endif
