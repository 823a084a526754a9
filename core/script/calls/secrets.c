#include "script/calls/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/scrub.h"
#include "script/calls/outward.h"

void soc_secrets_note(struct soc_script *script, const char *name)
{
    struct soc_buf *names = &soc_outward_of(script)->carried;
    for (size_t i = 0; i < names->length; i += strlen(names->data + i) + 1)
        if (strcmp(names->data + i, name) == 0)
            return;
    soc_buf_put(names, name, strlen(name) + 1);
}

void soc_secrets_scrub(struct soc_script *script, struct soc_buf *text)
{
    const struct soc_buf *names = &soc_outward_of(script)->carried;
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
    const struct soc_buf *names = &soc_outward_of(script)->carried;
    struct soc_buf clean = {0};
    size_t number = 0;
    soc_buf_put_slice(&clean, text);
    for (size_t i = 0; i < names->length; i += strlen(names->data + i) + 1, number++) {
        struct soc_buf cleaner = {0};
        const char *secret = getenv(names->data + i);
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

bool soc_secrets_is_name(struct soc_slice name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.length > 0 && name.length <= SOC_KEY_BYTES_MAX;
}

bool soc_secrets_is_sendable(const char *value)
{
    for (; *value != '\0'; value++)
        if ((unsigned char)*value < 0x20 || *value == 0x7F)
            return false;
    return true;
}

static bool is_url(const char *text)
{
    const char *rest = strncmp(text, "https://", 8) == 0  ? text + 8
                       : strncmp(text, "http://", 7) == 0 ? text + 7
                                                          : "";
    return *rest != '\0' && *rest != '/' && strpbrk(rest, "@?# \\") == NULL;
}

/* A variable's name and a URL: the pair below the top, while it is walked. */
static int check_pair(lua_State *L, struct soc_detail *detail)
{
    size_t length = 0;
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &length) : "";
    const char *place = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    if (!soc_secrets_is_name(soc_slice(name, length)))
        return soc_fail(detail, SOC_EINVAL, "'secrets': names of variables expected as keys");
    if (!is_url(place) || strlen(place) != lua_rawlen(L, -1))
        return soc_fail(detail, SOC_EINVAL,
                        "'secrets': %s: the URL of a server expected, where it may go", name);
    return SOC_OK;
}

int soc_secrets_configure(lua_State *L, struct soc_script *script, int index,
                          struct soc_detail *detail)
{
    struct soc_buf allowed = {0};
    int rc = SOC_OK;
    if (lua_type(L, index) != LUA_TTABLE)
        return soc_fail(detail, SOC_EINVAL, "'secrets': a table expected, { NAME = URL }");
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (rc == SOC_OK && lua_next(L, index) != 0) {
        rc = check_pair(L, detail);
        for (int i = -2; rc == SOC_OK && i < 0; i++)
            soc_buf_put(&allowed, lua_tostring(L, i), lua_rawlen(L, i) + 1);
        lua_pop(L, 1);
    }
    struct soc_outward *outward = soc_outward_of(script);
    if (rc < 0) {
        lua_pop(L, 1);
        soc_buf_fini(&allowed);
        return rc;
    }
    soc_buf_fini(&outward->allowed);
    outward->allowed = allowed;
    return SOC_OK;
}

const char *soc_secrets_place(struct soc_script *script, struct soc_slice name)
{
    const struct soc_buf *allowed = &soc_outward_of(script)->allowed;
    const char *at = allowed->data;
    while (at != NULL && at < allowed->data + allowed->length) {
        const char *place = at + strlen(at) + 1;
        if (soc_slice_equal(soc_slice_text(at), name))
            return place;
        at = place + strlen(place) + 1;
    }
    return NULL;
}

/* It goes on with a path, not with more of a host's name. */
bool soc_secrets_is_within(struct soc_slice url, const char *place)
{
    size_t length = strlen(place);
    if (url.length < length || memcmp(url.data, place, length) != 0)
        return false;
    return url.length == length || place[length - 1] == '/' ||
           memchr("/?#", url.data[length], 3) != NULL;
}
