#include "main/show.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

/* A message for the person, from its envelope: its text, else its payload. */
static void put_mail(struct soc_buf *out, struct soc_slice envelope)
{
    struct soc_slice payload = soc_json_member(envelope, "payload");
    struct soc_slice text = soc_json_member(payload, "text");
    soc_buf_put_text(out, "[mail] ");
    soc_json_string(soc_json_member(envelope, "from"), out);
    soc_buf_put_text(out, ": ");
    if (text.data == NULL || !soc_json_string(text, out))
        soc_buf_put_slice(out, payload);
}

/* An item for the person to decide about. */
static void put_item(struct soc_buf *out, struct soc_slice item)
{
    soc_buf_put_text(out, "[inbox] ");
    soc_json_string(soc_json_member(item, "agent"), out);
    soc_buf_put_text(out, " (");
    soc_json_string(soc_json_member(item, "priority"), out);
    soc_buf_put_text(out, "): ");
    soc_json_string(soc_json_member(item, "title"), out);
    soc_buf_put_text(out, "  ");
    soc_json_string(soc_json_member(item, "id"), out);
}

static void put_json(struct soc_buf *out, const char *stream, const char *agent,
                     struct soc_slice text)
{
    soc_buf_put_byte(out, '{');
    if (strcmp(stream, "stdout") != 0) {
        soc_json_put_name(out, stream);
        soc_buf_put_slice(out, text);
    } else {
        soc_json_put_text_member(out, "print", text);
        soc_json_put_text_member(out, "agent", soc_slice_text(agent));
    }
    soc_buf_put_byte(out, '}');
}

bool soc_show(const char *stream, const char *agent, struct soc_slice text, bool is_json)
{
    struct soc_buf line = {0};
    if (is_json)
        put_json(&line, stream, agent, text);
    else if (strcmp(stream, "mail") == 0)
        put_mail(&line, text);
    else if (strcmp(stream, "inbox") == 0)
        put_item(&line, text);
    else
        soc_buf_put_slice(&line, text);
    soc_buf_put_byte(&line, '\n');
    bool is_written = fwrite(line.data, 1, line.length, stdout) == line.length;
    soc_buf_fini(&line);
    return fflush(stdout) == 0 && is_written;
}
