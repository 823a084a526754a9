#include "script/policies/policy_shelf.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "lualib/sources.h"
#include "script/policies/policy_load.h"
#include "script/policies/policy_texts.h"

/* Registry key of { [path] = { table, hash, stamp }, [table] = true }. */
static const char shelf_key = 0;

static void put_stamp(void *user, const char *path)
{
    struct stat stat_of;
    if (stat(path, &stat_of) < 0)
        memset(&stat_of, 0, sizeof(stat_of));
    soc_buf_printf(user, "%s %llu %lld %lld.%09ld\n", path, (unsigned long long)stat_of.st_ino,
                   (long long)stat_of.st_size, (long long)stat_of.st_mtim.tv_sec,
                   stat_of.st_mtim.tv_nsec);
}

/* Describes the current files of the policy at `index`. */
static void stamp(lua_State *L, const char *path, int index, struct soc_buf *out)
{
    put_stamp(out, path);
    soc_policy_each_text(L, index, put_stamp, out);
}

static void push_shelf(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &shelf_key) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &shelf_key);
}

/* An app's own texts take precedence over those next to the policy, so a policy is
 * loaded again for each app that has a folder for them. */
static bool may_share(lua_State *L, const struct soc_script *script, int index)
{
    bool has_texts = soc_option_field(L, index, "texts") != LUA_TNIL;
    lua_pop(L, 1);
    if (!has_texts || script->app_dir == NULL)
        return true;
    struct soc_buf own = {0};
    soc_buf_printf(&own, "%s/policies", script->app_dir);
    bool has_own = access(soc_buf_text(&own), F_OK) == 0;
    soc_buf_fini(&own);
    return !has_own;
}

/* Returns true if the policy at `index` was loaded from the current files. */
static bool is_current(lua_State *L, const char *path, int index, const char *kept)
{
    if (soc_sources_are_frozen(L))
        return true;
    struct soc_buf now = {0};
    stamp(L, path, index, &now);
    bool is_same = strcmp(soc_buf_text(&now), kept) == 0;
    soc_buf_fini(&now);
    return is_same;
}

/* Pushes the table of the policy at `path` and copies its hash; false, with nothing
 * pushed, if it must be loaded. */
static bool take(lua_State *L, const struct soc_script *script, const char *path,
                 char hash[SOC_POLICY_HASH_BYTES])
{
    int top = lua_gettop(L);
    if (soc_policy_shipped(script, path) == NULL)
        return false;
    push_shelf(L);
    if (soc_option_field(L, top + 1, path) != LUA_TTABLE) {
        lua_settop(L, top);
        return false;
    }
    lua_rawgeti(L, top + 2, 1);
    lua_rawgeti(L, top + 2, 2);
    lua_rawgeti(L, top + 2, 3);
    bool is_same =
        is_current(L, path, top + 3, lua_tostring(L, top + 5)) && may_share(L, script, top + 3);
    if (is_same) {
        snprintf(hash, SOC_POLICY_HASH_BYTES, "%s", lua_tostring(L, top + 4));
        lua_pushvalue(L, top + 3);
        lua_replace(L, top + 1);
    }
    lua_settop(L, is_same ? top + 1 : top);
    return is_same;
}

int soc_policy_shelf_load(lua_State *L, const struct soc_script *script, const char *path,
                          char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail)
{
    return take(L, script, path, hash) ? SOC_OK
                                       : soc_policy_load_hashed(L, script, path, hash, detail);
}

void soc_policy_shelf_put(lua_State *L, const struct soc_script *script, const char *path,
                          const char *hash, int index)
{
    assert(lua_istable(L, index));
    int top = lua_gettop(L);
    if (soc_policy_shipped(script, path) == NULL || soc_policy_is_shelved(L, index) ||
        !may_share(L, script, index))
        return;
    struct soc_buf now = {0};
    push_shelf(L);
    lua_createtable(L, 3, 0);
    lua_pushvalue(L, index);
    lua_rawseti(L, top + 2, 1);
    lua_pushstring(L, hash);
    lua_rawseti(L, top + 2, 2);
    stamp(L, path, index, &now);
    lua_pushstring(L, soc_buf_text(&now));
    lua_rawseti(L, top + 2, 3);
    soc_buf_fini(&now);
    lua_pushstring(L, path);
    lua_insert(L, -2);
    lua_rawset(L, top + 1);
    lua_pushvalue(L, index);
    lua_pushboolean(L, true);
    lua_rawset(L, top + 1);
    lua_settop(L, top);
}

bool soc_policy_is_shelved(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    push_shelf(L);
    lua_pushvalue(L, index);
    bool is_shelved = !lua_isnil(L, -1) && lua_rawget(L, -2) == LUA_TBOOLEAN;
    lua_pop(L, 2);
    return is_shelved;
}
