#include "parts/outside/files_settings.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"

#define MS_MAX    86400000 /* a day */
#define COUNT_MAX 1000000

enum kind {
    KIND_INTEGER,
    KIND_BOOLEAN,
    KIND_FACTOR,
    KIND_PATH,
    KIND_ID,
    KIND_MODE,
    KIND_TYPES,
    KIND_PERSPECTIVES,
};

struct member {
    const char *group; /* NULL: top level */
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t min;
    int64_t max;
};

#define AT(field) offsetof(struct soc_files_settings, field)

static const struct member members[] = {
    {NULL, "dir", KIND_PATH, AT(dir), 0, 0},
    {NULL, "base_dir", KIND_PATH, AT(base_dir), 0, 0},
    {NULL, "workflow_id", KIND_ID, AT(workflow_id), 0, 0},
    {NULL, "perspectives", KIND_PERSPECTIVES, AT(perspectives), 0, 0},
    {NULL, "directory_mode", KIND_MODE, AT(folder_mode), 0700, 0},
    {NULL, "file_mode", KIND_MODE, AT(file_mode), 0600, 0},
    {"polling", "interval_ms", KIND_INTEGER, AT(poll_ms), 1, MS_MAX},
    {"polling", "max_interval_ms", KIND_INTEGER, AT(poll_max_ms), 1, MS_MAX},
    {"polling", "max_wait_ms", KIND_INTEGER, AT(wait_ms), 1, MS_MAX},
    {"polling", "backoff_multiplier", KIND_FACTOR, AT(poll_backoff), 1, 100},
    {"polling", "force", KIND_BOOLEAN, AT(polls), 0, 0},
    {"heartbeat", "interval_ms", KIND_INTEGER, AT(heartbeat_ms), 1, MS_MAX},
    {"heartbeat", "timeout_ms", KIND_INTEGER, AT(silence_ms), 1, MS_MAX},
    {"ack", "required_types", KIND_TYPES, AT(ack_types), 0, 0},
    {"ack", "timeout_ms", KIND_INTEGER, AT(ack_ms), 1, MS_MAX},
    {"ack", "retry_delay_ms", KIND_INTEGER, AT(retry_ms), 0, MS_MAX},
    {"ack", "max_retries", KIND_INTEGER, AT(retries_max), 1, 100},
    {"cleanup", "enabled", KIND_BOOLEAN, AT(rotates), 0, 0},
    {"cleanup", "max_messages", KIND_INTEGER, AT(messages_max), 2, COUNT_MAX},
    {"cleanup", "keep_ms", KIND_INTEGER, AT(keep_ms), 0, MS_MAX},
    {"cleanup", "archive_after_workflow", KIND_BOOLEAN, AT(archives), 0, 0},
    {"buffers", "message_buffer", KIND_INTEGER, AT(lines_max), 1, COUNT_MAX},
    {"buffers", "ack_cache_ttl", KIND_INTEGER, AT(ack_cache_s), 0, MS_MAX},
    {"buffers", "heartbeat_cache", KIND_BOOLEAN, AT(caches_heartbeat), 0, 0},
    {"buffers", "line_bytes", KIND_INTEGER, AT(line_bytes_max), 64, SOC_PAYLOAD_BYTES_MAX},
};

#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

static bool is_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static const struct member *find_member(const char *group, struct soc_slice name)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        if (is_text(members[i].group, group) &&
            soc_slice_equal(name, soc_slice_text(members[i].name)))
            return &members[i];
    return NULL;
}

/* Lends the name of a group. NULL if there is no such group. */
static const char *find_group(struct soc_slice name)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        if (members[i].group != NULL && soc_slice_equal(name, soc_slice_text(members[i].group)))
            return members[i].group;
    return NULL;
}

static int wrong(const struct member *member, const char *expected, struct soc_detail *detail)
{
    return soc_fail(detail, SOC_EINVAL, "'files.%s%s%s': %s expected",
                    member->group == NULL ? "" : member->group, member->group == NULL ? "" : ".",
                    member->name, expected);
}

static bool read_integer(const struct member *member, struct soc_slice value, int64_t *place)
{
    int64_t number;
    if (!soc_json_integer(value, &number) || number < member->min || number > member->max)
        return false;
    *place = number;
    return true;
}

static bool read_factor(const struct member *member, struct soc_slice value, double *place)
{
    double number;
    if (soc_json_kind(value) != SOC_JSON_NUMBER || !soc_json_number(value, &number) ||
        !(number >= (double)member->min && number <= (double)member->max))
        return false;
    *place = number;
    return true;
}

/* Reads a mode such as "0750": octal digits as for chmod, including at least our own
 * permissions. */
static bool read_mode(const struct member *member, struct soc_slice value, unsigned *place)
{
    struct soc_slice text = soc_json_plain_string(value);
    unsigned mode = 0;
    if (text.data == NULL || text.length < 3 || text.length > 4)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '7')
            return false;
        mode = mode * 8 + (unsigned)(text.data[i] - '0');
    }
    if ((mode & (unsigned)member->min) != (unsigned)member->min || mode > 0777)
        return false;
    *place = mode;
    return true;
}

static bool read_text(struct soc_slice value, bool is_id, char **place)
{
    struct soc_buf text = {0};
    bool is_good = soc_json_string(value, &text) && text.length > 0 &&
                   text.length < SOC_PATH_BYTES_MAX &&
                   memchr(text.data, '\0', text.length) == NULL &&
                   (!is_id || soc_id_is_valid(soc_buf_slice(&text)));
    if (is_good) {
        free(*place);
        *place = soc_copy_text(text.data, text.length);
    }
    soc_buf_fini(&text);
    return is_good;
}

/* Keeps a list or an object of texts as it is. */
static bool read_texts(struct soc_slice value, enum soc_json_kind kind, char **place)
{
    struct soc_json_walk walk;
    /* An empty Lua table may be encoded either way. */
    if (soc_json_kind(value) != kind && value.length != 2)
        return false;
    soc_json_walk(&walk, value);
    while (soc_json_next(&walk))
        if (soc_json_kind(walk.value) != SOC_JSON_STRING)
            return false;
    free(*place);
    *place = soc_copy_text(value.data, value.length);
    return true;
}

static int read_member(struct soc_files_settings *settings, const struct member *member,
                       struct soc_slice value, struct soc_detail *detail)
{
    void *place = (char *)settings + member->offset;
    char expected[80];
    switch (member->kind) {
    case KIND_INTEGER:
        snprintf(expected, sizeof(expected), "an integer from %lld to %lld", (long long)member->min,
                 (long long)member->max);
        return read_integer(member, value, place) ? SOC_OK : wrong(member, expected, detail);
    case KIND_FACTOR:
        return read_factor(member, value, place) ? SOC_OK
                                                 : wrong(member, "a number from 1 to 100", detail);
    case KIND_BOOLEAN:
        if (soc_json_kind(value) != SOC_JSON_TRUE && soc_json_kind(value) != SOC_JSON_FALSE)
            return wrong(member, "true or false", detail);
        *(bool *)place = soc_json_kind(value) == SOC_JSON_TRUE;
        return SOC_OK;
    case KIND_MODE:
        snprintf(expected, sizeof(expected), "an octal mode as for chmod, at least \"0%llo\",",
                 (unsigned long long)member->min);
        return read_mode(member, value, place) ? SOC_OK : wrong(member, expected, detail);
    case KIND_PATH:
        return read_text(value, false, place) ? SOC_OK : wrong(member, "a path", detail);
    case KIND_ID:
        return read_text(value, true, place) ? SOC_OK : wrong(member, "an id", detail);
    case KIND_TYPES:
        return read_texts(value, SOC_JSON_ARRAY, place)
                   ? SOC_OK
                   : wrong(member, "a list of message types", detail);
    default:
        return read_texts(value, SOC_JSON_OBJECT, place)
                   ? SOC_OK
                   : wrong(member, "a table of texts by agent id", detail);
    }
}

static int unknown(const char *group, struct soc_slice name, struct soc_detail *detail)
{
    struct soc_buf known = {0};
    struct soc_buf full = {0};
    const char *last = NULL;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        bool is_inside = is_text(members[i].group, group);
        const char *each = is_inside ? members[i].name : members[i].group;
        if ((group != NULL && !is_inside) || is_text(each, last))
            continue;
        soc_buf_printf(&known, "%s%s", known.length == 0 ? "" : ", ", each);
        last = each;
    }
    soc_buf_printf(&full, "files.%s%s%.*s", group == NULL ? "" : group, group == NULL ? "" : ".",
                   (int)name.length, name.data);
    int rc = soc_fail_unknown(detail, "setting", soc_buf_text(&full), soc_buf_text(&known));
    soc_buf_fini(&known);
    soc_buf_fini(&full);
    return rc;
}

static int read_object(struct soc_files_settings *settings, const char *group,
                       struct soc_slice json, struct soc_detail *detail)
{
    struct soc_json_walk walk;
    int rc = SOC_OK;
    soc_json_walk(&walk, json);
    while (rc == SOC_OK && soc_json_next(&walk)) {
        const struct member *member = find_member(group, walk.name);
        const char *inner = group == NULL ? find_group(walk.name) : NULL;
        if (member != NULL)
            rc = read_member(settings, member, walk.value, detail);
        else if (inner == NULL)
            rc = unknown(group, walk.name, detail);
        else if (soc_json_kind(walk.value) != SOC_JSON_OBJECT && walk.value.length != 2)
            rc = soc_fail(detail, SOC_EINVAL, "'files.%s': a table expected", inner);
        else
            rc = read_object(settings, inner, walk.value, detail);
    }
    return rc;
}

static bool has_member(struct soc_slice json, const char *group, const char *name)
{
    return soc_json_member(soc_json_member(json, group), name).data != NULL;
}

int soc_files_settings_read(struct soc_files_settings *settings, struct soc_slice json,
                            struct soc_detail *detail)
{
    *settings = (struct soc_files_settings){
        .base_dir = soc_copy_text(".claude/workflow", 16),
        .folder_mode = 0700,
        .file_mode = 0600,
        .poll_ms = 500,
        .poll_max_ms = 3000,
        .wait_ms = 5000,
        .poll_backoff = 1.5,
        .heartbeat_ms = 10000,
        .silence_ms = 30000,
        .ack_ms = 5000,
        .retry_ms = 2000,
        .retries_max = 3,
        .rotates = true,
        .messages_max = 1000,
        .keep_ms = 60000,
        .archives = true,
        .lines_max = 100,
        .ack_cache_s = 60,
        .caches_heartbeat = true,
        .line_bytes_max = 1 << 20,
    };
    if (soc_json_kind(json) != SOC_JSON_OBJECT && json.length != 2)
        return soc_fail(detail, SOC_EINVAL, "'files': a table expected");
    int rc = read_object(settings, NULL, json, detail);
    if (rc == SOC_OK && settings->poll_max_ms < settings->poll_ms)
        rc = soc_fail(detail, SOC_EINVAL,
                      "'files.polling.max_interval_ms': at least interval_ms expected");
    settings->has_silence = has_member(json, "heartbeat", "timeout_ms");
    settings->has_ladder = has_member(json, "ack", "timeout_ms") ||
                           has_member(json, "ack", "retry_delay_ms") ||
                           has_member(json, "ack", "max_retries");
    return rc;
}

void soc_files_settings_fini(struct soc_files_settings *settings)
{
    free(settings->dir);
    free(settings->base_dir);
    free(settings->workflow_id);
    free(settings->perspectives);
    free(settings->ack_types);
    *settings = (struct soc_files_settings){0};
}
