#include "script/calls/secrets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/scrub.h"
#include "script/calls/keys.h"

struct soc_secrets {
    struct soc_buf carried; /* names of variables that requests carried, each NUL-terminated */
};

void soc_secrets_open(struct soc_script *script)
{
    assert(script->secrets == NULL);
    script->secrets = soc_alloc_zero(sizeof(*script->secrets));
}

void soc_secrets_fini(struct soc_script *script)
{
    soc_buf_fini(&script->secrets->carried);
    free(script->secrets);
    script->secrets = NULL;
}

void soc_secrets_note(struct soc_script *script, const char *name)
{
    assert(name != NULL);
    struct soc_buf *names = &script->secrets->carried;
    for (size_t i = 0; i < names->length; i += strlen(names->data + i) + 1)
        if (strcmp(names->data + i, name) == 0)
            return;
    soc_buf_put(names, name, strlen(name) + 1);
}

void soc_secrets_scrub(struct soc_script *script, struct soc_buf *text)
{
    const struct soc_buf *names = &script->secrets->carried;
    for (size_t i = 0; i < names->length; i += strlen(names->data + i) + 1) {
        struct soc_buf clean = {0};
        const char *secret = soc_keys_value(script->keys, names->data + i);
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

static struct soc_buf *held_of(struct soc_secrets_tail *tail, size_t number)
{
    while (tail->count <= number) {
        tail->held = soc_realloc(tail->held, (tail->count + 1) * sizeof(*tail->held));
        tail->held[tail->count++] = (struct soc_buf){0};
    }
    return &tail->held[number];
}

void soc_secrets_scrub_part(struct soc_script *script, struct soc_secrets_tail *tail,
                            struct soc_slice text, struct soc_buf *out)
{
    assert(tail != NULL && out != NULL);
    const struct soc_buf *names = &script->secrets->carried;
    struct soc_buf clean = {0};
    size_t number = 0;
    soc_buf_put_slice(&clean, text);
    for (size_t i = 0; i < names->length; i += strlen(names->data + i) + 1, number++) {
        struct soc_buf cleaner = {0};
        const char *secret = soc_keys_value(script->keys, names->data + i);
        if (secret == NULL)
            continue;
        soc_scrub_part(soc_slice_text(secret), held_of(tail, number), soc_buf_slice(&clean),
                       &cleaner);
        soc_buf_fini(&clean);
        clean = cleaner;
    }
    soc_buf_put_slice(out, soc_buf_slice(&clean));
    soc_buf_fini(&clean);
}

void soc_secrets_drop_tail(struct soc_secrets_tail *tail)
{
    for (size_t i = 0; i < tail->count; i++)
        soc_buf_fini(&tail->held[i]);
    free(tail->held);
    *tail = (struct soc_secrets_tail){0};
}
