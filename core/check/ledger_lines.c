#include "check/ledger_lines.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/fields.h"

static void free_line(struct soc_ledger_line *line)
{
    if (line == NULL)
        return;
    soc_buf_fini(&line->key);
    soc_buf_fini(&line->value);
    free(line);
}

void soc_ledger_lines_fini(struct soc_map *lines)
{
    size_t cursor = 0;
    struct soc_ledger_line *line;
    while ((line = soc_map_each(lines, &cursor)) != NULL)
        free_line(line);
    soc_map_fini(lines);
}

static void put_key(struct soc_buf *out, const struct soc_ledger_topic *topic)
{
    unsigned char kind = (unsigned char)topic->kind;
    soc_buf_put(out, &kind, sizeof(kind));
    soc_buf_put(out, &topic->number, sizeof(topic->number));
    soc_buf_put(out, &topic->who.length, sizeof(topic->who.length));
    soc_buf_put_slice(out, topic->who);
    soc_buf_put_slice(out, topic->name);
}

struct soc_ledger_line *soc_ledger_lines_find(const struct soc_map *lines,
                                              struct soc_ledger_topic topic)
{
    struct soc_buf key = {0};
    put_key(&key, &topic);
    struct soc_ledger_line *line = soc_map_find(lines, soc_buf_slice(&key));
    soc_buf_fini(&key);
    return line;
}

struct soc_ledger_line *soc_ledger_lines_find_of(const struct soc_map *lines,
                                                 enum soc_ledger_kind kind, struct soc_slice who)
{
    return soc_ledger_lines_find(lines, (struct soc_ledger_topic){.kind = kind, .who = who});
}

struct soc_ledger_line *soc_ledger_lines_find_number(const struct soc_map *lines,
                                                     enum soc_ledger_kind kind, uint64_t number)
{
    return soc_ledger_lines_find(lines, (struct soc_ledger_topic){.kind = kind, .number = number});
}

struct soc_ledger_line *soc_ledger_lines_need(struct soc_map *lines, struct soc_ledger_topic topic)
{
    struct soc_ledger_line *line = soc_ledger_lines_find(lines, topic);
    if (line != NULL)
        return line;
    line = soc_alloc_zero(sizeof(*line));
    line->kind = topic.kind;
    line->number = topic.number;
    put_key(&line->key, &topic);
    struct soc_slice key = soc_buf_slice(&line->key);
    line->name = soc_slice(key.data + key.length - topic.name.length, topic.name.length);
    line->who = soc_slice(line->name.data - topic.who.length, topic.who.length);
    soc_map_put(lines, key, line);
    return line;
}

void soc_ledger_lines_drop(struct soc_map *lines, struct soc_ledger_topic topic)
{
    struct soc_ledger_line *line = soc_ledger_lines_find(lines, topic);
    if (line == NULL)
        return;
    soc_map_take(lines, soc_buf_slice(&line->key));
    free_line(line);
}

void soc_ledger_lines_drop_of(struct soc_map *lines, enum soc_ledger_kind kind,
                              struct soc_slice who)
{
    soc_ledger_lines_drop(lines, (struct soc_ledger_topic){.kind = kind, .who = who});
}

void soc_ledger_lines_set(struct soc_ledger_line *line, const struct soc_record *record)
{
    struct soc_record plain = *record;
    const struct soc_fields *fields = soc_fields_of(plain.type);
    char *at = soc_fields_at(&plain);
    for (size_t i = 0; i < fields->count; at += soc_fields_size(&fields->items[i]), i++)
        if (fields->items[i].is_text && ((struct soc_slice *)(void *)at)->length == 0)
            *(struct soc_slice *)(void *)at = (struct soc_slice){0};
    line->value.length = 0;
    soc_record_put(&line->value, &plain);
}

struct soc_ledger_line *soc_ledger_lines_put(struct soc_map *lines, struct soc_ledger_topic topic,
                                             const struct soc_record *record)
{
    struct soc_ledger_line *line = soc_ledger_lines_need(lines, topic);
    soc_ledger_lines_set(line, record);
    return line;
}

struct soc_record soc_ledger_lines_value(const struct soc_ledger_line *line)
{
    struct soc_slice rest = soc_buf_slice(&line->value);
    struct soc_record record = {0};
    int rc = soc_record_next(&rest, &record);
    assert(rc > 0);
    (void)rc;
    return record;
}

void soc_ledger_lines_put_name(struct soc_buf *out, const struct soc_ledger_line *line)
{
    static const char *const names[] = {
#define K(tag, name) [SOC_LEDGER_##tag] = name,
        SOC_LEDGER_KINDS(K)
#undef K
    };
    soc_buf_put_text(out, names[line->kind]);
    if (line->number != 0)
        soc_buf_printf(out, " %llu", (unsigned long long)line->number);
    soc_buf_printf(out, "%s%.*s", line->who.length > 0 ? " " : "", (int)line->who.length,
                   line->who.data);
    soc_buf_printf(out, "%s%.*s", line->name.length > 0 ? " " : "", (int)line->name.length,
                   line->name.data);
}
