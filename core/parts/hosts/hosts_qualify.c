#include "parts/hosts/hosts_qualify.h"

#include "base/json.h"
#include "env/ids.h"
#include "model/message.h"
#include "model/tasks/task.h"
#include "store/record.h"

/* Appends a value in which a text that is a bare id has become an address. */
static bool put_id(struct soc_slice value, struct soc_slice name, struct soc_buf *out)
{
    struct soc_buf id = {0};
    bool is_id = value.length > 0 && value.data[0] == '"' && soc_json_string(value, &id) &&
                 soc_id_is_valid(soc_buf_slice(&id)) &&
                 !soc_slice_equal(soc_buf_slice(&id), SOC_SLICE("system"));
    if (is_id) {
        soc_buf_put_byte(&id, '@');
        soc_buf_put_slice(&id, name);
        soc_json_put_string(out, soc_buf_slice(&id));
    } else {
        soc_buf_put_slice(out, value);
    }
    soc_buf_fini(&id);
    return is_id;
}

/* Appends a list of ids. */
static bool put_ids(struct soc_slice list, struct soc_slice name, struct soc_buf *out)
{
    struct soc_json_walk walk;
    bool is_any = false;
    const char *before = "[";
    if (list.length == 0 || list.data[0] != '[') {
        soc_buf_put_slice(out, list);
        return false;
    }
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        soc_buf_put_text(out, before);
        is_any |= put_id(walk.value, name, out);
        before = ",";
    }
    soc_buf_put_text(out, *before == '[' ? "[]" : "]");
    return is_any;
}

/* Appends the name of a member, which is still escaped. */
static void put_name(struct soc_buf *out, const char *before, struct soc_slice name)
{
    soc_buf_put_text(out, before);
    soc_buf_put_byte(out, '"');
    soc_buf_put_slice(out, name);
    soc_buf_put_text(out, "\":");
}

/* Appends an object in which the members that name agents are addresses. */
static bool put_object(struct soc_slice object, struct soc_slice name, const char *const *members,
                       struct soc_buf *out)
{
    struct soc_json_walk walk;
    bool is_any = false;
    const char *before = "{";
    if (object.length == 0 || object.data[0] != '{') {
        soc_buf_put_slice(out, object);
        return false;
    }
    soc_json_walk(&walk, object);
    while (soc_json_next(&walk)) {
        bool is_named = false;
        for (size_t i = 0; members[i] != NULL; i++)
            is_named |= soc_json_name_is(walk.name, soc_slice_text(members[i]));
        put_name(out, before, walk.name);
        if (is_named)
            is_any |= put_id(walk.value, name, out);
        else
            soc_buf_put_slice(out, walk.value);
        before = ",";
    }
    soc_buf_put_text(out, *before == '{' ? "{}" : "}");
    return is_any;
}

static const char *const target_ids[] = {"id", NULL}; /* as the host has written them */
static const char *const collaborator_ids[] = {"agentId", "agent_id", "id", NULL};

static bool put_collaborators(struct soc_slice list, struct soc_slice name, struct soc_buf *out)
{
    struct soc_json_walk walk;
    bool is_any = false;
    const char *before = "[";
    if (list.length == 0 || list.data[0] != '[') {
        soc_buf_put_slice(out, list);
        return false;
    }
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        soc_buf_put_text(out, before);
        is_any |= put_object(walk.value, name, collaborator_ids, out);
        before = ",";
    }
    soc_buf_put_text(out, *before == '[' ? "[]" : "]");
    return is_any;
}

/* A brief is in a payload, and none is in a brief. */
static bool put_brief(struct soc_slice brief, struct soc_slice name, struct soc_buf *out)
{
    struct soc_slice list = soc_json_member(brief, "collaborators");
    struct soc_buf changed = {0};
    bool is_any = list.data != NULL && put_collaborators(list, name, &changed);
    if (is_any)
        soc_json_put_changed(out, brief, "collaborators", soc_buf_slice(&changed));
    else
        soc_buf_put_slice(out, brief);
    soc_buf_fini(&changed);
    return is_any;
}

/* The messages in which this host knows a member to name agents; in all others it is the sender's
 * own text, whatever its name. */
enum kind { KIND_OTHER, KIND_REQUEST, KIND_RESPONSE, KIND_CONSENT, KIND_BRIEF };

static bool opens_task(struct soc_slice type)
{
    for (int i = 0; i < SOC_TASK_STYLE_COUNT; i++)
        if (soc_slice_equal(type, soc_slice_text(soc_task_style_name((enum soc_task_style)i))))
            return true;
    return false;
}

static enum kind kind_of(const struct soc_record_message *r)
{
    bool is_formal = (r->flags & SOC_MESSAGE_IS_FORMAL) != 0;
    if (soc_slice_equal(r->type, SOC_SLICE("introduction_request")))
        return KIND_REQUEST;
    if (soc_slice_equal(r->type, SOC_SLICE("introduction_response")))
        return KIND_RESPONSE;
    if (is_formal && soc_slice_equal(r->type, SOC_SLICE("collaboration_request")))
        return KIND_CONSENT;
    if (opens_task(r->type) || (is_formal && soc_slice_equal(r->type, SOC_SLICE("host_spawn"))))
        return KIND_BRIEF;
    return KIND_OTHER;
}

/* Appends the value of a member of a payload. */
static bool put_member(enum kind kind, struct soc_slice key, struct soc_slice value,
                       struct soc_slice name, struct soc_buf *out)
{
#define IS(text) soc_json_name_is(key, SOC_SLICE(text))
    if (kind == KIND_BRIEF && IS("collaborators"))
        return put_collaborators(value, name, out);
    if (kind == KIND_BRIEF && (IS("task_brief") || IS("taskBrief")) && value.data[0] == '{')
        return put_brief(value, name, out);
    if ((kind == KIND_REQUEST || kind == KIND_RESPONSE) && IS("via"))
        return put_ids(value, name, out);
    if ((kind == KIND_RESPONSE || kind == KIND_CONSENT) && IS("target_agent"))
        return put_object(value, name, target_ids, out);
    if (kind == KIND_CONSENT && IS("requester"))
        return put_object(value, name, target_ids, out);
#undef IS
    soc_buf_put_slice(out, value);
    return false;
}

bool soc_hosts_qualify(const struct soc_record_message *r, struct soc_slice name,
                       struct soc_buf *out)
{
    struct soc_json_walk walk;
    size_t start = out->length;
    bool is_any = false;
    const char *before = "{";
    enum kind kind = kind_of(r);
    if (kind == KIND_OTHER || r->payload.length == 0 || r->payload.data[0] != '{')
        return false;
    soc_json_walk(&walk, r->payload);
    while (soc_json_next(&walk)) {
        put_name(out, before, walk.name);
        is_any |= put_member(kind, walk.name, walk.value, name, out);
        before = ",";
    }
    soc_buf_put_byte(out, '}');
    if (!is_any)
        out->length = start;
    return is_any;
}
