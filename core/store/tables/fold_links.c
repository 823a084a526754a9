#include "store/tables/fold_links.h"

static struct soc_window_link *find_link(struct soc_window *window, struct soc_slice peer)
{
    for (size_t i = 0; i < window->links.count; i++)
        if (soc_slice_equal(window->links.items[i].record.link.peer, peer))
            return &window->links.items[i];
    return NULL;
}

/* What is acked is forgotten, and all of it when this end is another one: it was reset. */
static void write_link(struct soc_window *window, struct soc_window_link *item)
{
    soc_window_run_record(window, SOC_STATEMENT_LINK_ACKED, &item->record);
    soc_window_run_record(window, SOC_STATEMENT_LINK, &item->record);
    item->is_written = true;
}

void soc_fold_links_put(struct soc_window *window, struct soc_record *record)
{
    struct soc_window_link *item = find_link(window, record->link.peer);
    if (item != NULL && soc_slice_equal(item->record.link.own_id, record->link.own_id)) {
        item->record = *record;
        item->is_written = false;
        return;
    }
    soc_fold_links_write(window);
    if (item == NULL)
        item = &SOC_WINDOW_ADD(window->links);
    item->record = *record;
    write_link(window, item);
}

void soc_fold_links_number(struct soc_window *window, struct soc_record *record)
{
    SOC_WINDOW_ADD(window->link_items) = (struct soc_window_plain){*record};
}

void soc_fold_links_write(struct soc_window *window)
{
    for (size_t i = 0; i < window->links.count; i++)
        if (!window->links.items[i].is_written)
            write_link(window, &window->links.items[i]);
    for (size_t i = 0; i < window->link_items.count; i++) {
        struct soc_record *record = &window->link_items.items[i].record;
        const struct soc_record_link_items *items = &record->link_items;
        const struct soc_window_link *item = find_link(window, items->peer);
        if (item == NULL || items->first + items->count - 1 > item->record.link.acked)
            soc_window_run_record(window, SOC_STATEMENT_LINK_ITEMS, record);
    }
    window->link_items.count = 0;
}
