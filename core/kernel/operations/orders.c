#include "kernel/operations/orders.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/ending.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/mail/dead.h"
#include "kernel/operations/given.h"
#include "kernel/operations/looks.h"
#include "kernel/registry.h"

static const struct soc_param letters_params[] = {
    {.name = "message_id",
     .most = SOC_KEY_BYTES_MAX,
     .summary = "the dead letter's id; or a filter"},
    {.name = "filter",
     .kind = SOC_PARAM_OBJECT,
     .summary = "all that fit these filters of dead_letters, but limit"},
    {.name = "expected",
     .kind = SOC_PARAM_INTEGER,
     .most = INT64_MAX,
     .summary = "how many must fit, else nothing is done; an empty filter needs it"},
    {.name = NULL},
};

static const struct soc_param letters_members[] = {
    {.name = "messageId", .kind = SOC_PARAM_ID, .summary = "of the one letter"},
    {.name = "count", .kind = SOC_PARAM_INTEGER, .summary = "of a filter: how many it was done to"},
    {.name = "skipped",
     .kind = SOC_PARAM_INTEGER,
     .summary = "of a filter: how many have a receiver that has ended"},
    {.name = NULL},
};

static const struct soc_param terminate_params[] = {
    {.name = "agent",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "the agent's id; not user or root"},
    {.name = "force",
     .kind = SOC_PARAM_FLAG,
     .summary = "at once: its messages become dead letters"},
    {.name = "reason", .most = SOC_REASON_BYTES_MAX, .summary = "why, for the activity log"},
    {.name = NULL},
};

static const struct soc_param terminate_members[] = {
    {.name = "id", .is_needed = true, .summary = "the agent's id"},
    {.name = "is_forced",
     .kind = SOC_PARAM_FLAG,
     .is_needed = true,
     .summary = "whether it ended at once"},
    {.name = NULL},
};

static bool is_filter(struct soc_slice name)
{
    for (int i = 0; i < SOC_FILTER_COUNT; i++)
        if (soc_json_name_is(name, soc_slice_text(soc_view_filters[i].name)))
            return 1u << i != SOC_FILTER_LIMIT;
    return false;
}

static const struct soc_operation *letters(void)
{
    const struct soc_operation *operation = soc_looks;
    while (strcmp(operation->name, "dead_letters") != 0)
        operation++;
    return operation;
}

/* Answers that a filter is unknown, and which there are. */
static void refuse_filter(struct soc_given *given)
{
    struct soc_buf sentence = {0};
    const struct soc_param *param;
    const char *before = "'filter' may have nothing but ";
    for (size_t i = 0; (param = soc_operation_param(letters(), i)) != NULL; i++) {
        if (!is_filter(soc_slice_text(param->name)))
            continue;
        soc_buf_printf(&sentence, "%s%s", before, param->name);
        before = ", ";
    }
    soc_given_fault(given, "filter", soc_buf_text(&sentence));
    soc_buf_fini(&sentence);
}

/* Answers that a filter has a wrong value. */
static void refuse_value(struct soc_given *given, struct soc_slice filter, const char *fault)
{
    struct soc_buf error = {0};
    soc_operation_refuse_fault(letters(), filter, fault, &error);
    soc_given_refuse(given, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

/* Reads the filter of an order; false after it has answered what is wrong with it. A name
 * that is none of the filters must not pass: the order would be about more letters than was
 * meant. */
static bool read_filter(struct soc_given *given, struct soc_slice filter, bool may_be_empty,
                        struct soc_query *query)
{
    struct soc_json_walk walk;
    bool is_known = true;
    bool is_empty = true;
    const char *fault = soc_operation_read_query(letters(), filter, &given->texts, query);
    soc_json_walk(&walk, filter);
    for (; is_known && soc_json_next(&walk); is_empty = false)
        is_known = is_filter(walk.name);
    if (fault != NULL)
        refuse_value(given, filter, fault);
    else if (!is_known)
        refuse_filter(given);
    else if (is_empty && !may_be_empty)
        soc_given_fault(given, "expected",
                        "'expected' is missing; an empty filter fits all letters, so it must be "
                        "said how many there are");
    return fault == NULL && is_known && (!is_empty || may_be_empty);
}

static void finish_letters(void *user, int rc, struct soc_slice answer)
{
    struct soc_json_walk walk;
    int64_t count = 1;
    soc_json_walk(&walk, answer);
    if (rc >= 0 && soc_json_next(&walk))
        soc_json_integer(soc_json_member(walk.value, "count"), &count);
    soc_call_finish(user, rc, count > 0, answer);
}

/* Reads which letters are meant; false after it has answered what is wrong. */
static bool read_letters(struct soc_given *given, struct soc_dead_order *order)
{
    struct soc_slice filter = soc_given_json(given, "filter");
    struct soc_slice id = soc_given_text(given, "message_id");
    soc_json_integer(soc_given_json(given, "expected"), &order->expected);
    if (filter.data != NULL && id.data == NULL)
        return read_filter(given, filter, order->expected >= 0, &order->filter);
    if (filter.data != NULL)
        soc_given_fault(given, "filter", "give message_id or filter, not both");
    else if (id.data == NULL)
        soc_given_fault(given, "message_id",
                        "'message_id' is missing; it must be the id of a dead letter, or give a "
                        "filter");
    else if (order->expected >= 0)
        soc_given_fault(given, "expected", "'expected' goes with a filter, not with message_id");
    order->id = id;
    return filter.data == NULL && id.data != NULL && order->expected < 0;
}

static void change_letters(struct soc_given *given, bool is_drop)
{
    struct soc_dead_order order = {.is_drop = is_drop, .expected = -1};
    if (!read_letters(given, &order))
        return;
    soc_given_defer(given, soc_given_json(given, order.id.data == NULL ? "filter" : "message_id"));
    soc_dead_do(given->society->host, &order, finish_letters, given->call);
}

static void redeliver(struct soc_given *given)
{
    change_letters(given, false);
}

static void drop(struct soc_given *given)
{
    change_letters(given, true);
}

static void terminate(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    struct soc_slice id = soc_given_text(given, "agent");
    bool is_forced = soc_given_flag(given, "force");
    struct soc_buf answer = {0};
    soc_gate_begin_as(host, soc_registry_user(host));
    int rc = soc_ending_order(host, id, &is_forced, soc_given_text(given, "reason"), &answer);
    soc_gate_end_as(host, rc == SOC_OK);
    if (rc == SOC_OK) {
        answer.length = 0;
        soc_buf_put_text(&answer, "[{");
        soc_json_put_text_member(&answer, "id", id);
        soc_json_put_name(&answer, "is_forced");
        soc_buf_put_text(&answer, is_forced ? "true}]" : "false}]");
    }
    soc_given_finish(given, rc, id, &answer);
}

/* Answered at once: the client must not wait for a society that ends. */
static void stop(struct soc_given *given)
{
    const struct soc_operations *society = given->society;
    if (society->stop == NULL) {
        soc_call_fail(given->call, SOC_EREFUSED, "the society is not running");
        return;
    }
    soc_given_note_always(given);
    soc_given_answer(given, SOC_SLICE("[]"));
    society->stop(society->user);
}

const struct soc_operation soc_orders[] = {
    {.name = "redeliver",
     .summary = "sends dead letters again",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .params = letters_params,
     .answer = letters_members,
     .run = redeliver},
    {.name = "drop",
     .summary = "gives dead letters up for good",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .params = letters_params,
     .answer = letters_members,
     .run = drop},
    {.name = "terminate",
     .summary = "ends an agent, when it has handled its mail or at once",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .needs_running = true,
     .params = terminate_params,
     .answer = terminate_members,
     .run = terminate},
    {.name = "stop",
     .summary = "stops the society between two turns, with nothing lost",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .needs_running = true,
     .works_if_full = true,
     .run = stop},
    {.name = NULL},
};
