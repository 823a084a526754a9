#include "parts/policies/policies.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/operations/looks.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "parts/table.h"

/* Lends the list in force, JSON. Empty: never recorded. */
static struct soc_buf *list_of(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_POLICIES);
}

struct soc_slice soc_policies_recorded(const struct soc_host *host)
{
    return soc_policies_are_recorded(host) ? soc_buf_slice(list_of(host)) : SOC_SLICE("[]");
}

bool soc_policies_are_recorded(const struct soc_host *host)
{
    return list_of(host)->length > 0;
}

static void set(struct soc_host *host, struct soc_slice list)
{
    list_of(host)->length = 0;
    soc_buf_put_slice(list_of(host), list);
}

void soc_policies_record(struct soc_host *host, struct soc_slice list)
{
    assert(list.length > 0 && list.data[0] == '[');
    if (soc_slice_equal(list, soc_buf_slice(list_of(host))))
        return;
    set(host, list);
    soc_batch_put_meta(host, "policies", list);
}

static void *open_policies(struct soc_host *host)
{
    (void)host;
    return soc_alloc_zero(sizeof(struct soc_buf));
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_META &&
        soc_slice_equal(record->meta.name, SOC_SLICE("policies")))
        set(host, record->meta.value);
    return SOC_OK;
}

static void free_policies(struct soc_host *host)
{
    soc_buf_fini(list_of(host));
    free(list_of(host));
}

static const struct soc_column columns[] = {
    {"KIND", "kind", 20},
    {"NAME", "name", SOC_LOOKS_ID_WIDTH},
    {"VERSION", "version", 12},
    {"HASH", "hash", 16},
    {"SETTINGS", "settings", SOC_LOOKS_TEXT_WIDTH},
    {"FILE", "path", 200},
    {NULL, NULL, 0},
};

static const struct soc_param members[] = {
    {.name = "kind", .is_needed = true, .summary = "what it decides about"},
    {.name = "name", .is_needed = true, .summary = "its name"},
    {.name = "version", .kind = SOC_PARAM_NUMBER, .summary = "its version"},
    {.name = "hash", .summary = "of its source"},
    {.name = "path", .summary = "its file"},
    {.name = "settings", .kind = SOC_PARAM_JSON, .summary = "what it was given"},
    {.name = NULL},
};

static const struct soc_param params[] = {
    {.name = "kind", .most = SOC_KEY_BYTES_MAX, .is_needed = true, .summary = "what it decides"},
    {.name = "name", .most = SOC_PATH_BYTES_MAX, .is_needed = true, .summary = "a name or a path"},
    {.name = NULL},
};

static void look_at_policies(struct soc_host *host, const struct soc_query *query,
                             struct soc_buf *out)
{
    (void)query;
    soc_buf_put_slice(out, soc_policies_recorded(host));
}

static void recall_policies(struct soc_slice meta, struct soc_buf *out)
{
    struct soc_buf list = {0};
    soc_json_string(soc_looks_find_meta(meta, "policies"), &list);
    if (soc_json_check(soc_buf_slice(&list), NULL) == SOC_OK)
        soc_buf_put_slice(out, soc_buf_slice(&list));
    else
        soc_buf_put_text(out, "[]");
    soc_buf_fini(&list);
}

/* Appends the active policies of that kind. */
static void put_kind(struct soc_buf *out, struct soc_slice list, struct soc_slice kind)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    soc_buf_put_byte(out, '[');
    while (soc_json_next(&walk)) {
        if (!soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "kind")), kind))
            continue;
        if (out->length > 1)
            soc_buf_put_byte(out, ',');
        soc_buf_put_slice(out, walk.value);
    }
    soc_buf_put_byte(out, ']');
}

static void switch_policy(struct soc_given *given)
{
    const struct soc_operations *society = given->society;
    struct soc_detail detail = {{0}};
    struct soc_buf list = {0};
    struct soc_slice kind = soc_given_text(given, "kind");
    struct soc_slice name = soc_given_text(given, "name");
    int rc = SOC_EREFUSED;
    if (society->use_policy != NULL)
        rc = society->use_policy(society->user, kind.data, name.data, &detail);
    if (rc < 0) {
        soc_call_fail(given->call, rc, detail.text[0] == '\0' ? NULL : detail.text);
        return;
    }
    put_kind(&list, soc_policies_recorded(society->host), kind);
    soc_given_finish(given, rc, kind, &list);
}

static const struct soc_operation operations[] = {
    {.name = "policies",
     .summary = "the policies in force, or last in force",
     .scope = SOC_SCOPE_READ,
     .answer = members,
     .view = &(const struct soc_view){.look = look_at_policies,
                                      .recall = recall_policies,
                                      .columns = columns},
     .run = soc_given_look},
    {.name = "policy",
     .summary = "puts another policy in force; answers those of its kind",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .needs_running = true,
     .params = params,
     .answer = members,
     .run = switch_policy},
    {.name = NULL},
};

const struct soc_part soc_policies_part = {
    .name = "policies",
    .number = SOC_PART_POLICIES,
    .operations = operations,
    .open = open_policies,
    .restore = restore,
    .free = free_policies,
};
