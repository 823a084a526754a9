#include "embed/assembly.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "embed/home.h"
#include "lualib/lua_heap.h"
#include "lualib/lua_json.h"
#include "lualib/sources.h"
#include "parts/table.h"
#include "sim/faults.h"
#include "store/directory.h"
#include "store/memory.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"

#define FOLD_MS_MAX 2000 /* at the close; the rest is folded at the next start */

static int panic(lua_State *L)
{
    const char *text = lua_tostring(L, -1);
    fprintf(stderr, "society: lua: %s\n", text == NULL ? "unknown error" : text);
    return 0; /* Lua aborts */
}

static int open_libraries(lua_State *L)
{
    luaL_openlibs(L);
    return 0;
}

/* The seed of the directory where the society is, or was. */
static uint32_t seed_of(const struct soc_assembly_options *options)
{
    const char *directory = options->seed_dir != NULL ? options->seed_dir : options->state_dir;
    return directory == NULL ? 0 : soc_directory_seed(directory);
}

static int make_lua(struct soc_assembly *parts, const struct soc_assembly_options *options,
                    struct soc_detail *detail)
{
    parts->L = soc_lua_heap_open_seeded(SOC_SCRIPT_BYTES_MAX, seed_of(options));
    if (parts->L == NULL)
        return soc_fail(detail, SOC_ESCRIPT, "not enough memory for Lua");
    lua_atpanic(parts->L, panic);
    memset(lua_getextraspace(parts->L), 0, LUA_EXTRASPACE);
    lua_pushcfunction(parts->L, open_libraries);
    if (lua_pcall(parts->L, 0, 0, 0) != LUA_OK)
        return soc_fail(detail, SOC_ESCRIPT, "%s", lua_tostring(parts->L, -1));
    if (options->is_simulated)
        soc_sources_freeze(parts->L);
    return SOC_OK;
}

static void use_kept(lua_State *L, const struct soc_assembly_options *options)
{
    for (size_t i = 0; i < options->kept_count; i++)
        soc_sources_keep(L, options->kept[i].path, options->kept[i].text);
    if (options->kept != NULL)
        soc_sources_use(L, true, options->has_files);
}

/* Reports errors in the file before anything is created on disk. */
static int check_file(lua_State *L, const char *path, struct soc_detail *detail)
{
    struct stat info;
    if (stat(path, &info) < 0 || (S_ISREG(info.st_mode) && access(path, R_OK) < 0)) {
        int code = errno == EACCES ? SOC_EACCESS : SOC_ENOFILE;
        return soc_fail(detail, code, "%s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode))
        return soc_fail(detail, SOC_ENOFILE, "%s is a directory", path);
    int rc = SOC_OK;
    if (luaL_loadfilex(L, path, "t") != LUA_OK) {
        const char *text = lua_tostring(L, -1);
        bool is_compiled =
            strncmp(text, "attempt to load", 15) == 0; /* Lua's error names no file */
        rc = is_compiled
                 ? soc_fail(detail, SOC_ESCRIPT, "%s: precompiled code cannot be loaded", path)
                 : soc_fail(detail, SOC_ESCRIPT, "%s", text);
    }
    lua_settop(L, 0);
    return rc;
}

static int make_script(struct soc_assembly *parts, const struct soc_assembly_options *options,
                       struct soc_detail *detail)
{
    assert(parts->script == NULL && parts->host != NULL);
    assert(lua_gettop(parts->L) == 0);
    struct soc_buf home = {0};
    struct soc_buf app_dir = {0};
    if (options->home != NULL) {
        soc_buf_put_text(&home, options->home);
    } else if (!soc_home_find(&home)) {
        soc_buf_fini(&home);
        return soc_fail(detail, SOC_ENOFILE,
                        "cannot find lua/society and policies near the program; set SOCIETY_HOME");
    }
    if (options->app_file != NULL) {
        const char *slash = strrchr(options->app_file, '/');
        size_t length = slash == NULL ? 0 : (size_t)(slash - options->app_file);
        if (slash == NULL)
            soc_buf_put_byte(&app_dir, '.');
        else
            soc_buf_put(&app_dir, options->app_file, length == 0 ? 1 : length);
    }
    struct soc_script_options script = {
        .L = parts->L,
        .host = parts->host,
        .loop = parts->loop,
        .program = options->program,
        .home = soc_buf_text(&home),
        .app_dir = options->app_file == NULL ? NULL : soc_buf_text(&app_dir),
    };
    soc_script_push_box(parts->L); /* stays at index 1 */
    int rc = soc_script_new(&parts->script, &script, 1, detail);
    soc_buf_fini(&home);
    soc_buf_fini(&app_dir);
    return rc;
}

static void make_host(struct soc_assembly *parts, const struct soc_assembly_options *options)
{
    assert(parts->host == NULL && parts->store != NULL);
    struct soc_host_options host = {
        .store = parts->store,
        .loop = parts->loop,
        .seed = options->seed,
        .retries_main = options->retries_main,
        .log = options->log,
        .show = options->show,
        .failed = options->failed,
        .user = options->user,
        .injector = options->faults == NULL ? NULL : &options->faults->injector,
        .parts = options->has_telemetry ? soc_part_table_observed : soc_part_table,
        .witness = options->witness,
    };
    parts->host = soc_host_new(&host);
}

static int open_store(struct soc_assembly *parts, const struct soc_assembly_options *options,
                      struct soc_detail *detail)
{
    assert(parts->store == NULL);
    struct soc_sqlite_options sqlite = {.directory = options->state_dir, .disk = options->disk};
    if (options->state_dir != NULL || options->disk != NULL)
        return soc_sqlite_open(&parts->store, &sqlite, detail);
    parts->store = soc_memory_open(options->blank);
    return SOC_OK;
}

/* The directory is new: it had no seed when the file was compiled. */
static int renew_lua(struct soc_assembly *parts, const struct soc_assembly_options *options,
                     struct soc_detail *detail)
{
    soc_lua_heap_close(parts->L);
    int rc = make_lua(parts, options, detail);
    if (rc == SOC_OK && options->kept != NULL)
        use_kept(parts->L, options);
    return rc;
}

static int make_rest(struct soc_assembly *parts, const struct soc_assembly_options *options,
                     struct soc_detail *detail)
{
    int rc = options->is_simulated ? SOC_OK : soc_loop_check_room(detail);
    if (rc == SOC_OK)
        rc = open_store(parts, options, detail);
    if (rc == SOC_OK && !options->is_simulated)
        rc = soc_loop_check_room(detail);
    if (rc == SOC_OK && soc_lua_heap_seed(parts->L) != seed_of(options))
        rc = renew_lua(parts, options, detail);
    if (rc < 0)
        return rc;
    if (!options->is_simulated)
        parts->loop = soc_loop_new();
    make_host(parts, options);
    return make_script(parts, options, detail);
}

int soc_assembly_make(struct soc_assembly *parts, const struct soc_assembly_options *options,
                      struct soc_detail *detail)
{
    *parts = (struct soc_assembly){0};
    int rc = make_lua(parts, options, detail);
    if (rc == SOC_OK)
        rc = make_rest(parts, options, detail);
    if (rc < 0)
        soc_assembly_free(parts);
    return rc;
}

/* society.config{ KEY = VALUE }. Called protected with the box at index 1 and
 * "KEY=VALUE" at index 2. A value that is not JSON is a string. */
static int call_config(lua_State *L)
{
    const char *text = lua_tostring(L, 2);
    const char *equals = strchr(text, '=');
    assert(equals != NULL);
    soc_script_push_module(L, 1);
    lua_getfield(L, -1, "config");
    lua_newtable(L);
    lua_pushlstring(L, text, (size_t)(equals - text));
    if (soc_lua_json_decode(L, soc_slice_text(equals + 1), NULL) < 0)
        lua_pushstring(L, equals + 1);
    lua_rawset(L, -3);
    lua_call(L, 1, 0);
    return 0;
}

static int use_setting(struct soc_assembly *parts, const char *text, struct soc_detail *detail)
{
    lua_State *L = parts->L;
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return soc_fail(detail, SOC_EINVAL, "a setting must be KEY=VALUE, not '%s'", text);
    lua_pushcfunction(L, call_config);
    lua_pushvalue(L, 1);
    lua_pushstring(L, text);
    int rc = SOC_OK;
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
        rc = soc_fail(detail, SOC_EINVAL, "setting %s: %s", text, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    return rc;
}

static int use_policy(struct soc_assembly *parts, const char *text, struct soc_detail *detail)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return soc_fail(detail, SOC_EINVAL, "a policy must be KIND=NAME, not '%s'", text);
    char *kind = soc_copy_text(text, (size_t)(equals - text));
    int rc = soc_script_use_policy(parts->script, kind, equals + 1, (struct soc_slice){0}, false,
                                   detail);
    free(kind);
    return rc == SOC_ENOFILE ? SOC_EINVAL : rc;
}

/* Returns the app's name, or the name of its file without directory and .lua. */
static char *name_app(const struct soc_assembly *parts, const char *path)
{
    const char *given = soc_script_app_name(parts->script);
    if (given != NULL)
        return soc_copy_text(given, strlen(given));
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".lua") == 0)
        length -= 4;
    return soc_copy_text(name, length);
}

static int run_app(struct soc_assembly *parts, const struct soc_assembly_options *options,
                   struct soc_detail *detail)
{
    assert(parts->app_name == NULL && options->app_file != NULL);
    int rc = soc_script_run_file(parts->script, options->app_file, options->argument_count,
                                 (char **)options->arguments, detail);
    for (size_t i = 0; rc == SOC_OK && options->policies != NULL && options->policies[i]; i++)
        rc = use_policy(parts, options->policies[i], detail);
    for (size_t i = 0; rc == SOC_OK && options->settings != NULL && options->settings[i]; i++)
        rc = use_setting(parts, options->settings[i], detail);
    if (rc == SOC_OK)
        parts->app_name = name_app(parts, options->app_file);
    return rc;
}

int soc_assembly_load(struct soc_assembly *parts, const struct soc_assembly_options *options,
                      struct soc_detail *detail)
{
    *parts = (struct soc_assembly){0};
    int rc = make_lua(parts, options, detail);
    if (rc == SOC_OK && options->kept != NULL)
        use_kept(parts->L, options);
    else if (rc == SOC_OK)
        rc = check_file(parts->L, options->app_file, detail);
    if (rc == SOC_OK)
        rc = make_rest(parts, options, detail);
    if (rc == SOC_OK)
        rc = run_app(parts, options, detail);
    if (rc < 0)
        soc_assembly_free(parts);
    return rc;
}

int soc_assembly_start(struct soc_assembly *parts, struct soc_detail *detail)
{
    assert(parts->host != NULL && parts->app_name != NULL);
    int rc = soc_host_start(parts->host, soc_slice_text(parts->app_name), detail);
    if (rc == SOC_OK)
        soc_script_started(parts->script);
    return rc;
}

void soc_assembly_end_host(struct soc_assembly *parts, bool is_crash)
{
    if (parts->host == NULL)
        return;
    if (is_crash)
        soc_host_crash(parts->host);
    else
        soc_host_close(parts->host, FOLD_MS_MAX);
    parts->host = NULL;
}

void soc_assembly_crash(struct soc_assembly *parts)
{
    soc_assembly_end_host(parts, true);
    soc_script_free(parts->script);
    parts->script = NULL;
    free(parts->app_name);
    parts->app_name = NULL;
    lua_settop(parts->L, 0);
}

int soc_assembly_reopen(struct soc_assembly *parts, const struct soc_assembly_options *options,
                        struct soc_detail *detail)
{
    assert(parts->host == NULL);
    soc_store_close(parts->store);
    parts->store = NULL;
    return open_store(parts, options, detail);
}

int soc_assembly_resume(struct soc_assembly *parts, const struct soc_assembly_options *options,
                        int64_t date_ms, struct soc_detail *detail)
{
    make_host(parts, options);
    if (date_ms != 0)
        soc_clock_set(soc_host_clock(parts->host), date_ms);
    int rc = make_script(parts, options, detail);
    if (rc == SOC_OK)
        rc = run_app(parts, options, detail);
    return rc == SOC_OK ? soc_assembly_start(parts, detail) : rc;
}

void soc_assembly_free(struct soc_assembly *parts)
{
    soc_assembly_end_host(parts, false);
    soc_script_free(parts->script);
    if (parts->L != NULL)
        soc_lua_heap_close(parts->L);
    soc_store_close(parts->store);
    soc_loop_free(parts->loop);
    free(parts->app_name);
    *parts = (struct soc_assembly){0};
}

/* Returns where the files go. The rest of an interrupted move follows its database, but
 * the rest of a lost database does not join another one. */
static const char *place_aside(const char *directory, bool has_database)
{
    struct soc_buf previous = {0};
    soc_buf_printf(&previous, "%s/previous", directory);
    bool is_taken = !has_database && soc_directory_has_rest(soc_buf_text(&previous));
    soc_buf_fini(&previous);
    return is_taken ? "remains" : "previous";
}

/* The database goes first: without it the other files are useless, while a database
 * without them would look like an older state. */
static int move_files(const char *directory, bool has_database, struct soc_detail *detail)
{
    static const char *const names[] = {"society.db", "society.db-wal", "society.db-shm",
                                        "society.db-mark"};
    struct soc_buf from = {0};
    struct soc_buf to = {0};
    int rc = SOC_OK;
    const char *aside = place_aside(directory, has_database);
    soc_buf_printf(&to, "%s/%s", directory, aside);
    if (mkdir(soc_buf_text(&to), 0700) < 0 && errno != EEXIST)
        rc = soc_fail(detail, SOC_EACCESS, "%s: %s", to.data, strerror(errno));
    for (int i = 0; rc == SOC_OK && i < 4; i++) {
        from.length = 0;
        to.length = 0;
        soc_directory_path(&from, directory, names[i]);
        soc_buf_printf(&to, "%s/%s/%s", directory, aside, names[i]);
        if (i == 0 && has_database)
            soc_directory_clean(soc_buf_text(&to));
        if (rename(from.data, soc_buf_text(&to)) < 0 && errno != ENOENT)
            rc = soc_fail(detail, SOC_EACCESS, "%s: %s", from.data, strerror(errno));
    }
    soc_buf_fini(&from);
    soc_buf_fini(&to);
    return rc;
}

int soc_assembly_put_aside(const char *directory, struct soc_detail *detail)
{
    struct soc_buf database = {0};
    soc_directory_path(&database, directory, "society.db");
    bool is_there = access(database.data, F_OK) == 0;
    soc_buf_fini(&database);
    if (!is_there && !soc_directory_has_rest(directory))
        return SOC_OK;
    struct soc_directory_lock lock = SOC_DIRECTORY_FREE;
    int rc = soc_directory_lock(directory, &lock, detail);
    if (rc == SOC_OK)
        rc = move_files(directory, is_there, detail);
    soc_directory_unlock(lock);
    return rc;
}

void soc_assembly_warn_of_parents(const struct soc_assembly *parts, const char *state_dir)
{
    struct soc_host *host = parts->host;
    struct soc_buf path = {0};
    if (state_dir != NULL && soc_directory_find_open(state_dir, &path))
        soc_log_printf(soc_host_log(host), SOC_LOG_WARN, soc_clock_now(soc_host_clock(host)),
                       "storage", SOC_SLICE("system"),
                       "everybody can write %s, above the state, and so replace the state; "
                       "use: chmod o-w %s, or chmod +t as for /tmp",
                       soc_buf_text(&path), soc_buf_text(&path));
    soc_buf_fini(&path);
}
