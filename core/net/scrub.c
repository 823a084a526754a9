#include "net/scrub.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define INSTEAD "[secret]"

void soc_scrub_init(struct soc_scrub *scrub, struct soc_slice secret)
{
    *scrub = (struct soc_scrub){0};
    if (secret.length == 0)
        return;
    scrub->secret = soc_copy_text(secret.data, secret.length);
    scrub->length = secret.length;
}

void soc_scrub_fini(struct soc_scrub *scrub)
{
    if (scrub->secret != NULL)
        explicit_bzero(scrub->secret, scrub->length);
    free(scrub->secret);
    *scrub = (struct soc_scrub){0};
}

/* The longest run at the end of what was held and `byte` that begins the secret. What
 * no longer belongs to it is let through. */
static void step(struct soc_scrub *scrub, char byte, struct soc_buf *out)
{
    const char *secret = scrub->secret;
    size_t total = scrub->held + 1; /* the held ones are secret[0 .. held) */
    size_t keep = total;
    for (; keep > 0; keep--) {
        size_t skipped = total - keep;
        if (secret[keep - 1] == byte && memcmp(secret, secret + skipped, keep - 1) == 0)
            break;
    }
    size_t passed = total - keep;
    soc_buf_put(out, secret, passed < scrub->held ? passed : scrub->held);
    if (passed == total)
        soc_buf_put_byte(out, byte);
    scrub->held = keep;
    if (keep == scrub->length) {
        soc_buf_put_text(out, INSTEAD);
        scrub->held = 0;
    }
}

void soc_scrub_put(struct soc_scrub *scrub, struct soc_slice bytes, struct soc_buf *out)
{
    if (scrub->secret == NULL) {
        soc_buf_put_slice(out, bytes);
        return;
    }
    size_t i = 0;
    while (i < bytes.length) {
        if (scrub->held == 0) {
            const char *start = bytes.data + i;
            const char *found = memchr(start, scrub->secret[0], bytes.length - i);
            size_t plain = found == NULL ? bytes.length - i : (size_t)(found - start);
            soc_buf_put(out, start, plain);
            i += plain;
            if (i == bytes.length)
                break;
        }
        step(scrub, bytes.data[i++], out);
    }
}

void soc_scrub_end(struct soc_scrub *scrub, struct soc_buf *out)
{
    if (scrub->held > 0)
        soc_buf_put(out, scrub->secret, scrub->held);
    scrub->held = 0;
}
