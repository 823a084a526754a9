#include "main/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "env/log.h"

#define COLUMNS_MAX 16

/* Reads one UTF-8 sequence of text that is valid; returns its bytes. */
static size_t read_character(const char *text, size_t length, uint32_t *character)
{
    unsigned char first = (unsigned char)text[0];
    size_t count = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (count > length)
        count = 1;
    uint32_t value = count == 1 ? first : first & (0xFFu >> (count + 1));
    for (size_t i = 1; i < count; i++)
        value = value << 6 | ((unsigned char)text[i] & 0x3F);
    *character = value;
    return count;
}

/* Columns a terminal gives the character: CJK and the like take two. */
static int width_of(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF}, {0xAC00, 0xD7A3},
                {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},  {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6},
                {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
    if (character >= 0x300 && character <= 0x36F)
        return 0;
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (character >= wide[i].first && character <= wide[i].last)
            return 2;
    return 1;
}

static int width_of_text(struct soc_slice text)
{
    int width = 0;
    for (size_t at = 0; at < text.length;) {
        uint32_t character;
        at += read_character(text.data + at, text.length - at, &character);
        width += width_of(character);
    }
    return width;
}

/* Appends text on one line, without control characters, cut to `width_max`. */
static void put_cell(struct soc_buf *out, struct soc_slice text, int width_max)
{
    bool is_cut = width_of_text(text) > width_max;
    int room = is_cut ? width_max - 1 : width_max;
    for (size_t at = 0; at < text.length;) {
        uint32_t character;
        size_t bytes = read_character(text.data + at, text.length - at, &character);
        room -= width_of(character);
        if (room < 0)
            break;
        if (soc_log_harm_at(text, at) > 0)
            soc_buf_put_byte(out, ' ');
        else
            soc_buf_put(out, text.data + at, bytes);
        at += bytes;
    }
    if (is_cut)
        soc_buf_put_text(out, "…");
}

/* A list of texts, without the signs of JSON. */
static void put_list(struct soc_buf *out, struct soc_slice list)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    for (bool is_first = true; soc_json_next(&walk); is_first = false) {
        if (!is_first)
            soc_buf_put_text(out, ", ");
        if (!soc_json_string(walk.value, out))
            soc_buf_put_slice(out, walk.value);
    }
}

static void put_value(struct soc_buf *out, struct soc_slice value, int width_max)
{
    if (value.data == NULL || soc_json_kind(value) == SOC_JSON_NULL)
        return;
    if (soc_json_kind(value) == SOC_JSON_OBJECT) {
        struct soc_slice name = soc_json_member(value, "name");
        if (name.data != NULL)
            value = name;
    }
    struct soc_buf text = {0};
    if (soc_json_kind(value) == SOC_JSON_ARRAY)
        put_list(&text, value);
    else if (!soc_json_string(value, &text))
        soc_buf_put_slice(&text, value);
    put_cell(out, soc_buf_slice(&text), width_max);
    soc_buf_fini(&text);
}

/* A number as an amount of money, in one form however it was written. */
static void put_dollars(struct soc_buf *out, struct soc_slice value)
{
    struct soc_buf text = {0};
    if (value.data == NULL || soc_json_kind(value) != SOC_JSON_NUMBER)
        return;
    soc_buf_put_slice(&text, value);
    soc_buf_printf(out, "$%.6f", strtod(soc_buf_text(&text), NULL));
    soc_buf_fini(&text);
}

/* Cells of all rows, each ended by a NUL. */
static void put_cells(struct soc_buf *cells, struct soc_slice rows,
                      const struct soc_column *columns, int *widths)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk)) {
        for (int i = 0; columns[i].title != NULL; i++) {
            size_t start = cells->length;
            struct soc_slice value = soc_json_member(walk.value, columns[i].member);
            if (strcmp(columns[i].title, "DOLLARS") == 0)
                put_dollars(cells, value);
            else
                put_value(cells, value, columns[i].width_max);
            int width = width_of_text(soc_slice(cells->data + start, cells->length - start));
            if (width > widths[i])
                widths[i] = width;
            soc_buf_put_byte(cells, '\0');
        }
    }
}

static void print_cell(const char *text, int width, bool is_last)
{
    fputs(text, stdout);
    for (int at = width_of_text(soc_slice_text(text)); !is_last && at < width + 2; at++)
        putchar(' ');
}

void soc_output_table(struct soc_slice rows, const struct soc_column *columns)
{
    int widths[COLUMNS_MAX] = {0};
    struct soc_buf cells = {0};
    put_cells(&cells, rows, columns, widths);
    int last = -1;
    for (int i = 0; columns[i].title != NULL && i < COLUMNS_MAX; i++) {
        int width = width_of_text(soc_slice_text(columns[i].title));
        if (widths[i] == 0)
            continue;
        last = i;
        if (widths[i] < width)
            widths[i] = width;
    }
    for (int i = 0; i <= last; i++)
        if (widths[i] > 0)
            print_cell(columns[i].title, widths[i], i == last);
    if (last >= 0)
        putchar('\n');
    for (size_t at = 0; at < cells.length;) {
        for (int i = 0; columns[i].title != NULL; i++) {
            if (widths[i] > 0)
                print_cell(cells.data + at, widths[i], i == last);
            at += strlen(cells.data + at) + 1;
        }
        putchar('\n');
    }
    soc_buf_fini(&cells);
}

void soc_output_members(struct soc_slice rows)
{
    struct soc_json_walk list;
    struct soc_json_walk members;
    soc_json_walk(&list, rows);
    while (soc_json_next(&list)) {
        soc_json_walk(&members, list.value);
        while (soc_json_next(&members)) {
            struct soc_buf text = {0};
            put_value(&text, members.value, 4096);
            printf("%-12.*s %s\n", (int)members.name.length, members.name.data,
                   soc_buf_text(&text));
            soc_buf_fini(&text);
        }
    }
}

void soc_output_lines(struct soc_slice rows)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk)) {
        fwrite(walk.value.data, 1, walk.value.length, stdout);
        putchar('\n');
    }
}

void soc_output_put_word(struct soc_buf *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,+@%";
    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        soc_buf_put_text(out, text);
        return;
    }
    soc_buf_put_byte(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            soc_buf_put_text(out, "'\\''");
        else
            soc_buf_put_byte(out, *text);
    }
    soc_buf_put_byte(out, '\'');
}

bool soc_output_has_colour(void)
{
    return isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
}
