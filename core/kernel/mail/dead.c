#include "kernel/mail/dead.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/look.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/router.h"
#include "kernel/recover.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/turns/waiting.h"

#define NO_ANSWER 1 /* no result of a query is positive */

/* An order in the queue. */
struct soc_dead_order_item {
    struct soc_dead_order_item *next;
    struct soc_host *host;
    struct soc_dead_order order; /* its texts are in `texts` */
    struct soc_buf texts;
    uint64_t counted; /* letters that fit */
    uint64_t changed; /* letters redelivered or dropped */
    uint64_t skipped; /* letters whose receiver has ended */
    bool is_over;     /* `rc` and `answer` stand */
    int rc;
    struct soc_buf answer;
    soc_dead_cb *cb;
    void *user;
};

/* One letter of a page; lent by its bytes. */
struct letter {
    struct soc_record message;
    struct soc_record end;
    struct soc_slice tasks; /* records of its failed task and those above */
};

static void free_item(struct soc_dead_order_item *item)
{
    soc_buf_fini(&item->texts);
    soc_buf_fini(&item->answer);
    free(item);
}

static bool is_of_one(const struct soc_dead_order_item *item)
{
    return item->order.id.data != NULL;
}

static void refuse(struct soc_dead_order_item *item, int code, const char *text, const char *name,
                   struct soc_slice value)
{
    item->is_over = true;
    item->answer.length = 0;
    item->rc = soc_refuse(&item->answer, code, text, name, value);
}

static void redeliver(struct soc_host *host, struct soc_message *message, struct soc_slice tasks)
{
    struct soc_record record;
    while (soc_record_next(&tasks, &record) > 0)
        SOC_PARTS_TELL(host, recall, host, &record);
    soc_router_again(host, message, soc_host_now(host));
}

static void drop(struct soc_host *host, struct soc_message *message)
{
    host->totals.outcome[message->outcome]--;
    soc_router_finish(host, message, SOC_OUTCOME_DROPPED, SOC_SLICE("{\"error\":\"dropped\"}"));
}

/* Carries out the order for one letter. */
static void change(struct soc_dead_order_item *item, const struct letter *letter)
{
    struct soc_host *host = item->host;
    struct soc_message *message = soc_recover_message(host, &letter->message.message);
    message->outcome = (uint8_t)letter->end.message_end.outcome;
    assert(message->outcome == SOC_OUTCOME_DEAD || message->outcome == SOC_OUTCOME_EXPIRED);
    bool is_one = is_of_one(item);
    if (is_one && !soc_envelope_is_id(item->order.id, message)) {
        soc_mail_free(host, message);
        return; /* the key of a letter with the time of another */
    }
    if (!item->order.is_drop && message->to != NULL && message->to->is_ended) {
        if (is_one)
            refuse(item, SOC_ESTOPPED, NULL, "agentId", soc_agent_id(message->to));
        item->skipped++;
        soc_mail_free(host, message);
        return;
    }
    item->changed++;
    if (item->order.is_drop)
        drop(host, message);
    else
        redeliver(host, message, letter->tasks);
}

/* Reads the records of the next letter; false at the end. */
static bool next_letter(struct soc_slice *rest, struct letter *letter)
{
    struct soc_slice at = *rest;
    struct soc_record record;
    if (soc_record_next(&at, &letter->message) <= 0)
        return false;
    assert(letter->message.type == SOC_RECORD_MESSAGE);
    int rc = soc_record_next(&at, &letter->end);
    assert(rc > 0 && letter->end.type == SOC_RECORD_MESSAGE_END);
    (void)rc;
    letter->tasks = soc_slice(at.data, 0);
    *rest = at;
    while (soc_record_next(&at, &record) > 0 && record.type != SOC_RECORD_MESSAGE) {
        letter->tasks.length = (size_t)(at.data - letter->tasks.data);
        *rest = at;
    }
    return true;
}

static void change_all(struct soc_dead_order_item *item, struct soc_slice records)
{
    struct letter letter;
    while (!item->is_over && next_letter(&records, &letter))
        change(item, &letter);
}

static void succeed(struct soc_dead_order_item *item)
{
    item->is_over = true;
    soc_buf_put_text(&item->answer, "[{");
    if (is_of_one(item)) {
        soc_json_put_text_member(&item->answer, "messageId", item->order.id);
    } else {
        soc_json_put_name(&item->answer, "count");
        soc_json_put_integer(&item->answer, (int64_t)item->changed);
    }
    if (!is_of_one(item) && item->skipped > 0) {
        soc_json_put_name(&item->answer, "skipped");
        soc_json_put_integer(&item->answer, (int64_t)item->skipped);
    }
    soc_buf_put_text(&item->answer, "}]");
}

/* All letters are counted: the order ends here, or begins with the first of them. */
static void compare_count(struct soc_dead_order_item *item)
{
    if (item->counted == (uint64_t)item->order.expected) {
        item->order.filter.span.is_count = false;
        item->order.filter.span.after = 0;
        return;
    }
    item->is_over = true;
    item->answer.length = 0;
    char sentence[96];
    snprintf(sentence, sizeof(sentence), "%" PRIu64 " match, not %" PRId64 "; nothing was done",
             item->counted, item->order.expected);
    soc_refusal_begin(&item->answer, SOC_ECOUNT, sentence);
    soc_json_put_name(&item->answer, "count");
    soc_json_put_integer(&item->answer, (int64_t)item->counted);
    item->rc = soc_refusal_end(&item->answer, SOC_ECOUNT);
}

/* Takes a page from the store, and either ends the order or sets it on the next page. */
static void take_page(struct soc_dead_order_item *item, struct soc_slice bytes)
{
    struct soc_letters_span *span = &item->order.filter.span;
    struct soc_letters_page page;
    assert(bytes.length >= sizeof(page));
    memcpy(&page, bytes.data, sizeof(page));
    if (span->is_count)
        item->counted += page.count;
    else
        change_all(item, soc_slice(bytes.data + sizeof(page), bytes.length - sizeof(page)));
    if (item->is_over)
        return;
    if (span->line == 0)
        span->line = page.line;
    span->after = page.next;
    if (page.next != 0)
        return;
    if (span->is_count)
        compare_count(item);
    else if (is_of_one(item) && item->changed == 0)
        refuse(item, SOC_ENOMESSAGE, "no dead letter has that id", NULL, (struct soc_slice){0});
    else
        succeed(item);
}

static void take_answer(struct soc_host *host, int rc, struct soc_slice bytes)
{
    struct soc_dead_order_item *item = host->dead.first;
    assert(host->dead.is_asking && item != NULL && !item->is_over);
    host->dead.is_asking = false;
    if (rc == SOC_OK && host->dead.is_closed)
        rc = SOC_ECLOSED;
    if (rc < 0)
        refuse(item, rc, NULL, NULL, (struct soc_slice){0});
    else
        take_page(item, bytes);
}

/* Reports the first order, which is over, and removes it. */
static void report(struct soc_host *host)
{
    struct soc_dead_order_item *item = host->dead.first;
    host->dead.first = item->next;
    if (host->dead.first == NULL)
        host->dead.last = NULL;
    item->cb(item->user, item->rc, soc_buf_slice(&item->answer));
    free_item(item);
}

/* Takes the answer of the store, if this is one, and carries on until another is
 * outstanding. The store may answer before soc_look_query returns; the rest is then left to
 * the loop that asked. */
static void run(int rc, struct soc_slice bytes, void *user)
{
    struct soc_host *host = user;
    if (rc != NO_ANSWER)
        take_answer(host, rc, bytes);
    if (host->dead.is_running)
        return;
    host->dead.is_running = true;
    while (host->dead.first != NULL && !host->dead.is_asking) {
        if (host->dead.first->is_over) {
            report(host);
            continue;
        }
        host->dead.is_asking = true;
        soc_look_query(host, &host->dead.first->order.filter, run, host);
    }
    host->dead.is_running = false;
}

static void copy_text(struct soc_buf *texts, struct soc_slice *text)
{
    if (text->data == NULL)
        return;
    char *at = texts->data + texts->length; /* reserved for all of them */
    soc_buf_put_slice(texts, *text);
    *text = soc_slice(at, text->length);
}

/* Copies the texts of an order to `room` and lends them from there. */
static void copy_texts(struct soc_dead_order *order, struct soc_buf *room)
{
    struct soc_query *filter = &order->filter;
    struct soc_slice *texts[] = {&order->id,    &filter->agent,          &filter->from,
                                 &filter->to,   &filter->type,           &filter->reason,
                                 &filter->task, &filter->correlation_id, NULL};
    size_t length = 1;
    for (size_t i = 0; texts[i] != NULL; i++)
        length += texts[i]->length;
    soc_buf_reserve(room, length);
    for (size_t i = 0; texts[i] != NULL; i++)
        copy_text(room, texts[i]);
}

void soc_dead_do(struct soc_host *host, const struct soc_dead_order *order, soc_dead_cb *cb,
                 void *user)
{
    assert(!host->turn.is_open && cb != NULL);
    struct soc_dead_order_item *item = soc_alloc_zero(sizeof(*item));
    *item = (struct soc_dead_order_item){.host = host, .order = *order, .cb = cb, .user = user};
    copy_texts(&item->order, &item->texts);
    item->order.filter.what = "letters";
    item->order.filter.span = (struct soc_letters_span){.is_count = order->expected >= 0};
    if (is_of_one(item)) {
        uint64_t key = 0;
        if (!soc_message_id_parse(order->id, &key) || key == 0)
            refuse(item, SOC_ENOMESSAGE, NULL, "id", order->id);
        item->order.filter.span = (struct soc_letters_span){.key = key};
        item->order.filter.id = item->order.id;
    }
    if (host->dead.last == NULL)
        host->dead.first = item;
    else
        host->dead.last->next = item;
    host->dead.last = item;
    run(NO_ANSWER, (struct soc_slice){0}, host);
}

void soc_dead_close(struct soc_host *host)
{
    host->dead.is_closed = true;
}

void soc_dead_fini(struct soc_host *host)
{
    assert(!host->dead.is_asking); /* a closed journal has answered */
    while (host->dead.first != NULL) {
        struct soc_dead_order_item *next = host->dead.first->next;
        free_item(host->dead.first);
        host->dead.first = next;
    }
}

/* An order of `main`. It may be doing something else when the answer comes, so it is looked up
 * again by its effect. */
struct asked {
    struct soc_host *host;
    struct soc_dead_order order; /* its texts are in `texts` */
    struct soc_buf texts;
    uint32_t index; /* of the effect that waits */
};

static void free_asked(struct asked *asked)
{
    soc_buf_fini(&asked->texts);
    free(asked);
}

void soc_dead_ask(struct soc_host *host, const struct soc_dead_order *order)
{
    struct soc_activation *activation = host->turn.activation;
    assert(host->turn.is_open && activation->message == NULL && activation->effects_count > 0);
    struct asked *asked = soc_alloc_zero(sizeof(*asked));
    asked->host = host;
    asked->order = *order;
    asked->order.filter.waits_for_room = true;
    asked->index = activation->effects_count - 1;
    copy_texts(&asked->order, &asked->texts);
    activation->wait = (struct soc_wait){.kind = SOC_WAIT_ORDER, .question = asked};
}

static void take_end(void *user, int rc, struct soc_slice answer)
{
    struct asked *asked = user;
    struct soc_host *host = asked->host;
    struct soc_activation *activation = host->registry.user->activation;
    bool is_waiting = activation != NULL && activation->state == SOC_ACTIVATION_WAITING &&
                      activation->wait.kind == SOC_WAIT_ORDER &&
                      activation->effects_count == asked->index + 1;
    /* A host that is closing gives the order again at its next start. */
    if (is_waiting && rc != SOC_ECLOSED)
        soc_waiting_answer(host, activation,
                           rc >= 0 && asked->order.id.data != NULL ? SOC_SLICE("[true]") : answer);
    free_asked(asked);
}

static void give_order(struct soc_host *host, struct soc_activation *activation)
{
    struct asked *asked = activation->wait.question;
    activation->wait.question = NULL;
    if (asked != NULL)
        soc_dead_do(host, &asked->order, take_end, asked);
}

static void forget_order(struct soc_activation *activation)
{
    if (activation->wait.question != NULL)
        free_asked(activation->wait.question);
    activation->wait.question = NULL;
}

const struct soc_wait_ops soc_dead_wait_ops = {
    .kind = SOC_WAIT_ORDER,
    .rolled_back = forget_order,
    .committed = give_order,
};
