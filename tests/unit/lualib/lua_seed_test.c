#include "lualib/lua_seed.h"

#include <lauxlib.h>
#include <lualib.h>

#include "check.h"
#include "lualib/lua_heap.h"

/* What `#` says of tables with holes and strings. */
static const char lengths[] = "local text = '' "
                              "for i = 1, 50 do "
                              "  local t = {} "
                              "  for _, k in ipairs { 1, 6, 'a' .. i, 2, 3, 'b' .. i, 7 } do "
                              "    t[k] = 1 "
                              "  end "
                              "  t['a' .. i] = nil "
                              "  t['c' .. i] = 1 "
                              "  text = text .. #t "
                              "end "
                              "return text";

static void put_lengths_seeded(char text[64], uint32_t seed)
{
    lua_State *L = soc_lua_heap_open_seeded(16 << 20, seed);
    luaL_openlibs(L);
    CHECK_INT(luaL_dostring(L, lengths), LUA_OK);
    snprintf(text, 64, "%s", lua_tostring(L, -1));
    soc_lua_heap_close(L);
}

static void put_lengths(char text[64])
{
    put_lengths_seeded(text, 0);
}

static void this_program_is_linked_with_a_fixed_hash_seed(void)
{
    CHECK(soc_lua_seed_is_fixed());
}

static void the_length_of_a_table_with_holes_is_the_same_in_each_state(void)
{
    char first[64], next[64];
    put_lengths(first);
    for (int i = 0; i < 20; i++) {
        put_lengths(next);
        CHECK_TEXT(next, first);
    }
}

static void a_state_with_a_seed_hashes_as_others_with_that_seed_do(void)
{
    char usual[64], first[64], next[64];
    int different = 0;
    put_lengths(usual);
    for (uint32_t seed = 1; seed <= 20; seed++) {
        put_lengths_seeded(first, seed * 0x9e3779b9u);
        put_lengths_seeded(next, seed * 0x9e3779b9u);
        CHECK_TEXT(next, first);
        different += strcmp(first, usual) != 0;
    }
    CHECK(different > 10);
}

/* The wrapped call makes the seed and nothing else: if it stood for the hash of strings,
 * keys would take their places in the order they come, whatever they are. */
static void different_strings_still_have_different_hashes(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    CHECK_INT(luaL_dostring(L, "local function order(word) "
                               "  local t, out = {}, {} "
                               "  for i = 1, 64 do t[word .. i] = i end "
                               "  for _, i in next, t do out[#out + 1] = i end "
                               "  return table.concat(out, ' ') "
                               "end "
                               "return order('some') ~= order('other')"),
              LUA_OK);
    CHECK(lua_toboolean(L, -1));
    lua_close(L);
}

int main(void)
{
    RUN(this_program_is_linked_with_a_fixed_hash_seed);
    RUN(the_length_of_a_table_with_holes_is_the_same_in_each_state);
    RUN(a_state_with_a_seed_hashes_as_others_with_that_seed_do);
    RUN(different_strings_still_have_different_hashes);
    return check_done();
}
