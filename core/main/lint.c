#include "main/lint.h"

#include <stdio.h>

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
