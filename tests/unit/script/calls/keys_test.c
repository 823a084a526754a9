#include "script/calls/keys.h"

#include <lauxlib.h>

#include "check.h"

static const char *const environment[] = {"A_KEY=first", "A_KEY_TOO=second",
                                          "EMPTY_KEY=", "ODD_KEY=a\nb", NULL};

/* Keys as an app leaves them that lets A_KEY go to http://a.test/api for agent:http. */
static void settle(struct soc_keys *keys)
{
    struct soc_detail detail;
    lua_State *L = luaL_newstate();
    lua_newtable(L);
    lua_pushliteral(L, "http://a.test/api");
    lua_setfield(L, -2, "A_KEY");
    CHECK(soc_keys_configure(keys, L, -1, &detail) == SOC_OK);
    CHECK(lua_gettop(L) == 1);
    lua_close(L);
    soc_keys_settle(keys, (char *const *)environment);
}

static bool is_allowed(const struct soc_keys *keys, enum soc_keys_use use, const char *name,
                       const char *url)
{
    struct soc_buf fault = {0};
    soc_keys_check(keys, use, name, soc_slice_text(url), &fault);
    bool is_empty = fault.length == 0;
    soc_buf_fini(&fault);
    return is_empty;
}

static void nothing_may_go_before_it_is_settled(void)
{
    struct soc_keys keys = {0};
    struct soc_detail detail;
    lua_State *L = luaL_newstate();
    CHECK(luaL_dostring(L, "return { A_KEY = 'http://a.test' }") == LUA_OK);
    CHECK(soc_keys_configure(&keys, L, -1, &detail) == SOC_OK);
    CHECK(!is_allowed(&keys, SOC_KEYS_HTTP, "A_KEY", "http://a.test/"));
    CHECK(soc_keys_value(&keys, "A_KEY") == NULL);
    soc_keys_fini(&keys);
    lua_close(L);
}

static void values_are_those_of_the_moment(void)
{
    struct soc_keys keys = {0};
    char variable[] = "A_KEY=first";
    char *const changing[] = {variable, NULL};
    soc_keys_settle(&keys, changing);
    memcpy(variable, "A_KEY=later", sizeof(variable));
    CHECK(strcmp(soc_keys_value(&keys, "A_KEY"), "first") == 0);
    soc_keys_fini(&keys);
}

static void a_variable_is_found_by_its_whole_name(void)
{
    struct soc_keys keys = {0};
    settle(&keys);
    CHECK(strcmp(soc_keys_value(&keys, "A_KEY"), "first") == 0);
    CHECK(strcmp(soc_keys_value(&keys, "A_KEY_TOO"), "second") == 0);
    CHECK(soc_keys_value(&keys, "A_KE") == NULL);
    CHECK(soc_keys_value(&keys, "first") == NULL);
    CHECK(soc_keys_value(&keys, "EMPTY_KEY") == NULL);
    soc_keys_fini(&keys);
}

static void a_simulation_has_every_key_and_no_settings(void)
{
    struct soc_keys keys = {0};
    soc_keys_settle(&keys, NULL);
    CHECK(soc_keys_value(&keys, "A_KEY") != NULL);
    CHECK(soc_keys_setting(&keys, "A_KEY") == NULL);
    CHECK(!is_allowed(&keys, SOC_KEYS_HTTP, "A_KEY", "http://a.test/"));
    soc_keys_fini(&keys);
}

static void a_provider_lets_calls_to_models_use_its_key_alone(void)
{
    struct soc_keys keys = {0};
    settle(&keys);
    soc_keys_allow_model(&keys, "A_KEY_TOO", "http://m.test/v1//?version=2");
    CHECK(is_allowed(&keys, SOC_KEYS_MODEL, "A_KEY_TOO", "http://m.test/v1/chat?version=2"));
    CHECK(!is_allowed(&keys, SOC_KEYS_MODEL, "A_KEY_TOO", "http://m.test/v2/chat"));
    CHECK(!is_allowed(&keys, SOC_KEYS_MODEL, "A_KEY", "http://m.test/v1/chat"));
    CHECK(!is_allowed(&keys, SOC_KEYS_HTTP, "A_KEY_TOO", "http://m.test/v1/chat"));
    CHECK(is_allowed(&keys, SOC_KEYS_MODEL, "A_KEY", "http://a.test/api/chat"));
    CHECK(is_allowed(&keys, SOC_KEYS_HTTP, "A_KEY", "http://a.test/api"));
    soc_keys_fini(&keys);
}

static void a_server_that_is_no_url_gets_nothing(void)
{
    static const char *const bad[] = {"",          "http:",      "http://",    "http:///",
                                      "http://?x", "http://#x",  "a.test/v1",  "ftp://a.test",
                                      "//a.test",  "https:///x", "https://?/", "h"};
    struct soc_keys keys = {0};
    settle(&keys);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        soc_keys_allow_model(&keys, "A_KEY_TOO", bad[i]);
    CHECK(keys.models.length == 0);
    soc_keys_allow_model(&keys, "no name", "http://a.test");
    CHECK(keys.models.length == 0);
    soc_keys_fini(&keys);
}

static void a_value_that_would_end_its_header_is_not_sent(void)
{
    struct soc_keys keys = {0};
    settle(&keys);
    soc_keys_allow_model(&keys, "ODD_KEY", "http://m.test");
    soc_keys_allow_model(&keys, "NO_KEY", "http://m.test");
    CHECK(!is_allowed(&keys, SOC_KEYS_MODEL, "ODD_KEY", "http://m.test/"));
    CHECK(!is_allowed(&keys, SOC_KEYS_MODEL, "NO_KEY", "http://m.test/"));
    soc_keys_fini(&keys);
}

static void a_url_is_within_its_place_however_it_is_read(void)
{
    static const char *const inside[] = {"http://a.test/api",          "http://a.test/api/",
                                         "http://a.test/api?x=/../",   "http://a.test/api#..",
                                         "http://a.test/api/x..y/...", "http://a.test/api/.x"};
    static const char *const outside[] = {
        "http://a.test",           "http://a.test/apis",       "http://a.test/ap",
        "http://a.test/api/..",    "http://a.test/api/../x",   "http://a.test/api/x/../../..",
        "http://a.test/api/%2e./", "http://a.test/api/.%2E?x", "http://a.test/api/%2e%2e#x",
        "http://a.test/api/./x",   "http://a.test/api\\x",     "http://a.test/api/ x",
        "HTTP://a.test/api",       "http://a.test/api@b.test", "http://a.test/api/\tx",
    };
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
        CHECK(soc_keys_is_within(soc_slice_text(inside[i]), "http://a.test/api"));
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
        CHECK(!soc_keys_is_within(soc_slice_text(outside[i]), "http://a.test/api"));
    CHECK(!soc_keys_is_within(SOC_SLICE("http://a.test@b.test/"), "http://a.test"));
    CHECK(!soc_keys_is_within(SOC_SLICE("http://a.test:81/"), "http://a.test"));
    CHECK(!soc_keys_is_within(SOC_SLICE("http://a.test/x/../.."), "http://a.test/x/"));
}

int main(void)
{
    RUN(nothing_may_go_before_it_is_settled);
    RUN(values_are_those_of_the_moment);
    RUN(a_variable_is_found_by_its_whole_name);
    RUN(a_simulation_has_every_key_and_no_settings);
    RUN(a_provider_lets_calls_to_models_use_its_key_alone);
    RUN(a_server_that_is_no_url_gets_nothing);
    RUN(a_value_that_would_end_its_header_is_not_sent);
    RUN(a_url_is_within_its_place_however_it_is_read);
    return check_done();
}
