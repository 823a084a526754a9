/* Settings: society.config{ … } and the values it keeps.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_SETTINGS_H
#define SOC_SCRIPT_BINDINGS_SETTINGS_H

#include "script/turns/box.h"

struct soc_files_settings;
struct soc_redis_settings;
struct soc_web_settings;

/* Prepares the script, and releases what that took. */
void soc_settings_open(struct soc_script *script);
void soc_settings_fini(struct soc_script *script);

/* Sets one setting, whose value is at `index`. SOC_EINVAL and `detail` for an unknown
 * name or a wrong value. */
int soc_settings_set(lua_State *L, struct soc_script *script, const char *name, int index,
                     struct soc_detail *detail);

/* Lends the names of all settings, for a sentence: "a, b and c". */
const char *soc_settings_names(void);

/* Lends the app's name, and the settings of the doors; NULL: not given. */
const char *soc_settings_app_name(const struct soc_script *script);

/* Returns how many simulated callers the app wants. */
uint32_t soc_settings_callers(const struct soc_script *script);
const struct soc_files_settings *soc_settings_files(const struct soc_script *script);
const struct soc_redis_settings *soc_settings_redis(const struct soc_script *script);
const struct soc_web_settings *soc_settings_web(const struct soc_script *script);
const struct soc_hosts_settings *soc_settings_hosts(const struct soc_script *script);

#endif
