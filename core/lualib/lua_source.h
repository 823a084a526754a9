/* Lua source: a tokenizer for scripts, used to find lines for messages and for static
 * checks.
 *
 * It knows just enough Lua to skip comments and strings. Invalid Lua yields tokens as
 * well; the error is left to Lua itself.
 * Layer: lualib. Thread: any. */
#ifndef SOC_LUALIB_LUA_SOURCE_H
#define SOC_LUALIB_LUA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The kinds of tokens. */
enum soc_token_kind {
    SOC_TOKEN_END,
    SOC_TOKEN_NAME, /* includes keywords */
    SOC_TOKEN_NUMBER,
    SOC_TOKEN_TEXT, /* with its quotes */
    SOC_TOKEN_SIGN, /* one character, or one of .. ... == ~= <= >= :: */
};

/* A token and its position. */
struct soc_token {
    enum soc_token_kind kind;
    const char *text; /* lent by the source */
    size_t length;
    int line;
};

/* A walk; start with { text, 1 }. The text is NUL-terminated. */
struct soc_lua_source {
    const char *at;
    int line;
};

/* Reads the next token; false at the end. */
bool soc_lua_source_next(struct soc_lua_source *source, struct soc_token *token);

/* Returns true if the token is exactly this text. */
bool soc_token_is(const struct soc_token *token, const char *text);

/* Appends the file at `path` to `text`; false with errno if it cannot be read. */
bool soc_lua_source_read(const char *path, struct soc_buf *text);

/* Returns the line of the chunk's final `return`, or 0. */
int soc_lua_source_return_line(const char *text);

/* Returns the line that sets the field `name` of the table a chunk builds, as in
 * `M.name = …` or `{ name = … }`; 0 if it is not found. */
int soc_lua_source_field_line(const char *text, const char *name);

/* Returns the line of element `number`, from 1, of the list in field `name`; 0 if it is
 * not found. */
int soc_lua_source_element_line(const char *text, const char *name, int number);

#endif
