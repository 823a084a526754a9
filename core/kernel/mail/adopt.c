#include "kernel/mail/adopt.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/refusal.h"

/* A type must be one name. */
static void adopt_type(struct soc_adopted *adopted, struct soc_slice value)
{
    struct soc_slice text = soc_json_plain_string(value);
    if (soc_json_kind(value) == SOC_JSON_NULL)
        return;
    adopted->has_bad_type |=
        text.data == NULL || (adopted->type.data != NULL && !soc_slice_equal(adopted->type, text));
    adopted->type = text;
}

/* Other members are the payload's own business: what does not fit says nothing. */
static void adopt_member(struct soc_adopted *adopted, int field, struct soc_slice value)
{
    struct soc_slice text = soc_json_plain_string(value);
    if (field == SOC_MESSAGE_FIELD_TYPE)
        adopt_type(adopted, value);
    if (text.data == NULL)
        return;
    if (field == SOC_MESSAGE_FIELD_TASK_ID && soc_id_is_valid(text))
        adopted->task_id = text;
    else if (field == SOC_MESSAGE_FIELD_PRIORITY)
        adopted->has_priority = soc_priority_parse(text, &adopted->priority);
    else if (field == SOC_MESSAGE_FIELD_DEADLINE)
        soc_time_parse(text, &adopted->deadline_ms);
}

void soc_adopt(struct soc_adopted *adopted, struct soc_slice payload)
{
    struct soc_json_walk walk;
    *adopted = (struct soc_adopted){0};
    assert(payload.length > 0);
    if (payload.data[0] != '{')
        return;
    soc_json_walk(&walk, payload);
    while (soc_json_next(&walk)) {
        int field = soc_message_fields_find_in_payload(walk.name);
        if (field >= 0)
            adopt_member(adopted, field, walk.value);
    }
}

static int refuse_type(struct soc_buf *error, const char *why, struct soc_slice type)
{
    struct soc_buf details = {0};
    soc_json_put_string(&details, soc_slice_text(why));
    int rc = soc_refuse_message(error, why, type, SOC_SLICE(""), soc_buf_slice(&details));
    soc_buf_fini(&details);
    return rc;
}

int soc_adopt_type(struct soc_slice given, const struct soc_adopted *adopted,
                   struct soc_slice *type, struct soc_buf *error)
{
    *type = given.data != NULL ? given : adopted->type;
    if (adopted->has_bad_type)
        return refuse_type(error, "the payload's message_type must be one name; say it once",
                           *type);
    if (type->data == NULL)
        *type = SOC_SLICE("general");
    if (adopted->type.data != NULL && !soc_slice_equal(*type, adopted->type))
        return refuse_type(error, "type and the payload's message_type differ; say it once",
                           adopted->type);
    if (type->length > SOC_TYPE_BYTES_MAX || !soc_id_is_valid(*type))
        return refuse_type(
            error, "a type is 1 to 64 of A-Z a-z 0-9 _ . -; leave it out for general", *type);
    return SOC_OK;
}
