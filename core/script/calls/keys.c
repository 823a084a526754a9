#include "script/calls/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

/* The value of every variable in a simulation. */
#define SIMULATED "simulated"

struct soc_keys *soc_keys_new(void)
{
    return soc_alloc_zero(sizeof(struct soc_keys));
}

void soc_keys_free(struct soc_keys *keys)
{
    soc_keys_fini(keys);
    free(keys);
}

/* Lends what follows the scheme of an http or https URL; NULL for anything else. */
static const char *skip_scheme(const char *text)
{
    const char *rest = strncasecmp(text, "https://", 8) == 0  ? text + 8
                       : strncasecmp(text, "http://", 7) == 0 ? text + 7
                                                              : NULL;
    return rest == NULL || *rest == '\0' || strchr("/?#", *rest) != NULL ? NULL : rest;
}

/* Checks the pair of a name and a URL on top of the stack, while a table is walked. */
static int check_pair(lua_State *L, struct soc_detail *detail)
{
    size_t length = 0;
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &length) : "";
    const char *place = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    if (!soc_keys_is_name(soc_slice(name, length)))
        return soc_fail(detail, SOC_EINVAL, "'secrets': names of variables expected as keys");
    if (!soc_keys_is_place(place) || strlen(place) != lua_rawlen(L, -1))
        return soc_fail(detail, SOC_EINVAL,
                        "'secrets': %s: the URL of a server expected, where it may go", name);
    return SOC_OK;
}

int soc_keys_configure(struct soc_keys *keys, lua_State *L, int index, struct soc_detail *detail)
{
    struct soc_buf secrets = {0};
    int rc = SOC_OK;
    int top = lua_gettop(L);
    assert(!keys->is_settled);
    if (lua_type(L, index) != LUA_TTABLE)
        return soc_fail(detail, SOC_EINVAL, "'secrets': a table expected, { NAME = URL }");
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (rc == SOC_OK && lua_next(L, index) != 0) {
        rc = check_pair(L, detail);
        for (int i = -2; rc == SOC_OK && i < 0; i++)
            soc_buf_put(&secrets, lua_tostring(L, i), lua_rawlen(L, i) + 1);
        lua_pop(L, 1);
    }
    lua_settop(L, top);
    if (rc == SOC_OK) {
        soc_buf_fini(&keys->secrets);
        keys->secrets = secrets;
    } else {
        soc_buf_fini(&secrets);
    }
    return rc;
}

void soc_keys_settle(struct soc_keys *keys, char *const environment[])
{
    assert(!keys->is_settled);
    keys->is_settled = true;
    keys->is_simulated = environment == NULL;
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
        soc_buf_put(&keys->environment, environment[i], strlen(environment[i]) + 1);
}

/* Requests insert their path before the query of the base URL. */
void soc_keys_allow_model(struct soc_keys *keys, const char *name, const char *base_url)
{
    size_t length = strcspn(base_url, "?#");
    assert(keys->is_settled);
    while (length > 0 && base_url[length - 1] == '/')
        length--;
    if (skip_scheme(base_url) == NULL || !soc_keys_is_name(soc_slice_text(name)))
        return;
    soc_buf_put(&keys->models, name, strlen(name) + 1);
    soc_buf_put(&keys->models, base_url, length);
    soc_buf_put_byte(&keys->models, '\0');
}

void soc_keys_unsettle(struct soc_keys *keys)
{
    keys->models.length = keys->environment.length = 0;
    keys->is_settled = false;
}

void soc_keys_fini(struct soc_keys *keys)
{
    soc_buf_fini(&keys->secrets);
    soc_buf_fini(&keys->models);
    soc_buf_fini(&keys->environment);
    *keys = (struct soc_keys){0};
}

const char *soc_keys_setting(const struct soc_keys *keys, const char *name)
{
    size_t length = strlen(name);
    const char *at = keys->environment.data;
    const char *end = at == NULL ? NULL : at + keys->environment.length;
    for (; at < end; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at[length + 1] == '\0' ? NULL : at + length + 1;
    return NULL;
}

const char *soc_keys_value(const struct soc_keys *keys, const char *name)
{
    return keys->is_simulated ? SIMULATED : soc_keys_setting(keys, name);
}

/* Lends the place in pair `number` with that name in `pairs`; NULL after the last. */
static const char *find_place(const struct soc_buf *pairs, struct soc_slice name, int number)
{
    const char *at = pairs->data;
    const char *end = at == NULL ? NULL : at + pairs->length;
    while (at < end) {
        const char *place = at + strlen(at) + 1;
        if (soc_slice_equal(soc_slice_text(at), name) && number-- == 0)
            return place;
        at = place + strlen(place) + 1;
    }
    return NULL;
}

static bool is_in_any(const struct soc_buf *pairs, struct soc_slice name, struct soc_slice url)
{
    const char *place;
    for (int i = 0; (place = find_place(pairs, name, i)) != NULL; i++)
        if (soc_keys_is_within(url, place))
            return true;
    return false;
}

void soc_keys_check(const struct soc_keys *keys, enum soc_keys_use use, const char *name,
                    struct soc_slice url, struct soc_buf *fault)
{
    struct soc_slice variable = soc_slice_text(name);
    bool is_allowed =
        keys->is_settled && (is_in_any(&keys->secrets, variable, url) ||
                             (use == SOC_KEYS_MODEL && is_in_any(&keys->models, variable, url)));
    const char *value = soc_keys_value(keys, name);
    if (!is_allowed && use == SOC_KEYS_HTTP)
        soc_buf_printf(fault, "society.config{ secrets } does not allow %s to go there", name);
    else if (!is_allowed)
        soc_buf_printf(fault,
                       "neither the provider's settings nor society.config{ secrets } allowed %s "
                       "to go there when the app had loaded",
                       name);
    else if (value == NULL)
        soc_buf_printf(fault, "set %s in the environment", name);
    else if (!soc_keys_is_sendable(value))
        soc_buf_printf(fault, "%s holds a line break or another control character", name);
}

const char *soc_keys_place(const struct soc_keys *keys, struct soc_slice name)
{
    return find_place(&keys->secrets, name, 0);
}

/* Returns the length of a dot at the start of `text`, which may be written as %2e; 0 if
 * there is none. */
static size_t dot_length(struct soc_slice text)
{
    if (text.length >= 1 && text.data[0] == '.')
        return 1;
    return text.length >= 3 && strncasecmp(text.data, "%2e", 3) == 0 ? 3 : 0;
}

/* Returns true if a client would resolve the segment: it is `.` or `..`. */
static bool is_dots(struct soc_slice segment)
{
    size_t first = dot_length(segment);
    size_t second = dot_length(soc_slice(segment.data + first, segment.length - first));
    return first > 0 && first + second == segment.length;
}

/* Returns the length of what some server takes for the end of a segment: a slash, which may be
 * written as %2f or %5c, or a semicolon; 0 if there is none. */
static size_t break_length(struct soc_slice text)
{
    if (text.length >= 1 && (text.data[0] == '/' || text.data[0] == ';'))
        return 1;
    return text.length >= 3 &&
                   (strncasecmp(text.data, "%2f", 3) == 0 ||
                    strncasecmp(text.data, "%5c", 3) == 0 || strncasecmp(text.data, "%3b", 3) == 0)
               ? 3
               : 0;
}

/* Returns true if the rest of a URL stays below what precedes it. */
static bool is_below(struct soc_slice rest)
{
    size_t start = 0;
    for (size_t i = 0; i < rest.length; i++)
        if ((unsigned char)rest.data[i] <= ' ' || rest.data[i] == 0x7F || rest.data[i] == '\\')
            return false;
    for (size_t i = 0; i <= rest.length; i++) {
        bool is_end = i == rest.length || rest.data[i] == '?' || rest.data[i] == '#';
        size_t length = is_end ? 0 : break_length(soc_slice(rest.data + i, rest.length - i));
        if (!is_end && length == 0)
            continue;
        if (is_dots(soc_slice(rest.data + start, i - start)))
            return false;
        if (is_end)
            return true;
        start = i + length;
        i = start - 1;
    }
    return true;
}

bool soc_keys_is_place(const char *text)
{
    const char *rest = skip_scheme(text);
    return rest != NULL && strpbrk(rest, "@?# \\") == NULL;
}

bool soc_keys_is_within(struct soc_slice url, const char *place)
{
    size_t length = strlen(place);
    if (url.length < length || memcmp(url.data, place, length) != 0)
        return false;
    bool is_whole = url.length == length || place[length - 1] == '/' ||
                    memchr("/?#", url.data[length], 3) != NULL;
    return is_whole && is_below(soc_slice(url.data + length, url.length - length));
}

bool soc_keys_is_name(struct soc_slice name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.length > 0 && name.length <= SOC_KEY_BYTES_MAX;
}

bool soc_keys_is_sendable(const char *value)
{
    for (; *value != '\0'; value++)
        if ((unsigned char)*value < 0x20 || *value == 0x7F)
            return false;
    return true;
}
