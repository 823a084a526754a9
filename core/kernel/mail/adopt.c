#include "kernel/mail/adopt.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/refusal.h"

#define NAME_BYTES_MAX 32 /* of a member that is looked at */

/* Lends the text of a JSON string. One with escapes is written to `room`, cut if it is too
 * long: then it is too long for an id as well. Absent for another value. */
static struct soc_slice text_of(struct soc_slice json, char *room, size_t room_bytes)
{
    struct soc_slice plain = soc_json_plain_string(json);
    struct soc_buf text = {0};
    if (plain.data != NULL || !soc_json_string(json, &text))
        return plain;
    size_t length = text.length < room_bytes ? text.length : room_bytes;
    memcpy(room, text.data, length);
    soc_buf_fini(&text);
    return soc_slice(room, length);
}

/* A type must be a single name. */
static void adopt_type(struct soc_adopted *adopted, struct soc_slice value)
{
    if (soc_json_kind(value) == SOC_JSON_NULL)
        return;
    bool is_first = adopted->type.data == NULL;
    char room[sizeof(adopted->type_room)];
    struct soc_slice text = text_of(value, room, sizeof(room));
    adopted->has_bad_type |=
        text.data == NULL || (!is_first && !soc_slice_equal(adopted->type, text));
    if (text.data == room)
        text.data = memcpy(adopted->type_room, room, text.length);
    adopted->type = text;
}

/* The priority of the payload itself counts before that of a Task Brief in it. */
static void adopt_priority(struct soc_adopted *adopted, struct soc_slice value)
{
    char room[SOC_KEY_BYTES_MAX];
    enum soc_priority priority;
    bool is_brief = soc_json_kind(value) == SOC_JSON_OBJECT;
    struct soc_slice text =
        text_of(is_brief ? soc_json_member(value, "priority") : value, room, sizeof(room));
    if (text.data == NULL || !soc_priority_parse(text, &priority) ||
        (is_brief && adopted->has_priority && !adopted->is_brief_priority))
        return;
    adopted->priority = priority;
    adopted->has_priority = true;
    adopted->is_brief_priority = is_brief;
}

/* Other members belong to the payload: invalid values are ignored. */
static void adopt_member(struct soc_adopted *adopted, int field, struct soc_slice value)
{
    char room[SOC_KEY_BYTES_MAX];
    struct soc_slice text = {0};
    if (field == SOC_MESSAGE_FIELD_FROM)
        adopted->introduction = value;
    else if (field == SOC_MESSAGE_FIELD_TYPE)
        adopt_type(adopted, value);
    else if (field == SOC_MESSAGE_FIELD_PRIORITY)
        adopt_priority(adopted, value);
    else if (field == SOC_MESSAGE_FIELD_TASK_ID)
        text = text_of(value, adopted->task_room, sizeof(adopted->task_room));
    else
        text = text_of(value, room, sizeof(room));
    if (text.data == NULL)
        return;
    if (field == SOC_MESSAGE_FIELD_TASK_ID && soc_id_is_valid(text))
        adopted->task_id = text;
    else if (field == SOC_MESSAGE_FIELD_DEADLINE)
        soc_time_parse(text, &adopted->deadline_ms);
}

void soc_adopt(struct soc_adopted *adopted, struct soc_slice payload)
{
    struct soc_json_walk walk;
    char room[NAME_BYTES_MAX];
    assert(payload.length > 0);
    adopted->type = adopted->task_id = adopted->introduction = (struct soc_slice){0};
    adopted->has_bad_type = adopted->has_priority = adopted->is_brief_priority = false;
    adopted->deadline_ms = 0;
    if (payload.data[0] != '{')
        return;
    soc_json_walk(&walk, payload);
    while (soc_json_next(&walk)) {
        struct soc_slice quoted = soc_slice(walk.name.data - 1, walk.name.length + 2);
        int field = soc_message_fields_find_in_payload(text_of(quoted, room, sizeof(room)));
        if (field >= 0)
            adopt_member(adopted, field, walk.value);
    }
}

int soc_adopt_type(struct soc_slice given, const struct soc_adopted *adopted,
                   struct soc_slice *type, struct soc_buf *error)
{
    *type = given.data != NULL ? given : adopted->type;
    if (adopted->has_bad_type)
        return soc_refuse_format(
            error, "the payload's message_type must be a single name, given once", *type);
    if (type->data == NULL)
        *type = SOC_SLICE("general");
    if (adopted->type.data != NULL && !soc_slice_equal(*type, adopted->type))
        return soc_refuse_format(error, "type and the payload's message_type differ; give only one",
                                 adopted->type);
    if (type->length > SOC_TYPE_BYTES_MAX || !soc_id_is_valid(*type))
        return soc_refuse_format(
            error, "a type has 1 to 64 characters of A-Z a-z 0-9 _ . -; omit it for general",
            *type);
    return SOC_OK;
}
