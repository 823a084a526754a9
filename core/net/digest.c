#include "net/digest.h"

#include <assert.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "base/mem.h"

void soc_digest_sha256(uint8_t out[SOC_DIGEST_BYTES], struct soc_slice bytes)
{
    size_t length = 0;
    int is_done = EVP_Q_digest(NULL, "SHA256", NULL, bytes.data == NULL ? "" : bytes.data,
                               bytes.length, out, &length);
    assert(is_done == 1 && length == SOC_DIGEST_BYTES);
    (void)is_done;
}

struct soc_digest {
    EVP_MD *method;
    EVP_MD_CTX *context;
};

struct soc_digest *soc_digest_new(void)
{
    struct soc_digest *sha256 = soc_alloc_zero(sizeof(*sha256));
    sha256->method = EVP_MD_fetch(NULL, "SHA256", NULL);
    sha256->context = EVP_MD_CTX_new();
    assert(sha256->method != NULL && sha256->context != NULL);
    return sha256;
}

void soc_digest_free(struct soc_digest *sha256)
{
    if (sha256 == NULL)
        return;
    EVP_MD_CTX_free(sha256->context);
    EVP_MD_free(sha256->method);
    free(sha256);
}

void soc_digest_run(struct soc_digest *sha256, uint8_t out[SOC_DIGEST_BYTES],
                    struct soc_slice bytes)
{
    unsigned length = 0;
    bool is_done = EVP_DigestInit_ex2(sha256->context, sha256->method, NULL) == 1 &&
                   EVP_DigestUpdate(sha256->context, bytes.data, bytes.length) == 1 &&
                   EVP_DigestFinal_ex(sha256->context, out, &length) == 1;
    assert(is_done && length == SOC_DIGEST_BYTES);
    (void)is_done;
}

void soc_digest_hmac(uint8_t out[SOC_DIGEST_BYTES], struct soc_slice key, struct soc_slice bytes)
{
    size_t length = 0;
    const unsigned char *made =
        EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key.data, key.length,
                  (const unsigned char *)bytes.data, bytes.length, out, SOC_DIGEST_BYTES, &length);
    assert(made != NULL && length == SOC_DIGEST_BYTES);
    (void)made;
}

bool soc_digest_equal(const void *a, const void *b, size_t length)
{
    const volatile uint8_t *left = a;
    const volatile uint8_t *right = b;
    unsigned difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned)(left[i] ^ right[i]);
    return difference == 0;
}

void soc_digest_put_hex(struct soc_buf *out, const void *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *from = bytes;
    for (size_t i = 0; i < length; i++) {
        soc_buf_put_byte(out, digits[from[i] >> 4]);
        soc_buf_put_byte(out, digits[from[i] & 15]);
    }
}

static int value_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool soc_digest_read_hex(struct soc_slice text, void *out, size_t length)
{
    uint8_t *to = out;
    if (text.length != 2 * length)
        return false;
    for (size_t i = 0; i < length; i++) {
        int high = value_of(text.data[2 * i]);
        int low = value_of(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
