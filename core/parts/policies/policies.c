#include "parts/policies/policies.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/look.h"
#include "kernel/operations/looks.h"
#include "kernel/refusal.h"
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

static const struct soc_param swap_params[] = {
    {.name = "kind", .most = SOC_KEY_BYTES_MAX, .is_needed = true, .summary = "what it decides"},
    {.name = "name",
     .most = SOC_ID_BYTES_MAX,
     .is_needed = true,
     .summary = "the name of a policy, the app's or a shipped one; never a path"},
    {.name = "settings", .kind = SOC_PARAM_OBJECT, .summary = "what it is given"},
    {.name = NULL},
};

static const struct soc_param kind_params[] = {
    {.name = "kind", .most = SOC_KEY_BYTES_MAX, .is_needed = true, .summary = "what it decides"},
    {.name = NULL},
};

static const struct soc_param kind_members[] = {
    {.name = "kind", .is_needed = true, .summary = "what it decides about"},
    {.name = "active",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "the policies of this kind in force, as `policies` shows them"},
    {.name = "swaps",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "`{ time, by, from, to }` of the latest swaps: names, hashes, settings"},
    {.name = NULL},
};

/* Swaps of all kinds that are looked at. */
#define SWAPS_MAX 1000

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

static void use(struct soc_given *given, struct soc_slice kind, struct soc_slice name,
                struct soc_slice settings)
{
    const struct soc_operations *society = given->society;
    struct soc_detail detail = {{0}};
    struct soc_buf list = {0};
    int rc = SOC_EREFUSED;
    if (society->use_policy != NULL)
        rc = society->use_policy(society->user, kind.data, name.data, settings, &detail);
    if (rc == SOC_ESCRIPT || rc == SOC_EINVAL) { /* it is broken, or fails an example of its own */
        soc_refuse_named(&list, "policy_refused", detail.text);
        soc_given_refuse(given, soc_buf_slice(&list));
        soc_buf_fini(&list);
        return;
    }
    if (rc < 0) {
        soc_call_fail(given->call, rc, detail.text[0] == '\0' ? NULL : detail.text);
        return;
    }
    put_kind(&list, soc_policies_recorded(society->host), kind);
    soc_given_finish(given, rc, kind, &list);
}

static void switch_policy(struct soc_given *given)
{
    struct soc_slice kind = soc_given_text(given, "kind");
    use(given, kind, soc_given_text(given, "name"), (struct soc_slice){0});
}

/* A name has no slash and no dot, so it finds nothing but a policy. */
static bool is_name(struct soc_slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if (strchr("/\\.", text.data[i]) != NULL)
            return false;
    return text.length > 0;
}

static void swap(struct soc_given *given)
{
    struct soc_slice kind = soc_given_text(given, "kind");
    struct soc_slice name = soc_given_text(given, "name");
    if (!is_name(kind))
        soc_given_fault(given, "kind");
    else if (!is_name(name))
        soc_given_fault(given, "name");
    else
        use(given, kind, name, soc_given_json(given, "settings"));
}

/* Appends the detail of a swap, with its time. */
static void put_swap(struct soc_buf *out, struct soc_slice row, struct soc_slice detail)
{
    static const char *const names[] = {"by", "from", "to"};
    soc_buf_put_text(out, out->data[out->length - 1] == '[' ? "{" : ",{");
    for (int i = 0; i < 3; i++) {
        struct soc_slice value = soc_json_member(detail, names[i]);
        if (value.data == NULL)
            continue;
        soc_json_put_name(out, names[i]);
        soc_buf_put_slice(out, value);
    }
    soc_json_put_name(out, "time");
    soc_buf_put_slice(out, soc_json_member(row, "time"));
    soc_buf_put_byte(out, '}');
}

static void answer_kind(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    struct soc_slice kind = soc_slice_text(call->work);
    struct soc_buf list = {0};
    struct soc_buf active = {0};
    struct soc_buf detail = {0};
    struct soc_json_walk walk;
    if (rc < 0) {
        soc_call_fail(call, rc, NULL);
        return;
    }
    put_kind(&active, soc_policies_recorded(call->host), kind);
    soc_buf_put_text(&list, "[{\"active\":");
    soc_buf_put_slice(&list, soc_buf_slice(&active));
    soc_json_put_text_member(&list, "kind", kind);
    soc_json_put_name(&list, "swaps");
    soc_buf_put_byte(&list, '[');
    for (soc_json_walk(&walk, rows); soc_json_next(&walk);) {
        detail.length = 0;
        if (soc_json_string(soc_json_member(walk.value, "detail"), &detail) &&
            soc_json_check(soc_buf_slice(&detail), NULL) == SOC_OK &&
            soc_slice_equal(soc_json_plain_string(soc_json_member(soc_buf_slice(&detail), "kind")),
                            kind))
            put_swap(&list, walk.value, soc_buf_slice(&detail));
    }
    soc_buf_put_text(&list, "]}]");
    soc_call_answer(call, soc_buf_slice(&list));
    soc_buf_fini(&list);
    soc_buf_fini(&active);
    soc_buf_fini(&detail);
}

static void look_at_kind(struct soc_given *given)
{
    struct soc_slice kind = soc_given_text(given, "kind");
    struct soc_buf active = {0};
    struct soc_query query = {
        .what = "activity", .type = SOC_SLICE("policy_swapped"), .limit = SWAPS_MAX};
    put_kind(&active, soc_policies_recorded(given->society->host), kind);
    if (active.length == 2) {
        soc_given_fault(given, "kind"); /* there is always one in force */
    } else {
        given->call->work = soc_copy_text(kind.data, kind.length);
        soc_look_query(given->society->host, &query, answer_kind, given->call);
    }
    soc_buf_fini(&active);
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
    {.name = "policy_kind",
     .summary = "the policies in force of one kind, and their swaps",
     .scope = SOC_SCOPE_READ,
     .needs_running = true,
     .params = kind_params,
     .answer = kind_members,
     .run = look_at_kind},
    {.name = "swap",
     .summary = "puts another policy in force by its name; answers those of its kind",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .needs_running = true,
     .params = swap_params,
     .answer = members,
     .run = swap},
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
