/* Script: the Lua side of one society.
 *
 * It runs behaviours as coroutines, answers the host's hooks, and gives scripts
 * the modules `society` and `society.json`. It may share its lua_State with other
 * societies and with a test runner: everything of its own hangs on one box.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_SCRIPT_H
#define SOC_SCRIPT_SCRIPT_H

#include <lua.h>

#include "base/err.h"
#include "kernel/host.h"

struct soc_script;

/* What a script is made for. */
struct soc_script_options {
    lua_State *L;          /* lent */
    struct soc_host *host; /* lent; its hooks are set */
    struct soc_loop *loop; /* lent; NULL: simulated, and nothing goes over a network */
    const char *program;   /* path of the program `society`, for workers; NULL: none */
    const char *home;      /* where lua/ and policies/ are */
    const char *app_dir;   /* where the app's own modules and policies are; NULL: none */
};

/* Returns the script side; release it with soc_script_free(). Loads the default policies:
 * SOC_ESCRIPT with `detail` if one is broken. Fills the box at `box_index`, made by
 * soc_script_push_box(). */
int soc_script_new(struct soc_script **out, const struct soc_script_options *options, int box_index,
                   struct soc_detail *detail);

/* Frees it. Scripts that still hold something of it get a clear error. The host must have
 * stopped: no coroutine may be needed any more. NULL is allowed. */
void soc_script_free(struct soc_script *script);

/* Pushes an empty box: what Lua closures hold instead of the script itself. */
void soc_script_push_box(lua_State *L);

/* Pushes the module table of require("society") for the box at `index`. */
void soc_script_push_module(lua_State *L, int index);

/* Runs the app's file in the sandbox with `argc` texts at `argv` as `...` and
 * `arg`. */
int soc_script_run_file(struct soc_script *script, const char *path, int argc, char **argv,
                        struct soc_detail *detail);

/* Calls the function on top of the stack with the value below it as its argument,
 * as the app; both are popped. */
int soc_script_run_function(struct soc_script *script, struct soc_detail *detail);

/* After soc_host_start: finds behaviours for stored roles, begins `main`. */
void soc_script_started(struct soc_script *script);

/* Puts a policy in force by name or path: an option before the start, a command
 * afterwards, never inside a turn. `settings`: a JSON object, or absent. */
int soc_script_use_policy(struct soc_script *script, const char *kind, const char *name,
                          struct soc_slice settings, bool is_trial, struct soc_detail *detail);

/* Puts the policies in force whose files have changed, as script/policies/swap.h says. */
void soc_script_reload_policies(struct soc_script *script);

/* Calls `each` with every file that soc_script_reload_policies looks at. */
void soc_script_each_policy_file(struct soc_script *script,
                                 void (*each)(void *user, const char *path), void *user);

/* Appends the names of the policies of a kind (policies/policy_names.h). */
void soc_script_put_policy_names(const struct soc_script *script, const char *kind,
                                 struct soc_buf *out);

/* Tells whether behaviours of the app, which has loaded, may load texts. */
bool soc_script_may_load(const struct soc_script *script);

/* Tells whether the app has a `main`. */
bool soc_script_has_main(const struct soc_script *script);

/* Lends the settings of the doors of files, Redis and HTTP; NULL: not used. */
struct soc_files_settings;
struct soc_redis_settings;
struct soc_web_settings;
const struct soc_files_settings *soc_script_files(const struct soc_script *script);
const struct soc_redis_settings *soc_script_redis(const struct soc_script *script);
const struct soc_web_settings *soc_script_web(const struct soc_script *script);
const struct soc_hosts_settings *soc_script_hosts(const struct soc_script *script);

/* Returns how many simulated callers the app wants, society.config{ callers = … }. */
uint32_t soc_script_callers(const struct soc_script *script);

/* Lends the app's name, society.config{ name = … }; NULL: not given. */
const char *soc_script_app_name(const struct soc_script *script);

#endif
