#include "kernel/operations/message_looks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/gate.h"
#include "kernel/look.h"
#include "kernel/operations/awaiting.h"
#include "kernel/operations/given.h"
#include "kernel/operations/message_params.h"
#include "kernel/refusal.h"

static const struct soc_param params[] = {
    {.name = "message_id", .most = SOC_KEY_BYTES_MAX, .is_needed = true, .summary = "its id"},
    {.name = "wait_ms",
     .kind = SOC_PARAM_INTEGER,
     .most = SOC_WAIT_MS_MAX,
     .summary = "how long to wait for its reply; 0: not at all"},
    {.name = NULL},
};

/* A look that may take several queries. */
struct look {
    char id[SOC_MESSAGE_ID_BYTES];
    uint64_t key;
    char *agent;                   /* whose messages the caller may see; NULL: all */
    struct soc_awaiting *awaiting; /* NULL: it waits no longer */
    void (*ask)(void *call);       /* asks the store */
    soc_message_found *found;
    bool is_asking; /* it is being asked */
    bool is_stale;  /* since then something has come */
    struct soc_buf rows;
};

static void free_look(void *work)
{
    struct look *look = work;
    if (look == NULL)
        return;
    soc_buf_fini(&look->rows);
    free(look->agent);
    free(look);
}

static void stop_waiting(struct soc_call *call)
{
    struct look *look = call->work;
    soc_awaiting_end(call->host, look->awaiting);
    look->awaiting = NULL;
}

static bool is_text(struct soc_slice row, const char *name, struct soc_slice text)
{
    return soc_slice_equal(soc_json_plain_string(soc_json_member(row, name)), text);
}

/* Lends the row whose member is that text; absent: there is none. */
static struct soc_slice find_row(const struct soc_buf *rows, const char *name,
                                 struct soc_slice text)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_buf_slice(rows));
    while (text.data != NULL && soc_json_next(&walk))
        if (is_text(walk.value, name, text))
            return walk.value;
    return (struct soc_slice){0};
}

static struct soc_slice id_of(const struct look *look)
{
    return soc_slice(look->id, sizeof(look->id));
}

static void put_row(struct soc_buf *out, const char *name, struct soc_slice row)
{
    if (row.data == NULL)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_slice(out, row);
}

/* Tells whether the caller may see a message. */
static bool is_own(const struct look *look, struct soc_slice row)
{
    return look->agent == NULL || is_text(row, "from", soc_slice_text(look->agent)) ||
           is_text(row, "to", soc_slice_text(look->agent));
}

/* Lends the message in whose turn that of `row` was sent, or the one it answers where that
 * was not recorded. */
static struct soc_slice find_cause(const struct look *look, struct soc_slice row)
{
    struct soc_slice id = soc_json_plain_string(soc_json_member(row, "caused_by"));
    if (id.data == NULL)
        id = soc_json_plain_string(soc_json_member(row, "reply_to"));
    struct soc_slice cause = find_row(&look->rows, "id", id);
    return cause.data != NULL && is_own(look, cause) ? cause : (struct soc_slice){0};
}

static void answer(struct soc_call *call, struct soc_slice life)
{
    const struct look *look = call->work;
    struct soc_buf list = {0};
    struct soc_slice row = find_row(&look->rows, "id", id_of(look));
    soc_buf_put_byte(&list, '[');
    soc_buf_put(&list, row.data, row.length - 1); /* more members follow */
    put_row(&list, "cause", find_cause(look, row));
    put_row(&list, "life", life);
    put_row(&list, "reply", find_row(&look->rows, "reply_to", id_of(look)));
    soc_buf_put_text(&list, "}]");
    soc_call_answer(call, soc_buf_slice(&list));
    soc_buf_fini(&list);
}

static void take_life(int rc, struct soc_slice rows, void *user)
{
    if (rc < 0)
        soc_call_fail(user, rc, NULL);
    else
        answer(user, rows);
}

static void ask_for_life(struct soc_call *call, struct soc_slice reply)
{
    const struct look *look = call->work;
    struct soc_query query = {.what = "life", .key = look->key, .id = id_of(look)};
    (void)reply; /* among the rows */
    soc_look_query(call->host, &query, take_life, call);
}

/* Tells whether a reply may still come. */
static bool is_open(struct soc_slice row)
{
    return is_text(row, "status", SOC_SLICE("pending")) ||
           is_text(row, "status", SOC_SLICE("processed"));
}

static void take_message(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    struct look *look = call->work;
    look->is_asking = false;
    if (look->is_stale && rc >= 0) {
        look->ask(call);
        return;
    }
    look->rows.length = 0;
    soc_buf_put_slice(&look->rows, rows);
    struct soc_slice row = {0};
    if (rc >= 0)
        row = find_row(&look->rows, "id", id_of(look));
    bool is_missing = row.data == NULL || !is_own(look, row);
    if (!is_missing && look->awaiting != NULL && is_open(row) &&
        find_row(&look->rows, "reply_to", id_of(look)).data == NULL)
        return;
    stop_waiting(call);
    if (rc < 0)
        soc_call_fail(call, rc, NULL);
    else if (is_missing)
        soc_call_fail(call, SOC_ENOMESSAGE, NULL);
    else
        look->found(call, find_row(&look->rows, "reply_to", id_of(look)));
}

static void ask(void *user)
{
    struct soc_call *call = user;
    struct look *look = call->work;
    struct soc_query query = {.what = "message", .key = look->key, .id = id_of(look)};
    look->is_asking = true;
    look->is_stale = false;
    soc_look_query(call->host, &query, take_message, call);
}

static void wake(void *user, enum soc_awaited why)
{
    struct soc_call *call = user;
    struct look *look = call->work;
    look->awaiting = NULL;
    if (why == SOC_AWAITED_GONE)
        return;
    if (look->is_asking)
        look->is_stale = true;
    else
        soc_gate_when_durable(call->host, ask, call);
}

void soc_message_looks_find(struct soc_given *given, struct soc_slice id, int64_t wait_ms,
                            soc_message_found *found)
{
    struct soc_call *call = given->call;
    struct look *look = soc_alloc_zero(sizeof(*look));
    assert(call->work == NULL);
    call->work = look;
    call->free_work = free_look;
    look->ask = ask;
    look->found = found;
    if (id.length != sizeof(look->id) || !soc_message_id_parse(id, &look->key)) {
        soc_call_fail(call, SOC_ENOMESSAGE, NULL);
        return;
    }
    memcpy(look->id, id.data, sizeof(look->id));
    if (given->caller->agent.data != NULL)
        look->agent = soc_copy_text(given->caller->agent.data, given->caller->agent.length);
    if (wait_ms > 0)
        look->awaiting = soc_awaiting_reply(call->host, look->key, wait_ms, wake, call);
    ask(call);
}

static void look_at_message(struct soc_given *given)
{
    soc_message_looks_find(given, soc_given_text(given, "message_id"),
                           soc_given_integer(given, "wait_ms", 0), ask_for_life);
}

const struct soc_operation soc_message_looks[] = {
    {.name = "message",
     .summary = "one message with its reply, what caused it and its whole life",
     .scope = SOC_SCOPE_READ,
     .is_for_agents = true,
     .params = params,
     .answer = soc_message_members,
     .tells = SOC_MESSAGE_PARAMS_ROW | SOC_MESSAGE_PARAMS_WHOLE,
     .run = look_at_message},
    {.name = NULL},
};
