#include "parts/outside/redis_settings.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"

enum kind {
    KIND_INTEGER,
    KIND_BOOLEAN,
    KIND_TEXT,
    KIND_VARIABLE,
    KIND_ID,
    KIND_IDS,
};

struct member {
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t min;
    int64_t max;
};

#define AT(field) offsetof(struct soc_redis_settings, field)

/* Sorted as people are told of them. */
static const struct member members[] = {
    {"url", KIND_TEXT, AT(url), 0, 0},
    {"password_env", KIND_VARIABLE, AT(password_env), 0, 0},
    {"guest", KIND_ID, AT(guest), 0, 0},
    {"roles", KIND_IDS, AT(roles), 0, 0},
    {"queue", KIND_BOOLEAN, AT(has_queue), 0, 0},
    {"inbox", KIND_BOOLEAN, AT(has_inbox), 0, 0},
    {"status", KIND_BOOLEAN, AT(has_status), 0, 0},
    {"trim", KIND_BOOLEAN, AT(trims), 0, 0},
    {"queue_max", KIND_INTEGER, AT(queue_max), 1, 100000000},
    {"inbox_max", KIND_INTEGER, AT(inbox_max), 1, 100000000},
    {"reply_seconds", KIND_INTEGER, AT(reply_s), 1, 31536000},
    {"poll_ms", KIND_INTEGER, AT(poll_ms), 1, 60000},
    {"message_bytes", KIND_INTEGER, AT(message_bytes), 64, SOC_PAYLOAD_BYTES_MAX},
};

#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

static int wrong(const struct member *member, const char *expected, struct soc_detail *detail)
{
    return soc_fail(detail, SOC_EINVAL, "'redis.%s': %s expected", member->name, expected);
}

static int read_integer(const struct member *member, struct soc_slice value, int64_t *place,
                        struct soc_detail *detail)
{
    char expected[80];
    int64_t number;
    snprintf(expected, sizeof(expected), "an integer from %lld to %lld", (long long)member->min,
             (long long)member->max);
    if (!soc_json_integer(value, &number) || number < member->min || number > member->max)
        return wrong(member, expected, detail);
    *place = number;
    return SOC_OK;
}

static bool is_variable(struct soc_slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!(text.data[i] == '_' || (text.data[i] >= 'A' && text.data[i] <= 'Z') ||
              (text.data[i] >= 'a' && text.data[i] <= 'z') ||
              (i > 0 && text.data[i] >= '0' && text.data[i] <= '9')))
            return false;
    return true;
}

static bool read_text(const struct member *member, struct soc_slice value, char **place)
{
    struct soc_buf text = {0};
    bool is_good = soc_json_string(value, &text) && text.length > 0 &&
                   text.length < SOC_PATH_BYTES_MAX && memchr(text.data, '\0', text.length) == NULL;
    if (is_good && member->kind == KIND_ID)
        is_good = soc_id_is_valid(soc_buf_slice(&text));
    if (is_good && member->kind == KIND_VARIABLE)
        is_good = is_variable(soc_buf_slice(&text));
    if (is_good) {
        free(*place);
        *place = soc_copy_text(text.data, text.length);
    }
    soc_buf_fini(&text);
    return is_good;
}

static bool read_ids(struct soc_slice value, char **place)
{
    struct soc_json_walk walk;
    if (soc_json_kind(value) != SOC_JSON_ARRAY)
        return false;
    soc_json_walk(&walk, value);
    while (soc_json_next(&walk)) {
        struct soc_slice id = soc_json_plain_string(walk.value);
        if (id.data == NULL || !soc_id_is_valid(id))
            return false;
    }
    free(*place);
    *place = soc_copy_text(value.data, value.length);
    return true;
}

static int read_member(struct soc_redis_settings *settings, const struct member *member,
                       struct soc_slice value, struct soc_detail *detail)
{
    void *place = (char *)settings + member->offset;
    enum soc_json_kind kind = soc_json_kind(value);
    switch (member->kind) {
    case KIND_INTEGER:
        return read_integer(member, value, place, detail);
    case KIND_BOOLEAN:
        if (kind != SOC_JSON_TRUE && kind != SOC_JSON_FALSE)
            return wrong(member, "true or false", detail);
        *(bool *)place = kind == SOC_JSON_TRUE;
        return SOC_OK;
    case KIND_TEXT:
        return read_text(member, value, place) ? SOC_OK : wrong(member, "a text", detail);
    case KIND_VARIABLE:
        return read_text(member, value, place)
                   ? SOC_OK
                   : wrong(member, "the name of a variable of the environment", detail);
    case KIND_ID:
        return read_text(member, value, place) ? SOC_OK : wrong(member, "an agent's id", detail);
    default:
        return read_ids(value, place) ? SOC_OK : wrong(member, "a list of roles' ids", detail);
    }
}

static int unknown(struct soc_slice name, struct soc_detail *detail)
{
    struct soc_buf known = {0};
    struct soc_buf full = {0};
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        soc_buf_printf(&known, "%s%s", i == 0 ? "" : ", ", members[i].name);
    soc_buf_printf(&full, "redis.%.*s", (int)name.length, name.data);
    int rc = soc_fail_unknown(detail, "setting", soc_buf_text(&full), soc_buf_text(&known));
    soc_buf_fini(&known);
    soc_buf_fini(&full);
    return rc;
}

int soc_redis_settings_read(struct soc_redis_settings *settings, struct soc_slice json,
                            struct soc_detail *detail)
{
    struct soc_json_walk walk;
    int rc = SOC_OK;
    *settings = (struct soc_redis_settings){
        .has_queue = true,
        .has_inbox = true,
        .has_status = true,
        .trims = true,
        .queue_max = 10000,
        .inbox_max = 10000,
        .reply_s = 3600,
        .poll_ms = 50,
        .message_bytes = 1 << 20,
    };
    if (soc_json_kind(json) != SOC_JSON_OBJECT && json.length != 2) /* {} may be a list */
        return soc_fail(detail, SOC_EINVAL, "'redis': a table expected");
    soc_json_walk(&walk, json);
    while (rc == SOC_OK && soc_json_next(&walk)) {
        size_t i = 0;
        while (i < MEMBER_COUNT && !soc_slice_equal(walk.name, soc_slice_text(members[i].name)))
            i++;
        rc = i == MEMBER_COUNT ? unknown(walk.name, detail)
                               : read_member(settings, &members[i], walk.value, detail);
    }
    if (rc == SOC_OK && !settings->has_queue && !settings->has_inbox)
        rc = soc_fail(detail, SOC_EINVAL,
                      "'redis': 'queue' and 'inbox' cannot both be false; outside agents would "
                      "get nothing");
    return rc;
}

bool soc_redis_settings_carry(const struct soc_redis_settings *settings, struct soc_slice role)
{
    struct soc_json_walk walk;
    if (settings->roles == NULL)
        return true;
    soc_json_walk(&walk, soc_slice_text(settings->roles));
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_plain_string(walk.value), role))
            return true;
    return false;
}

void soc_redis_settings_fini(struct soc_redis_settings *settings)
{
    free(settings->url);
    free(settings->password_env);
    free(settings->guest);
    free(settings->roles);
    *settings = (struct soc_redis_settings){0};
}
