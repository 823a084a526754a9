/* Page rows: what a page collects, and when it ends. For the files of pages only.
 *
 * Layer: store. Thread: that of the database. */
#ifndef SOC_STORE_TABLES_PAGE_ROWS_H
#define SOC_STORE_TABLES_PAGE_ROWS_H

#include "store/store.h"
#include "store/tables/database.h"

struct soc_past;

/* A page while it is made. */
struct soc_page_rows {
    struct soc_database *database;
    const struct soc_query *query;
    struct soc_detail *detail;
    struct soc_past *past; /* takes the lines instead; NULL: none */
    struct soc_buf rows;   /* one after the other, in the order they were found */
    struct soc_buf starts; /* where each begins; size_t each */
    uint64_t count;
    uint64_t begin;    /* where the page begins */
    uint64_t looked;   /* line of the last row that was looked at */
    uint64_t until;    /* last line of the snapshot */
    int64_t end_us;    /* when its time is up; 0: never */
    unsigned checks;   /* until the clock is read again */
    bool is_late;      /* its time was up when it was last looked */
    bool is_backwards; /* rows are found in descending order */
};

/* Begins a row: where it is written to. soc_page_rows_end counts it. */
struct soc_buf *soc_page_rows_begin(struct soc_page_rows *rows);
void soc_page_rows_end(struct soc_page_rows *rows);

/* Tells whether the page is full, or its time is up and a line was looked at: every page
 * gets on. */
bool soc_page_rows_is_over(struct soc_page_rows *rows);

/* Tells whether its time is up, by the clock. */
bool soc_page_rows_is_late(const struct soc_page_rows *rows);

/* Returns a time above all those that are asked for; 0: there is no end. */
int64_t soc_page_rows_until(const struct soc_page_rows *rows);

/* Appends the rows to `out` in ascending order, separated by commas. */
void soc_page_rows_put(const struct soc_page_rows *rows, struct soc_buf *out);

/* Frees it. */
void soc_page_rows_fini(struct soc_page_rows *rows);

#endif
