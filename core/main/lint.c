#include "main/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lualib/lua_source.h"
#include "sandbox/sandbox.h"
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

/* A file as a list of tokens, which can be looked at forwards and backwards. */
struct words {
    struct soc_token *list;
    size_t count;
    size_t capacity;
};

static void read_words(const char *text, struct words *words)
{
    struct soc_lua_source source = {text, 1};
    struct soc_token token;
    while (soc_lua_source_next(&source, &token)) {
        if (words->count == words->capacity) {
            words->capacity = words->capacity == 0 ? 256 : words->capacity * 2;
            words->list = soc_realloc(words->list, words->capacity * sizeof(*words->list));
        }
        words->list[words->count++] = token;
    }
}

/* A place before the first token is a very large number. */
static bool is_word(const struct words *words, size_t at, const char *text)
{
    return at < words->count && soc_token_is(&words->list[at], text);
}

static bool is_name(const struct words *words, size_t at)
{
    return at < words->count && words->list[at].kind == SOC_TOKEN_NAME;
}

static bool is_member(const struct words *words, size_t at)
{
    return is_word(words, at - 1, ".") || is_word(words, at - 1, ":");
}

/* Tells whether the token is that text, or that name in quotes. */
static bool is_quoted(const struct words *words, size_t at, const char *name)
{
    size_t length = strlen(name);
    const struct soc_token *token = &words->list[at];
    return at < words->count && token->kind == SOC_TOKEN_TEXT && token->length == length + 2 &&
           memcmp(token->text + 1, name, length) == 0;
}

/* Tells whether a list of names that begins at `at` has this one. */
static bool list_has(const struct words *words, size_t at, const char *name)
{
    for (; is_name(words, at) || is_word(words, at, ",") || is_word(words, at, "<") ||
           is_word(words, at, ">");
         at++)
        if (is_word(words, at, name))
            return true;
        else if (is_name(words, at) && is_name(words, at - 1) && !is_word(words, at - 1, "local") &&
                 !is_word(words, at - 1, "for"))
            break; /* the next statement */
    return false;
}

/* Tells whether the file declares the name: as a local, a function, a parameter. */
static bool is_declared(const struct words *words, const char *name)
{
    for (size_t i = 0; i < words->count; i++) {
        bool is_function = is_word(words, i, "function");
        if ((is_word(words, i, "local") || is_word(words, i, "for")) &&
            list_has(words, i + 1, name))
            return true;
        if (is_function && is_word(words, i + 1, name) && !is_word(words, i + 2, ".") &&
            !is_word(words, i + 2, ":"))
            return true;
        size_t at = i + 1;
        while (is_function &&
               (is_name(words, at) || is_word(words, at, ".") || is_word(words, at, ":")))
            at++;
        if (is_function && is_word(words, at, "(") && list_has(words, at + 1, name))
            return true;
    }
    return false;
}

/* Another name of a library: `local o = os`. */
struct alias {
    const struct soc_token *name;
    const char *library;
};

#define ALIASES_MAX 32

/* What a file is checked against. */
struct refusals {
    const struct words *words;
    const char *path;
    struct alias aliases[ALIASES_MAX];
    size_t alias_count;
};

static bool is_globals(const struct words *words, size_t at)
{
    return (is_word(words, at, "_G") || is_word(words, at, "_ENV")) && !is_member(words, at);
}

/* Tells whether the global variable `name` stands at `at`: itself, `_G.NAME` or `_G["NAME"]`. */
static bool is_global(const struct words *words, size_t at, const char *name)
{
    if (is_quoted(words, at, name))
        return is_word(words, at - 1, "[") && is_globals(words, at - 2);
    if (!is_word(words, at, name))
        return false;
    if (is_member(words, at))
        return is_word(words, at - 1, ".") && is_globals(words, at - 2);
    return !is_word(words, at + 1, "=") && !is_declared(words, name);
}

/* Returns the place behind the name of a global, which may be in brackets. */
static size_t behind(const struct words *words, size_t at)
{
    return words->list[at].kind == SOC_TOKEN_TEXT ? at + 2 : at + 1;
}

/* Tells whether that library stands at `at`, by whatever name. */
static bool is_library(const struct refusals *refusals, size_t at, const char *library)
{
    const struct words *words = refusals->words;
    if (is_global(words, at, library))
        return true;
    for (size_t i = 0; i < refusals->alias_count; i++) {
        const struct alias *alias = &refusals->aliases[i];
        if (strcmp(alias->library, library) == 0 && is_name(words, at) && !is_member(words, at) &&
            words->list[at].length == alias->name->length &&
            memcmp(words->list[at].text, alias->name->text, alias->name->length) == 0)
            return true;
    }
    return false;
}

static bool is_member_of(const struct words *words, size_t at, const char *member)
{
    return (is_word(words, at, ".") && is_word(words, at + 1, member)) ||
           (is_word(words, at, "[") && is_quoted(words, at + 1, member));
}

/* A name that scripts do not have, and what to do instead. */
struct refused {
    const char *name;
    const char *member; /* behind the dot; NULL: any use of the name */
    const char *advice;
};

static const struct refused list[] = {
    {"io", NULL, "scripts have no files; print, agent:log and agent.state remain"},
    {"debug", NULL, "scripts have no debug library"},
    {"package", NULL, "scripts have only require"},
    {"dofile", NULL, "use require"},
    {"loadfile", NULL, "use require"},
    {"collectgarbage", NULL, "memory is the host's"},
    {"os", "execute", "scripts start no programs"},
    {"os", "exit", "use agent:stop"},
    {"os", "getenv", "hand it to the app as an argument"},
    {"os", "remove", "scripts have no files"},
    {"os", "rename", "scripts have no files"},
    {"os", "tmpname", "scripts have no files"},
    {"os", "setlocale", "scripts have one locale"},
    {"string", "dump", "scripts have no bytecode"},
    {"math", "randomseed", "chance comes from the host's seed"},
    {"load", NULL, "texts are not loaded while agents run, unless the app sets load = true"},
};

/* Fields of metatables. */
static const struct refused fields[] = {
    {"__gc", NULL, "setmetatable refuses it"},
    {"__mode", NULL, "setmetatable refuses it"},
    {"__concat", NULL, "it corrupts memory in this version of Lua; write a function of your own"},
};

static const char *const libraries[] = {"string", "table", "math", "utf8", "coroutine", "os"};

#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

static void warn(const struct refusals *refusals, size_t at, const struct refused *refused)
{
    fprintf(stderr, "%s:%d: warning: %s%s%s would be refused: %s\n", refusals->path,
            refusals->words->list[at].line, refused->name, refused->member == NULL ? "" : ".",
            refused->member == NULL ? "" : refused->member, refused->advice);
}

static void find_aliases(struct refusals *refusals)
{
    const struct words *words = refusals->words;
    for (size_t i = 2; i < words->count && refusals->alias_count < ALIASES_MAX; i++)
        for (size_t k = 0; k < LIBRARIES; k++) {
            if (!is_word(words, i - 1, "=") || !is_name(words, i - 2) ||
                !is_global(words, i, libraries[k]) || is_word(words, i + 1, ".") ||
                is_word(words, i + 1, "["))
                continue;
            refusals->aliases[refusals->alias_count++] =
                (struct alias){&words->list[i - 2], libraries[k]};
            break;
        }
}

static bool is_field(const struct words *words, size_t at, const char *name)
{
    if (is_quoted(words, at, name))
        return is_word(words, at + 1, "]") && is_word(words, at + 2, "=");
    return is_word(words, at, name) &&
           (is_word(words, at + 1, "=") || (is_member(words, at) && is_word(words, at + 1, "(")));
}

/* Warns if a function changes a library, `string.trim = f`: once the app has loaded they are
 * frozen. */
static void check_change(const struct refusals *refusals, size_t at)
{
    const struct words *words = refusals->words;
    for (size_t i = 0; i < LIBRARIES; i++) {
        if (!is_library(refusals, at, libraries[i]) || !is_word(words, behind(words, at), "."))
            continue;
        size_t member = behind(words, at) + 1;
        if (is_word(words, member + 1, "=") || is_word(words, at - 1, "function"))
            fprintf(stderr,
                    "%s:%d: warning: changing %s.%.*s would be refused once the app has loaded: "
                    "all agents share it\n",
                    refusals->path, words->list[at].line, libraries[i],
                    (int)words->list[member].length, words->list[member].text);
    }
}

static void check_word(const struct refusals *refusals, size_t at, bool may_load)
{
    const struct words *words = refusals->words;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        const struct refused *refused = &list[i];
        bool is_met = refused->member == NULL
                          ? is_global(words, at, refused->name)
                          : is_library(refusals, at, refused->name) &&
                                is_member_of(words, behind(words, at), refused->member);
        if (is_met && !(may_load && strcmp(refused->name, "load") == 0))
            warn(refusals, at, refused);
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (is_field(words, at, fields[i].name) &&
            (strcmp(fields[i].name, "__concat") != 0 || soc_sandbox_refuses_concat()))
            warn(refusals, at, &fields[i]);
}

#define BLOCKS_MAX 200

/* Which of the blocks that are open at a place are functions. */
struct blocks {
    bool is_function[BLOCKS_MAX];
    int count;
    int functions;
};

static void pass_block(struct blocks *blocks, const struct words *words, size_t at)
{
    bool is_function = is_word(words, at, "function");
    if (is_member(words, at) || blocks->count == BLOCKS_MAX)
        return;
    if (is_function || is_word(words, at, "if") || is_word(words, at, "do") ||
        is_word(words, at, "repeat")) {
        blocks->is_function[blocks->count++] = is_function;
        blocks->functions += is_function;
    } else if (blocks->count > 0 && (is_word(words, at, "end") || is_word(words, at, "until"))) {
        blocks->functions -= blocks->is_function[--blocks->count];
    }
}

void soc_lint_refused(const char *path, bool may_load)
{
    struct soc_buf text = {0};
    struct words words = {0};
    struct blocks blocks = {.count = 0};
    struct refusals refusals = {.words = &words, .path = path};
    if (soc_lua_source_read(path, &text))
        read_words(soc_buf_text(&text), &words);
    find_aliases(&refusals);
    for (size_t i = 0; i < words.count; i++) {
        /* `function string.trim` is where its own function stands. */
        bool is_inside = blocks.functions > is_word(&words, i - 1, "function");
        pass_block(&blocks, &words, i);
        check_word(&refusals, i, may_load);
        if (is_inside)
            check_change(&refusals, i);
    }
    free(words.list);
    soc_buf_fini(&text);
}
