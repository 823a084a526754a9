#include "main/lint.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "main/command.h"
#include "script/script.h"

/* A walk over Lua source. The text ends with a NUL. */
struct source {
    const char *at;
    int line;
};

static bool is_name_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

static void step(struct source *source)
{
    if (*source->at == '\n')
        source->line++;
    if (*source->at != '\0')
        source->at++;
}

/* Skips a long bracket, [[ ]] or [==[ ]==]; false if there is none here. */
static bool skip_long(struct source *source)
{
    size_t equals = strspn(source->at + 1, "=");
    if (source->at[0] != '[' || source->at[equals + 1] != '[')
        return false;
    while (*source->at != '\0') {
        step(source);
        if (source->at[0] == ']' && strspn(source->at + 1, "=") == equals &&
            source->at[equals + 1] == ']') {
            source->at += equals + 2;
            break;
        }
    }
    return true;
}

/* Skips what is no code: a comment or a text. False if there is none here. */
static bool skip_dead(struct source *source)
{
    if (source->at[0] == '-' && source->at[1] == '-') {
        source->at += 2;
        if (!skip_long(source))
            source->at += strcspn(source->at, "\n");
        return true;
    }
    char quote = *source->at;
    if (quote != '"' && quote != '\'')
        return skip_long(source);
    do {
        if (*source->at == '\\')
            step(source);
        step(source);
    } while (*source->at != quote && *source->at != '\0' && *source->at != '\n');
    step(source);
    return true;
}

static bool has_member(lua_State *L, int box, const char *name, size_t length)
{
    soc_script_push_module(L, box);
    lua_pushlstring(L, name, length);
    lua_rawget(L, -2);
    bool is_there = !lua_isnil(L, -1);
    lua_pop(L, 2);
    return is_there;
}

/* At the name `society`: looks at what follows the dot. */
static int check_member(struct source *source, lua_State *L, int box, const char *path)
{
    const char *at = source->at + strspn(source->at, " \t");
    if (*at != '.' || at[1] == '.')
        return 0;
    at += 1 + strspn(at + 1, " \t");
    size_t length = 0;
    while (is_name_byte(at[length]))
        length++;
    source->at = at + length;
    if (length == 0 || has_member(L, box, at, length))
        return 0;
    fprintf(stderr, "%s:%d: society.%.*s does not exist\n", path, source->line, (int)length, at);
    return 1;
}

static int check_text(const char *text, lua_State *L, int box, const char *path)
{
    struct source source = {text, 1};
    int faults = 0;
    bool is_member = false; /* the next name follows a dot or a colon */
    while (*source.at != '\0') {
        if (skip_dead(&source))
            continue;
        if (!is_name_byte(*source.at)) {
            is_member = *source.at == '.' || *source.at == ':' ||
                        (is_member && isspace((unsigned char)*source.at));
            step(&source);
            continue;
        }
        const char *name = source.at;
        while (is_name_byte(*source.at))
            source.at++;
        if (!is_member && source.at - name == 7 && memcmp(name, "society", 7) == 0)
            faults += check_member(&source, L, box, path);
        is_member = false;
    }
    return faults;
}

int soc_lint_calls(lua_State *L, int box, const char *path)
{
    struct soc_buf text = {0};
    size_t count;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    while ((count = fread(soc_buf_reserve(&text, 65536), 1, 65536, file)) > 0)
        text.length += count;
    fclose(file);
    int faults = check_text(soc_buf_text(&text), L, box, path);
    soc_buf_fini(&text);
    return faults;
}
