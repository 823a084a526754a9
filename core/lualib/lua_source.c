#include "lualib/lua_source.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_name_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

static void step(struct soc_lua_source *source)
{
    if (*source->at == '\n')
        source->line++;
    if (*source->at != '\0')
        source->at++;
}

/* Skips a long bracket, [[ ]] or [==[ ]==]; false if there is none here. */
static bool skip_long(struct soc_lua_source *source)
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

static void skip_quoted(struct soc_lua_source *source)
{
    char quote = *source->at;
    do {
        if (*source->at == '\\')
            step(source);
        step(source);
    } while (*source->at != quote && *source->at != '\0' && *source->at != '\n');
    if (*source->at == quote)
        step(source);
}

static void skip_space(struct soc_lua_source *source)
{
    for (;;) {
        if (source->at[0] == '-' && source->at[1] == '-') {
            source->at += 2;
            if (!skip_long(source))
                source->at += strcspn(source->at, "\n");
        } else if (isspace((unsigned char)*source->at)) {
            step(source);
        } else {
            return;
        }
    }
}

static size_t sign_length(const char *at)
{
    if (*at == '.')
        return strspn(at, ".");
    bool is_double = (strchr("=~<>", *at) != NULL && at[1] == '=') || (*at == ':' && at[1] == ':');
    return is_double ? 2 : 1;
}

bool soc_lua_source_next(struct soc_lua_source *source, struct soc_token *token)
{
    skip_space(source);
    const char *start = source->at;
    *token = (struct soc_token){.text = start, .line = source->line};
    if (*start == '\0')
        return false;
    if (is_name_byte(*start)) {
        token->kind = isdigit((unsigned char)*start) ? SOC_TOKEN_NUMBER : SOC_TOKEN_NAME;
        while (is_name_byte(*source->at))
            source->at++;
    } else if (*start == '"' || *start == '\'') {
        token->kind = SOC_TOKEN_TEXT;
        skip_quoted(source);
    } else if (skip_long(source)) {
        token->kind = SOC_TOKEN_TEXT;
    } else {
        token->kind = SOC_TOKEN_SIGN;
        source->at += sign_length(start);
    }
    token->length = (size_t)(source->at - start);
    return true;
}

bool soc_token_is(const struct soc_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool soc_lua_source_read(const char *path, struct soc_buf *text)
{
    size_t count;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    while ((count = fread(soc_buf_reserve(text, 65536), 1, 65536, file)) > 0)
        text->length += count;
    bool is_read = ferror(file) == 0;
    fclose(file);
    return is_read;
}

/* A walk that tracks nesting. */
struct scan {
    struct soc_lua_source source;
    struct soc_token token;
    struct soc_token previous;
    int blocks;         /* open function, if, do, repeat */
    int brackets;       /* open { ( [; a bracket itself counts as outside */
    int since_function; /* tokens since the last `function` */
};

static bool token_is_any(const struct soc_token *token, const char *const *texts)
{
    for (int i = 0; texts[i] != NULL; i++)
        if (soc_token_is(token, texts[i]))
            return true;
    return false;
}

static bool opens_block(const struct soc_token *token)
{
    static const char *const words[] = {"function", "if", "do", "repeat", NULL};
    return token_is_any(token, words);
}

static bool closes_block(const struct soc_token *token)
{
    static const char *const words[] = {"end", "until", NULL};
    return token_is_any(token, words);
}

static bool opens_bracket(const struct soc_token *token)
{
    return token->length == 1 && token->text[0] != '\0' && strchr("{([", token->text[0]) != NULL;
}

static bool closes_bracket(const struct soc_token *token)
{
    return token->length == 1 && token->text[0] != '\0' && strchr("})]", token->text[0]) != NULL;
}

static bool advance(struct scan *scan)
{
    scan->previous = scan->token;
    if (opens_block(&scan->previous))
        scan->blocks++;
    if (opens_bracket(&scan->previous))
        scan->brackets++;
    scan->since_function = soc_token_is(&scan->previous, "function") ? 1 : scan->since_function + 1;
    if (!soc_lua_source_next(&scan->source, &scan->token))
        return false;
    if (closes_block(&scan->token))
        scan->blocks--;
    if (closes_bracket(&scan->token))
        scan->brackets--;
    return true;
}

static struct scan begin_scan(const char *text)
{
    if (*text == '#') /* a shebang line, as in Lua */
        text += strcspn(text, "\n");
    return (struct scan){.source = {text, 1}, .since_function = 9};
}

int soc_lua_source_return_line(const char *text)
{
    struct scan scan = begin_scan(text);
    while (advance(&scan))
        if (scan.blocks == 0 && scan.brackets == 0 && soc_token_is(&scan.token, "return"))
            return scan.token.line;
    return 0;
}

/* Returns true if the scan is at the name of a field that is assigned. */
static bool is_at_field(const struct scan *scan, const char *name)
{
    static const char *const before[] = {".", "{", ",", ";", NULL};
    if (scan->token.kind != SOC_TOKEN_NAME || !soc_token_is(&scan->token, name))
        return false;
    if (scan->blocks == 1 && scan->since_function == 3 && scan->brackets == 0)
        return true; /* function M.name */
    struct soc_lua_source ahead = scan->source;
    struct soc_token next;
    return scan->blocks == 0 && scan->brackets <= 1 && token_is_any(&scan->previous, before) &&
           soc_lua_source_next(&ahead, &next) && soc_token_is(&next, "=");
}

static bool find_field(struct scan *scan, const char *name)
{
    while (advance(scan))
        if (is_at_field(scan, name))
            return true;
    return false;
}

int soc_lua_source_field_line(const char *text, const char *name)
{
    struct scan scan = begin_scan(text);
    return find_field(&scan, name) ? scan.token.line : 0;
}

int soc_lua_source_element_line(const char *text, const char *name, int number)
{
    assert(number > 0);
    static const char *const separators[] = {",", ";", NULL};
    struct scan scan = begin_scan(text);
    if (!find_field(&scan, name) || !advance(&scan) || !advance(&scan) ||
        !soc_token_is(&scan.token, "{"))
        return 0;
    int brackets = scan.brackets + 1;
    int blocks = scan.blocks;
    int count = 1;
    while (advance(&scan) && scan.brackets >= brackets) {
        if (count == number)
            return scan.token.line;
        if (scan.brackets == brackets && scan.blocks == blocks &&
            token_is_any(&scan.token, separators))
            count++;
    }
    return 0; /* the list ends before it */
}
