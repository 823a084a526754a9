#include "check.h"

#include "parts/outside/redis_settings.h"

static int read_into(struct soc_redis_settings *settings, const char *json,
                     struct soc_detail *detail)
{
    *detail = (struct soc_detail){{0}};
    return soc_redis_settings_read(settings, soc_slice_text(json), detail);
}

static void without_settings_there_are_defaults(void)
{
    struct soc_redis_settings settings;
    struct soc_detail detail;
    CHECK_INT(read_into(&settings, "{}", &detail), SOC_OK);
    CHECK(settings.url == NULL && settings.guest == NULL && settings.password_env == NULL);
    CHECK(settings.has_queue && settings.has_inbox && settings.has_status && settings.trims);
    CHECK_INT(settings.queue_max, 10000);
    CHECK_INT(settings.reply_s, 3600);
    CHECK_INT(settings.poll_ms, 50);
    CHECK(soc_redis_settings_carry(&settings, SOC_SLICE("any")));
    soc_redis_settings_fini(&settings);
}

static void every_setting_can_be_set(void)
{
    struct soc_redis_settings settings;
    struct soc_detail detail;
    CHECK_INT(read_into(&settings,
                        "{\"url\":\"redis://h\",\"password_env\":\"PASS_1\",\"guest\":\"g\","
                        "\"roles\":[\"a\",\"b\"],\"queue\":false,\"inbox\":true,"
                        "\"status\":false,\"trim\":false,\"queue_max\":1,\"inbox_max\":2,"
                        "\"reply_seconds\":3,\"poll_ms\":4,\"message_bytes\":64}",
                        &detail),
              SOC_OK);
    CHECK_TEXT(detail.text, "");
    CHECK_TEXT(settings.url, "redis://h");
    CHECK_TEXT(settings.password_env, "PASS_1");
    CHECK_TEXT(settings.guest, "g");
    CHECK(!settings.has_queue && !settings.has_status && !settings.trims);
    CHECK_INT(settings.queue_max, 1);
    CHECK_INT(settings.inbox_max, 2);
    CHECK_INT(settings.reply_s, 3);
    CHECK_INT(settings.message_bytes, 64);
    CHECK(soc_redis_settings_carry(&settings, SOC_SLICE("b")));
    CHECK(!soc_redis_settings_carry(&settings, SOC_SLICE("c")));
    soc_redis_settings_fini(&settings);
}

static void a_wrong_value_is_named(void)
{
    static const char *const wrong[][2] = {
        {"[1]", "'redis': a table expected"},
        {"{\"url\":1}", "'redis.url': a text expected"},
        {"{\"guest\":\"a b\"}", "'redis.guest': an agent's id expected"},
        {"{\"roles\":\"a\"}", "'redis.roles': a list of roles' ids expected"},
        {"{\"roles\":[\"a/b\"]}", "'redis.roles': a list of roles' ids expected"},
        {"{\"password_env\":\"1A\"}",
         "'redis.password_env': the name of a variable of the environment expected"},
        {"{\"queue\":1}", "'redis.queue': true or false expected"},
        {"{\"poll_ms\":0}", "'redis.poll_ms': an integer from 1 to 60000 expected"},
        {"{\"queue\":false,\"inbox\":false}",
         "'redis': 'queue' and 'inbox' cannot both be false; outside agents would get nothing"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct soc_redis_settings settings;
        struct soc_detail detail;
        CHECK_INT(read_into(&settings, wrong[i][0], &detail), SOC_EINVAL);
        CHECK_TEXT(detail.text, wrong[i][1]);
        soc_redis_settings_fini(&settings);
    }
}

int main(void)
{
    RUN(without_settings_there_are_defaults);
    RUN(every_setting_can_be_set);
    RUN(a_wrong_value_is_named);
    return check_done();
}
