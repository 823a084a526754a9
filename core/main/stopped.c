#include "main/stopped.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "bridge/control/operations.h"
#include "env/rng.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/look.h"
#include "kernel/operations/catalogue.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "main/command.h"
#include "parts/table.h"
#include "store/directory.h"
#include "store/lookup.h"
#include "store/sqlite/sqlite.h"
#include "store/tables/page.h"

#define POLL_MS     20
#define FOLD_MS_MAX 2000

/* No script is loaded, so no turn ever runs. */
static enum soc_turn_end run_nothing(void *user, struct soc_activation *activation,
                                     struct soc_buf *error)
{
    (void)user, (void)activation, (void)error;
    return SOC_TURN_BROKEN;
}

static void drop_nothing(void *user, struct soc_activation *activation)
{
    (void)user, (void)activation;
}

static bool allow(void *user, struct soc_agent *from, struct soc_agent *to,
                  const struct soc_contact *contact, struct soc_buf *refusal)
{
    (void)user, (void)from, (void)to, (void)contact, (void)refusal;
    return true;
}

/* The app chooses the vocabularies, and it is not loaded. */
static int take_any(void *user, const struct soc_candidate *candidate, bool *requires_ack,
                    struct soc_buf *error)
{
    (void)user, (void)candidate, (void)requires_ack, (void)error;
    return SOC_OK;
}

static void forget_nothing(void *user, struct soc_message *message)
{
    (void)user, (void)message;
}

static int64_t retry_never(void *user, struct soc_agent *agent, uint32_t retries)
{
    (void)user, (void)agent, (void)retries;
    return -1;
}

static bool adopt_nobody(void *user, struct soc_agent *agent, struct soc_agent *child,
                         bool is_forced)
{
    (void)user, (void)agent, (void)child, (void)is_forced;
    return false;
}

static bool take_nothing(void *user, struct soc_agent *from, struct soc_agent *to)
{
    (void)user, (void)from, (void)to;
    return false;
}

static const struct soc_hooks no_script = {
    .run = run_nothing,
    .drop = drop_nothing,
    .may_send = allow,
    .forget = forget_nothing,
    .retry_after = retry_never,
    .takes_unsolicited = take_nothing,
    .is_adopted = adopt_nobody,
    .check_message = take_any,
};

static int fail_empty(struct soc_detail *detail)
{
    return soc_fail(detail, SOC_ENOFILE, "no society has run in this directory");
}

/* Makes a host that is loaded but not started. Release it with soc_host_crash(). */
static int load_host(struct soc_host **out, struct soc_store *store, struct soc_detail *detail)
{
    struct soc_host_options options = {
        .store = store, .log = {.level = SOC_LOG_NONE}, .parts = soc_part_table};
    struct soc_host *host = soc_host_new(&options);
    soc_host_set_hooks(host, &no_script);
    int rc = soc_host_load(host, detail);
    if (rc == SOC_OK && soc_registry_user(host) == NULL)
        rc = fail_empty(detail);
    if (rc < 0)
        soc_host_crash(host);
    *out = rc < 0 ? NULL : host;
    return rc;
}

static int look_at_host(struct soc_store *store, const struct soc_operation *subject,
                        const struct soc_query *query, struct soc_buf *out,
                        struct soc_detail *detail)
{
    struct soc_host *host;
    int rc = load_host(&host, store, detail);
    if (rc < 0)
        return rc;
    subject->view->look(host, query, out);
    soc_host_crash(host);
    return rc;
}

/* Of the agents, the database has what they are, and a host how they stand. */
static bool takes_both(const struct soc_view *view)
{
    return view->is_stored && view->look != NULL;
}

/* Appends the row of an agent with how it stands, as a running society says it. */
static void put_standing(struct soc_host *host, struct soc_slice row, struct soc_buf *out)
{
    struct soc_slice id = soc_json_plain_string(soc_json_member(row, "id"));
    const struct soc_agent *agent = soc_registry_find_known(host, id);
    struct soc_json_walk walk;
    if (agent == NULL || soc_json_member(row, "ended_at").data != NULL) {
        soc_buf_put_slice(out, row);
        return;
    }
    soc_buf_put_byte(out, '{');
    soc_json_walk(&walk, row);
    while (soc_json_next(&walk)) {
        if (soc_slice_equal(walk.name, SOC_SLICE("status")))
            continue;
        if (out->data[out->length - 1] != '{')
            soc_buf_put_byte(out, ',');
        soc_buf_printf(out, "\"%.*s\":", (int)walk.name.length, walk.name.data);
        soc_buf_put_slice(out, walk.value);
    }
    soc_json_put_text_member(out, "status", soc_slice_text(soc_look_status(host, agent)));
    soc_buf_printf(out, ",\"queue_length\":%llu,\"contacts\":%u,\"children\":%u}",
                   (unsigned long long)soc_look_queued(host, agent), agent->contacts.count,
                   agent->children);
}

/* The same for a list of rows, in place. */
static void add_standing(struct soc_host *host, struct soc_buf *rows)
{
    struct soc_buf whole = {0};
    struct soc_json_walk walk;
    soc_buf_put_byte(&whole, '[');
    soc_json_walk(&walk, soc_buf_slice(rows));
    while (soc_json_next(&walk)) {
        if (whole.length > 1)
            soc_buf_put_byte(&whole, ',');
        put_standing(host, walk.value, &whole);
    }
    soc_buf_put_byte(&whole, ']');
    soc_buf_fini(rows);
    *rows = whole;
}

static int look_at_both(struct soc_store *store, const struct soc_query *query, struct soc_buf *out,
                        struct soc_detail *detail)
{
    struct soc_host *host;
    int rc = load_host(&host, store, detail);
    if (rc < 0)
        return rc;
    rc = soc_lookup_run(store, query, out, detail);
    if (rc == SOC_OK)
        add_standing(host, out);
    soc_host_crash(host);
    return rc;
}

static int look_at_meta(struct soc_store *store, const struct soc_operation *subject,
                        struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_buf meta = {0};
    int rc = soc_lookup_run(store, &(struct soc_query){.what = "meta"}, &meta, detail);
    if (rc == SOC_OK)
        subject->view->recall(soc_buf_slice(&meta), out);
    soc_buf_fini(&meta);
    return rc;
}

/* Makes an answer of the rows of another list. */
static int look_at_rows(struct soc_store *store, const struct soc_operation *subject,
                        const struct soc_query *query, struct soc_buf *out,
                        struct soc_detail *detail)
{
    struct soc_buf rows = {0};
    int rc = soc_lookup_run(store, query, &rows, detail);
    if (rc == SOC_OK)
        subject->view->make(soc_buf_slice(&rows), out);
    soc_buf_fini(&rows);
    return rc;
}

static int look(const char *directory, const struct soc_operation *subject, bool is_plain,
                const struct soc_query *query, struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_store *store;
    struct soc_sqlite_options options = {.directory = directory, .access = SOC_SQLITE_READ};
    int rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    if (subject->view->recall != NULL)
        rc = look_at_meta(store, subject, out, detail);
    else if (subject->view->make != NULL)
        rc = look_at_rows(store, subject, query, out, detail);
    else if (!is_plain && takes_both(subject->view))
        rc = look_at_both(store, query, out, detail);
    else if (subject->view->is_stored)
        rc = soc_lookup_run(store, query, out, detail);
    else
        rc = look_at_host(store, subject, query, out, detail);
    soc_store_close(store);
    return rc;
}

/* Outputs that the last run may not have shown appear on stderr, apart from the result. */
static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    (void)user, (void)stream, (void)agent;
    return fprintf(stderr, "%.*s\n", (int)text.length, text.data) >= 0;
}

/* A request that changes the society, being carried out. */
struct order {
    struct soc_call call; /* first: take_answer casts back */
    struct soc_buf *answer;
    bool is_answered;
    bool is_error;
    struct soc_detail failure; /* of the disk; empty if none */
};

static void take_answer(struct soc_call *call, bool is_error, struct soc_slice answer)
{
    struct order *order = (struct order *)call;
    assert(!order->is_answered);
    order->is_answered = true;
    order->is_error = is_error;
    soc_buf_put_slice(order->answer, answer);
}

static void note_failure(void *user, const struct soc_detail *detail)
{
    struct order *order = user;
    order->failure = *detail;
}

/* Starts the host under the name of the app that ran there last. */
static int start_host(struct soc_host *host, struct soc_store *store, struct soc_detail *detail)
{
    struct soc_buf meta = {0};
    struct soc_buf app = {0};
    struct soc_json_walk walk;
    bool is_known = false;
    soc_host_set_hooks(host, &no_script);
    int rc = soc_lookup_run(store, &(struct soc_query){.what = "meta"}, &meta, detail);
    soc_json_walk(&walk, rc == SOC_OK ? soc_buf_slice(&meta) : SOC_SLICE("[]"));
    while (!is_known && soc_json_next(&walk))
        is_known = soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "name")),
                                   SOC_SLICE("app")) &&
                   soc_json_string(soc_json_member(walk.value, "value"), &app);
    if (rc == SOC_OK)
        rc = is_known ? soc_host_start(host, soc_buf_slice(&app), detail) : fail_empty(detail);
    soc_buf_fini(&meta);
    soc_buf_fini(&app);
    return rc;
}

/* Replaces the answer, even a refusal, by the failure of the disk. */
static int take_back(struct order *order, struct soc_detail *detail, int rc, const char *text)
{
    order->answer->length = 0;
    return soc_fail(detail, rc, "%s", text);
}

static int obey(struct order *order, struct soc_store *store, struct soc_slice request,
                struct soc_detail *detail)
{
    int rc = soc_loop_check_room(detail);
    if (rc < 0)
        return rc;
    struct soc_loop *loop = soc_loop_new();
    struct soc_host_options options = {
        .store = store,
        .loop = loop,
        .seed = soc_rng_system_seed(),
        .log = {.level = SOC_LOG_WARN},
        .show = show,
        .failed = note_failure,
        .user = order,
        .parts = soc_part_table,
    };
    struct soc_host *host = soc_host_new(&options);
    rc = start_host(host, store, detail);
    bool is_started = rc == SOC_OK;
    bool is_full = false;
    if (is_started) {
        soc_operations_do(&(struct soc_operations){.host = host}, &order->call, request);
        soc_batch_seal(host);
    }
    while (is_started && !order->is_answered && order->failure.text[0] == '\0' && !is_full) {
        soc_loop_poll(loop, POLL_MS);
        soc_batch_seal(host); /* what was done when the store had answered */
        is_full = !order->is_answered && soc_host_is_full(host);
    }
    uint64_t before = soc_store_sequence(store);
    if (is_full || order->failure.text[0] != '\0')
        soc_host_crash(host);
    else
        soc_host_close(host, FOLD_MS_MAX);
    if (is_started && order->failure.text[0] != '\0') /* perhaps found by the close */
        rc = take_back(order, detail, SOC_EIO, order->failure.text);
    if (is_full && soc_store_sequence(store) == before)
        rc = take_back(order, detail, SOC_EDISKFULL, SOC_DIRECTORY_FULL);
    else if (is_full && !order->is_answered) /* written after all */
        soc_buf_put_slice(order->answer, soc_buf_slice(&order->call.held));
    soc_call_fini(&order->call);
    soc_loop_free(loop);
    return rc;
}

static int change(const char *directory, struct soc_slice request, struct soc_buf *answer,
                  bool *is_error, struct soc_detail *detail)
{
    struct soc_store *store;
    struct soc_sqlite_options options = {.directory = directory};
    struct order order = {.call = {.answer = take_answer}, .answer = answer};
    int rc = soc_directory_check(directory, detail);
    if (rc == SOC_OK)
        rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    rc = obey(&order, store, request, detail);
    *is_error = order.is_error;
    soc_store_close(store);
    return rc;
}

/* Takes what a request asks for. False: `answer` says what is wrong with it. */
static bool read_request(const struct soc_operation *subject, struct soc_slice request,
                         struct soc_buf *texts, struct soc_query *query, struct soc_buf *answer)
{
    const char *fault = soc_operation_read_query(subject, request, texts, query);
    if (query->is_page && (query->limit == 0 || query->limit > SOC_PAGE_ROWS_MAX))
        query->limit = query->limit == 0 ? SOC_PAGE_ROWS : SOC_PAGE_ROWS_MAX;
    if (fault != NULL)
        soc_operation_refuse_fault(subject, request, fault, answer);
    return fault == NULL;
}

/* The operation that is asked for; NULL if there is none of that name. */
static const struct soc_operation *find_subject(struct soc_slice request)
{
    struct soc_slice op = soc_json_plain_string(soc_json_member(request, "op"));
    return op.data == NULL ? NULL : soc_catalogue_find(soc_part_table, op);
}

static int answer_request(const char *directory, struct soc_slice request, bool is_plain,
                          struct soc_buf *answer, bool *is_error, struct soc_detail *detail)
{
    struct soc_query query;
    struct soc_buf texts = {0};
    const struct soc_operation *subject = find_subject(request);
    answer->length = 0;
    *is_error = false;
    if (subject != NULL && subject->needs_running)
        return soc_fail(detail, SOC_EREFUSED, "no society is running in %s, and %s needs one",
                        directory, subject->name);
    if (subject == NULL || subject->view == NULL)
        return change(directory, request, answer, is_error, detail);
    int rc = SOC_OK;
    *is_error = !read_request(subject, request, &texts, &query, answer);
    if (!*is_error)
        rc = look(directory, subject, is_plain, &query, answer, detail);
    soc_buf_fini(&texts);
    return rc;
}

int soc_stopped_ask(const char *directory, struct soc_slice request, struct soc_buf *answer,
                    bool *is_error, struct soc_detail *detail)
{
    return answer_request(directory, request, false, answer, is_error, detail);
}

/* Gives all rows of a stored list to `take`. Nobody else writes: each page continues where
 * the one before it ended. */
static int walk_pages(const char *directory, bool is_of_both, struct soc_query query,
                      soc_stopped_rows_cb *take, void *user, struct soc_detail *detail)
{
    struct soc_store *store;
    struct soc_host *host = NULL;
    struct soc_sqlite_options options = {.directory = directory, .access = SOC_SQLITE_READ};
    struct soc_buf rows = {0};
    int rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    if (is_of_both)
        rc = load_host(&host, store, detail);
    query.is_page = query.has_after = true;
    query.limit = SOC_PAGE_ROWS_MAX;
    bool is_more = true;
    while (rc == SOC_OK && is_more) {
        struct soc_page page = {0};
        rows.length = 0;
        soc_buf_put_text(&rows, "[");
        rc = soc_store_look(store, &query, &page, &rows, detail);
        is_more = rc == SOC_OK ? page.next != 0 : rc == SOC_EGONE && page.first > query.after + 1;
        query.after = rc == SOC_OK ? page.next : page.first - 1;
        rc = rc == SOC_EGONE && is_more ? SOC_OK : rc;
        soc_buf_put_text(&rows, "]");
        if (rc == SOC_OK && host != NULL)
            add_standing(host, &rows);
        if (rc == SOC_OK && rows.length > 2 && !take(user, soc_buf_slice(&rows)))
            break;
    }
    soc_buf_fini(&rows);
    if (host != NULL)
        soc_host_crash(host);
    soc_store_close(store);
    return rc;
}

int soc_stopped_walk(const char *directory, struct soc_slice request, bool is_plain,
                     soc_stopped_rows_cb *take, void *user, struct soc_buf *answer, bool *is_error,
                     struct soc_detail *detail)
{
    struct soc_query query;
    struct soc_buf texts = {0};
    const struct soc_operation *subject = find_subject(request);
    int rc = SOC_OK;
    bool is_long = subject != NULL && !subject->needs_running && subject->view != NULL &&
                   subject->view->is_stored && subject->view->make == NULL &&
                   read_request(subject, request, &texts, &query, answer) && !query.is_page &&
                   query.limit == 0 && soc_page_serves(&query);
    *is_error = false;
    if (is_long) {
        rc = walk_pages(directory, !is_plain && takes_both(subject->view), query, take, user,
                        detail);
    } else {
        rc = answer_request(directory, request, is_plain, answer, is_error, detail);
        if (rc == SOC_OK && !*is_error)
            take(user, soc_buf_slice(answer));
    }
    soc_buf_fini(&texts);
    return rc;
}
