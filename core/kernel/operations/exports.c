#include "kernel/operations/exports.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/look.h"
#include "kernel/operations/diagrams.h"
#include "kernel/operations/given.h"

static const struct soc_param text_members[] = {
    {.name = "text", .is_needed = true, .summary = "the whole text, of several lines"},
    {.name = NULL},
};

/* Appends the answer: a list with one object. */
static void put_text(struct soc_buf *out, const struct soc_buf *text)
{
    soc_buf_put_text(out, "[{");
    soc_json_put_text_member(out, "text", soc_buf_slice(text));
    soc_buf_put_text(out, "}]");
}

static void look_at_dot(struct soc_host *host, const struct soc_query *query, struct soc_buf *out)
{
    struct soc_buf text = {0};
    (void)query;
    soc_diagrams_put_dot(host, &text);
    put_text(out, &text);
    soc_buf_fini(&text);
}

static void make_mermaid(struct soc_slice rows, struct soc_buf *out)
{
    struct soc_buf text = {0};
    soc_diagrams_put_mermaid(rows, &text);
    put_text(out, &text);
    soc_buf_fini(&text);
}

static void answer_mermaid(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_call *call = user;
    struct soc_buf list = {0};
    call->as_of = page->as_of;
    if (rc < 0) {
        soc_call_fail(call, rc,
                      rc == SOC_ETOOLARGE ? "too many messages; ask for fewer with "
                                            "`limit` or other filters"
                                          : NULL);
        return;
    }
    make_mermaid(rows, &list);
    soc_call_answer(call, soc_buf_slice(&list));
    soc_buf_fini(&list);
}

static void draw_messages(struct soc_given *given)
{
    struct soc_query query;
    const char *fault =
        soc_operation_read_query(given->operation, given->params, &given->texts, &query);
    assert(fault == NULL); /* checked before */
    (void)fault;
    soc_look_page(given->society->host, &query, answer_mermaid, given->call);
}

/* ---- all rows of all tables ---- */

static const char *const tables[] = {"roles",    "agents", "contacts", "tasks",
                                     "messages", "inbox",  "activity", NULL};

static const struct soc_param rows_params[] = {
    {.name = "table",
     .kind = SOC_PARAM_CHOICE,
     .choices = tables,
     .summary = "only this table; all of them by default"},
    {.name = "since", .kind = SOC_PARAM_TIME, .summary = "rows from this time on"},
    {.name = "until", .kind = SOC_PARAM_TIME, .summary = "rows before this time"},
    {.name = NULL},
};

static const struct soc_param rows_members[] = {
    {.name = "table",
     .is_needed = true,
     .summary = "the table of the row; the other members are those of the list with that name"},
    {.name = NULL},
};

/* The export of all tables, one after the other. */
struct export
{
    const char *const *table; /* the one that is being read */
    bool is_one;              /* no other one */
    struct soc_query query;
    void (*ask)(struct soc_call * call); /* for the next table */
    struct soc_buf rows;
};

static void free_export(void *work)
{
    struct export *export = work;
    if (export == NULL)
        return;
    soc_buf_fini(&export->rows);
    free(export);
}

static void put_rows(struct export *export, struct soc_slice rows)
{
    struct soc_json_walk walk;
    for (soc_json_walk(&walk, rows); soc_json_next(&walk);) {
        if (export->rows.length > 1)
            soc_buf_put_byte(&export->rows, ',');
        soc_buf_put_byte(&export->rows, '{');
        soc_json_put_text_member(&export->rows, "table", soc_slice_text(*export->table));
        soc_buf_put_byte(&export->rows, ',');
        soc_buf_put(&export->rows, walk.value.data + 1, walk.value.length - 1);
    }
}

static void take_table(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_call *call = user;
    struct export *export = call->work;
    if (rc == SOC_OK)
        put_rows(export, rows);
    if (rc == SOC_ETOOLARGE || export->rows.length > SOC_LOOK_BYTES_MAX) {
        soc_call_fail(call, SOC_ETOOLARGE,
                      "too many rows for one answer; ask for parts with `table`, `since` and "
                      "`until`, or for the lists by pages");
        return;
    }
    if (rc < 0) {
        soc_call_fail(call, rc, NULL);
        return;
    }
    call->as_of = page->as_of > call->as_of ? page->as_of : call->as_of;
    export->table++;
    if (*export->table != NULL && !export->is_one) {
        export->ask(call);
        return;
    }
    soc_buf_put_byte(&export->rows, ']');
    soc_call_answer(call, soc_buf_slice(&export->rows));
}

static void ask_for_table(struct soc_call *call)
{
    struct export *export = call->work;
    export->query.what = *export->table;
    export->query.state =
        strcmp(*export->table, "inbox") == 0 ? SOC_SLICE("all") : (struct soc_slice){0};
    soc_look_page(call->host, &export->query, take_table, call);
}

static void export_rows(struct soc_given *given)
{
    struct soc_slice table = soc_given_text(given, "table");
    struct export *export = soc_alloc_zero(sizeof(*export));
    assert(given->call->work == NULL);
    given->call->work = export;
    given->call->free_work = free_export;
    export->ask = ask_for_table;
    export->is_one = table.data != NULL;
    export->table = tables;
    while (export->is_one && !soc_slice_equal(table, soc_slice_text(*export->table)))
        export->table++;
    export->query.since_ms = soc_given_time(given, "since", 0);
    export->query.until_ms = soc_given_time(given, "until", 0);
    soc_buf_put_byte(&export->rows, '[');
    ask_for_table(given->call);
}

#define MESSAGE_FILTERS                                                                            \
    (SOC_FILTER_AGENT | SOC_FILTER_TASK | SOC_FILTER_TYPE | SOC_FILTER_CORRELATION |               \
     SOC_FILTER_TIME | SOC_FILTER_LIMIT)

const struct soc_operation soc_exports[] = {
    {.name = "dot",
     .summary = "agents and who waits for whom, as a digraph for Graphviz",
     .scope = SOC_SCOPE_READ,
     .answer = text_members,
     .view = &(const struct soc_view){.is_hidden = true, .look = look_at_dot},
     .run = soc_given_look},
    {.name = "mermaid",
     .summary = "messages as a sequence diagram for Mermaid",
     .scope = SOC_SCOPE_READ,
     .params = soc_view_filters,
     .takes = MESSAGE_FILTERS,
     .answer = text_members,
     .view =
         &(const struct soc_view){
             .is_hidden = true, .is_stored = true, .list = "messages", .make = make_mermaid},
     .run = draw_messages},
    {.name = "rows",
     .summary = "all that is stored of a society, row by row, ended agents included",
     .scope = SOC_SCOPE_READ,
     .needs_running = true,
     .params = rows_params,
     .answer = rows_members,
     .run = export_rows},
    {.name = NULL},
};
