/* Digest: SHA-256, for tokens that are stored and codes that are signed.
 *
 * Layer: net. Thread: any. */
#ifndef SOC_NET_DIGEST_H
#define SOC_NET_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

#define SOC_DIGEST_BYTES 32

/* Writes the SHA-256 of some bytes. */
void soc_digest_sha256(uint8_t out[SOC_DIGEST_BYTES], struct soc_slice bytes);

/* SHA-256 kept ready: OpenSSL takes as long to look for it as to digest a token. */
struct soc_digest;

/* Looks for it. Release with soc_digest_free(). */
struct soc_digest *soc_digest_new(void);

/* Frees it. NULL is allowed. */
void soc_digest_free(struct soc_digest *sha256);

/* Writes the SHA-256 of some bytes. */
void soc_digest_run(struct soc_digest *sha256, uint8_t out[SOC_DIGEST_BYTES],
                    struct soc_slice bytes);

/* Writes the HMAC with SHA-256 of some bytes: only who has the key can make it. */
void soc_digest_hmac(uint8_t out[SOC_DIGEST_BYTES], struct soc_slice key, struct soc_slice bytes);

/* Compares in a time that does not depend on where they differ. */
bool soc_digest_equal(const void *a, const void *b, size_t length);

/* Appends bytes as lower-case hexadecimal digits. */
void soc_digest_put_hex(struct soc_buf *out, const void *bytes, size_t length);

/* Reads exactly `length` bytes from lower-case hexadecimal digits; false if they are not. */
bool soc_digest_read_hex(struct soc_slice text, void *out, size_t length);

#endif
