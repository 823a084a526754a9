#include "sim/callers.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "env/rng.h"
#include "kernel/host.h"
#include "kernel/look.h"
#include "kernel/operations/catalogue.h"
#include "kernel/state.h"
#include "parts/human/human.h"
#include "parts/table.h"
#include "sim/ears.h"

#define CALLERS_SEED 0x63616c6c657273ull
#define DEEDS_MAX    4     /* of one caller */
#define ASKS_MAX     6     /* of one deed that was answered */
#define TRIES_MAX    20    /* of one deed that is not */
#define PAUSE_MS     2000  /* maximal delay between two asks */
#define HURRY_MS     20    /* one that leaves early does so within this time */
#define PATIENCE_MS  90000 /* more than any operation waits */
#define WAIT_MS      5000  /* maximal wait_ms */
#define PAGE_LINES   7
#define HURRIES_IN   2 /* in one step of this many with a full disk somebody acts */
#define GIVES_UP_IN  4 /* one order in this many that the full disk refuses is given up */

enum kind { SEND, INTAKE, DECIDE, KINDS };

/* Something a caller wants done. */
struct deed {
    enum kind kind;
    int64_t number;
    int64_t wait_ms;
    bool is_keyed;
    bool is_answered;
    uint32_t asks;
    uint32_t tries;                        /* since it was last answered */
    uint32_t chances;                      /* asks that were not refused: it may be done */
    uint32_t found;                        /* at the end: messages of it */
    char message_id[SOC_MESSAGE_ID_BYTES]; /* of its answer */
    char item_id[SOC_ITEM_ID_BYTES + 1];   /* what is decided; empty: nothing yet */
    struct soc_buf answer;                 /* the first one */
    struct soc_buf reply;                  /* the first one that an answer had */
};

/* A caller. */
struct caller {
    struct soc_heap_item due;
    struct soc_callers *callers;
    char name[8];
    struct deed deeds[DEEDS_MAX];
    uint32_t count;
    uint32_t current;       /* deed */
    struct errand *waiting; /* for its answer; NULL: it does not wait */
    uint64_t line;          /* of the activity log, up to which it has read */
    uint64_t hash;          /* of those lines */
};

/* One call. It outlives its caller's patience, but not the host. */
struct errand {
    struct soc_call call; /* first: take_answer casts back */
    struct errand *next;
    struct caller *caller;
    struct deed *deed;
    bool is_other; /* another order under the same key */
    bool is_full;  /* the disk was, when it asked */
};

struct soc_callers {
    struct soc_rng rng;
    struct soc_host *host; /* the current one, lent */
    struct soc_heap acts;
    struct caller *list;
    uint32_t count;
    struct errand *errands; /* under way, owned */
    struct soc_map decided; /* item id -> the deed that decided it */
    struct soc_ears *ears;  /* one for each caller */
    char fault[256];
};

__attribute__((format(printf, 2, 3))) static void complain(struct soc_callers *callers,
                                                           const char *format, ...)
{
    va_list arguments;
    if (callers->fault[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(callers->fault, sizeof(callers->fault), format, arguments);
    va_end(arguments);
}

static int64_t draw(struct soc_callers *callers, int64_t bound)
{
    return (int64_t)soc_rng_below(&callers->rng, (uint64_t)bound);
}

static void plan_deed(struct soc_callers *callers, struct caller *caller)
{
    struct deed *deed = &caller->deeds[caller->count++];
    deed->kind = (enum kind)draw(callers, KINDS);
    deed->number = caller->count;
    deed->is_keyed = deed->kind != DECIDE || draw(callers, 2) == 0;
    if (deed->kind == INTAKE && draw(callers, 2) == 0)
        deed->wait_ms = 1 + draw(callers, WAIT_MS);
}

struct soc_callers *soc_callers_new(uint64_t seed, uint32_t count)
{
    struct soc_callers *callers = soc_alloc_zero(sizeof(*callers));
    assert(count > 0 && count <= SOC_CALLERS_MAX);
    soc_rng_init(&callers->rng, seed ^ CALLERS_SEED);
    callers->list = soc_alloc_zero(count * sizeof(*callers->list));
    callers->count = count;
    callers->ears = soc_ears_new(seed, count);
    for (uint32_t i = 0; i < count; i++) {
        struct caller *caller = &callers->list[i];
        caller->callers = callers;
        snprintf(caller->name, sizeof(caller->name), "c%u", i + 1);
        for (int64_t left = 1 + draw(callers, DEEDS_MAX); left > 0; left--)
            plan_deed(callers, caller);
    }
    return callers;
}

static void free_errand(struct errand *errand)
{
    soc_call_fini(&errand->call);
    free(errand);
}

/* Frees the calls of a host that is gone. */
static void free_errands(struct soc_callers *callers)
{
    while (callers->errands != NULL) {
        struct errand *errand = callers->errands;
        callers->errands = errand->next;
        free_errand(errand);
    }
}

static void free_deed(struct deed *deed)
{
    soc_buf_fini(&deed->answer);
    soc_buf_fini(&deed->reply);
}

void soc_callers_free(struct soc_callers *callers)
{
    if (callers == NULL)
        return;
    soc_ears_free(callers->ears);
    free_errands(callers);
    for (uint32_t i = 0; i < callers->count; i++)
        for (uint32_t k = 0; k < callers->list[i].count; k++)
            free_deed(&callers->list[i].deeds[k]);
    soc_heap_fini(&callers->acts);
    soc_map_fini(&callers->decided);
    free(callers->list);
    free(callers);
}

/* Plans what the caller does next; none once its deeds are done. */
static void plan(struct caller *caller, int64_t delay_ms)
{
    struct soc_callers *callers = caller->callers;
    if (soc_heap_has(&caller->due))
        soc_heap_remove(&callers->acts, &caller->due);
    if (caller->current < caller->count)
        soc_heap_add(&callers->acts, &caller->due, soc_host_now(callers->host) + delay_ms);
}

static void plan_soon(struct caller *caller)
{
    plan(caller, 1 + draw(caller->callers, PAUSE_MS));
}

void soc_callers_join(struct soc_callers *callers, struct soc_host *host)
{
    bool is_same = callers->host == host;
    callers->host = host;
    if (is_same)
        return;
    soc_ears_join(callers->ears, host);
    free_errands(callers);
    for (uint32_t i = 0; i < callers->count; i++) {
        callers->list[i].waiting = NULL;
        plan_soon(&callers->list[i]);
    }
}

void soc_callers_part(struct soc_callers *callers)
{
    soc_ears_part(callers->ears);
    callers->host = NULL;
}

int64_t soc_callers_due(const struct soc_callers *callers)
{
    const struct soc_heap_item *item = soc_heap_peek(&callers->acts);
    return item == NULL || callers->fault[0] != '\0' ? 0 : item->due_ms;
}

static void unlink_errand(struct errand *errand)
{
    struct errand **place = &errand->caller->callers->errands;
    while (*place != errand)
        place = &(*place)->next;
    *place = errand->next;
}

static void go_on(struct caller *caller)
{
    caller->current++;
    plan_soon(caller);
}

/* Checks the reply in an answer, if there is one, against the first one. */
static void compare_replies(struct caller *caller, struct deed *deed, struct soc_slice reply)
{
    if (reply.data == NULL)
        return;
    if (deed->reply.length == 0)
        soc_buf_put_slice(&deed->reply, reply);
    else if (!soc_slice_equal(reply, soc_buf_slice(&deed->reply)))
        complain(caller->callers, "order %lld of caller %s has another reply than before: %.*s",
                 (long long)deed->number, caller->name, (int)reply.length, reply.data);
}

/* Checks the answer to an order against the first one under its key. */
static void compare(struct caller *caller, struct deed *deed, struct soc_slice answer)
{
    struct soc_json_walk walk;
    struct soc_slice object = answer;
    soc_json_walk(&walk, answer);
    if (answer.data[0] == '[' && soc_json_next(&walk))
        object = walk.value;
    struct soc_slice id = soc_json_plain_string(soc_json_member(object, "messageId"));
    bool has_id = id.length == sizeof(deed->message_id);
    if (!deed->is_answered) {
        soc_buf_put_slice(&deed->answer, answer);
        if (has_id)
            memcpy(deed->message_id, id.data, id.length);
    } else if (has_id && memcmp(deed->message_id, id.data, id.length) != 0) {
        complain(caller->callers, "order %lld of caller %s has two messages, %.*s and %.*s",
                 (long long)deed->number, caller->name, SOC_MESSAGE_ID_BYTES, deed->message_id,
                 (int)id.length, id.data);
    } else if (deed->wait_ms == 0 && !soc_slice_equal(answer, soc_buf_slice(&deed->answer))) {
        complain(caller->callers, "order %lld of caller %s was answered differently: %.*s",
                 (long long)deed->number, caller->name, (int)answer.length, answer.data);
    }
    compare_replies(caller, deed, soc_json_member(object, "reply"));
    deed->is_answered = true;
    deed->asks++;
    deed->tries = 0;
}

/* The society says that the deed was done. */
static void take_success(struct errand *errand, struct soc_slice answer)
{
    struct caller *caller = errand->caller;
    struct soc_callers *callers = caller->callers;
    struct deed *deed = errand->deed;
    if (errand->is_full)
        complain(callers, "order %lld of caller %s was done while the disk was full",
                 (long long)deed->number, caller->name);
    if (errand->is_other) {
        complain(callers, "another order was done under key %lld of caller %s",
                 (long long)deed->number, caller->name);
        return;
    }
    if (deed->kind == DECIDE) {
        struct deed *first = soc_map_find(&callers->decided, soc_slice_text(deed->item_id));
        if (first != NULL && (first != deed || !deed->is_keyed))
            complain(callers, "%s was decided twice", deed->item_id);
        soc_map_put(&callers->decided, soc_slice_text(deed->item_id), deed);
    }
    compare(caller, deed, answer);
    if (deed->asks < ASKS_MAX && draw(callers, 3) == 0)
        plan_soon(caller); /* asks again */
    else
        go_on(caller);
}

static bool is_code(struct soc_slice error, const char *code)
{
    return soc_slice_equal(soc_json_plain_string(soc_json_member(error, "error")),
                           soc_slice_text(code));
}

/* The disk is full, so nothing was done. It asks again, or gives up. */
static void take_refusal(struct errand *errand)
{
    struct caller *caller = errand->caller;
    struct deed *deed = errand->deed;
    bool is_looking = deed->wait_ms > 0 && deed->chances > 1; /* for the reply to what was sent */
    if (!errand->is_full && !is_looking)
        complain(caller->callers, "order %lld of caller %s was refused, and the disk was not full",
                 (long long)deed->number, caller->name);
    if (!errand->is_other)
        deed->chances--;
    if (++deed->tries > TRIES_MAX || draw(caller->callers, GIVES_UP_IN) == 0)
        go_on(caller);
    else
        plan_soon(caller);
}

static void take_error(struct errand *errand, struct soc_slice error)
{
    struct caller *caller = errand->caller;
    struct deed *deed = errand->deed;
    if (is_code(error, "storage_full")) {
        take_refusal(errand);
        return;
    }
    if (errand->is_full)
        complain(caller->callers, "order %lld of caller %s was taken while the disk was full",
                 (long long)deed->number, caller->name);
    if (is_code(error, "key_reused") != errand->is_other &&
        (is_code(error, "key_reused") || deed->is_answered)) {
        complain(caller->callers, "order %lld of caller %s: %.*s", (long long)deed->number,
                 caller->name, (int)error.length, error.data);
    } else if (is_code(error, "timeout") && soc_json_member(error, "messageId").data != NULL) {
        take_success(errand, error); /* it was sent, and no reply came */
    } else if (deed->kind == DECIDE) {
        go_on(caller); /* somebody else was faster, or the item was lost or withdrawn */
    } else if (errand->is_other) {
        go_on(caller);
    } else if (++deed->tries > TRIES_MAX) {
        go_on(caller);
    } else {
        plan_soon(caller);
    }
}

static void take_answer(struct soc_call *call, bool is_error, struct soc_slice answer)
{
    struct errand *errand = (struct errand *)call;
    bool is_awaited = errand->caller->waiting == errand;
    unlink_errand(errand);
    if (is_awaited) {
        errand->caller->waiting = NULL;
        if (is_error)
            take_error(errand, answer);
        else
            take_success(errand, answer);
    }
    free_errand(errand);
}

/* A page of the activity log that a caller follows. */
struct page {
    struct soc_call call; /* first: take_page casts back */
    struct caller *caller;
};

/* Hashes the lines of a list onto those before, up to `last` (0: all). False: one is missing,
 * or there twice. */
static bool hash_lines(struct soc_slice rows, uint64_t last, uint64_t *line, uint64_t *hash)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, rows);
    while ((last == 0 || *line < last) && soc_json_next(&walk)) {
        int64_t number = 0;
        soc_json_integer(soc_json_member(walk.value, "line"), &number);
        if ((uint64_t)number != *line + 1)
            return false;
        *line = (uint64_t)number;
        *hash = soc_hash(walk.value.data, walk.value.length, *hash);
    }
    return true;
}

static void take_page(struct soc_call *call, bool is_error, struct soc_slice answer)
{
    struct page *page = (struct page *)call;
    struct caller *caller = page->caller;
    if (!is_error && !hash_lines(answer, 0, &caller->line, &caller->hash))
        complain(caller->callers, "the stream of caller %s has a gap or a double after line %llu",
                 caller->name, (unsigned long long)caller->line);
}

/* Follows the activity log by one page. There is no thread, so the answer comes at once. */
static void follow(struct caller *caller)
{
    struct soc_callers *callers = caller->callers;
    struct soc_operations society = {.host = callers->host};
    struct soc_caller as = {.name = soc_slice_text(caller->name), .scopes = SOC_SCOPE_READ};
    struct page page = {.call = {.answer = take_page}, .caller = caller};
    struct soc_buf params = {0};
    soc_buf_printf(&params, "{\"after\":%llu,\"limit\":%d}", (unsigned long long)caller->line,
                   PAGE_LINES);
    soc_operation_do(&society, soc_catalogue_find(soc_part_table, SOC_SLICE("activity")), &as,
                     &page.call, soc_buf_slice(&params));
    soc_call_fini(&page.call);
    soc_buf_fini(&params);
}

/* Chooses an open item; false if there is none. */
static bool choose_item(struct soc_callers *callers, struct deed *deed)
{
    struct soc_buf list = {0};
    struct soc_json_walk walk;
    size_t count = soc_human_count(callers->host);
    int64_t chosen = count == 0 ? 0 : draw(callers, (int64_t)count);
    soc_human_look(callers->host, NULL, &list);
    soc_json_walk(&walk, soc_buf_slice(&list));
    while (count > 0 && soc_json_next(&walk)) {
        struct soc_slice id = soc_json_plain_string(soc_json_member(walk.value, "id"));
        if (chosen-- == 0 && id.length == SOC_ITEM_ID_BYTES)
            memcpy(deed->item_id, id.data, id.length);
    }
    soc_buf_fini(&list);
    return deed->item_id[0] != '\0';
}

static void put_params(const struct caller *caller, const struct deed *deed, bool is_other,
                       struct soc_buf *out)
{
    if (deed->kind == DECIDE) {
        soc_buf_printf(out, "{\"item_id\":\"%s\",\"decision\":\"%s\"}", deed->item_id,
                       is_other ? "reject" : "approve");
        return;
    }
    soc_buf_printf(out,
                   "{%s\"payload\":{\"caller\":\"%s\",\"number\":%lld,\"once\":\"%s/%lld\","
                   "\"text\":\"%s\"}",
                   deed->kind == SEND ? "\"to\":\"root\"," : "", caller->name,
                   (long long)deed->number, caller->name, (long long)deed->number,
                   is_other ? "something else" : "please");
    if (deed->wait_ms > 0)
        soc_buf_printf(out, ",\"wait_ms\":%lld", (long long)deed->wait_ms);
    soc_buf_put_byte(out, '}');
}

static void ask(struct caller *caller, struct deed *deed)
{
    static const char *const names[] = {"send", "intake", "decide"};
    struct soc_callers *callers = caller->callers;
    struct errand *errand = soc_alloc_zero(sizeof(*errand));
    struct soc_operations society = {.host = callers->host};
    struct soc_buf params = {0};
    char key[24];
    struct soc_caller as = {.name = soc_slice_text(caller->name),
                            .scopes = SOC_SCOPE_WRITE | SOC_SCOPE_DECIDE};
    errand->caller = caller;
    errand->deed = deed;
    errand->call.answer = take_answer;
    errand->is_other = deed->is_keyed && deed->is_answered && draw(callers, 4) == 0;
    errand->is_full = soc_host_is_full(callers->host);
    errand->next = callers->errands;
    callers->errands = errand;
    deed->chances += errand->is_other ? 0 : 1;
    caller->waiting = errand;
    put_params(caller, deed, errand->is_other, &params);
    snprintf(key, sizeof(key), "%lld", (long long)deed->number);
    if (deed->is_keyed)
        as.key = soc_slice_text(key);
    plan(caller, draw(callers, 3) == 0 ? draw(callers, HURRY_MS) : PATIENCE_MS);
    soc_operation_do(&society,
                     soc_catalogue_find(soc_part_table, soc_slice_text(names[deed->kind])), &as,
                     &errand->call, soc_buf_slice(&params));
    soc_buf_fini(&params);
}

/* Tells whether the next caller acts now. Time stands still while the disk is full, so some do
 * before they are due: or else nobody would ask then. */
static bool is_time(struct soc_callers *callers, const struct soc_heap_item *item)
{
    if (item == NULL || callers->fault[0] != '\0')
        return false;
    return item->due_ms <= soc_host_now(callers->host) ||
           (soc_host_is_full(callers->host) && draw(callers, HURRIES_IN) == 0);
}

bool soc_callers_act(struct soc_callers *callers)
{
    struct soc_heap_item *item = soc_heap_peek(&callers->acts);
    if (!is_time(callers, item))
        return false;
    struct caller *caller = (struct caller *)(void *)item; /* its first member */
    struct deed *deed = &caller->deeds[caller->current];
    soc_ears_act(callers->ears, (uint32_t)(caller - callers->list));
    if (draw(callers, 3) == 0)
        follow(caller);
    if (caller->waiting != NULL) { /* it leaves, and asks again */
        soc_call_drop(&caller->waiting->call);
        caller->waiting = NULL;
        plan_soon(caller);
    } else if (deed->kind == DECIDE && deed->item_id[0] == '\0' && !choose_item(callers, deed)) {
        if (++deed->tries > TRIES_MAX)
            go_on(caller);
        else
            plan_soon(caller);
    } else {
        ask(caller, deed);
    }
    return true;
}

/* Notes a message that a caller has sent. */
static void note_message(struct soc_callers *callers, struct soc_slice row)
{
    struct soc_slice payload = soc_json_member(row, "payload");
    struct soc_slice name = {0};
    int64_t number = 0;
    if (soc_json_kind(payload) == SOC_JSON_OBJECT) {
        name = soc_json_plain_string(soc_json_member(payload, "caller"));
        soc_json_integer(soc_json_member(payload, "number"), &number);
    }
    for (uint32_t i = 0; name.data != NULL && i < callers->count; i++) {
        struct caller *caller = &callers->list[i];
        if (!soc_slice_equal(name, soc_slice_text(caller->name)) || number < 1 ||
            number > caller->count)
            continue;
        struct deed *deed = &caller->deeds[number - 1];
        struct soc_slice id = soc_json_plain_string(soc_json_member(row, "id"));
        if (++deed->found > 1)
            complain(callers, "order %lld of caller %s was carried out twice", (long long)number,
                     caller->name);
        else if (deed->chances == 0)
            complain(callers, "order %lld of caller %s was refused and is carried out",
                     (long long)number, caller->name);
        else if (deed->is_answered &&
                 !soc_slice_equal(id, soc_slice(deed->message_id, sizeof(deed->message_id))))
            complain(callers, "order %lld of caller %s was answered with the id of another message",
                     (long long)number, caller->name);
    }
}

static void take_messages(int rc, struct soc_slice rows, void *user)
{
    struct soc_callers *callers = user;
    struct soc_json_walk walk;
    if (rc < 0)
        return;
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "from")),
                            SOC_SLICE("user")))
            note_message(callers, walk.value);
    for (uint32_t i = 0; i < callers->count; i++)
        for (uint32_t k = 0; k < callers->list[i].count; k++) {
            const struct deed *deed = &callers->list[i].deeds[k];
            if (deed->kind != DECIDE && deed->is_answered && deed->found == 0)
                complain(callers, "order %lld of caller %s was answered and is lost",
                         (long long)deed->number, callers->list[i].name);
        }
}

static void take_items(int rc, struct soc_slice rows, void *user)
{
    struct soc_callers *callers = user;
    struct soc_json_walk walk;
    if (rc < 0)
        return;
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk)) {
        struct soc_slice id = soc_json_plain_string(soc_json_member(walk.value, "id"));
        struct soc_slice decision = soc_json_plain_string(soc_json_member(walk.value, "decision"));
        if (soc_map_take(&callers->decided, id) != NULL &&
            !soc_slice_equal(decision, SOC_SLICE("approve")))
            complain(callers, "%.*s was decided, and is not", (int)id.length, id.data);
    }
    if (callers->decided.count > 0)
        complain(callers, "an item that was decided is lost");
}

/* Compares what each caller has read of the log with the log. */
static void take_lines(int rc, struct soc_slice rows, void *user)
{
    struct soc_callers *callers = user;
    for (uint32_t i = 0; rc >= 0 && i < callers->count; i++) {
        const struct caller *caller = &callers->list[i];
        uint64_t line = 0;
        uint64_t hash = 0;
        if (caller->line > 0 && (!hash_lines(rows, caller->line, &line, &hash) ||
                                 line != caller->line || hash != caller->hash))
            complain(callers, "caller %s has read lines that are not in the log", caller->name);
    }
    if (rc >= 0)
        soc_ears_compare(callers->ears, rows);
}

void soc_callers_end(struct soc_callers *callers)
{
    struct soc_query lines = {.what = "activity"};
    struct soc_query messages = {.what = "messages", .agent = SOC_SLICE("user")};
    struct soc_query items = {.what = "inbox", .state = SOC_SLICE("all")};
    soc_ears_end(callers->ears);
    soc_look_query(callers->host, &messages, take_messages, callers);
    soc_look_query(callers->host, &items, take_items, callers);
    soc_look_query(callers->host, &lines, take_lines, callers);
}

const char *soc_callers_fault(const struct soc_callers *callers)
{
    return callers->fault[0] == '\0' ? soc_ears_fault(callers->ears) : callers->fault;
}
