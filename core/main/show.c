#include "main/show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "env/log.h"

/* Bytes of an item's title that are shown; `society inbox` shows all. */
#define TITLE_BYTES_MAX 300

/* Appends an agent's text. Further lines are indented, or joined if `is_line`. */
static void put_written(struct soc_buf *out, struct soc_slice text, bool is_line)
{
    soc_log_put_harmless(out, text, is_line ? " " : "\n  ", ' ');
}

/* Appends a line as it was printed, with what could control a terminal shown in hex. */
static void put_visible(struct soc_buf *out, struct soc_slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        size_t harm = soc_log_harm_at(text, i);
        if (harm == 0 || text.data[i] == '\n' || text.data[i] == '\t') {
            soc_buf_put_byte(out, text.data[i]);
            continue;
        }
        for (size_t end = i + harm; i < end; i++)
            soc_buf_printf(out, "\\x%02x", (unsigned char)text.data[i]);
        i--;
    }
}

/* Appends a JSON string likewise. Returns false if it is not a string. */
static bool put_string(struct soc_buf *out, struct soc_slice json, bool is_line)
{
    struct soc_buf text = {0};
    bool is_string = soc_json_string(json, &text);
    struct soc_slice shown = soc_buf_slice(&text);
    bool is_long = is_line && shown.length > TITLE_BYTES_MAX;
    while (is_long && (shown.length > TITLE_BYTES_MAX ||
                       ((unsigned char)shown.data[shown.length] & 0xC0) == 0x80))
        shown.length--; /* whole characters */
    put_written(out, shown, is_line);
    if (is_long)
        soc_buf_put_text(out, "…");
    soc_buf_fini(&text);
    return is_string;
}

/* Appends a message to the person: its text if it has one, else its payload. */
static void put_mail(struct soc_buf *out, struct soc_slice envelope)
{
    struct soc_slice payload = soc_json_member(envelope, "payload");
    struct soc_slice text = soc_json_member(payload, "text");
    soc_buf_put_text(out, "[mail] ");
    soc_json_string(soc_json_member(envelope, "from"), out);
    soc_buf_put_text(out, ": ");
    if (text.data == NULL || !put_string(out, text, false))
        put_written(out, payload, false);
}

/* Appends an inbox item. */
static void put_item(struct soc_buf *out, struct soc_slice item)
{
    soc_buf_put_text(out, "[inbox] ");
    soc_json_string(soc_json_member(item, "agent"), out);
    soc_buf_put_text(out, " (");
    soc_json_string(soc_json_member(item, "priority"), out);
    soc_buf_put_text(out, "): ");
    if (soc_json_member(item, "withdrawn").data != NULL)
        soc_buf_put_text(out, "withdrawn: ");
    put_string(out, soc_json_member(item, "title"), true);
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
    else if (strcmp(stream, "stdout") == 0 && isatty(STDOUT_FILENO))
        put_visible(&line, text);
    else
        soc_buf_put_slice(&line, text);
    soc_buf_put_byte(&line, '\n');
    bool is_written = fwrite(line.data, 1, line.length, stdout) == line.length;
    soc_buf_fini(&line);
    return fflush(stdout) == 0 && is_written;
}
