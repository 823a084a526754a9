/* Human, looks: open items as JSON, as a list or by pages. */
#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "parts/human/human.h"
#include "parts/human/human_state.h"

#define KEY_BITS 47 /* of a key, 7 of them its host: below the priority, they order the list */

static_assert(SOC_HOSTS_MAX <= 1 << 7, "the numbers of hosts have 7 bits");

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

/* The items of a page, as a heap whose first one is the first to make way: the last of those
 * after a place, or the first of those before one. Sorting all items for each page would make
 * a walk through a large inbox cost their square. */
struct shelf {
    struct soc_item **items;
    size_t count;
    size_t room;
    uint64_t fitting; /* all that were offered */
    bool is_back;     /* those before a place */
};

static bool makes_way(const struct shelf *shelf, const struct soc_item *item,
                      const struct soc_item *other)
{
    return shelf->is_back ? place_of(item) < place_of(other) : place_of(item) > place_of(other);
}

static void swap(struct soc_item **a, struct soc_item **b)
{
    struct soc_item *item = *a;
    *a = *b;
    *b = item;
}

/* Lets the item at `at` sink to its place. */
static void sink(struct shelf *shelf, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < shelf->count; at = child) {
        if (child + 1 < shelf->count &&
            makes_way(shelf, shelf->items[child + 1], shelf->items[child]))
            child++;
        if (!makes_way(shelf, shelf->items[child], shelf->items[at]))
            break;
        swap(&shelf->items[at], &shelf->items[child]);
    }
}

static void offer(struct shelf *shelf, struct soc_item *item)
{
    shelf->fitting++;
    if (shelf->count == shelf->room) {
        if (!makes_way(shelf, shelf->items[0], item))
            return;
        shelf->items[0] = item;
        sink(shelf, 0);
        return;
    }
    size_t at = shelf->count++;
    shelf->items[at] = item;
    for (; at > 0 && makes_way(shelf, shelf->items[at], shelf->items[(at - 1) / 2]);
         at = (at - 1) / 2)
        swap(&shelf->items[at], &shelf->items[(at - 1) / 2]);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = place_of(*(struct soc_item *const *)a);
    uint64_t y = place_of(*(struct soc_item *const *)b);
    return x < y ? -1 : x > y;
}

/* Collects the items of a page, in order. */
static void collect(struct soc_host *host, const struct soc_query *query, struct shelf *shelf)
{
    uint64_t after = shelf->is_back ? 0 : query->after;
    uint64_t before = shelf->is_back && query->before != 0 ? query->before : UINT64_MAX;
    struct soc_item *item;
    size_t cursor = 0;
    while ((item = soc_map_each(&soc_human_state(host)->inbox.open, &cursor)) != NULL)
        if (place_of(item) > after && place_of(item) < before && fits(host, item, query))
            offer(shelf, item);
    qsort(shelf->items, shelf->count, sizeof(*shelf->items), compare);
}

static bool is_of_feature(const struct soc_item *item, struct soc_slice feature)
{
    return (item->task_id != NULL && soc_slice_equal(feature, soc_slice_text(item->task_id))) ||
           (item->correlation_id != NULL &&
            soc_slice_equal(feature, soc_slice_text(item->correlation_id)));
}

size_t soc_human_of_feature(struct soc_host *host, struct soc_slice feature,
                            struct soc_item **items, size_t room)
{
    struct shelf shelf = {.items = items, .room = room};
    struct soc_item *item;
    size_t cursor = 0;
    assert(room > 0);
    while ((item = soc_map_each(&soc_human_state(host)->inbox.open, &cursor)) != NULL)
        if (is_of_feature(item, feature))
            offer(&shelf, item);
    qsort(items, shelf.count, sizeof(struct soc_item *), compare);
    return shelf.count;
}

void soc_human_page(struct soc_host *host, const struct soc_query *query, struct soc_page *page,
                    struct soc_buf *out)
{
    assert(query->limit > 0);
    struct shelf shelf = {.room = (size_t)query->limit, .is_back = !query->has_after};
    size_t start = out->length;
    size_t i = 0;
    shelf.items = soc_alloc(shelf.room * sizeof(*shelf.items));
    collect(host, query, &shelf);
    soc_buf_put_byte(out, '[');
    for (; i < shelf.count && out->length - start < SOC_PAGE_BYTES_MAX; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_human_look_open(host, shelf.items[i], out);
    }
    soc_buf_put_byte(out, ']');
    bool has_more = shelf.fitting > shelf.count;
    page->next = i > 0 && (i < shelf.count || (has_more && !shelf.is_back))
                     ? place_of(shelf.items[i - 1])
                     : 0;
    page->previous = has_more && shelf.is_back ? place_of(shelf.items[0]) : 0;
    free(shelf.items);
}
