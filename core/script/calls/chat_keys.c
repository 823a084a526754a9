#include "script/calls/chat_keys.h"

#include <string.h>
#include <unistd.h>

#include "script/calls/keys.h"
#include "script/turns/environments.h"

/* A provider that needs a key, and its server. Lent. */
struct provider {
    const char *name;
    const char *key;          /* a variable */
    const char *url_variable; /* variable that names another server */
    const char *url;
};

static const struct provider shipped[] = {
    {"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"},
    {"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com"},
};

/* Pushes a text of the table at `index` and lends it; NULL if there is none. */
static const char *push_text(lua_State *L, int index, const char *name)
{
    return soc_option_field(L, index, name) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
}

/* The app's settings, which are on the stack. */
struct set {
    const char *provider;
    const char *key;
    const char *url;
};

/* "auto" means openai, or calls no server. */
static bool is_set_for(const struct set *set, const struct provider *provider)
{
    const char *name = strcmp(set->provider, "auto") == 0 ? "openai" : set->provider;
    return strcmp(name, provider->name) == 0;
}

static void allow(struct soc_keys *keys, const struct provider *provider, const struct set *set)
{
    bool is_set = is_set_for(set, provider);
    const char *key = is_set && set->key != NULL ? set->key : provider->key;
    const char *url = is_set ? set->url : NULL;
    if (url == NULL && provider->url_variable != NULL)
        url = soc_keys_setting(keys, provider->url_variable);
    if (url == NULL)
        url = provider->url;
    if (key != NULL && url != NULL)
        soc_keys_allow_model(keys, key, url);
}

/* Adds a provider of the app, as its module is when the app has loaded. */
static void allow_own(lua_State *L, struct soc_script *script, const struct set *set)
{
    struct provider provider = {.name = set->provider};
    soc_environments_push_llm(L, script);
    soc_environments_push_provider(L, script, set->provider, lua_gettop(L));
    int module = lua_gettop(L);
    if (!lua_istable(L, module))
        return;
    if (soc_option_field(L, module, "environment") == LUA_TTABLE) {
        int environment = lua_gettop(L);
        provider.key = push_text(L, environment, "key");
        provider.url_variable = push_text(L, environment, "base_url");
    }
    if (soc_option_field(L, module, "defaults") == LUA_TTABLE)
        provider.url = push_text(L, lua_gettop(L), "base_url");
    allow(script->keys, &provider, set);
}

void soc_chat_keys_settle(lua_State *L, struct soc_script *script)
{
    struct soc_keys *keys = script->keys;
    int top = lua_gettop(L);
    luaL_checkstack(L, 16, NULL);
    soc_keys_settle(keys, script->is_simulated ? NULL : environ);
    soc_environments_push_llm(L, script);
    int settings = lua_gettop(L);
    struct set set = {
        .provider = push_text(L, settings, "provider"),
        .key = push_text(L, settings, "key_env"),
        .url = push_text(L, settings, "base_url"),
    };
    if (set.provider == NULL)
        set.provider = shipped[0].name;
    for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++)
        allow(keys, &shipped[i], &set);
    if (strchr(set.provider, '.') != NULL)
        allow_own(L, script, &set);
    lua_settop(L, top);
}
