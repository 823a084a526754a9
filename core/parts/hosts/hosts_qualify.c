#include "parts/hosts/hosts_qualify.h"

#include <string.h>

#include "base/json.h"
#include "env/ids.h"

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

static const char *const target_ids[] = {"id", "agentId", "agent_id", NULL};
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

/* Appends the value of a member of a payload. */
static bool put_member(struct soc_slice key, struct soc_slice value, struct soc_slice name,
                       struct soc_buf *out)
{
#define IS(text) soc_json_name_is(key, SOC_SLICE(text))
    if (IS("target_agent"))
        return value.data[0] == '"' ? put_id(value, name, out)
                                    : put_object(value, name, target_ids, out);
    if (IS("targetAgentId") || IS("target_agent_id"))
        return put_id(value, name, out);
    if (IS("via"))
        return put_ids(value, name, out);
    if (IS("collaborators"))
        return put_collaborators(value, name, out);
    if ((IS("task_brief") || IS("taskBrief")) && value.data[0] == '{')
        return put_brief(value, name, out);
#undef IS
    soc_buf_put_slice(out, value);
    return false;
}

/* Tells whether the payload may name agents: most do not, and are not copied. */
static bool may_name(struct soc_slice payload)
{
    static const char *const marks[] = {"\"target", "\"via\"", "\"collaborators\""};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (memmem(payload.data, payload.length, marks[i], strlen(marks[i])) != NULL)
            return true;
    return false;
}

bool soc_hosts_qualify(struct soc_slice payload, struct soc_slice name, struct soc_buf *out)
{
    struct soc_json_walk walk;
    size_t start = out->length;
    bool is_any = false;
    const char *before = "{";
    if (payload.length == 0 || payload.data[0] != '{' || !may_name(payload))
        return false;
    soc_json_walk(&walk, payload);
    while (soc_json_next(&walk)) {
        put_name(out, before, walk.name);
        is_any |= put_member(walk.name, walk.value, name, out);
        before = ",";
    }
    soc_buf_put_byte(out, '}');
    if (!is_any)
        out->length = start;
    return is_any;
}
