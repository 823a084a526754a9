#include "script/policies/policy_audit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lualib/lua_names.h"
#include "lualib/lua_source.h"
#include "script/policies/policy_check.h"
#include "script/policies/policy_load.h"
#include "script/policies/vocabulary.h"

/* A file being checked. */
struct audit {
    struct soc_policy_report report; /* first: `found` gets a pointer to it */
    struct soc_script *script;
    const char *path;
    struct soc_buf text;
    soc_policy_audit_cb *found;
    void *user;
    struct soc_detail *summary;
};

static void pass_on(struct soc_policy_report *report, int line, bool is_warning, const char *text)
{
    const struct audit *audit = report->user;
    audit->found(audit->user, line == 0 ? 1 : line, is_warning, text);
}

static void report_name(void *user, int line, const char *name)
{
    struct audit *audit = user;
    soc_policy_found(&audit->report, line, false,
                     "'%s' does not exist for policies; a policy is a pure function of what it is "
                     "handed",
                     name);
}

/* They exist only to explain the error when they are called. */
static void remove_effects(lua_State *L, int env)
{
    static const struct {
        const char *library;
        const char *name;
    } effects[] = {{NULL, "print"}, {"math", "random"}, {"math", "randomseed"}, {"os", "clock"}};
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
        lua_pushvalue(L, env);
        if (effects[i].library != NULL)
            soc_option_field(L, env, effects[i].library);
        lua_pushstring(L, effects[i].name);
        lua_pushnil(L);
        lua_rawset(L, -3);
        lua_settop(L, env);
    }
}

static void check_names(lua_State *L, struct audit *audit)
{
    soc_policy_push_environment(L, audit->script);
    remove_effects(L, lua_gettop(L));
    soc_lua_names_check(L, lua_gettop(L), soc_buf_text(&audit->text), report_name, audit);
    lua_pop(L, 1);
}

/* Reports an error of Lua that begins with FILE:LINE. */
static void report_failure(struct audit *audit, const struct soc_detail *detail)
{
    int line;
    const char *text = soc_policy_locate(audit->path, detail->text, &line);
    soc_policy_found(&audit->report, line, false, "%s", text);
}

/* Writes the kind of policies/KIND/NAME.lua; empty if the file is elsewhere. */
static void find_folder(const char *path, char *kind, size_t size)
{
    const char *name = strrchr(path, '/');
    const char *start = name;
    kind[0] = '\0';
    if (name == NULL)
        return;
    while (start > path && start[-1] != '/')
        start--;
    size_t before = (size_t)(start - path);
    bool is_ours = before >= 9 && strncmp(start - 9, "policies/", 9) == 0 &&
                   (before == 9 || start[-10] == '/');
    if (is_ours)
        snprintf(kind, size, "%.*s", (int)(name - start), start);
}

/* Chooses the kind to check the table on top as: that of its folder, else its own.
 * False if there is no such kind. */
static bool choose_shape(lua_State *L, struct audit *audit, struct soc_policy_shape *shape)
{
    char folder[64];
    struct soc_buf text = {0};
    find_folder(audit->path, folder, sizeof(folder));
    if (soc_kind_shape(folder, audit->path, audit->path, shape))
        return true;
    int type = lua_istable(L, -1) ? soc_option_field(L, -1, "kind") : (lua_pushnil(L), LUA_TNIL);
    const char *kind = type == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    bool is_known = kind != NULL && soc_kind_shape(kind, audit->path, audit->path, shape);
    lua_pop(L, 1); /* the shape refers to the table of kinds, not to this text */
    if (is_known)
        return true;
    if (kind != NULL)
        soc_kind_put_unknown(&text, kind);
    else
        soc_buf_put_text(&text, "the file must return a table with a kind");
    int line = soc_lua_source_field_line(soc_buf_text(&audit->text), "kind");
    if (line == 0)
        line = soc_lua_source_return_line(soc_buf_text(&audit->text));
    soc_policy_found(&audit->report, line, false, "%s", soc_buf_text(&text));
    soc_buf_fini(&text);
    return false;
}

/* Reads the table at 2 as a vocabulary, whose settings at 3 are nil. */
static int read_vocabulary(lua_State *L)
{
    const struct audit *audit = lua_touserdata(L, 1);
    struct soc_policy_source source = {
        .kind = SOC_MESSAGES, .name = audit->path, .path = audit->path};
    soc_vocabulary_push(L, audit->script, 2, &source, 3);
    return 0;
}

/* Reports the first error in the types and examples of the vocabulary on top; later
 * ones may only follow from it. */
static void check_vocabulary(lua_State *L, struct audit *audit)
{
    int top = lua_gettop(L);
    int number = 0;
    audit->report.examples =
        soc_option_field(L, top, "examples") == LUA_TTABLE ? (int)lua_rawlen(L, -1) : 0;
    lua_pushcfunction(L, read_vocabulary);
    lua_pushlightuserdata(L, audit);
    lua_pushvalue(L, top);
    lua_pushnil(L);
    if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
        const char *message = lua_tostring(L, -1);
        const char *source = soc_buf_text(&audit->text);
        bool is_example = message != NULL && sscanf(message, "example %d", &number) == 1;
        int line = is_example ? soc_lua_source_element_line(source, "examples", number)
                              : soc_lua_source_field_line(source, "types");
        soc_policy_found(&audit->report, line, false, "%s", message == NULL ? "error" : message);
    }
    lua_settop(L, top);
}

static void check_file(lua_State *L, struct audit *audit)
{
    struct soc_detail detail = {{0}};
    struct soc_policy_shape shape;
    if (!soc_lua_source_read(audit->path, &audit->text)) {
        soc_policy_found(&audit->report, 0, false, "%s", strerror(errno));
        return;
    }
    int rc = soc_policy_load(L, audit->script, audit->path, &detail);
    if (rc < 0)
        report_failure(audit, &detail);
    check_names(L, audit);
    if (rc < 0 || !choose_shape(L, audit, &shape))
        return;
    soc_policy_check_table(L, lua_gettop(L), &shape, &audit->report);
    if (shape.has_own_examples && audit->report.errors == 0)
        check_vocabulary(L, audit);
    if (audit->report.errors == 0)
        snprintf(audit->summary->text, sizeof(audit->summary->text),
                 "a policy of the kind %s, %d example%s", shape.kind, audit->report.examples,
                 audit->report.examples == 1 ? "" : "s");
}

static int run_audit(lua_State *L)
{
    struct audit *audit = lua_touserdata(L, 1);
    lua_settop(L, 0);
    check_file(L, audit);
    return 0;
}

int soc_policy_audit(struct soc_script *script, const char *path, soc_policy_audit_cb *found,
                     void *user, struct soc_detail *summary)
{
    lua_State *L = script->L;
    struct audit audit = {
        .report = {.found = pass_on, .is_whole = true},
        .script = script,
        .path = path,
        .found = found,
        .user = user,
        .summary = summary,
    };
    audit.report.user = &audit;
    lua_pushcfunction(L, run_audit);
    lua_pushlightuserdata(L, &audit);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        soc_policy_found(&audit.report, 0, false, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    soc_buf_fini(&audit.text);
    return audit.report.errors;
}
