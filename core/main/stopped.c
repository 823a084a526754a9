#include "main/stopped.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "env/clock.h"
#include "env/rng.h"
#include "kernel/agents.h"
#include "kernel/dot.h"
#include "kernel/gate.h"
#include "kernel/look.h"
#include "main/command.h"
#include "store/directory.h"
#include "store/sqlite/sqlite.h"

#define POLL_MS     20
#define FOLD_MS_MAX 2000

/* Lends the value of a row of the table `meta`. */
static struct soc_slice find_meta(struct soc_slice rows, const char *name)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "name")),
                            soc_slice_text(name)))
            return soc_json_member(walk.value, "value");
    return (struct soc_slice){0};
}

/* The totals that every batch ends with: key, time, output, sent, then outcomes. */
static void put_stats(struct soc_buf *out, struct soc_slice meta)
{
    static const char *const names[] = {NULL,      NULL,   NULL,      "sent",     "processed",
                                        "expired", "dead", "dropped", "cancelled"};
    int64_t numbers[9] = {0};
    struct soc_buf cursor = {0};
    struct soc_json_walk walk;
    soc_json_string(find_meta(meta, "cursor"), &cursor);
    if (soc_json_check(soc_buf_slice(&cursor), NULL) == SOC_OK) {
        soc_json_walk(&walk, soc_buf_slice(&cursor));
        for (int i = 0; i < 9 && soc_json_next(&walk); i++)
            soc_json_integer(walk.value, &numbers[i]);
    }
    soc_buf_fini(&cursor);
    int64_t pending = numbers[3];
    soc_buf_put_text(out, "[{");
    for (int i = 3; i < 9; i++) {
        if (i > 3)
            pending -= numbers[i];
        soc_json_put_name(out, names[i]);
        soc_json_put_integer(out, numbers[i]);
    }
    soc_json_put_name(out, "pending");
    soc_json_put_integer(out, pending);
    soc_json_put_name(out, "now");
    soc_time_put_json(out, numbers[1]);
    soc_buf_put_text(out, "}]");
}

/* Those that were in force when it stopped. */
static void put_policies(struct soc_buf *out, struct soc_slice meta)
{
    struct soc_buf list = {0};
    soc_json_string(find_meta(meta, "policies"), &list);
    if (soc_json_check(soc_buf_slice(&list), NULL) == SOC_OK)
        soc_buf_put_slice(out, soc_buf_slice(&list));
    else
        soc_buf_put_text(out, "[]");
    soc_buf_fini(&list);
}

/* No script runs here, so the host never has a turn to give. */
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

/* Which vocabularies are in force is said by the app, which does not run. */
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

/* Looks at a society as it lies there, without running it or changing anything. */
static int look_at(const char *directory,
                   void (*look)(const struct soc_host *host, struct soc_buf *out),
                   struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_store *store;
    struct soc_sqlite_options options = {.directory = directory, .access = SOC_SQLITE_READ};
    int rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    struct soc_host_options host_options = {.store = store, .log = {.level = SOC_LOG_NONE}};
    struct soc_host *host = soc_host_new(&host_options);
    soc_host_set_hooks(host, &no_script);
    rc = soc_host_load(host, detail);
    if (rc == SOC_OK && soc_agents_user(host) == NULL)
        rc = soc_fail(detail, SOC_ENOFILE, "no society has run there yet");
    if (rc == SOC_OK)
        look(host, out);
    soc_host_crash(host);
    soc_store_close(store);
    return rc;
}

int soc_stopped_query(const char *directory, const struct soc_query *query, struct soc_buf *out,
                      struct soc_detail *detail)
{
    struct soc_store *store;
    struct soc_sqlite_options options = {.directory = directory, .access = SOC_SQLITE_READ};
    struct soc_query raw = *query;
    bool is_stats = strcmp(query->what, "stats") == 0;
    bool is_policies = strcmp(query->what, "policies") == 0;
    struct soc_buf rows = {0};
    if (strcmp(query->what, "waits") == 0)
        return look_at(directory, soc_look_waits, out, detail);
    if (is_stats || is_policies)
        raw.what = "meta";
    int rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    rc = soc_store_query(store, &raw, &rows, detail);
    if (rc == SOC_OK) {
        if (is_stats)
            put_stats(out, soc_buf_slice(&rows));
        else if (is_policies)
            put_policies(out, soc_buf_slice(&rows));
        else
            soc_buf_put_slice(out, soc_buf_slice(&rows));
    }
    soc_buf_fini(&rows);
    soc_store_close(store);
    return rc;
}

int soc_stopped_registries(const char *directory, struct soc_buf *out, struct soc_detail *detail)
{
    return look_at(directory, soc_look_registries, out, detail);
}

int soc_stopped_dot(const char *directory, struct soc_buf *out, struct soc_detail *detail)
{
    return look_at(directory, soc_dot_put, out, detail);
}

/* What the former run could not show for certain is shown now, beside the result. */
static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    (void)user, (void)stream, (void)agent;
    return fprintf(stderr, "%.*s\n", (int)text.length, text.data) >= 0;
}

struct outcome {
    bool is_durable;
    struct soc_detail failure;
};

static void note_failure(void *user, const struct soc_detail *detail)
{
    struct outcome *outcome = user;
    outcome->failure = *detail;
}

static void note_durable(void *user)
{
    struct outcome *outcome = user;
    outcome->is_durable = true;
}

static int start_host(struct soc_host *host, struct soc_store *store, struct soc_detail *detail)
{
    struct soc_query query = {.what = "meta"};
    struct soc_buf meta = {0};
    struct soc_buf app = {0};
    soc_host_set_hooks(host, &no_script);
    int rc = soc_store_query(store, &query, &meta, detail);
    if (rc == SOC_OK && !soc_json_string(find_meta(soc_buf_slice(&meta), "app"), &app))
        rc = soc_fail(detail, SOC_ENOFILE, "no society has run there yet");
    if (rc == SOC_OK)
        rc = soc_host_start(host, soc_buf_slice(&app), detail);
    soc_buf_fini(&meta);
    soc_buf_fini(&app);
    return rc;
}

/* What `fn` answered, a refusal too, does not stand: the disk has the last word. */
static int take_back(struct soc_buf *answer, struct soc_detail *detail, int rc, const char *text)
{
    answer->length = 0;
    return soc_fail(detail, rc, "%s", text);
}

static int do_in_store(struct soc_store *store, soc_stopped_fn *fn, void *user,
                       struct soc_buf *answer, struct soc_detail *detail)
{
    struct soc_loop *loop = soc_loop_new();
    struct outcome outcome = {0};
    struct soc_host_options options = {
        .store = store,
        .loop = loop,
        .seed = soc_rng_system_seed(),
        .log = {.level = SOC_LOG_WARN},
        .show = show,
        .failed = note_failure,
        .user = &outcome,
    };
    struct soc_host *host = soc_host_new(&options);
    int rc = start_host(host, store, detail);
    bool is_started = rc == SOC_OK;
    if (is_started)
        rc = fn(host, user, answer);
    bool is_full = false;
    if (rc == SOC_OK) {
        soc_gate_when_durable(host, note_durable, &outcome);
        soc_host_flush(host);
        while (!outcome.is_durable && outcome.failure.text[0] == '\0' && !is_full) {
            soc_loop_poll(loop, POLL_MS);
            is_full = !outcome.is_durable && soc_host_is_full(host);
        }
    }
    uint64_t before = soc_store_sequence(store);
    if (is_full || outcome.failure.text[0] != '\0')
        soc_host_crash(host);
    else
        soc_host_close(host, FOLD_MS_MAX);
    if (is_started && outcome.failure.text[0] != '\0') /* the close may have found it */
        rc = take_back(answer, detail, SOC_EIO, outcome.failure.text);
    /* There may have been room at the last moment. */
    if (is_full && soc_store_sequence(store) == before)
        rc = take_back(answer, detail, SOC_EDISKFULL, SOC_DIRECTORY_FULL);
    soc_loop_free(loop);
    return rc;
}

int soc_stopped_do(const char *directory, soc_stopped_fn *fn, void *user, struct soc_buf *answer,
                   struct soc_detail *detail)
{
    struct soc_store *store;
    struct soc_sqlite_options options = {.directory = directory};
    answer->length = 0;
    int rc = soc_directory_check(directory, detail);
    if (rc == SOC_OK)
        rc = soc_sqlite_open(&store, &options, detail);
    if (rc < 0)
        return rc;
    rc = do_in_store(store, fn, user, answer, detail);
    soc_store_close(store);
    return rc;
}
