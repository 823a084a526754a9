#include "model/introduction.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"

struct soc_introduction *soc_introduction_new(uint64_t key, int64_t time_ms,
                                              struct soc_agent *requester, struct soc_agent *broker)
{
    struct soc_introduction *introduction = soc_alloc_zero(sizeof(*introduction));
    introduction->key = key;
    introduction->time_ms = time_ms;
    introduction->requester = requester;
    introduction->broker = broker;
    return introduction;
}

void soc_introduction_free(struct soc_introduction *introduction)
{
    if (introduction == NULL)
        return;
    free(introduction->correlation_id);
    free(introduction->reason);
    free(introduction->asked);
    free(introduction->usage_hint);
    free(introduction->via);
    free(introduction);
}

void soc_introduction_note_asked(struct soc_introduction *introduction, struct soc_agent *agent)
{
    assert(agent != NULL);
    size_t bytes = (introduction->asked_count + 1) * sizeof(struct soc_agent *);
    introduction->asked = soc_realloc(introduction->asked, bytes);
    introduction->asked[introduction->asked_count++] = agent;
}

bool soc_introduction_was_asked(const struct soc_introduction *introduction,
                                const struct soc_agent *agent)
{
    for (uint32_t i = 0; i < introduction->asked_count; i++)
        if (introduction->asked[i] == agent)
            return true;
    return false;
}

/* Accepted names of the id, besides `id` inside `target_agent`. */
static const char *const id_names[] = {"targetAgentId", "target_agent_id", "agentId", "agent_id"};

#define ID_NAME_COUNT (sizeof(id_names) / sizeof(id_names[0]))

static struct soc_slice read_id(struct soc_slice object, const char **name)
{
    for (size_t i = 0; i < ID_NAME_COUNT; i++) {
        struct soc_slice id = soc_json_plain_string(soc_json_member(object, id_names[i]));
        if (id.data == NULL || id.length == 0)
            continue;
        *name = id_names[i];
        return id;
    }
    return (struct soc_slice){0};
}

/* Reads the id from `target_agent`, which is an object or the id itself. */
static struct soc_slice read_target(struct soc_slice target)
{
    const char *ignored;
    bool is_object = target.data[0] == '{';
    struct soc_slice id = soc_json_plain_string(is_object ? soc_json_member(target, "id") : target);
    if (id.data != NULL && id.length == 0)
        id = (struct soc_slice){0};
    return id.data == NULL && is_object ? read_id(target, &ignored) : id;
}

static struct soc_slice read_spec(struct soc_slice target)
{
    struct soc_slice spec = soc_json_member(target, "interface_spec");
    if (spec.data == NULL)
        spec = soc_json_member(target, "interfaceSpec");
    return spec.data != NULL && spec.data[0] == '{' ? spec : (struct soc_slice){0};
}

/* A response without an id is a refusal if its target is null or it gives a reason. */
static bool refuses(struct soc_slice payload, struct soc_slice target)
{
    if (target.data != NULL)
        return target.data[0] == 'n';
    struct soc_slice reason = soc_json_member(payload, "reason");
    return reason.data != NULL && soc_json_kind(reason) == SOC_JSON_STRING && reason.length > 2;
}

struct soc_named soc_introduction_named(struct soc_slice payload)
{
    struct soc_named named = {0};
    const char *name = "target_agent";
    struct soc_slice target = soc_json_member(payload, "target_agent");
    if (target.data != NULL) {
        named.id = read_target(target);
        named.spec = read_spec(target);
    }
    if (named.id.data == NULL)
        named.id = read_id(payload, &name);
    named.is_refusal = named.id.data == NULL && refuses(payload, target);
    named.given_by = soc_slice_text(name);
    return named;
}

bool soc_introduction_lists(struct soc_slice list, struct soc_slice id)
{
    struct soc_json_walk walk;
    if (list.data == NULL)
        return false;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        struct soc_slice text = soc_json_plain_string(walk.value);
        if (text.data != NULL && soc_slice_equal(text, id))
            return true;
    }
    return false;
}

static void put_element(struct soc_buf *out, struct soc_slice json)
{
    if (out->data[out->length - 1] != '[')
        soc_buf_put_byte(out, ',');
    soc_buf_put_slice(out, json);
}

static void put_text_element(struct soc_buf *out, struct soc_slice text)
{
    if (text.data == NULL)
        return;
    if (out->data[out->length - 1] != '[')
        soc_buf_put_byte(out, ',');
    soc_json_put_string(out, text);
}

void soc_introduction_extend(struct soc_buf *out, struct soc_slice first, struct soc_slice list,
                             struct soc_slice last)
{
    struct soc_json_walk walk;
    soc_buf_put_byte(out, '[');
    put_text_element(out, first);
    if (list.data != NULL) {
        soc_json_walk(&walk, list);
        while (soc_json_next(&walk))
            put_element(out, walk.value);
    }
    put_text_element(out, last);
    soc_buf_put_byte(out, ']');
}
