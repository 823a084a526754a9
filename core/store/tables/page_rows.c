#include "store/tables/page_rows.h"

#include <string.h>

#include "base/limits.h"
#include "env/clock.h"

#define CHECK_EVERY 16 /* rows that are looked at between two readings of the clock */

struct soc_buf *soc_page_rows_begin(struct soc_page_rows *rows)
{
    size_t start = rows->rows.length;
    soc_buf_put(&rows->starts, &start, sizeof(start));
    return &rows->rows;
}

void soc_page_rows_end(struct soc_page_rows *rows)
{
    rows->count++;
}

bool soc_page_rows_is_over(struct soc_page_rows *rows)
{
    if (rows->query->limit > 0 && rows->count >= (uint64_t)rows->query->limit)
        return true;
    if (rows->rows.length >=
        (rows->query->bytes_max > 0 ? rows->query->bytes_max : SOC_PAGE_BYTES_MAX))
        return true;
    if (!rows->is_late && rows->looked != rows->begin && ++rows->checks % CHECK_EVERY == 0)
        rows->is_late = soc_page_rows_is_late(rows);
    return rows->is_late;
}

bool soc_page_rows_is_late(const struct soc_page_rows *rows)
{
    return rows->end_us != 0 && soc_clock_monotonic_us() >= rows->end_us;
}

int64_t soc_page_rows_until(const struct soc_page_rows *rows)
{
    int64_t until_ms = rows->query->until_ms;
    return until_ms == 0 ? 0 : soc_calendar_until(&rows->database->calendar, until_ms);
}

void soc_page_rows_put(const struct soc_page_rows *rows, struct soc_buf *out)
{
    size_t count = rows->starts.length / sizeof(size_t);
    for (size_t i = 0; i < count; i++) {
        size_t at = rows->is_backwards ? count - 1 - i : i;
        size_t start;
        size_t end = rows->rows.length;
        memcpy(&start, rows->starts.data + at * sizeof(start), sizeof(start));
        if (at + 1 < count)
            memcpy(&end, rows->starts.data + (at + 1) * sizeof(end), sizeof(end));
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_buf_put(out, rows->rows.data + start, end - start);
    }
}

void soc_page_rows_fini(struct soc_page_rows *rows)
{
    soc_buf_fini(&rows->rows);
    soc_buf_fini(&rows->starts);
}
