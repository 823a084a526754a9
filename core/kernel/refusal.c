#include "kernel/refusal.h"

#include <assert.h>

#include "base/limits.h"
#include "env/log_detail.h"
#include "model/agent.h"

void soc_refuse_named(struct soc_buf *out, const char *error, const char *message)
{
    out->length = 0;
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "error", soc_slice_text(error));
    soc_json_put_text_member(out, "message", soc_slice_text(message));
    soc_buf_put_byte(out, '}');
}

void soc_refusal_begin(struct soc_buf *out, int code, const char *message)
{
    soc_refuse_named(out, soc_error_name(code), message != NULL ? message : soc_error_text(code));
    out->length--;
}

/* Returns true if the host writes that member itself; `index` in lists of receivers. */
static bool is_own(struct soc_slice name)
{
    static const char *const own[] = {"error", "index", "message", "to"};
    for (int i = 0; i < 4; i++)
        if (soc_json_name_is(name, soc_slice_text(own[i])))
            return true;
    return false;
}

void soc_refusal_begin_said(struct soc_buf *out, int code, const char *message, struct soc_slice to,
                            struct soc_slice said)
{
    struct soc_buf text = {0};
    struct soc_json_walk walk;
    if (soc_json_text(soc_json_member(said, "message"), SOC_BRIEF_BYTES_MAX, &text).data != NULL)
        message = soc_buf_text(&text);
    soc_refusal_begin(out, code, message);
    soc_json_put_text_member(out, "to", to);
    soc_json_walk(&walk, said);
    while (soc_json_next(&walk)) {
        if (is_own(walk.name))
            continue;
        soc_buf_put_text(out, ",\"");
        soc_buf_put_slice(out, walk.name);
        soc_buf_put_text(out, "\":");
        soc_buf_put_slice(out, walk.value);
    }
    soc_buf_fini(&text);
}

void soc_refusal_put_shown(struct soc_buf *out, const char *name, struct soc_slice json)
{
    struct soc_buf text = {0};
    if (json.data == NULL)
        return;
    if (json.length <= SOC_LOG_PAYLOAD_BYTES_MAX) {
        soc_json_put_name(out, name);
        soc_buf_put_slice(out, json);
        return;
    }
    soc_log_put_text(&text, json, SOC_LOG_PAYLOAD_BYTES_MAX);
    soc_json_put_text_member(out, name, soc_buf_slice(&text));
    soc_buf_fini(&text);
}

const char *soc_refusal_of_silence(const struct soc_agent *to)
{
    return to->is_remote && to->is_unresponsive
               ? "no answer came in time; the host of the receiver cannot be reached"
               : NULL;
}

int soc_refusal_end(struct soc_buf *out, int code)
{
    assert(code < 0 && out->length > 0 && out->data[0] == '{');
    soc_buf_put_byte(out, '}');
    return code;
}

int soc_refuse(struct soc_buf *out, int code, const char *message, const char *name,
               struct soc_slice value)
{
    soc_refusal_begin(out, code, message);
    if (value.length > SOC_KEY_BYTES_MAX)
        value.length = SOC_KEY_BYTES_MAX; /* enough to recognize the mistake */
    if (name != NULL)
        soc_json_put_text_member(out, name, value);
    return soc_refusal_end(out, code);
}

static void put_list_member(struct soc_buf *out, const char *name, struct soc_slice inside)
{
    soc_json_put_name(out, name);
    soc_buf_put_byte(out, '[');
    soc_buf_put_slice(out, inside);
    soc_buf_put_byte(out, ']');
}

int soc_refuse_message(struct soc_buf *out, const char *message, struct soc_slice type,
                       struct soc_slice missing, struct soc_slice details)
{
    soc_refusal_begin(out, SOC_EBADMESSAGE, message);
    if (type.length > SOC_TYPE_BYTES_MAX)
        type.length = SOC_TYPE_BYTES_MAX;
    soc_json_put_text_member(out, "message_type", type);
    put_list_member(out, "missing_fields", missing);
    put_list_member(out, "details", details);
    return soc_refusal_end(out, SOC_EBADMESSAGE);
}

int soc_refuse_format(struct soc_buf *out, const char *message, struct soc_slice type)
{
    struct soc_buf details = {0};
    soc_json_put_string(&details, soc_slice_text(message));
    soc_refuse_message(out, message, type.data == NULL ? SOC_SLICE("general") : type, SOC_SLICE(""),
                       soc_buf_slice(&details));
    soc_buf_fini(&details);
    return SOC_EBADMESSAGE;
}
