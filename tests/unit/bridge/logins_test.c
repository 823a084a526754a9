#include "bridge/http/logins.h"

#include "base/limits.h"
#include "check.h"

#define KEY   SOC_SLICE("soc_0123456789abcdef")
#define START 1767225600000

static bool take(struct soc_logins *logins, struct soc_slice key, int64_t made_ms, int64_t now_ms)
{
    struct soc_buf code = {0};
    soc_logins_put_code(&code, key, made_ms);
    bool is_good = soc_logins_take_code(logins, soc_buf_slice(&code), now_ms);
    soc_buf_fini(&code);
    return is_good;
}

static void a_code_is_good_for_a_minute(void)
{
    struct soc_logins *logins = soc_logins_new(KEY, START);
    CHECK(take(logins, KEY, START, START));
    CHECK(take(logins, KEY, START, START + SOC_WEB_CODE_MS - 1));
    CHECK(!take(logins, KEY, START, START + SOC_WEB_CODE_MS));
    CHECK(!take(logins, KEY, START + 1, START));
    soc_logins_free(logins);
}

static void a_code_is_good_once(void)
{
    struct soc_logins *logins = soc_logins_new(KEY, START);
    struct soc_buf code = {0};
    soc_logins_put_code(&code, KEY, START);
    CHECK(soc_logins_take_code(logins, soc_buf_slice(&code), START + 1));
    CHECK(!soc_logins_take_code(logins, soc_buf_slice(&code), START + 2));
    CHECK(take(logins, KEY, START + 2, START + 2));
    CHECK(!soc_logins_take_code(logins, soc_buf_slice(&code), START + 3));
    soc_logins_free(logins);
    /* A door that was opened since knows no used codes, but how old they are. */
    logins = soc_logins_new(KEY, START + 3);
    CHECK(!soc_logins_take_code(logins, soc_buf_slice(&code), START + 4));
    soc_logins_free(logins);
    soc_buf_fini(&code);
}

static void a_code_needs_the_key(void)
{
    struct soc_logins *logins = soc_logins_new(KEY, START);
    CHECK(!take(logins, SOC_SLICE("soc_another"), START, START));
    CHECK(!soc_logins_take_code(logins, SOC_SLICE(""), START));
    CHECK(!soc_logins_take_code(logins, SOC_SLICE("x"), START));
    CHECK(!soc_logins_take_code(logins, (struct soc_slice){0}, START));
    soc_logins_free(logins);
}

static void any_other_byte_spoils_a_code(void)
{
    struct soc_logins *logins = soc_logins_new(KEY, START);
    struct soc_buf code = {0};
    soc_logins_put_code(&code, KEY, START);
    for (size_t i = 0; i < code.length; i++) {
        char kept = code.data[i];
        code.data[i] = (char)(kept == '0' ? '1' : '0');
        CHECK(!soc_logins_take_code(logins, soc_buf_slice(&code), START + 1));
        code.data[i] = kept;
    }
    CHECK(!soc_logins_take_code(logins, soc_slice(code.data, code.length - 1), START + 1));
    CHECK(soc_logins_take_code(logins, soc_buf_slice(&code), START + 1));
    soc_buf_fini(&code);
    soc_logins_free(logins);
}

static void a_cookie_is_good_for_half_a_day_and_after_a_restart(void)
{
    struct soc_logins *logins = soc_logins_new(KEY, START);
    struct soc_buf cookie = {0};
    soc_logins_put_cookie(logins, &cookie, START);
    soc_logins_free(logins);
    logins = soc_logins_new(KEY, START + 1000);
    CHECK(soc_logins_has_cookie(logins, soc_buf_slice(&cookie), START + 1000));
    CHECK(soc_logins_has_cookie(logins, soc_buf_slice(&cookie), START + SOC_WEB_COOKIE_MS - 1));
    CHECK(!soc_logins_has_cookie(logins, soc_buf_slice(&cookie), START + SOC_WEB_COOKIE_MS));
    CHECK(!soc_logins_take_code(logins, soc_buf_slice(&cookie), START + SOC_WEB_COOKIE_MS));
    soc_logins_free(logins);
    logins = soc_logins_new(SOC_SLICE("soc_another"), START);
    CHECK(!soc_logins_has_cookie(logins, soc_buf_slice(&cookie), START + 1000));
    soc_logins_free(logins);
    soc_buf_fini(&cookie);
}

static void a_code_is_no_cookie(void)
{
    struct soc_logins *logins = soc_logins_new(KEY, START);
    struct soc_buf code = {0};
    soc_logins_put_code(&code, KEY, START + 1000);
    CHECK(!soc_logins_has_cookie(logins, soc_buf_slice(&code), START));
    soc_buf_fini(&code);
    soc_logins_free(logins);
}

int main(void)
{
    RUN(a_code_is_good_for_a_minute);
    RUN(a_code_is_good_once);
    RUN(a_code_needs_the_key);
    RUN(any_other_byte_spoils_a_code);
    RUN(a_cookie_is_good_for_half_a_day_and_after_a_restart);
    RUN(a_code_is_no_cookie);
    return check_done();
}
