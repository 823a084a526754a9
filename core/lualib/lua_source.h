/* Lua source: a walk over the tokens of a script's text, for messages that name
 * a line and for checks that must not run anything.
 *
 * It knows just enough Lua to pass over comments and texts; what is no Lua gives
 * tokens all the same, and Lua itself says what is wrong with it.
 * Layer: lualib. Thread: any. */
#ifndef SOC_LUALIB_LUA_SOURCE_H
#define SOC_LUALIB_LUA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* What a token is. */
enum soc_token_kind {
    SOC_TOKEN_END,
    SOC_TOKEN_NAME, /* a keyword is one too */
    SOC_TOKEN_NUMBER,
    SOC_TOKEN_TEXT, /* with its quotes */
    SOC_TOKEN_SIGN, /* one character, or one of .. ... == ~= <= >= :: */
};

/* A token, and where it stands. */
struct soc_token {
    enum soc_token_kind kind;
    const char *text; /* lent by the source */
    size_t length;
    int line;
};

/* A walk; begin with { text, 1 }, where the text ends with a NUL. */
struct soc_lua_source {
    const char *at;
    int line;
};

/* Gives the next token; false at the end. */
bool soc_lua_source_next(struct soc_lua_source *source, struct soc_token *token);

/* Tells whether the token is exactly this text. */
bool soc_token_is(const struct soc_token *token, const char *text);

/* Reads the whole file at `path` behind what is in `text`; false with errno if it
 * cannot be read. */
bool soc_lua_source_read(const char *path, struct soc_buf *text);

/* The line where the chunk returns its value, 0 if it has no such line. */
int soc_lua_source_return_line(const char *text);

/* The line where the field `name` of the table a chunk builds is set, as in
 * `M.name = …` or `{ name = … }`; 0 if none is seen. */
int soc_lua_source_field_line(const char *text, const char *name);

/* The line where element `number` (from 1) of the list in field `name` begins; 0
 * if it is not written down there. */
int soc_lua_source_element_line(const char *text, const char *name, int number);

#endif
