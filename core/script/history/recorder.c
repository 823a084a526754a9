#include "script/history/recorder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/version.h"
#include "lualib/lua_source.h"
#include "lualib/sources.h"
#include "parts/history/history.h"
#include "parts/policies/policies.h"
#include "script/policies/swap.h"

/* The recorder's state. */
struct soc_recorder {
    char *app_file;               /* owned; NULL: the app is a function */
    struct soc_buf app_arguments; /* JSON list; empty: none recorded */
    size_t sources;               /* files already in the history */
    uint32_t days;                /* days that history is kept */
};

void soc_recorder_open(struct soc_script *script)
{
    assert(script->recorder == NULL && !script->keeps_history);
    script->recorder = soc_alloc_zero(sizeof(*script->recorder));
    script->recorder->days = SOC_HISTORY_DAYS;
}

void soc_recorder_fini(struct soc_script *script)
{
    assert(script->recorder != NULL);
    free(script->recorder->app_file);
    soc_buf_fini(&script->recorder->app_arguments);
    free(script->recorder);
    script->recorder = NULL;
}

void soc_recorder_set_app(struct soc_script *script, const char *path, int argc, char **argv)
{
    assert(argc >= 0 && (argc == 0 || argv != NULL));
    struct soc_buf *list = &script->recorder->app_arguments;
    soc_text_set(&script->recorder->app_file, soc_slice_text(path));
    list->length = 0;
    soc_buf_put_byte(list, '[');
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            soc_buf_put_byte(list, ',');
        soc_json_put_string(list, soc_slice_text(argv[i]));
    }
    soc_buf_put_byte(list, ']');
}

/* The files of one society among those of the Lua state, and the list being written. */
struct files {
    struct soc_script *script;
    struct soc_buf *out; /* NULL: a row for each */
    const char *wanted;
    bool is_wanted;
};

static bool lies_in(const char *path, const char *directory)
{
    size_t length = directory == NULL ? 0 : strlen(directory);
    if (length == 1 && directory[0] == '.' && path[0] != '/' && strncmp(path, "../", 3) != 0)
        return true; /* the app's own directory, given without a name */
    return length > 0 && strncmp(path, directory, length) == 0 && path[length] == '/';
}

static void compare_path(void *user, const char *path)
{
    struct files *files = user;
    files->is_wanted |= strcmp(path, files->wanted) == 0;
}

static bool is_own(struct files *files, const char *path)
{
    const struct soc_script *script = files->script;
    if (lies_in(path, script->home) || lies_in(path, script->app_dir))
        return true;
    if (script->recorder->app_file != NULL && strcmp(path, script->recorder->app_file) == 0)
        return true;
    files->wanted = path;
    files->is_wanted = false;
    soc_swap_each_file(files->script, compare_path, files);
    return files->is_wanted;
}

static void put_file(void *user, const char *path)
{
    struct files *files = user;
    struct soc_buf text = {0};
    struct soc_buf row = {0};
    char hash[17];
    if (is_own(files, path) && soc_lua_source_read(path, &text)) {
        struct soc_buf *out = files->out == NULL ? &row : files->out;
        soc_history_put_source(files->script->host, soc_slice(soc_buf_text(&text), text.length),
                               hash);
        if (out->length > 0 && out->data[out->length - 1] == '}')
            soc_buf_put_byte(out, ',');
        soc_buf_put_byte(out, '{');
        soc_json_put_text_member(out, "hash", soc_slice(hash, 16));
        soc_json_put_text_member(out, "path", soc_slice_text(path));
        soc_buf_put_byte(out, '}');
        if (files->out == NULL)
            soc_history_put(files->script->host, "file", soc_buf_slice(out));
    }
    soc_buf_fini(&text);
    soc_buf_fini(&row);
}

/* A sum, since the same files are read in another order where one was read before. */
struct hashing {
    struct files files;
    uint64_t sum;
};

static void hash_file(void *user, const char *path)
{
    struct hashing *hashing = user;
    struct soc_buf text = {0};
    if (is_own(&hashing->files, path) && soc_lua_source_read(path, &text))
        hashing->sum += soc_hash(text.data, text.length, 0);
    soc_buf_fini(&text);
}

uint64_t soc_recorder_hash(lua_State *L, struct soc_script *script)
{
    struct hashing hashing = {.files = {.script = script}, .sum = 0};
    soc_sources_each(L, 0, hash_file, &hashing);
    return hashing.sum == 0 ? 1 : hashing.sum;
}

static void put_number(struct soc_buf *out, const char *name, int64_t number)
{
    soc_json_put_name(out, name);
    soc_json_put_integer(out, number);
}

void soc_recorder_start(lua_State *L, struct soc_script *script)
{
    struct soc_buf row = {0};
    struct files files = {.script = script, .out = &row};
    soc_buf_put_byte(&row, '{');
    soc_json_put_text_member(&row, "app", soc_slice_text(script->recorder->app_file));
    soc_json_put_text_member(&row, "app_dir", soc_slice_text(script->app_dir));
    soc_json_put_name(&row, "arguments");
    soc_buf_put_slice(&row, script->recorder->app_arguments.length == 0
                                ? SOC_SLICE("[]")
                                : soc_buf_slice(&script->recorder->app_arguments));
    put_number(&row, "effects_max", soc_gate_effects_max(script->host));
    soc_json_put_name(&row, "files");
    soc_buf_put_byte(&row, '[');
    script->recorder->sources = soc_sources_each(L, 0, put_file, &files);
    soc_buf_put_byte(&row, ']');
    soc_json_put_text_member(&row, "home", soc_slice_text(script->home));
    soc_json_put_name(&row, "policies");
    soc_buf_put_slice(&row, soc_policies_recorded(script->host));
    put_number(&row, "steps_max", script->steps_max);
    soc_json_put_text_member(&row, "version", SOC_SLICE(SOC_VERSION));
    soc_buf_put_byte(&row, '}');
    soc_history_put(script->host, "start", soc_buf_slice(&row));
    soc_buf_fini(&row);
}

void soc_recorder_turn(lua_State *L, struct soc_script *script)
{
    struct files files = {.script = script};
    script->recorder->sources = soc_sources_each(L, script->recorder->sources, put_file, &files);
}

void soc_recorder_keep(struct soc_script *script, bool is_kept)
{
    bool was_kept = script->keeps_history;
    script->keeps_history = is_kept;
    soc_history_keep(script->host, is_kept ? script->recorder->days : 0);
    if (is_kept && !was_kept && script->is_started)
        soc_recorder_start(script->L, script);
}

void soc_recorder_set_days(struct soc_script *script, uint32_t days)
{
    assert(days > 0);
    script->recorder->days = days;
    soc_recorder_keep(script, script->keeps_history);
}
