/* Keys: which environment variable may be sent to which server.
 *
 * Lua names a variable and never sees its value. Where the value may go is settled when
 * the app has loaded, from society.config and the environment at that time; nothing
 * that runs later can widen it. Whoever sends a request asks here, with the URL that it
 * really goes to.
 *
 *         1. soc_keys_configure, as often as the app likes
 *         2. soc_keys_settle, once the app has loaded; then soc_keys_allow_model for
 *   each model provider
 *         3. soc_keys_check before a request leaves, soc_keys_value for what it carries
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_KEYS_H
#define SOC_SCRIPT_CALLS_KEYS_H

#include <stdbool.h>

#include <lua.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

/* An all-zero struct allows nothing. */
struct soc_keys {
    struct soc_buf secrets;     /* society.config{ secrets }: NAME NUL URL NUL … */
    struct soc_buf models;      /* of model providers: the same */
    struct soc_buf environment; /* as of when the app had loaded: NAME=VALUE NUL … */
    bool is_settled;
    bool is_simulated; /* no environment: every variable has the same harmless value */
};

/* What a request is for: agent:http may use `secrets` only, a model call also what its
 * provider was given. */
enum soc_keys_use { SOC_KEYS_HTTP, SOC_KEYS_MODEL };

/* Returns keys that allow nothing yet. Release with soc_keys_free(). */
struct soc_keys *soc_keys_new(void);
void soc_keys_free(struct soc_keys *keys);

/* Takes the table at `index` as society.config{ secrets = … } and replaces the earlier
 * one. SOC_EINVAL and `detail` if it is invalid. Not once they are settled. */
int soc_keys_configure(struct soc_keys *keys, lua_State *L, int index, struct soc_detail *detail);

/* Settles where keys may go. `environment` is copied; NULL: a simulation. */
void soc_keys_settle(struct soc_keys *keys, char *const environment[]);

/* Allows model calls to send the variable `name` to the server at `base_url`, which
 * requests extend by a path. An invalid base_url allows nothing. */
void soc_keys_allow_model(struct soc_keys *keys, const char *name, const char *base_url);

/* Allows society.config to be called again, for a spec that declares its society step
 * by step. */
void soc_keys_unsettle(struct soc_keys *keys);

/* Frees it. */
void soc_keys_fini(struct soc_keys *keys);

/* Lends the value of a variable as of when the app had loaded; NULL if it was unset or
 * empty. In a simulation it is a placeholder. */
const char *soc_keys_value(const struct soc_keys *keys, const char *name);

/* The same for a variable that is not a key; NULL in a simulation. */
const char *soc_keys_setting(const struct soc_keys *keys, const char *name);

/* Appends to `fault` why a request to `url` cannot carry the variable; nothing if it
 * can. */
void soc_keys_check(const struct soc_keys *keys, enum soc_keys_use use, const char *name,
                    struct soc_slice url, struct soc_buf *fault);

/* Lends the prefix that the URL of agent:http must have to carry the variable; NULL if
 * it may go nowhere. */
const char *soc_keys_place(const struct soc_keys *keys, struct soc_slice name);

/* Returns true if it is a URL that others can be below: of http or https, with a host, without
 * user, query and fragment. */
bool soc_keys_is_place(const char *text);

/* Returns true if the URL is below that place however a client reads it: a path follows
 * that does not climb out, and not more of a host name. */
bool soc_keys_is_within(struct soc_slice url, const char *place);

/* Returns true if it is a variable name: letters, digits and underscores. */
bool soc_keys_is_name(struct soc_slice name);

/* Returns true if a value can be sent in a header: it has no control characters. */
bool soc_keys_is_sendable(const char *value);

#endif
