#include "script/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "net/scrub.h"

void soc_secrets_note(struct soc_script *script, const char *name)
{
    const struct soc_buf *names = &script->secrets;
    for (size_t i = 0; i < names->length; i += strlen(names->data + i) + 1)
        if (strcmp(names->data + i, name) == 0)
            return;
    soc_buf_put(&script->secrets, name, strlen(name) + 1);
}

void soc_secrets_scrub(const struct soc_script *script, struct soc_buf *text)
{
    const struct soc_buf *names = &script->secrets;
    for (size_t i = 0; i < names->length; i += strlen(names->data + i) + 1) {
        struct soc_buf clean = {0};
        const char *secret = getenv(names->data + i);
        if (secret == NULL)
            continue;
        if (soc_scrub_text(soc_slice_text(secret), soc_buf_slice(text), &clean)) {
            soc_buf_fini(text);
            *text = clean;
        } else {
            soc_buf_fini(&clean);
        }
    }
}
