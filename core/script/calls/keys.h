/* Keys: which variable of the environment may be sent to which server.
 *
 * Lua names a variable and never sees its value. Where the value may go is settled when
 * the app has loaded, from society.config and the environment as they are then; nothing
 * that runs later can widen it. Whoever sends a request asks here, with the URL that it
 * really goes to.
 *
 *     1. soc_keys_configure, as often as the app likes
 *     2. soc_keys_settle, once the app has loaded; then soc_keys_allow_model for each
 *        provider of models
 *     3. soc_keys_check before a request leaves, soc_keys_value for what it carries
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_KEYS_H
#define SOC_SCRIPT_CALLS_KEYS_H

#include <stdbool.h>

#include <lua.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

/* All zero: nothing may be sent. */
struct soc_keys {
    struct soc_buf secrets;     /* society.config{ secrets }: NAME NUL URL NUL … */
    struct soc_buf models;      /* of providers of models: the same */
    struct soc_buf environment; /* as it was when the app had loaded: NAME=VALUE NUL … */
    bool is_settled;
    bool is_simulated; /* there is no environment: every variable is set, to nothing secret */
};

/* What a request is for: agent:http may use `secrets` alone, a call to a model also what
 * its provider was given. */
enum soc_keys_use { SOC_KEYS_HTTP, SOC_KEYS_MODEL };

/* Returns keys of which nothing may be sent yet; release with soc_keys_free(). */
struct soc_keys *soc_keys_new(void);
void soc_keys_free(struct soc_keys *keys);

/* Takes the table at `index` as society.config{ secrets = … }, instead of the one before.
 * SOC_EINVAL and `detail` if it is none. Not once they are settled. */
int soc_keys_configure(struct soc_keys *keys, lua_State *L, int index, struct soc_detail *detail);

/* Settles where keys may go. `environment` is copied; NULL: this is a simulation. */
void soc_keys_settle(struct soc_keys *keys, char *const environment[]);

/* Lets calls to models send the variable `name` to the server at `base_url`, which
 * requests extend by a path. A base_url that is no URL allows nothing. */
void soc_keys_allow_model(struct soc_keys *keys, const char *name, const char *base_url);

/* Lets society.config be called again, for a spec that declares its society bit by bit. */
void soc_keys_unsettle(struct soc_keys *keys);

/* Forgets all of it. */
void soc_keys_fini(struct soc_keys *keys);

/* Lends the value of a variable as it was when the app had loaded; NULL if it was not
 * set, or was empty. In a simulation it is a text that stands for any value. */
const char *soc_keys_value(const struct soc_keys *keys, const char *name);

/* The same for a variable that is no key; a simulation has none. */
const char *soc_keys_setting(const struct soc_keys *keys, const char *name);

/* Appends to `fault` why a request to `url` cannot carry the variable; nothing if it can. */
void soc_keys_check(const struct soc_keys *keys, enum soc_keys_use use, const char *name,
                    struct soc_slice url, struct soc_buf *fault);

/* Lends what the URL of agent:http must begin with to carry the variable; NULL if it may
 * go nowhere. */
const char *soc_keys_place(const struct soc_keys *keys, struct soc_slice name);

/* Tells whether the URL lies there, however a client reads it: it goes on with a path
 * that does not climb out, and not with more of a host's name. */
bool soc_keys_is_within(struct soc_slice url, const char *place);

/* Tells whether it is the name of a variable: letters, digits and underscores. */
bool soc_keys_is_name(struct soc_slice name);

/* Tells whether a value can be sent in a header: it holds no control character. */
bool soc_keys_is_sendable(const char *value);

#endif
