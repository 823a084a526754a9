#include "parts/policies/policies.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/look.h"
#include "kernel/operations/given.h"
#include "kernel/operations/looks.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "parts/table.h"

#define LIST_RECORD "policies"
#define KEPT_RECORD "policies_kept"

struct state {
    struct soc_buf list; /* those in force, JSON; empty: never recorded */
    struct soc_buf kept; /* swaps that outlast the run, JSON; empty: none */
};

static struct state *state_of(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_POLICIES);
}

struct soc_slice soc_policies_recorded(const struct soc_host *host)
{
    return soc_policies_are_recorded(host) ? soc_buf_slice(&state_of(host)->list) : SOC_SLICE("[]");
}

bool soc_policies_are_recorded(const struct soc_host *host)
{
    return state_of(host)->list.length > 0;
}

static void set(struct soc_buf *text, struct soc_slice value)
{
    text->length = 0;
    soc_buf_put_slice(text, value);
}

void soc_policies_record(struct soc_host *host, struct soc_slice list)
{
    struct state *state = state_of(host);
    assert(list.length > 0 && list.data[0] == '[');
    if (soc_slice_equal(list, soc_buf_slice(&state->list)))
        return;
    set(&state->list, list);
    soc_batch_put_meta(host, LIST_RECORD, list);
}

struct soc_slice soc_policies_kept(const struct soc_host *host)
{
    const struct soc_buf *kept = &state_of(host)->kept;
    return kept->length > 0 ? soc_buf_slice(kept) : SOC_SLICE("[]");
}

static bool is_text(struct soc_slice object, const char *member, struct soc_slice text)
{
    struct soc_buf value = {0};
    bool is_same = soc_json_string(soc_json_member(object, member), &value) &&
                   soc_slice_equal(soc_buf_slice(&value), text);
    soc_buf_fini(&value);
    return is_same;
}

void soc_policies_keep(struct soc_host *host, struct soc_slice kind, struct soc_slice name,
                       struct soc_slice settings)
{
    struct soc_buf list = {0};
    struct soc_json_walk walk;
    bool is_added = soc_slice_equal(kind, SOC_SLICE("messages")) && name.length > 0 &&
                    memchr(name.data, ',', name.length) == NULL;
    soc_buf_put_byte(&list, '[');
    soc_json_walk(&walk, soc_policies_kept(host));
    while (soc_json_next(&walk)) {
        if (is_text(walk.value, "kind", kind) && (!is_added || is_text(walk.value, "name", name)))
            continue;
        soc_buf_put_text(&list, list.length > 1 ? "," : "");
        soc_buf_put_slice(&list, walk.value);
    }
    if (name.length > 0) {
        soc_buf_put_text(&list, list.length > 1 ? ",{" : "{");
        soc_json_put_text_member(&list, "kind", kind);
        soc_json_put_text_member(&list, "name", name);
        if (settings.length > 0) {
            soc_json_put_name(&list, "settings");
            soc_buf_put_slice(&list, settings);
        }
        soc_buf_put_byte(&list, '}');
    }
    soc_buf_put_byte(&list, ']');
    if (!soc_slice_equal(soc_buf_slice(&list), soc_policies_kept(host))) {
        set(&state_of(host)->kept, soc_buf_slice(&list));
        soc_batch_put_meta(host, KEPT_RECORD, soc_buf_slice(&list));
    }
    soc_buf_fini(&list);
}

static void *open_policies(struct soc_host *host)
{
    (void)host;
    return soc_alloc_zero(sizeof(struct state));
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_META &&
        soc_slice_equal(record->meta.name, SOC_SLICE(LIST_RECORD)))
        set(&state_of(host)->list, record->meta.value);
    if (record->type == SOC_RECORD_META &&
        soc_slice_equal(record->meta.name, SOC_SLICE(KEPT_RECORD)))
        set(&state_of(host)->kept, record->meta.value);
    return SOC_OK;
}

static void free_policies(struct soc_host *host)
{
    soc_buf_fini(&state_of(host)->list);
    soc_buf_fini(&state_of(host)->kept);
    free(state_of(host));
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
    {.name = "kind", .most = SOC_KEY_BYTES_MAX, .summary = "what it decides"},
    {.name = "name",
     .most = SOC_PATH_BYTES_MAX,
     .summary = "a name or a path; empty: from the next start on the app decides again"},
    {.name = "policies",
     .kind = SOC_PARAM_OBJECT,
     .summary = "instead of both: several, names by kind; all of them, or none"},
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
    {.name = "names",
     .kind = SOC_PARAM_LIST,
     .summary = "the policies of this kind that `swap` can put in force: the app's and shipped"},
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

/* Answers that a policy could not be used. */
static void refuse(struct soc_given *given, int rc, const struct soc_detail *detail)
{
    struct soc_buf error = {0};
    if (rc == SOC_ESCRIPT || rc == SOC_EINVAL) { /* it is broken, or fails an example of its own */
        soc_refuse_named(&error, "policy_refused", detail->text);
        soc_given_refuse(given, soc_buf_slice(&error));
        soc_buf_fini(&error);
    } else {
        soc_call_fail(given->call, rc, detail->text[0] == '\0' ? NULL : detail->text);
    }
}

static void use(struct soc_given *given, struct soc_slice kind, struct soc_slice name,
                struct soc_slice settings)
{
    const struct soc_operations *society = given->society;
    struct soc_detail detail = {{0}};
    struct soc_buf list = {0};
    int rc = SOC_EREFUSED;
    if (society->use_policy != NULL)
        rc = society->use_policy(society->user, kind.data, name.data, settings, false, &detail);
    if (rc < 0) {
        refuse(given, rc, &detail);
        return;
    }
    put_kind(&list, soc_policies_recorded(society->host), kind);
    soc_given_finish(given, rc, kind, &list);
}

/* Uses all policies of an object { kind: name }, or only tries to. */
static int use_all(const struct soc_operations *society, struct soc_slice policies, bool is_trial,
                   struct soc_detail *detail)
{
    struct soc_json_walk walk;
    struct soc_buf kind = {0};
    struct soc_buf name = {0};
    int rc = SOC_OK;
    soc_json_walk(&walk, policies);
    while (rc == SOC_OK && soc_json_next(&walk)) {
        kind.length = name.length = 0;
        soc_buf_put_slice(&kind, walk.name);
        if (!soc_json_string(walk.value, &name))
            rc = soc_fail(detail, SOC_EINVAL, "policies: a policy's name is a text");
        else
            rc = society->use_policy(society->user, soc_buf_text(&kind), soc_buf_text(&name),
                                     (struct soc_slice){0}, is_trial, detail);
    }
    soc_buf_fini(&kind);
    soc_buf_fini(&name);
    return rc;
}

/* All are tried before the first is used. What they change is one batch. */
static void switch_all(struct soc_given *given, struct soc_slice policies)
{
    const struct soc_operations *society = given->society;
    struct soc_detail detail = {{0}};
    struct soc_buf list = {0};
    struct soc_json_walk walk;
    int rc = SOC_EREFUSED;
    if (society->use_policy != NULL)
        rc = use_all(society, policies, true, &detail);
    if (rc == SOC_OK)
        rc = use_all(society, policies, false, &detail);
    if (rc < 0) {
        refuse(given, rc, &detail);
        return;
    }
    struct soc_slice recorded = soc_policies_recorded(society->host);
    soc_json_walk(&walk, recorded);
    soc_buf_put_byte(&list, '[');
    while (soc_json_next(&walk)) {
        struct soc_buf kind = {0};
        if (soc_json_string(soc_json_member(walk.value, "kind"), &kind) &&
            soc_json_member(policies, soc_buf_text(&kind)).data != NULL) {
            soc_buf_put_text(&list, list.length > 1 ? "," : "");
            soc_buf_put_slice(&list, walk.value);
        }
        soc_buf_fini(&kind);
    }
    soc_buf_put_byte(&list, ']');
    soc_given_finish(given, rc, SOC_SLICE("policies"), &list);
}

static void switch_policy(struct soc_given *given)
{
    struct soc_slice kind = soc_given_text(given, "kind");
    struct soc_slice name = soc_given_text(given, "name");
    struct soc_slice policies = soc_given_json(given, "policies");
    if (policies.data != NULL && kind.data == NULL && name.data == NULL)
        switch_all(given, policies);
    else if (policies.data != NULL)
        soc_given_fault(given, "policies", "give policies, or kind and name, not both");
    else if (kind.data == NULL)
        soc_given_fault(given, "kind",
                        "'kind' is missing; it must be what the policy decides, or give policies");
    else if (name.data == NULL)
        soc_given_fault(given, "name", "'name' is missing; it must be the name of a policy");
    else
        use(given, kind, name, (struct soc_slice){0});
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
        soc_given_fault(given, "kind", "'kind' must be a word, without slash or dot");
    else if (!is_name(name))
        soc_given_fault(given, "name",
                        "'name' must be the name of a policy, without slash or dot: never a path");
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

/* A look at a kind while its swaps are looked up. */
struct kind_look {
    char *kind;
    struct soc_buf names; /* a JSON list; empty: unknown */
};

static void free_kind_look(void *work)
{
    struct kind_look *look = work;
    if (look == NULL)
        return;
    free(look->kind);
    soc_buf_fini(&look->names);
    free(look);
}

static void answer_kind(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    const struct kind_look *look = call->work;
    struct soc_slice kind = soc_slice_text(look->kind);
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
    if (look->names.length > 0) {
        soc_json_put_name(&list, "names");
        soc_buf_put_slice(&list, soc_buf_slice(&look->names));
    }
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

/* Answers that there is no such kind. Of each there is always a policy in force. */
static void refuse_kind(struct soc_given *given)
{
    struct soc_buf sentence = {0};
    struct soc_slice last = {0};
    struct soc_json_walk walk;
    soc_buf_put_text(&sentence, "'kind' must be one of those of the policies in force:");
    soc_json_walk(&walk, soc_policies_recorded(given->society->host));
    while (soc_json_next(&walk)) {
        struct soc_slice kind = soc_json_plain_string(soc_json_member(walk.value, "kind"));
        if (last.data != NULL && soc_slice_equal(kind, last))
            continue; /* several are in force */
        soc_buf_put_text(&sentence, last.data == NULL ? " " : ", ");
        soc_buf_put_slice(&sentence, kind);
        last = kind;
    }
    soc_given_fault(given, "kind", soc_buf_text(&sentence));
    soc_buf_fini(&sentence);
}

static void look_at_kind(struct soc_given *given)
{
    struct soc_slice kind = soc_given_text(given, "kind");
    struct soc_buf active = {0};
    struct soc_query query = {
        .what = "activity", .type = SOC_SLICE("policy_swapped"), .limit = SWAPS_MAX};
    put_kind(&active, soc_policies_recorded(given->society->host), kind);
    if (active.length == 2) {
        refuse_kind(given);
    } else {
        struct kind_look *look = soc_alloc_zero(sizeof(*look));
        look->kind = soc_copy_text(kind.data, kind.length);
        if (given->society->put_policy_names != NULL)
            given->society->put_policy_names(given->society->user, look->kind, &look->names);
        given->call->work = look;
        given->call->free_work = free_kind_look;
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
