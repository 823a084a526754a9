#include "script/policies/policy.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/hash.h"
#include "base/mem.h"

void soc_policy_init(struct soc_policy *policy)
{
    *policy = (struct soc_policy){
        .table_ref = LUA_NOREF, .settings_ref = LUA_NOREF, .given_ref = LUA_NOREF};
}

static void free_identity(struct soc_policy_identity *identity)
{
    free(identity->name);
    free(identity->path);
}

void soc_policy_fini(lua_State *L, struct soc_policy *policy)
{
    luaL_unref(L, LUA_REGISTRYINDEX, policy->table_ref);
    luaL_unref(L, LUA_REGISTRYINDEX, policy->settings_ref);
    luaL_unref(L, LUA_REGISTRYINDEX, policy->given_ref);
    free_identity(&policy->identity);
    soc_policy_init(policy);
}

/* "policies/contacts/mine.lua" is named mine. */
static char *copy_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *start = slash == NULL ? name : slash + 1;
    size_t length = strlen(start);
    if (length > 4 && strcmp(start + length - 4, ".lua") == 0)
        length -= 4;
    return soc_copy_text(start, length);
}

void soc_policy_identify(struct soc_policy *policy, const struct soc_policy_source *source)
{
    struct soc_policy_identity new = {.name = copy_name(source->name)};
    if (source->path != NULL)
        new.path = soc_copy_text(source->path, strlen(source->path));
    snprintf(new.hash, sizeof(new.hash), "%s", source->path == NULL ? "app" : source->hash);
    free_identity(&policy->identity);
    policy->identity = new;
}

void soc_policy_keep_ref(lua_State *L, int *ref)
{
    luaL_unref(L, LUA_REGISTRYINDEX, *ref);
    *ref = LUA_NOREF;
    if (lua_isnil(L, -1))
        lua_pop(L, 1);
    else
        *ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

void soc_policy_keep_given(lua_State *L, struct soc_policy *policy, int settings_index)
{
    if (settings_index == 0) {
        lua_pushnil(L);
    } else {
        assert(lua_istable(L, settings_index));
        lua_newtable(L);
        lua_pushnil(L);
        while (lua_next(L, settings_index) != 0) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -4);
        }
    }
    soc_policy_keep_ref(L, &policy->given_ref);
}

void soc_policy_hash(char hash[SOC_POLICY_HASH_BYTES], struct soc_slice bytes)
{
    snprintf(hash, SOC_POLICY_HASH_BYTES, "%016" PRIx64, soc_hash(bytes.data, bytes.length, 0));
}

void soc_policy_hash_more(char hash[SOC_POLICY_HASH_BYTES], struct soc_slice bytes)
{
    uint64_t before = strtoull(hash, NULL, 16);
    snprintf(hash, SOC_POLICY_HASH_BYTES, "%016" PRIx64,
             soc_hash(bytes.data, bytes.length, before));
}
