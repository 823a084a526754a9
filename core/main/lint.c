#include "main/lint.h"

#include <stdio.h>
#include <string.h>

#include "lualib/lua_source.h"
#include "script/script.h"

static bool has_member(lua_State *L, int box, const char *name, size_t length)
{
    soc_script_push_module(L, box);
    lua_pushlstring(L, name, length);
    lua_rawget(L, -2);
    bool is_there = !lua_isnil(L, -1);
    lua_pop(L, 2);
    return is_there;
}

/* Checks the member name after `society.`. */
static int check_member(struct soc_lua_source source, lua_State *L, int box, const char *path)
{
    struct soc_token dot;
    struct soc_token name;
    if (!soc_lua_source_next(&source, &dot) || !soc_token_is(&dot, ".") ||
        !soc_lua_source_next(&source, &name) || name.kind != SOC_TOKEN_NAME ||
        has_member(L, box, name.text, name.length))
        return 0;
    fprintf(stderr, "%s:%d: society.%.*s does not exist\n", path, name.line, (int)name.length,
            name.text);
    return 1;
}

static int check_text(const char *text, lua_State *L, int box, const char *path)
{
    struct soc_lua_source source = {text, 1};
    struct soc_token token;
    int faults = 0;
    bool is_member = false; /* the name follows a dot or a colon */
    while (soc_lua_source_next(&source, &token)) {
        if (!is_member && token.kind == SOC_TOKEN_NAME && soc_token_is(&token, "society"))
            faults += check_member(source, L, box, path);
        is_member = soc_token_is(&token, ".") || soc_token_is(&token, ":");
    }
    return faults;
}

int soc_lint_calls(lua_State *L, int box, const char *path)
{
    struct soc_buf text = {0};
    int faults = 0;
    if (soc_lua_source_read(path, &text))
        faults = check_text(soc_buf_text(&text), L, box, path);
    soc_buf_fini(&text);
    return faults;
}

/* A name that scripts do not have, and what to do instead. */
struct refused {
    const char *name;
    const char *sign;   /* that follows it: "." or "(" */
    const char *member; /* behind the dot; NULL: any */
    const char *advice;
};

static const struct refused list[] = {
    {"io", ".", NULL, "scripts have no files; print, agent:log and agent.state remain"},
    {"debug", ".", NULL, "scripts have no debug library"},
    {"package", ".", NULL, "scripts have only require"},
    {"dofile", "(", NULL, "use require"},
    {"loadfile", "(", NULL, "use require"},
    {"collectgarbage", "(", NULL, "memory is the host's"},
    {"os", ".", "execute", "scripts start no programs"},
    {"os", ".", "exit", "use agent:stop"},
    {"os", ".", "getenv", "hand it to the app as an argument"},
    {"os", ".", "remove", "scripts have no files"},
    {"os", ".", "rename", "scripts have no files"},
    {"os", ".", "tmpname", "scripts have no files"},
    {"os", ".", "setlocale", "scripts have one locale"},
    {"string", ".", "dump", "scripts have no bytecode"},
    {"math", ".", "randomseed", "chance comes from the host's seed"},
    {"load", "(", NULL, "texts are not loaded while agents run, unless the app sets load = true"},
    {"__gc", "=", NULL, "setmetatable refuses it"},
    {"__mode", "=", NULL, "setmetatable refuses it"},
};

/* Tells whether the file declares the name: `local name`, `function name`. */
static bool is_declared(const char *text, const char *name)
{
    struct soc_lua_source source = {text, 1};
    struct soc_token token;
    bool is_declaration = false;
    while (soc_lua_source_next(&source, &token)) {
        if (is_declaration && soc_token_is(&token, name))
            return true;
        is_declaration = soc_token_is(&token, "local") || soc_token_is(&token, "function");
    }
    return false;
}

/* `source` is behind the name. */
static bool is_refused(struct soc_lua_source source, const struct soc_token *name,
                       const struct refused *refused)
{
    struct soc_token token;
    if (!soc_token_is(name, refused->name) || !soc_lua_source_next(&source, &token) ||
        !soc_token_is(&token, refused->sign))
        return false;
    return refused->member == NULL ||
           (soc_lua_source_next(&source, &token) && soc_token_is(&token, refused->member));
}

static void warn(const char *path, int line, const struct refused *refused)
{
    fprintf(stderr, "%s:%d: warning: %s%s%s would be refused: %s\n", path, line, refused->name,
            refused->member == NULL ? "" : ".", refused->member == NULL ? "" : refused->member,
            refused->advice);
}

void soc_lint_refused(const char *path, bool may_load)
{
    struct soc_buf text = {0};
    struct soc_token token;
    bool is_member = false; /* the name follows a dot or a colon */
    if (soc_lua_source_read(path, &text)) {
        struct soc_lua_source source = {soc_buf_text(&text), 1};
        for (; soc_lua_source_next(&source, &token);
             is_member = soc_token_is(&token, ".") || soc_token_is(&token, ":"))
            for (size_t i = 0; !is_member && i < sizeof(list) / sizeof(list[0]); i++)
                if (is_refused(source, &token, &list[i]) &&
                    !(may_load && strcmp(list[i].name, "load") == 0) &&
                    !is_declared(soc_buf_text(&text), list[i].name))
                    warn(path, token.line, &list[i]);
    }
    soc_buf_fini(&text);
}
