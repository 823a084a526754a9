/* Human, looks: open items as JSON, as a list or by pages. */
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "parts/human/human.h"
#include "parts/human/human_state.h"

#define KEY_BITS 40 /* of an item's key, below its priority: together they order the list */

static void put_json_member(struct soc_buf *out, const char *name, const char *json)
{
    if (json == NULL)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_text(out, json);
}

void soc_human_look_item(struct soc_host *host, const struct soc_item *item, struct soc_buf *out)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "agent", soc_agent_id(item->agent));
    put_json_member(out, "body", item->body);
    soc_json_put_text_member(out, "correlation_id", soc_slice_text(item->correlation_id));
    soc_json_put_name(out, "created_at");
    soc_time_put_json(out, soc_clock_date_of(&host->clock, item->time_ms));
    if (item->deadline_ms != 0) {
        soc_json_put_name(out, "deadline");
        soc_time_put_json(out, soc_clock_date_of(&host->clock, item->deadline_ms));
    }
    soc_human_put_id(out, "id", item->time_ms, item->key);
    put_json_member(out, "options", item->options);
    if (soc_item_is_overdue(item, soc_host_now(host))) {
        soc_json_put_name(out, "overdue");
        soc_buf_put_text(out, "true");
    }
    soc_json_put_text_member(out, "priority", soc_slice_text(soc_priority_name(item->priority)));
    soc_json_put_text_member(out, "task_id", soc_slice_text(item->task_id));
    soc_json_put_text_member(out, "title", soc_slice_text(item->title));
    soc_buf_put_byte(out, '}');
}

void soc_human_look_open(struct soc_host *host, const struct soc_item *item, struct soc_buf *out)
{
    soc_human_look_item(host, item, out);
    out->length--; /* one more member follows */
    soc_json_put_text_member(out, "state", SOC_SLICE("open"));
    soc_buf_put_byte(out, '}');
}

static bool fits_text(struct soc_slice wanted, struct soc_slice text)
{
    return wanted.data == NULL || (text.data != NULL && soc_slice_equal(wanted, text));
}

static bool fits(const struct soc_host *host, const struct soc_item *item,
                 const struct soc_query *query)
{
    int64_t date_ms = soc_clock_date_of(&host->clock, item->time_ms);
    return query == NULL ||
           (fits_text(query->agent, soc_agent_id(item->agent)) &&
            fits_text(query->task, soc_slice_text(item->task_id)) &&
            fits_text(query->correlation_id, soc_slice_text(item->correlation_id)) &&
            (query->since_ms == 0 || date_ms >= query->since_ms) &&
            (query->until_ms == 0 || date_ms < query->until_ms));
}

void soc_human_look(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    size_t count;
    size_t fitting = 0;
    struct soc_item **items = soc_inbox_sorted(&soc_human_state(host)->inbox, &count);
    for (size_t i = 0; i < count; i++)
        if (fits(host, items[i], query))
            items[fitting++] = items[i];
    size_t first = 0;
    if (query != NULL && query->limit > 0 && (uint64_t)query->limit < fitting)
        first = fitting - (size_t)query->limit;
    soc_buf_put_byte(out, '[');
    for (size_t i = first; i < fitting; i++) {
        if (i > first)
            soc_buf_put_byte(out, ',');
        soc_human_look_open(host, items[i], out);
    }
    soc_buf_put_byte(out, ']');
    free(items);
}

/* Where an item stands in the list, which never changes. */
static uint64_t place_of(const struct soc_item *item)
{
    return (uint64_t)item->priority << KEY_BITS | item->key;
}

void soc_human_page(struct soc_host *host, const struct soc_query *query, struct soc_page *page,
                    struct soc_buf *out)
{
    size_t count;
    size_t fitting = 0;
    bool is_back = !query->has_after;
    uint64_t after = is_back ? 0 : query->after;
    uint64_t before = is_back && query->before != 0 ? query->before : UINT64_MAX;
    struct soc_item **items = soc_inbox_sorted(&soc_human_state(host)->inbox, &count);
    for (size_t i = 0; i < count; i++)
        if (place_of(items[i]) > after && place_of(items[i]) < before &&
            fits(host, items[i], query))
            items[fitting++] = items[i];
    size_t rows = fitting < (size_t)query->limit ? fitting : (size_t)query->limit;
    size_t first = is_back ? fitting - rows : 0;
    size_t start = out->length;
    size_t i = first;
    soc_buf_put_byte(out, '[');
    for (; i < first + rows && out->length - start < SOC_PAGE_BYTES_MAX; i++) {
        if (i > first)
            soc_buf_put_byte(out, ',');
        soc_human_look_open(host, items[i], out);
    }
    soc_buf_put_byte(out, ']');
    page->next = i > first && i < fitting ? place_of(items[i - 1]) : 0;
    page->previous = first > 0 ? place_of(items[first]) : 0;
    free(items);
}
