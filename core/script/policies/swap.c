#include "script/policies/swap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/trace.h"
#include "lualib/lua_json.h"
#include "lualib/lua_source.h"
#include "parts/policies/policies.h"
#include "script/policies/messages.h"
#include "script/policies/policy_load.h"
#include "script/policies/policy_set.h"
#include "script/policies/policy_texts.h"
#include "script/turns/environments.h"

/* Appends a policy as an object. Settings that cannot be JSON are left out. */
static void put_policy(lua_State *L, const struct soc_script *script, const char *kind,
                       const struct soc_policy *policy, struct soc_buf *out)
{
    struct soc_buf path = {0};
    struct soc_detail detail;
    int top = lua_gettop(L);
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "hash", soc_slice_text(policy->identity.hash));
    soc_json_put_text_member(out, "kind", soc_slice_text(kind));
    soc_json_put_text_member(out, "name", soc_slice_text(policy->identity.name));
    if (policy->identity.path != NULL) {
        soc_policy_put_name(script, policy->identity.path, &path);
        soc_json_put_text_member(out, "path", soc_buf_slice(&path));
    }
    soc_buf_fini(&path);
    size_t before = out->length;
    soc_json_put_name(out, "settings");
    lua_rawgeti(L, LUA_REGISTRYINDEX, policy->settings_ref);
    if (soc_lua_json_encode(L, -1, "settings", SOC_BRIEF_BYTES_MAX, out, &detail) < 0)
        out->length = before;
    soc_json_put_name(out, "version");
    lua_rawgeti(L, LUA_REGISTRYINDEX, policy->table_ref);
    soc_option_field(L, -1, "version");
    if (lua_isinteger(L, -1))
        soc_json_put_integer(out, lua_tointeger(L, -1));
    else if (soc_lua_json_encode(L, -1, "version", SOC_BRIEF_BYTES_MAX, out, &detail) < 0)
        soc_buf_put_text(out, "null");
    soc_buf_put_byte(out, '}');
    lua_settop(L, top);
}

void soc_swap_put_list(lua_State *L, const struct soc_script *script, struct soc_buf *out)
{
    soc_buf_put_byte(out, '[');
    for (int i = 0; i < SOC_POLICY_COUNT; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        put_policy(L, script, soc_kind_name(i), soc_policy_set_get(script, (enum soc_policy_kind)i),
                   out);
    }
    const struct soc_policy *policy;
    for (size_t i = 0; (policy = soc_messages_policy(script, i)) != NULL; i++) {
        soc_buf_put_byte(out, ',');
        put_policy(L, script, SOC_MESSAGES, policy, out);
    }
    soc_buf_put_byte(out, ']');
}

static bool is_same_member(struct soc_slice a, struct soc_slice b, const char *name)
{
    return soc_slice_equal(soc_json_member(a, name), soc_json_member(b, name));
}

static bool is_same_script(struct soc_slice a, struct soc_slice b)
{
    return is_same_member(a, b, "name") && is_same_member(a, b, "hash");
}

/* Lends the entry of `list` that is the same policy with the same settings. */
static struct soc_slice find_same(struct soc_slice list, struct soc_slice entry)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk))
        if (is_same_member(walk.value, entry, "kind") && is_same_script(walk.value, entry) &&
            is_same_member(walk.value, entry, "settings"))
            return walk.value;
    return (struct soc_slice){0};
}

/* Lends entry `number` of that kind in `list` that `other` does not have. Several
 * policies of a kind may be active, so they are compared as lists. */
static struct soc_slice find_changed(struct soc_slice list, struct soc_slice other,
                                     struct soc_slice kind, int number)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_member(walk.value, "kind"), kind) &&
            find_same(other, walk.value).data == NULL && number-- == 0)
            return walk.value;
    return (struct soc_slice){0};
}

static bool has_kind(struct soc_slice list, struct soc_slice kind)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_member(walk.value, "kind"), kind))
            return true;
    return false;
}

/* Appends the identity; the settings only if nothing else distinguishes the two. */
static void put_side(struct soc_buf *out, const char *name, struct soc_slice entry,
                     bool has_settings)
{
    static const char *const members[] = {"hash", "name", "settings"};
    if (entry.data == NULL)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_byte(out, '{');
    for (int i = 0; i < (has_settings ? 3 : 2); i++) {
        struct soc_slice value = soc_json_member(entry, members[i]);
        if (value.data == NULL)
            continue;
        soc_json_put_name(out, members[i]);
        soc_buf_put_slice(out, value);
    }
    soc_buf_put_byte(out, '}');
}

/* "strict 0123456789abcdef" */
static void put_words(struct soc_buf *out, struct soc_slice entry)
{
    if (entry.data == NULL) {
        soc_buf_put_text(out, "none");
        return;
    }
    soc_json_string(soc_json_member(entry, "name"), out);
    soc_buf_put_byte(out, ' ');
    soc_json_string(soc_json_member(entry, "hash"), out);
}

static void note_swap(struct soc_script *script, struct soc_slice kind, struct soc_slice from,
                      struct soc_slice to, const char *by)
{
    struct soc_host *host = script->host;
    struct soc_buf text = {0};
    struct soc_buf detail = {0};
    bool has_settings = from.data != NULL && to.data != NULL && is_same_script(from, to) &&
                        !is_same_member(from, to, "settings");
    soc_json_string(kind, &text);
    soc_buf_put_text(&text, ": ");
    put_words(&text, from);
    soc_buf_put_text(&text, " → ");
    put_words(&text, to);
    soc_buf_printf(&text, ", by %s", by);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "by", soc_slice_text(by));
    put_side(&detail, "from", from, has_settings);
    soc_json_put_name(&detail, "kind");
    soc_buf_put_slice(&detail, kind);
    put_side(&detail, "to", to, has_settings);
    soc_buf_put_byte(&detail, '}');
    soc_log_say(soc_host_log(host), SOC_LOG_INFO, soc_clock_now(soc_host_clock(host)),
                "policy_swapped", SOC_SLICE("system"), soc_buf_slice(&detail),
                soc_buf_slice(&text));
    soc_trace_keep(host, "policy_swapped", soc_buf_slice(&detail));
    soc_buf_fini(&detail);
    soc_buf_fini(&text);
}

/* Records what `after` has and `before` did not, kind by kind. Returns how many. */
static int note_changes(struct soc_script *script, struct soc_slice kind, struct soc_slice before,
                        struct soc_slice after, const char *by)
{
    int count = 0;
    for (;;) {
        struct soc_slice from = find_changed(before, after, kind, count);
        struct soc_slice to = find_changed(after, before, kind, count);
        if (from.data == NULL && to.data == NULL)
            return count;
        note_swap(script, kind, from, to, by);
        count++;
    }
}

/* Records a swap of that kind, even if it changed nothing visible, and the list. */
static void note_done(lua_State *L, struct soc_script *script, const char *kind, const char *by)
{
    struct soc_buf name = {0};
    struct soc_buf list = {0};
    soc_json_put_string(&name, soc_slice_text(kind));
    soc_swap_put_list(L, script, &list);
    struct soc_slice before = soc_policies_recorded(script->host);
    struct soc_slice after = soc_buf_slice(&list);
    if (note_changes(script, soc_buf_slice(&name), before, after, by) == 0) {
        struct soc_json_walk walk;
        soc_json_walk(&walk, after);
        while (soc_json_next(&walk))
            if (soc_slice_equal(soc_json_member(walk.value, "kind"), soc_buf_slice(&name)))
                note_swap(script, soc_buf_slice(&name), walk.value, walk.value, by);
    }
    soc_policies_record(script->host, after);
    if (script->keeps_history)
        script->hooks.history_start(L, script);
    soc_buf_fini(&name);
    soc_buf_fini(&list);
}

static void note_refusal(struct soc_script *script, const char *kind, const char *name,
                         const char *by, const char *reason)
{
    struct soc_host *host = script->host;
    struct soc_buf text = {0};
    struct soc_policy_shape shape;
    bool is_kind = soc_kind_shape(kind, name, NULL, &shape);
    soc_buf_put_byte(&text, '{');
    soc_json_put_text_member(&text, "by", soc_slice_text(by));
    soc_json_put_text_member(&text, "kind", soc_slice_text(kind));
    soc_json_put_text_member(&text, "name", soc_slice_text(name));
    soc_json_put_text_member(&text, "reason", soc_slice_text(reason));
    soc_buf_put_byte(&text, '}');
    soc_log_say_printf(soc_host_log(host), SOC_LOG_ERROR, soc_clock_now(soc_host_clock(host)),
                       "policy_refused", SOC_SLICE("system"), soc_buf_slice(&text), "%s%s%s%s",
                       reason, is_kind ? "; for " : "", is_kind ? kind : "",
                       is_kind ? " the last good policy stays active" : "");
    soc_trace_keep(host, "policy_refused", soc_buf_slice(&text));
    soc_buf_fini(&text);
}

/* Records whether the last activation came from the command line. */
static void mark_option(struct soc_script *script, const char *kind, bool is_option)
{
    int number = soc_kind_find(kind);
    if (number >= 0)
        soc_policy_set_get(script, (enum soc_policy_kind)number)->identity.is_option = is_option;
    else
        soc_messages_mark_option(script, is_option);
}

/* Returns true if the command line activated a policy of that kind. */
static bool is_option(const struct soc_script *script, int kind)
{
    const struct soc_policy *policy;
    if (kind < SOC_POLICY_COUNT)
        return soc_policy_set_get(script, (enum soc_policy_kind)kind)->identity.is_option;
    for (size_t i = 0; (policy = soc_messages_policy(script, i)) != NULL; i++)
        if (policy->identity.is_option)
            return true;
    return false;
}

void soc_swap_read(lua_State *L, int index, struct soc_swap *swap)
{
    if (lua_type(L, index) == LUA_TSTRING) {
        swap->name = lua_tostring(L, index);
        if (!soc_option_is_text(soc_slice(swap->name, lua_rawlen(L, index))))
            luaL_error(L, "policies: a policy's name is UTF-8 without NUL");
        return;
    }
    if (lua_type(L, index) == LUA_TFUNCTION)
        soc_kind_wrap(L, swap->kind, index, swap->settings_index);
    if (!lua_istable(L, index))
        luaL_error(L, "policies: a policy is a name, a function or a table, got %s",
                   luaL_typename(L, index));
    swap->name = "app";
    swap->index = index;
}

static int use(lua_State *L, struct soc_script *script, const struct soc_swap *swap,
               struct soc_detail *detail)
{
    bool is_messages = strcmp(swap->kind, SOC_MESSAGES) == 0;
    if (swap->index == 0 && is_messages)
        return soc_messages_use(L, script, swap->name, swap->settings_index, detail);
    if (swap->index == 0)
        return soc_policy_set_use(L, script, swap->kind, swap->name, swap->settings_index, detail);
    if (is_messages)
        return soc_messages_use_table(L, script, swap->index, swap->settings_index, detail);
    return soc_policy_set_use_table(L, script, swap->kind, swap->name, swap->index,
                                    swap->settings_index, detail);
}

int soc_swap_use_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                      int settings_index, struct soc_detail *detail)
{
    source->hash[0] = '\0';
    if (strcmp(source->kind, SOC_MESSAGES) == 0)
        return soc_messages_use_file(L, script, source, settings_index, detail);
    return soc_policy_set_use_file(L, script, source, settings_index, detail);
}

/* Pushes the words of the society's language in which `briefs` refuses. */
static void push_words(lua_State *L, struct soc_script *script)
{
    soc_environments_require(L, script, "society.brief");
    lua_getfield(L, -1, "LANGUAGES");
    lua_getfield(L, -1, script->language);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* Tells whether a policy of briefs is one of the program's, which take words as settings. */
static bool takes_words(const char *name)
{
    return strcmp(name, "strict") == 0 || strcmp(name, "lenient") == 0;
}

/* As `use`; briefs that are given no words get those of the society's language. */
static int use_worded(lua_State *L, struct soc_script *script, const struct soc_swap *swap,
                      struct soc_detail *detail)
{
    bool is_worded = script->language != NULL && swap->index == 0 && swap->settings_index == 0 &&
                     strcmp(swap->kind, soc_kind_name(SOC_POLICY_BRIEFS)) == 0 &&
                     takes_words(swap->name);
    if (!is_worded)
        return use(L, script, swap, detail);
    struct soc_swap worded = *swap;
    push_words(L, script);
    worded.settings_index = lua_gettop(L);
    int rc = use(L, script, &worded, detail);
    lua_settop(L, worded.settings_index - 1);
    return rc;
}

/* Keeps a swap for the next starts. A table or a function of the app cannot be kept, and
 * settings that are no JSON are left out. */
static void keep(lua_State *L, struct soc_script *script, const struct soc_swap *swap)
{
    struct soc_buf settings = {0};
    struct soc_detail detail;
    if (swap->index != 0)
        return;
    if (swap->settings_index != 0 &&
        soc_lua_json_encode(L, swap->settings_index, "settings", SOC_BRIEF_BYTES_MAX, &settings,
                            &detail) < 0)
        settings.length = 0;
    soc_policies_keep(script->host, soc_slice_text(swap->kind), soc_slice_text(swap->name),
                      soc_buf_slice(&settings));
    soc_buf_fini(&settings);
}

/* Lets the app decide again from the next start on. */
static int release(struct soc_script *script, const struct soc_swap *swap)
{
    if (!swap->is_trial)
        soc_policies_keep(script->host, soc_slice_text(swap->kind), (struct soc_slice){0},
                          (struct soc_slice){0});
    return SOC_OK;
}

int soc_swap_do(lua_State *L, struct soc_script *script, const struct soc_swap *swap,
                struct soc_detail *detail)
{
    assert(swap->kind != NULL && swap->name != NULL && swap->by != NULL);
    struct soc_policy_shape shape;
    bool is_command = strcmp(swap->by, "command") == 0;
    if (is_command && swap->name[0] == '\0' && soc_kind_shape(swap->kind, "", NULL, &shape))
        return release(script, swap);
    script->tries_policies = swap->is_trial;
    int rc = use_worded(L, script, swap, detail);
    script->tries_policies = false;
    if (rc == SOC_OK && swap->is_trial)
        return rc;
    if (rc == SOC_OK)
        mark_option(script, swap->kind, strcmp(swap->by, "option") == 0);
    if (!script->is_started)
        return rc;
    if (rc < 0) {
        note_refusal(script, swap->kind, swap->name, swap->by, detail->text);
        return rc;
    }
    note_done(L, script, swap->kind, swap->by);
    if (is_command)
        keep(L, script, swap);
    return rc;
}

/* Activates one kept swap. */
static void restore(lua_State *L, struct soc_script *script, const struct soc_swap *swap)
{
    struct soc_host *host = script->host;
    struct soc_detail detail = {{0}};
    struct soc_buf kept = {0};
    if (use_worded(L, script, swap, &detail) < 0) {
        note_refusal(script, swap->kind, swap->name, swap->by, detail.text);
        return;
    }
    mark_option(script, swap->kind, false);
    soc_buf_put_byte(&kept, '{');
    soc_json_put_text_member(&kept, "kind", soc_slice_text(swap->kind));
    soc_json_put_text_member(&kept, "name", soc_slice_text(swap->name));
    soc_buf_put_byte(&kept, '}');
    soc_log_say_printf(soc_host_log(host), SOC_LOG_INFO, soc_clock_now(soc_host_clock(host)),
                       "policy_kept", SOC_SLICE("system"), soc_buf_slice(&kept),
                       "%s: %s was swapped in while the society ran and stays in force; `society "
                       "policy %s=` lets the app decide again",
                       swap->kind, swap->name, swap->kind);
    soc_buf_fini(&kept);
}

void soc_swap_restore(lua_State *L, struct soc_script *script)
{
    struct soc_buf list = {0};
    struct soc_json_walk walk;
    int top = lua_gettop(L);
    soc_buf_put_slice(&list, soc_policies_kept(script->host));
    soc_json_walk(&walk, soc_buf_slice(&list));
    while (soc_json_next(&walk)) {
        struct soc_buf kind = {0};
        struct soc_buf name = {0};
        struct soc_swap swap = {.by = "start"};
        struct soc_slice settings = soc_json_member(walk.value, "settings");
        if (settings.data != NULL && soc_lua_json_decode(L, settings, NULL) == SOC_OK)
            swap.settings_index = lua_gettop(L);
        soc_json_string(soc_json_member(walk.value, "kind"), &kind);
        soc_json_string(soc_json_member(walk.value, "name"), &name);
        swap.kind = soc_buf_text(&kind);
        swap.name = soc_buf_text(&name);
        restore(L, script, &swap);
        lua_settop(L, top);
        soc_buf_fini(&kind);
        soc_buf_fini(&name);
    }
    soc_buf_fini(&list);
}

int soc_swap_set_language(lua_State *L, struct soc_script *script, const char *language,
                          struct soc_detail *detail)
{
    static const enum soc_policy_kind kinds[] = {SOC_POLICY_PROMPTS, SOC_POLICY_PRESENTATION};
    const struct soc_policy *briefs = soc_policy_set_get(script, SOC_POLICY_BRIEFS);
    bool has_words = briefs->given_ref != LUA_NOREF && script->language == NULL;
    int rc = SOC_OK;
    script->language = language;
    for (size_t i = 0; rc == SOC_OK && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const char *name = soc_policy_set_get(script, kinds[i])->identity.name;
        struct soc_swap swap = {
            .kind = soc_kind_name((int)kinds[i]), .name = language, .by = "call"};
        if (strcmp(name, "en") == 0 || strcmp(name, "zh") == 0)
            rc = soc_swap_do(L, script, &swap, detail);
    }
    if (rc < 0 || has_words || !takes_words(briefs->identity.name))
        return rc;
    char *name = soc_copy_text(briefs->identity.name, strlen(briefs->identity.name));
    struct soc_swap swap = {.kind = soc_kind_name(SOC_POLICY_BRIEFS), .name = name, .by = "call"};
    rc = soc_swap_do(L, script, &swap, detail);
    free(name);
    return rc;
}

void soc_swap_start(lua_State *L, struct soc_script *script)
{
    struct soc_buf list = {0};
    struct soc_buf name = {0};
    soc_swap_put_list(L, script, &list);
    struct soc_slice before = soc_policies_recorded(script->host);
    bool is_other =
        soc_policies_are_recorded(script->host) && !soc_slice_equal(before, soc_buf_slice(&list));
    for (int i = 0; is_other && soc_kind_name(i) != NULL; i++) {
        name.length = 0;
        soc_json_put_string(&name, soc_slice_text(soc_kind_name(i)));
        /* A kind added by a newer version of the program is not a change. */
        if (has_kind(before, soc_buf_slice(&name)))
            note_changes(script, soc_buf_slice(&name), before, soc_buf_slice(&list),
                         is_option(script, i) ? "option" : "start");
    }
    soc_policies_record(script->host, soc_buf_slice(&list));
    soc_buf_fini(&list);
    soc_buf_fini(&name);
}

static void hash_text(void *user, const char *path)
{
    struct soc_buf text = {0};
    if (soc_lua_source_read(path, &text))
        soc_policy_hash_more(user, soc_buf_slice(&text));
    soc_buf_fini(&text);
}

/* Calls `each` with the texts of the policy. */
static void each_text(lua_State *L, const struct soc_policy *policy,
                      void (*each)(void *user, const char *path), void *user)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, policy->table_ref);
    soc_policy_each_text(L, -1, each, user);
    lua_pop(L, 1);
}

/* Returns true if the policy's files hold bytes that were neither accepted nor refused. */
static bool has_changed(lua_State *L, struct soc_policy *policy)
{
    struct soc_policy_identity *identity = &policy->identity;
    struct soc_buf text = {0};
    char hash[SOC_POLICY_HASH_BYTES] = "";
    if (identity->path != NULL && soc_lua_source_read(identity->path, &text)) {
        soc_policy_hash(hash, soc_buf_slice(&text));
        each_text(L, policy, hash_text, hash);
    }
    soc_buf_fini(&text);
    if (strcmp(hash, identity->hash) == 0)
        identity->refused[0] = '\0';
    return hash[0] != '\0' && strcmp(hash, identity->hash) != 0 &&
           strcmp(hash, identity->refused) != 0;
}

static void reload(lua_State *L, struct soc_script *script, const char *kind,
                   struct soc_policy *policy)
{
    struct soc_detail detail = {{0}};
    int top = lua_gettop(L);
    int settings = 0;
    char *name = soc_copy_text(policy->identity.name, strlen(policy->identity.name));
    char *path = soc_copy_text(policy->identity.path, strlen(policy->identity.path));
    struct soc_policy_source source = {.kind = kind, .name = name, .path = path};
    if (policy->given_ref != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, policy->given_ref);
        settings = lua_gettop(L);
    }
    int rc = soc_swap_use_file(L, script, &source, settings, &detail);
    lua_settop(L, top);
    if (rc == SOC_OK) {
        note_done(L, script, kind, "file");
    } else if (source.hash[0] != '\0') {
        memcpy(policy->identity.refused, source.hash, sizeof(source.hash));
        note_refusal(script, kind, name, "file", detail.text);
    }
    free(name);
    free(path);
}

void soc_swap_reload(lua_State *L, struct soc_script *script)
{
    struct soc_policy *policy;
    for (int i = 0; i < SOC_POLICY_COUNT; i++) {
        policy = soc_policy_set_get(script, (enum soc_policy_kind)i);
        if (has_changed(L, policy))
            reload(L, script, soc_kind_name(i), policy);
    }
    for (size_t i = 0; (policy = soc_messages_policy(script, i)) != NULL; i++)
        if (has_changed(L, policy))
            reload(L, script, SOC_MESSAGES, policy);
}

void soc_swap_each_file(struct soc_script *script, void (*each)(void *user, const char *path),
                        void *user)
{
    const struct soc_policy *policy;
    for (int i = 0; i < SOC_POLICY_COUNT; i++) {
        policy = soc_policy_set_get(script, (enum soc_policy_kind)i);
        if (policy->identity.path == NULL)
            continue;
        each(user, policy->identity.path);
        each_text(script->L, policy, each, user);
    }
    for (size_t i = 0; (policy = soc_messages_policy(script, i)) != NULL; i++)
        if (policy->identity.path != NULL)
            each(user, policy->identity.path);
}
