#include "script/policies/messages.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/refusal.h"
#include "script/policies/policy_load.h"
#include "script/policies/policy_log.h"
#include "script/policies/policy_shelf.h"

static const char defaults[] = "society,workflow,helix";

struct soc_messages {
    struct soc_vocabulary *items[SOC_VOCABULARIES_MAX]; /* owned, in order */
    size_t count;
    struct soc_map types;           /* name -> soc_message_type that applies, lent */
    struct soc_message_type *rest;  /* for all other types; NULL: they are refused */
    bool is_lax;                    /* every vocabulary only warns */
    struct soc_shape_report report; /* of the message being checked */
};

static void index_types(struct soc_messages *messages)
{
    soc_map_fini(&messages->types);
    messages->types = (struct soc_map){0};
    messages->rest = NULL;
    messages->is_lax = true;
    for (size_t i = 0; i < messages->count; i++) {
        const struct soc_vocabulary *vocabulary = messages->items[i];
        size_t cursor = 0;
        struct soc_message_type *type;
        messages->is_lax &= vocabulary->is_lax;
        if (messages->rest != NULL)
            continue; /* an earlier one knows every type */
        while ((type = soc_map_each(&vocabulary->types, &cursor)) != NULL)
            if (soc_map_find(&messages->types, soc_slice_text(type->name)) == NULL)
                soc_map_put(&messages->types, soc_slice_text(type->name), type);
        messages->rest = vocabulary->rest;
    }
}

/* What is to be activated. */
struct wanted {
    struct soc_script *script;
    struct soc_policy_source *source; /* a file; or */
    const char *names;                /* names; NULL: the table at 2 */
};

typedef int policy_load(lua_State *L, const struct soc_script *script, const char *path, char *hash,
                        struct soc_detail *detail);

/* Pushes the vocabulary of a file; the settings are at 3. */
static void push_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                      policy_load *load)
{
    struct soc_detail detail;
    if (load(L, script, source->path, source->hash, &detail) < 0)
        luaL_error(L, "%s", detail.text);
    soc_vocabulary_push(L, script, lua_gettop(L), source, 3);
    lua_remove(L, -2);
}

/* Pushes the vocabulary of that name. */
static void push_named(lua_State *L, const struct wanted *wanted, struct soc_slice name)
{
    char path[SOC_PATH_BYTES_MAX];
    char text[SOC_PATH_BYTES_MAX];
    struct soc_policy_source source = {.kind = SOC_MESSAGES, .name = text, .path = path};
    snprintf(text, sizeof(text), "%.*s", (int)name.length, name.data);
    if (!soc_policy_find(wanted->script, SOC_MESSAGES, text, path, sizeof(path)))
        luaL_error(L, "there is no policy %s/%s.lua", SOC_MESSAGES, text);
    push_file(L, wanted->script, &source, soc_policy_shelf_load);
}

/* Replaces the table on top with the vocabulary it describes. */
static void push_own(lua_State *L, const struct wanted *wanted)
{
    int index = lua_gettop(L);
    struct soc_policy_source source = {.kind = SOC_MESSAGES, .name = "app"};
    if (soc_option_field(L, index, "name") == LUA_TSTRING)
        source.name = lua_tostring(L, -1);
    soc_vocabulary_push(L, wanted->script, index, &source, 3);
    lua_replace(L, index);
    lua_settop(L, index);
}

static void check_room(lua_State *L, int count)
{
    if (count > SOC_VOCABULARIES_MAX)
        luaL_error(L, "at most %d vocabularies can be active", SOC_VOCABULARIES_MAX);
    luaL_checkstack(L, 16, NULL);
}

/* Pushes the vocabularies in a list of names. Returns true if they are the whole set. */
static bool push_names(lua_State *L, const struct wanted *wanted)
{
    const char *at = wanted->names;
    int first = lua_gettop(L);
    while (*at != '\0') {
        size_t length = strcspn(at, ",");
        check_room(L, lua_gettop(L) - first + 1);
        if (length > 0)
            push_named(L, wanted, soc_slice(at, length));
        at += length + (at[length] == ',');
    }
    return strchr(wanted->names, ',') != NULL;
}

/* Pushes the vocabularies in the table at 2. */
static bool push_table(lua_State *L, const struct wanted *wanted)
{
    lua_Integer count = (lua_Integer)lua_rawlen(L, 2);
    lua_pushnil(L);
    if (lua_next(L, 2) == 0)
        return true; /* an empty list */
    lua_pop(L, 2);
    if (count == 0) {
        lua_pushvalue(L, 2);
        push_own(L, wanted);
        return false;
    }
    for (lua_Integer i = 1; i <= count; i++) {
        check_room(L, (int)(i > SOC_VOCABULARIES_MAX ? SOC_VOCABULARIES_MAX + 1 : i));
        int type = lua_rawgeti(L, 2, i);
        if (type == LUA_TTABLE) {
            push_own(L, wanted);
        } else if (type == LUA_TSTRING) {
            size_t length;
            const char *name = lua_tolstring(L, -1, &length);
            push_named(L, wanted, soc_slice(name, length));
            lua_remove(L, -2);
        } else {
            luaL_error(L, "a list of names and vocabularies expected");
        }
    }
    return true;
}

static int find_name(const struct soc_messages *messages, const char *name)
{
    for (size_t i = 0; i < messages->count; i++)
        if (strcmp(messages->items[i]->policy.identity.name, name) == 0)
            return (int)i;
    return -1;
}

/* Adds one, or replaces the one with the same name. */
static void add(lua_State *L, struct soc_messages *messages, struct soc_vocabulary *vocabulary)
{
    assert(vocabulary != NULL);
    int place = find_name(messages, vocabulary->policy.identity.name);
    if (place < 0)
        place = (int)messages->count++;
    else
        soc_vocabulary_free(L, messages->items[place]);
    vocabulary->is_new = true;
    messages->items[place] = vocabulary;
}

static void drop_all(lua_State *L, struct soc_messages *messages)
{
    for (size_t i = 0; i < messages->count; i++)
        soc_vocabulary_give(L, messages->items[i]);
    messages->count = 0;
}

/* Lends the name of the vocabulary pushed to `index`. */
static const char *name_at(lua_State *L, int index)
{
    return (*(struct soc_vocabulary **)lua_touserdata(L, index))->policy.identity.name;
}

/* Called protected with a struct wanted, its table or nil, and the settings or nil. If
 * it raises, the active vocabularies stay. */
static int use(lua_State *L)
{
    const struct wanted *wanted = lua_touserdata(L, 1);
    struct soc_messages *messages = wanted->script->messages;
    int first = lua_gettop(L) + 1;
    bool is_whole = false;
    if (wanted->source != NULL)
        push_file(L, wanted->script, wanted->source, soc_policy_load_hashed);
    else
        is_whole = wanted->names != NULL ? push_names(L, wanted) : push_table(L, wanted);
    int last = lua_gettop(L);
    if (last < first)
        luaL_error(L, "at least one vocabulary must be active");
    for (int i = first; i <= last; i++) {
        const char *name = name_at(L, i);
        for (int k = first; k < i; k++)
            if (strcmp(name, name_at(L, k)) == 0)
                luaL_error(L, "vocabulary '%s' is listed twice", name);
        if (!is_whole && find_name(messages, name) < 0)
            check_room(L, (int)messages->count + 1);
    }
    if (wanted->script->tries_policies)
        return 0;
    if (is_whole)
        drop_all(L, messages);
    for (size_t i = 0; i < messages->count; i++)
        messages->items[i]->is_new = false;
    for (int i = first; i <= last; i++)
        add(L, messages, soc_vocabulary_take(L, i));
    index_types(messages);
    return 0;
}

/* Activates what is wanted with the table and the settings at these indexes; 0: none. */
static int use_wanted(lua_State *L, const struct wanted *wanted, int table, int settings,
                      struct soc_detail *detail)
{
    int rc = SOC_OK;
    if (!lua_checkstack(L, 8))
        return soc_fail(detail, SOC_EINVAL, "stack overflow");
    lua_pushcfunction(L, use);
    lua_pushlightuserdata(L, (void *)wanted);
    table == 0 ? lua_pushnil(L) : lua_pushvalue(L, table);
    settings == 0 ? lua_pushnil(L) : lua_pushvalue(L, settings);
    if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
        rc = soc_fail(detail, SOC_ESCRIPT, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    return rc;
}

int soc_messages_open(lua_State *L, struct soc_script *script, struct soc_detail *detail)
{
    assert(script->messages == NULL);
    script->messages = soc_alloc_zero(sizeof(*script->messages));
    struct wanted wanted = {.script = script, .names = defaults};
    return use_wanted(L, &wanted, 0, 0, detail);
}

void soc_messages_fini(lua_State *L, struct soc_script *script)
{
    struct soc_messages *messages = script->messages;
    if (messages == NULL)
        return;
    drop_all(L, messages);
    soc_map_fini(&messages->types);
    soc_shape_report_fini(&messages->report);
    free(messages);
    script->messages = NULL;
}

int soc_messages_use(lua_State *L, struct soc_script *script, const char *names, int settings_index,
                     struct soc_detail *detail)
{
    struct wanted wanted = {.script = script, .names = names};
    return use_wanted(L, &wanted, 0, settings_index, detail);
}

int soc_messages_use_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                          int settings_index, struct soc_detail *detail)
{
    struct wanted wanted = {.script = script, .source = source};
    return use_wanted(L, &wanted, 0, settings_index, detail);
}

int soc_messages_use_table(lua_State *L, struct soc_script *script, int index, int settings_index,
                           struct soc_detail *detail)
{
    struct wanted wanted = {.script = script};
    return use_wanted(L, &wanted, index, settings_index, detail);
}

struct soc_policy *soc_messages_policy(const struct soc_script *script, size_t place)
{
    const struct soc_messages *messages = script->messages;
    return place < messages->count ? &messages->items[place]->policy : NULL;
}

void soc_messages_mark_option(struct soc_script *script, bool is_option)
{
    const struct soc_messages *messages = script->messages;
    for (size_t i = 0; i < messages->count; i++)
        if (messages->items[i]->is_new)
            messages->items[i]->policy.identity.is_option = is_option;
}

static int refuse_unknown(const struct soc_messages *messages,
                          const struct soc_candidate *candidate, struct soc_buf *error)
{
    struct soc_buf names = {0};
    struct soc_buf details = {0};
    soc_buf_put_text(&names, "the active vocabularies are");
    for (size_t i = 0; i < messages->count; i++) {
        soc_buf_put_text(&names, i == 0 ? " " : ", ");
        soc_buf_put_text(&names, messages->items[i]->policy.identity.name);
    }
    soc_json_put_string(&details, soc_buf_slice(&names));
    soc_refuse_message(error,
                       "no active vocabulary has this type; use one of their types, such as "
                       "general, or activate a vocabulary that has it",
                       candidate->type, SOC_SLICE(""), soc_buf_slice(&details));
    soc_buf_fini(&names);
    soc_buf_fini(&details);
    return messages->is_lax ? 1 : SOC_EBADMESSAGE;
}

static int check(struct soc_script *script, const struct soc_candidate *candidate,
                 bool *requires_ack, struct soc_buf *error)
{
    struct soc_messages *messages = script->messages;
    struct soc_shape_report *report = &messages->report;
    const struct soc_message_type *type = soc_map_find(&messages->types, candidate->type);
    if (type == NULL)
        type = messages->rest;
    if (type == NULL)
        return refuse_unknown(messages, candidate, error);
    *requires_ack = type->requires_ack;
    if (type->shape == NULL && type->check_ref == LUA_NOREF && !type->is_hosts)
        return SOC_OK;
    soc_shape_report_clear(report);
    if (soc_vocabulary_fits(script->active, script, type, candidate, report))
        return SOC_OK;
    soc_refuse_message(error,
                       report->missing.length > 0
                           ? "the message does not fit its type: fill in the missing fields and "
                             "send it again"
                           : "the message does not fit its type: do what the details say and "
                             "send it again",
                       candidate->type, soc_buf_slice(&report->missing),
                       soc_buf_slice(&report->details));
    return type->vocabulary->is_lax && !type->is_hosts ? 1 : SOC_EBADMESSAGE;
}

int soc_messages_check(void *user, const struct soc_candidate *candidate, bool *requires_ack,
                       struct soc_buf *error)
{
    struct soc_script *script = user;
    if (script->keeps_history)
        soc_policy_log_clear(script);
    int rc = check(script, candidate, requires_ack, error);
    if (script->keeps_history)
        soc_policy_log_check(script, candidate, *requires_ack, rc, soc_buf_slice(error));
    return rc;
}
