/* Chat settings: society.config{ llm = { … } }.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_SETTINGS_H
#define SOC_SCRIPT_CALLS_CHAT_SETTINGS_H

#include "script/turns/box.h"

/* Sets the default limits on model usage. Release with soc_chat_settings_fini(). */
void soc_chat_settings_open(lua_State *L, struct soc_script *script);
void soc_chat_settings_fini(struct soc_script *script);

/* Replaces all settings with the table at `index`. SOC_EINVAL and `detail` for an
 * unknown or wrong setting. */
int soc_chat_settings_set(lua_State *L, struct soc_script *script, int index,
                          struct soc_detail *detail);

/* Lend the files that answers are recorded to and replayed from; NULL: none. They are
 * kept apart from the table, which an app's providers can see. */
const char *soc_chat_settings_record(const struct soc_script *script);
const char *soc_chat_settings_replay(const struct soc_script *script);

#endif
