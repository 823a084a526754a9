/* Covers: core/lualib/lua_names.c */
#include "check.h"

#include <lauxlib.h>
#include <lualib.h>

#include "base/buf.h"
#include "lualib/lua_names.h"
#include "lualib/lua_source.h"
#include "lualib/nearest.h"

/* Appends the tokens of `text` with a bar behind each. */
static const char *tokens_of(struct soc_buf *out, const char *text)
{
    struct soc_lua_source source = {text, 1};
    struct soc_token token;
    out->length = 0;
    while (soc_lua_source_next(&source, &token)) {
        soc_buf_put(out, token.text, token.length);
        soc_buf_put_byte(out, '|');
    }
    return soc_buf_text(out);
}

static void tokens_exclude_comments_and_keep_strings_whole(void)
{
    struct soc_buf out = {0};
    CHECK_TEXT(tokens_of(&out, "a.b:c(1)--x\nd"), "a|.|b|:|c|(|1|)|d|");
    CHECK_TEXT(tokens_of(&out, "--[==[ a ]] \n ]==] b --[[c]]d"), "b|d|");
    CHECK_TEXT(tokens_of(&out, "x = 'a\\'b' .. \"--no\" == [[ two\nlines ]]"),
               "x|=|'a\\'b'|..|\"--no\"|==|[[ two\nlines ]]|");
    CHECK_TEXT(tokens_of(&out, "a<=b ~=c ... ::x:: [1]"), "a|<=|b|~=|c|...|::|x|::|[|1|]|");
    CHECK_TEXT(tokens_of(&out, "'open\nx [[ open"), "'open|x|[[ open|");
    CHECK_TEXT(tokens_of(&out, "'\\"), "'\\|");
    CHECK_TEXT(tokens_of(&out, ""), "");
    soc_buf_fini(&out);
}

static void tokens_know_their_lines(void)
{
    struct soc_lua_source source = {"a\n--[[\n\n]]b [[\n]] c", 1};
    struct soc_token token;
    static const int lines[] = {1, 4, 4, 5};
    for (int i = 0; i < 4; i++) {
        CHECK(soc_lua_source_next(&source, &token));
        CHECK_INT(token.line, lines[i]);
    }
    CHECK(!soc_lua_source_next(&source, &token));
    CHECK_INT(token.kind, SOC_TOKEN_END);
}

static const char policy[] = "#!/usr/bin/env society\n"
                             "local M = { kind = 'a',\n"
                             "  defaults = { version = 1 },\n"
                             "}\n"
                             "function M.check(kind)\n"
                             "  if kind then return nil end\n"
                             "  local t = { version = 2 }\n"
                             "end\n"
                             "M.version = 3\n"
                             "M.examples = {\n"
                             "  { ask = 'x', given = { {\n"
                             "    1, 2 }, 3 } },\n"
                             "  f(1, 2), { function() return 1,\n"
                             "    2 end },\n"
                             "  'last',\n"
                             "}\n"
                             "for i = 1, 2 do repeat local x = i until true end\n"
                             "return M\n";

static void fields_are_found_where_the_table_is_built(void)
{
    CHECK_INT(soc_lua_source_field_line(policy, "kind"), 2);
    CHECK_INT(soc_lua_source_field_line(policy, "defaults"), 3);
    CHECK_INT(soc_lua_source_field_line(policy, "version"), 9);
    CHECK_INT(soc_lua_source_field_line(policy, "check"), 5);
    CHECK_INT(soc_lua_source_field_line(policy, "ask"), 0);
    CHECK_INT(soc_lua_source_field_line("return {\n kind = 1 }", "kind"), 2);
    CHECK_INT(soc_lua_source_field_line("if M.kind == 1 then end", "kind"), 0);
}

static void the_return_of_the_chunk_is_distinct_from_those_of_functions(void)
{
    CHECK_INT(soc_lua_source_return_line(policy), 18);
    CHECK_INT(soc_lua_source_return_line("\nreturn { f = function() return 1 end }"), 2);
    CHECK_INT(soc_lua_source_return_line("local function f() return 1 end"), 0);
    CHECK_INT(soc_lua_source_return_line("if x then return end"), 0);
}

static void elements_are_counted_at_their_own_depth(void)
{
    CHECK_INT(soc_lua_source_element_line(policy, "examples", 1), 11);
    CHECK_INT(soc_lua_source_element_line(policy, "examples", 2), 13);
    CHECK_INT(soc_lua_source_element_line(policy, "examples", 3), 13);
    CHECK_INT(soc_lua_source_element_line(policy, "examples", 4), 15);
    CHECK_INT(soc_lua_source_element_line(policy, "examples", 5), 0);
    CHECK_INT(soc_lua_source_element_line(policy, "nothing", 1), 0);
    CHECK_INT(soc_lua_source_element_line("M.examples = make()", "examples", 1), 0);
}

static void note_name(void *user, int line, const char *name)
{
    soc_buf_printf(user, "%d %s|", line, name);
}

/* The names `text` uses and a plain Lua does not have, as LINE NAME| each. */
static const char *names_of(lua_State *L, struct soc_buf *out, const char *text)
{
    out->length = 0;
    lua_pushglobaltable(L);
    soc_lua_names_check(L, -1, text, note_name, out);
    CHECK_INT(lua_gettop(L), 1);
    lua_pop(L, 1);
    return soc_buf_text(out);
}

static void undeclared_names_are_found_once_with_their_line(void)
{
    lua_State *L = luaL_newstate();
    struct soc_buf out = {0};
    luaL_openlibs(L);
    CHECK_TEXT(names_of(L, &out, "print(foo,\nbar, foo)"), "1 foo|2 bar|");
    CHECK_TEXT(names_of(L, &out, "os.execute() os.fly() string.fly = 1"), "1 os.fly|1 string.fly|");
    CHECK_TEXT(names_of(L, &out, "local t = { fly = 1, [x] = 2, y }"), "1 x|1 y|");
    CHECK_TEXT(names_of(L, &out, "a.b.c = d:e(f)"), "1 a|1 d|1 f|");
    soc_buf_fini(&out);
    lua_close(L);
}

static void declared_names_are_not_found(void)
{
    lua_State *L = luaL_newstate();
    struct soc_buf out = {0};
    luaL_openlibs(L);
    CHECK_TEXT(names_of(L, &out, "local a <const>, b = 1 print(a, b)"), "");
    CHECK_TEXT(names_of(L, &out, "local function f(x, ...) return x, f end"), "");
    CHECK_TEXT(names_of(L, &out, "for k, v in pairs({}) do print(k, v) end"), "");
    CHECK_TEXT(names_of(L, &out, "function g(y) return y end h = g h()"), "");
    CHECK_TEXT(names_of(L, &out, "local M = {} function M.f(z) return z end"), "");
    CHECK_TEXT(names_of(L, &out, "goto out ::out:: -- gone\nlocal s = 'gone'"), "");
    CHECK_TEXT(names_of(L, &out, "local x\nfly(x)"), "2 fly|");
    soc_buf_fini(&out);
    lua_close(L);
}

static const char *each_word(const void *user, int number)
{
    static const char *const words[] = {"contacts", "briefs", "defaults", "ab", NULL};
    (void)user;
    return words[number];
}

static void the_nearest_word_is_at_most_two_edits_away(void)
{
    CHECK_TEXT(soc_nearest("contact", each_word, NULL), "contacts");
    CHECK_TEXT(soc_nearest("ocntacts", each_word, NULL), "contacts");
    CHECK_TEXT(soc_nearest("default", each_word, NULL), "defaults");
    CHECK_TEXT(soc_nearest("breifs", each_word, NULL), "briefs");
    CHECK_TEXT(soc_nearest("brie", each_word, NULL), "briefs");
    CHECK_TEXT(soc_nearest("weather", each_word, NULL), NULL);
    CHECK_TEXT(soc_nearest("xy", each_word, NULL), NULL);
    CHECK_TEXT(soc_nearest("", each_word, NULL), NULL);
}

int main(void)
{
    RUN(tokens_exclude_comments_and_keep_strings_whole);
    RUN(tokens_know_their_lines);
    RUN(fields_are_found_where_the_table_is_built);
    RUN(the_return_of_the_chunk_is_distinct_from_those_of_functions);
    RUN(elements_are_counted_at_their_own_depth);
    RUN(undeclared_names_are_found_once_with_their_line);
    RUN(declared_names_are_not_found);
    RUN(the_nearest_word_is_at_most_two_edits_away);
    return check_done();
}
