/* Chat settings: society.config{ llm = { … } }.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_SETTINGS_H
#define SOC_SCRIPT_CALLS_CHAT_SETTINGS_H

#include "script/turns/box.h"

/* Puts the default bounds on what models may cost. Release with soc_chat_settings_fini(). */
void soc_chat_settings_open(lua_State *L, struct soc_script *script);
void soc_chat_settings_fini(struct soc_script *script);

/* Takes the table at `index` in place of all that was set before. SOC_EINVAL and `detail`
 * for an unknown or wrong setting. */
int soc_chat_settings_set(lua_State *L, struct soc_script *script, int index,
                          struct soc_detail *detail);

/* Lend the files that answers of models are recorded to and read from; NULL: none. They
 * are kept apart from the table, which an app's providers see. */
const char *soc_chat_settings_record(const struct soc_script *script);
const char *soc_chat_settings_replay(const struct soc_script *script);

#endif
