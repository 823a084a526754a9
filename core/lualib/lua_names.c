#include "lualib/lua_names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"

#define DEPTH_MAX      256 /* nesting of brackets and blocks that is tracked */
#define NAME_BYTES_MAX 100

static const char *const keywords[] = {
    "and",      "break",  "do",   "else", "elseif", "end",   "false", "for",
    "function", "goto",   "if",   "in",   "local",  "nil",   "not",   "or",
    "repeat",   "return", "then", "true", "until",  "while", NULL,
};

static bool is_keyword(const struct soc_token *token)
{
    for (int i = 0; keywords[i] != NULL; i++)
        if (soc_token_is(token, keywords[i]))
            return true;
    return false;
}

static bool is_name(const struct soc_token *token)
{
    return token->kind == SOC_TOKEN_NAME && !is_keyword(token);
}

/* A walk that tracks whether it is inside a table. */
struct walk {
    struct soc_lua_source source;
    struct soc_token token;
    struct soc_token previous;
    struct soc_token next;
    char inside[DEPTH_MAX]; /* '{', or any other byte */
    int depth;
    struct soc_map declared; /* names, lent by the text */
    bool is_declaring;       /* after local, for, function or its bracket */
};

static void open_part(struct walk *walk, char what)
{
    if (walk->depth < DEPTH_MAX)
        walk->inside[walk->depth] = what;
    walk->depth++;
}

static void close_part(struct walk *walk)
{
    if (walk->depth > 0)
        walk->depth--;
}

static bool is_in_table(const struct walk *walk)
{
    return walk->depth > 0 && walk->depth <= DEPTH_MAX && walk->inside[walk->depth - 1] == '{';
}

static void follow_depth(struct walk *walk)
{
    static const char *const openers[] = {"{", "(", "[", "function", "if", "do", "repeat"};
    static const char *const closers[] = {"}", ")", "]", "end", "until"};
    for (size_t i = 0; i < sizeof(openers) / sizeof(openers[0]); i++)
        if (soc_token_is(&walk->token, openers[i]))
            open_part(walk, i == 0 ? '{' : ' ');
    for (size_t i = 0; i < sizeof(closers) / sizeof(closers[0]); i++)
        if (soc_token_is(&walk->token, closers[i]))
            close_part(walk);
}

static struct walk begin_walk(const char *text)
{
    struct walk walk = {.source = {text, 1}};
    if (*text == '#')
        walk.source.at += strcspn(text, "\n");
    soc_lua_source_next(&walk.source, &walk.next);
    return walk;
}

static bool advance(struct walk *walk)
{
    walk->previous = walk->token;
    walk->token = walk->next;
    if (walk->token.kind == SOC_TOKEN_END)
        return false;
    soc_lua_source_next(&walk->source, &walk->next);
    follow_depth(walk);
    return true;
}

static bool is_member(const struct walk *walk)
{
    return soc_token_is(&walk->previous, ".") || soc_token_is(&walk->previous, ":") ||
           soc_token_is(&walk->previous, "::") || soc_token_is(&walk->previous, "goto");
}

static bool is_key(const struct walk *walk)
{
    return is_in_table(walk) && soc_token_is(&walk->next, "=");
}

/* Names are declared after `local`, `for` and `function` until the first token that is
 * neither a name nor a separator. */
static void follow_declaration(struct walk *walk)
{
    static const char *const begins[] = {"local", "for", "function"};
    static const char *const between[] = {",", "(", "<", ">", "...", ".", ":"};
    bool goes_on = is_name(&walk->token) && !is_name(&walk->previous);
    for (size_t i = 0; i < sizeof(between) / sizeof(between[0]); i++)
        goes_on = goes_on || soc_token_is(&walk->token, between[i]);
    if (!goes_on)
        walk->is_declaring = false;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (soc_token_is(&walk->token, begins[i]))
            walk->is_declaring = true;
}

static void collect(struct walk *walk)
{
    while (advance(walk)) {
        follow_declaration(walk);
        bool is_set = walk->is_declaring || (soc_token_is(&walk->next, "=") && !is_key(walk));
        if (is_name(&walk->token) && is_set && !is_member(walk))
            soc_map_put(&walk->declared, soc_slice(walk->token.text, walk->token.length), walk);
    }
}

/* Pushes the value of the token's name in the table on top. */
static int push_named(lua_State *L, const struct soc_token *token)
{
    lua_pushlstring(L, token->text, token->length);
    return lua_rawget(L, -2);
}

/* Writes the name at the walk's position if it is used but not defined, with its member
 * if only that is undefined. Returns false if everything is defined. */
static bool find_missing(lua_State *L, int index, const struct walk *walk, char *name)
{
    int top = lua_gettop(L);
    bool is_missing = false;
    lua_pushvalue(L, index);
    int type = push_named(L, &walk->token);
    struct soc_lua_source ahead = walk->source;
    struct soc_token member = {0};
    if (type == LUA_TNIL) {
        is_missing = true;
        snprintf(name, NAME_BYTES_MAX, "%.*s", (int)walk->token.length, walk->token.text);
    } else if (type == LUA_TTABLE && soc_token_is(&walk->next, ".") &&
               soc_lua_source_next(&ahead, &member) && push_named(L, &member) == LUA_TNIL) {
        is_missing = true;
        snprintf(name, NAME_BYTES_MAX, "%.*s.%.*s", (int)walk->token.length, walk->token.text,
                 (int)member.length, member.text);
    }
    lua_settop(L, top);
    return is_missing;
}

void soc_lua_names_check(lua_State *L, int index, const char *text,
                         void (*found)(void *user, int line, const char *name), void *user)
{
    assert(lua_istable(L, index));
    struct walk first = begin_walk(text);
    struct walk walk = begin_walk(text);
    char name[NAME_BYTES_MAX];
    index = lua_absindex(L, index);
    collect(&first);
    lua_newtable(L); /* names already reported */
    while (advance(&walk)) {
        if (!is_name(&walk.token) || is_member(&walk) || is_key(&walk) ||
            soc_map_find(&first.declared, soc_slice(walk.token.text, walk.token.length)) != NULL ||
            !find_missing(L, index, &walk, name))
            continue;
        if (lua_getfield(L, -1, name) == LUA_TNIL) {
            lua_pushboolean(L, 1);
            lua_setfield(L, -3, name);
            found(user, walk.token.line, name);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    soc_map_fini(&first.declared);
}
