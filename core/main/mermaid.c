#include "main/mermaid.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "env/log.h"

#define TEXT_BYTES_MAX 120 /* of a payload that is shown */

/* An agent that takes part: a number stands for its id, which mermaid could take for
 * one of its words. */
struct person {
    char *id;
    size_t number;
};

static size_t number_of(struct soc_map *people, struct soc_slice id)
{
    struct person *person = soc_map_find(people, id);
    if (person == NULL) {
        person = soc_alloc(sizeof(*person));
        person->id = soc_copy_text(id.data, id.length);
        person->number = people->count + 1;
        soc_map_put(people, soc_slice_text(person->id), person);
    }
    return person->number;
}

/* Characters that mean something to mermaid become its entities; what is not shown on
 * one line is left out. */
static void put_plain(struct soc_buf *out, struct soc_slice text)
{
    size_t length = text.length;
    if (length > TEXT_BYTES_MAX) {
        length = TEXT_BYTES_MAX;
        while (length > 0 && ((unsigned char)text.data[length] & 0xc0) == 0x80)
            length--;
    }
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text.data[i];
        size_t harm = soc_log_harm_at(text, i);
        if (c == '\n')
            soc_buf_put_text(out, "<br/>");
        else if (harm > 0)
            soc_buf_put_byte(out, ' ');
        else if (c == '#' || c == ';' || c == '%' || c == '<' || c == '>' || c == '&')
            soc_buf_printf(out, "#%d;", c);
        else
            soc_buf_put_byte(out, (char)c);
        i += harm > 0 ? harm : 1;
    }
    if (length < text.length)
        soc_buf_put_text(out, "…");
}

static void put_payload(struct soc_buf *out, struct soc_slice payload)
{
    struct soc_buf text = {0};
    struct soc_slice inside = {0};
    if (payload.data != NULL && soc_json_kind(payload) == SOC_JSON_OBJECT)
        inside = soc_json_member(payload, "text");
    if (inside.data == NULL || !soc_json_string(inside, &text))
        soc_buf_put_slice(&text, payload);
    put_plain(out, soc_buf_slice(&text));
    soc_buf_fini(&text);
}

static bool is(struct soc_slice value, const char *text)
{
    return soc_slice_equal(soc_json_plain_string(value), soc_slice_text(text));
}

static void put_message(struct soc_buf *out, struct soc_map *people, struct soc_slice message)
{
    struct soc_slice from = soc_json_plain_string(soc_json_member(message, "from"));
    struct soc_slice to = soc_json_plain_string(soc_json_member(message, "to"));
    struct soc_slice status = soc_json_member(message, "status");
    const char *arrow = "->>";
    if (from.data == NULL || to.data == NULL)
        return;
    if (is(status, "dead") || is(status, "expired"))
        arrow = "-x";
    else if (soc_json_member(message, "reply_to").data != NULL)
        arrow = "-->>";
    size_t sender = number_of(people, from);
    size_t receiver = number_of(people, to);
    soc_buf_printf(out, "  p%zu%sp%zu: ", sender, arrow, receiver);
    put_plain(out, soc_json_plain_string(soc_json_member(message, "type")));
    soc_buf_put_byte(out, ' ');
    put_payload(out, soc_json_member(message, "payload"));
    soc_buf_put_byte(out, '\n');
}

void soc_mermaid_put(struct soc_slice messages, struct soc_buf *out)
{
    struct soc_map people = {0};
    struct soc_buf lines = {0};
    struct soc_json_walk walk;
    struct person *person;
    size_t cursor = 0;
    soc_json_walk(&walk, messages);
    while (soc_json_next(&walk))
        put_message(&lines, &people, walk.value);
    soc_buf_put_text(out, "sequenceDiagram\n");
    while ((person = soc_map_each(&people, &cursor)) != NULL) {
        soc_buf_printf(out, "  participant p%zu as %s\n", person->number, person->id);
        free(person->id);
        free(person);
    }
    soc_buf_put_slice(out, soc_buf_slice(&lines));
    soc_map_fini(&people);
    soc_buf_fini(&lines);
}
