#include "net/digest.h"

#include "check.h"

static void expect_hex(const uint8_t *bytes, const char *wanted)
{
    struct soc_buf hex = {0};
    soc_digest_put_hex(&hex, bytes, SOC_DIGEST_BYTES);
    CHECK_TEXT(soc_buf_text(&hex), wanted);
    soc_buf_fini(&hex);
}

/* FIPS 180-2, appendix B. */
static void sha256_is_that_of_the_standard(void)
{
    uint8_t out[SOC_DIGEST_BYTES];
    soc_digest_sha256(out, SOC_SLICE("abc"));
    expect_hex(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    soc_digest_sha256(out, (struct soc_slice){0});
    expect_hex(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    struct soc_digest *sha256 = soc_digest_new();
    for (int i = 0; i < 2; i++) { /* it can be used again */
        soc_digest_run(sha256, out, SOC_SLICE("abc"));
        expect_hex(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        soc_digest_run(sha256, out, (struct soc_slice){0});
        expect_hex(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
    soc_digest_free(sha256);
}

/* RFC 4231, test case 2. */
static void hmac_is_that_of_the_standard(void)
{
    uint8_t out[SOC_DIGEST_BYTES];
    soc_digest_hmac(out, SOC_SLICE("Jefe"), SOC_SLICE("what do ya want for nothing?"));
    expect_hex(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void bytes_are_equal_only_if_all_are(void)
{
    CHECK(soc_digest_equal("abcd", "abcd", 4));
    CHECK(!soc_digest_equal("abcd", "abce", 4));
    CHECK(!soc_digest_equal("abcd", "xbcd", 4));
    CHECK(soc_digest_equal("abcd", "xbcd", 0));
}

static void hexadecimal_digits_are_read_strictly(void)
{
    uint8_t bytes[2] = {0};
    CHECK(soc_digest_read_hex(SOC_SLICE("00ff"), bytes, 2));
    CHECK_INT(bytes[0], 0);
    CHECK_INT(bytes[1], 255);
    CHECK(!soc_digest_read_hex(SOC_SLICE("00fF"), bytes, 2));
    CHECK(!soc_digest_read_hex(SOC_SLICE("00f"), bytes, 2));
    CHECK(!soc_digest_read_hex(SOC_SLICE("00ff0"), bytes, 2));
    CHECK(!soc_digest_read_hex(SOC_SLICE("0g00"), bytes, 2));
    CHECK(!soc_digest_read_hex((struct soc_slice){0}, bytes, 2));
}

int main(void)
{
    RUN(sha256_is_that_of_the_standard);
    RUN(hmac_is_that_of_the_standard);
    RUN(bytes_are_equal_only_if_all_are);
    RUN(hexadecimal_digits_are_read_strictly);
    return check_done();
}
