#include "kernel/mail/send_reader.h"

#include <assert.h>

#include "base/json.h"
#include "kernel/refusal.h"

#define WRAP_BYTES 16 /* at least what wrapping a text as a payload adds */

/* An object being read. */
struct reading {
    struct soc_send_reader *reader;
    unsigned context;
    uint32_t found; /* 1 << field */
    uint32_t twice; /* found under more than one name */
    struct soc_slice values[SOC_MESSAGE_FIELD_COUNT];
};

/* Lends the bytes of a string. One with escapes is unescaped into the reader's texts. */
static struct soc_slice text_of(struct soc_send_reader *reader, struct soc_slice json)
{
    struct soc_slice text = soc_json_plain_string(json);
    if (text.data != NULL)
        return text;
    size_t start = reader->texts.length;
    soc_json_string(json, &reader->texts);
    return soc_slice(reader->texts.data + start, reader->texts.length - start);
}

static struct soc_value value_of(struct soc_send_reader *reader, struct soc_slice json)
{
    struct soc_value value = {.kind = SOC_VALUE_OTHER};
    switch (soc_json_kind(json)) {
    case SOC_JSON_NULL:
        value.kind = SOC_VALUE_NULL;
        break;
    case SOC_JSON_FALSE:
    case SOC_JSON_TRUE:
        value.kind = SOC_VALUE_FLAG;
        value.flag = soc_json_kind(json) == SOC_JSON_TRUE;
        break;
    case SOC_JSON_NUMBER:
        value.kind = SOC_VALUE_NUMBER;
        soc_json_number(json, &value.number);
        break;
    case SOC_JSON_STRING:
        value.kind = SOC_VALUE_TEXT;
        value.text = text_of(reader, json);
        break;
    default:
        break;
    }
    return value;
}

static void find_values(struct reading *reading, struct soc_slice object)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, object);
    while (soc_json_next(&walk)) {
        struct soc_slice quoted = soc_slice(walk.name.data - 1, walk.name.length + 2);
        int field = soc_message_fields_find(text_of(reading->reader, quoted), reading->context);
        if (field < 0 || soc_json_kind(walk.value) == SOC_JSON_NULL)
            continue;
        reading->twice |= reading->found & 1u << field;
        reading->found |= 1u << field;
        reading->values[field] = walk.value;
    }
}

static int read_list(struct reading *reading, struct soc_slice list, struct soc_send_input *input,
                     struct soc_send_input_fault *fault)
{
    struct soc_json_walk walk;
    struct soc_buf *receivers = &reading->reader->receivers;
    size_t count = 0;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk))
        count++;
    int rc = soc_send_input_check_list(reading->context, count, fault);
    soc_json_walk(&walk, list);
    while (rc == SOC_OK && soc_json_next(&walk)) {
        struct soc_slice receiver;
        struct soc_value value = value_of(reading->reader, walk.value);
        rc = soc_send_input_set_receiver(&receiver, &value, fault);
        soc_buf_put(receivers, &receiver, sizeof(receiver));
    }
    input->receivers = (struct soc_slice *)(void *)receivers->data;
    input->receivers_count = count;
    input->fields |= 1u << SOC_MESSAGE_FIELD_TO;
    return rc;
}

/* A string becomes {"text": …}; any other value stays as it is. */
static struct soc_slice payload_of(struct soc_send_reader *reader, struct soc_slice json)
{
    struct soc_buf *texts = &reader->texts;
    if (soc_json_kind(json) != SOC_JSON_STRING)
        return json;
    size_t start = texts->length;
    soc_buf_put_text(texts, "{\"text\":");
    soc_buf_put_slice(texts, json);
    soc_buf_put_byte(texts, '}');
    return soc_slice(texts->data + start, texts->length - start);
}

static int read_field(struct reading *reading, enum soc_message_field field,
                      struct soc_send_input *input, struct soc_send_input_fault *fault)
{
    struct soc_slice json = reading->values[field];
    if (reading->twice >> field & 1)
        return soc_send_input_refuse_twice(field, reading->context, fault);
    if (field == SOC_MESSAGE_FIELD_PAYLOAD) {
        input->send.payload = payload_of(reading->reader, json);
        input->fields |= 1u << field;
        return SOC_OK;
    }
    if (field == SOC_MESSAGE_FIELD_TO && soc_json_kind(json) == SOC_JSON_ARRAY)
        return read_list(reading, json, input, fault);
    struct soc_value value = value_of(reading->reader, json);
    return soc_send_input_set(input, field, &value, fault);
}

int soc_send_reader_read(struct soc_send_reader *reader, struct soc_slice object, unsigned context,
                         struct soc_send_input *input, struct soc_send_input_fault *fault)
{
    struct reading reading = {.reader = reader, .context = context};
    int rc = SOC_OK;
    assert(reader->texts.length == 0 && reader->receivers.length == 0);
    const char *room = soc_buf_reserve(&reader->texts, object.length + WRAP_BYTES);
    find_values(&reading, object);
    for (uint32_t left = reading.found; rc == SOC_OK && left != 0; left &= left - 1)
        rc = read_field(&reading, (enum soc_message_field)__builtin_ctz(left), input, fault);
    if (rc == SOC_OK)
        rc = soc_send_input_check(input, context, fault);
    assert(reader->texts.data == room);
    if (rc != SOC_OK || input->send.payload.data != NULL)
        return rc;
    fault->field = NULL;
    return soc_fail(&fault->detail, SOC_ENOPAYLOAD, "%s", soc_error_text(SOC_ENOPAYLOAD));
}

int soc_send_reader_refuse(struct soc_buf *out, int code, const struct soc_send_input_fault *fault)
{
    return soc_refuse(out, code, fault->detail.text, fault->field == NULL ? NULL : "member",
                      soc_slice_text(fault->field));
}

void soc_send_reader_fini(struct soc_send_reader *reader)
{
    soc_buf_fini(&reader->texts);
    soc_buf_fini(&reader->receivers);
}
