#include "parts/human/human_item.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/host.h"
#include "kernel/look.h"
#include "kernel/operations/given.h"
#include "kernel/refusal.h"
#include "parts/human/human.h"
#include "parts/human/human_state.h"

#define CHAIN_MAX 200 /* messages that are looked at */

static struct soc_slice text_member(struct soc_slice row, const char *name)
{
    return soc_json_plain_string(soc_json_member(row, name));
}

/* Tells whether a message was sent before the item was opened: their ids sort alike. */
static bool is_before(struct soc_slice message_id, struct soc_slice item_id)
{
    return message_id.length > 4 && item_id.length == message_id.length + 1 &&
           memcmp(message_id.data + 4, item_id.data + 5, message_id.length - 4) < 0;
}

/* Tells whether a message answers one that its receiver sent: it brought no question along. */
static bool is_answer(struct soc_slice row)
{
    static const char *const types[] = {"result", "task_complete", "response",
                                        "checkpoint_response"};
    struct soc_slice type = text_member(row, "type");
    if (text_member(row, "reply_to").length > 0)
        return true;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (soc_slice_equal(type, soc_slice_text(types[i])))
            return true;
    return false;
}

/* Moves those of the messages that led to the item to the end of the list: the last one to its
 * agent, the last one before that to the sender, and so on. Returns where they begin. */
static size_t find_path(struct soc_slice list[CHAIN_MAX], size_t count, struct soc_slice item,
                        bool with_answers)
{
    struct soc_slice agent = text_member(item, "agent");
    struct soc_slice id = text_member(item, "id");
    size_t first = CHAIN_MAX;
    while (count-- > 0) {
        if (!soc_slice_equal(text_member(list[count], "to"), agent) ||
            !is_before(text_member(list[count], "id"), id) ||
            (!with_answers && is_answer(list[count])))
            continue;
        agent = text_member(list[count], "from");
        list[--first] = list[count]; /* never below `count` */
    }
    return first;
}

/* Appends the messages that led to the item. What its agents asked others meanwhile did not. */
static void put_path(struct soc_buf *out, struct soc_slice rows, struct soc_slice item)
{
    struct soc_slice list[CHAIN_MAX];
    struct soc_json_walk walk;
    size_t count = 0;
    for (soc_json_walk(&walk, rows); count < CHAIN_MAX && soc_json_next(&walk);)
        list[count++] = walk.value;
    size_t first = find_path(list, count, item, false);
    if (first == CHAIN_MAX) /* the agent was only ever answered */
        first = find_path(list, count, item, true);
    soc_buf_put_byte(out, '[');
    for (size_t i = first; i < CHAIN_MAX; i++) {
        if (i > first)
            soc_buf_put_byte(out, ',');
        soc_buf_put_slice(out, list[i]);
    }
    soc_buf_put_byte(out, ']');
}

/* Answers with the item that `held` has, and the messages it came by. */
static void answer_item(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    struct soc_buf list = call->held;
    call->held = (struct soc_buf){0};
    if (rc < 0) {
        soc_call_fail(call, rc, NULL);
    } else {
        struct soc_buf path = {0};
        struct soc_json_walk walk;
        soc_json_walk(&walk, soc_buf_slice(&list));
        soc_json_next(&walk);
        put_path(&path, rows, walk.value);
        list.length -= 2; /* more members follow */
        soc_json_put_name(&list, "chain");
        soc_buf_put_slice(&list, soc_buf_slice(&path));
        soc_buf_put_text(&list, "}]");
        soc_buf_fini(&path);
        soc_call_answer(call, soc_buf_slice(&list));
    }
    soc_buf_fini(&list);
}

/* Asks for the messages of the chain that were sent before the item in `held`. */
static void ask_for_chain(struct soc_call *call)
{
    struct soc_json_walk walk;
    struct soc_buf chain = {0};
    struct soc_buf time = {0};
    struct soc_query query = {.what = "messages", .limit = CHAIN_MAX};
    soc_json_walk(&walk, soc_buf_slice(&call->held));
    soc_json_next(&walk);
    if (soc_json_string(soc_json_member(walk.value, "created_at"), &time) &&
        soc_time_parse(soc_buf_slice(&time), &query.until_ms))
        query.until_ms++;
    if (soc_json_string(soc_json_member(walk.value, "correlation_id"), &chain)) {
        query.correlation_id = soc_buf_slice(&chain);
        soc_look_query(call->host, &query, answer_item, call);
    } else {
        answer_item(SOC_OK, SOC_SLICE("[]"), call);
    }
    soc_buf_fini(&chain);
    soc_buf_fini(&time);
}

static void take_item(int rc, struct soc_slice rows, void *user)
{
    struct soc_call *call = user;
    struct soc_json_walk walk;
    soc_json_walk(&walk, rows);
    if (rc < 0) {
        soc_call_fail(call, rc, NULL);
    } else if (!soc_json_next(&walk) ||
               !soc_slice_equal(text_member(walk.value, "id"), soc_slice_text(call->work))) {
        soc_call_fail(call, SOC_ENOITEM, NULL);
    } else {
        soc_buf_put_slice(&call->held, rows);
        ask_for_chain(call);
    }
}

void soc_human_item(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    struct soc_slice id = soc_given_text(given, "item_id");
    struct soc_query query = {.what = "item"};
    const struct soc_item *item = NULL;
    if (soc_item_id_parse(id, &query.key))
        item = soc_inbox_find(&soc_human_state(host)->inbox, query.key);
    if (item == NULL || !soc_item_id_is(id, item->time_ms, item->key)) {
        given->call->work = soc_copy_text(id.data, id.length);
        soc_look_query(host, &query, take_item, given->call);
        return;
    }
    soc_buf_put_byte(&given->call->held, '[');
    soc_human_look_open(host, item, &given->call->held);
    soc_buf_put_byte(&given->call->held, ']');
    ask_for_chain(given->call);
}
