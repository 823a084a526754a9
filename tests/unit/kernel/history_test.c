/* Random histories of send, ack, crash, expire, redeliver, drop and cancel: after each
 * step every message stands where a simple model says, the law of messages holds, and
 * each receiver gets what each sender sent in order.
 *
 * HISTORIES=N runs N of them, HISTORY_SEED=N starts with that seed. A history that fails is
 * made as short as it can be before it is shown. */
#include <stddef.h>

#include "env/ids.h"
#include "env/rng.h"
#include "host_world.h"
#include "kernel/mail/dead.h"
#include "kernel/state.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "parts/outside/outside.h"

#define HISTORIES    10000
#define STEPS_MAX    28
#define MESSAGES_MAX (STEPS_MAX + 1)
#define KEYS_MAX     1000

enum op_kind { SEND, ACK, ADVANCE, SYNC, FLUSH, CRASH, REDELIVER, DROP, HEARTBEAT, ABORT };

static const char *const op_names[] = {"send",  "ack",       "advance", "sync",      "flush",
                                       "crash", "redeliver", "drop",    "heartbeat", "abort"};

/* One step; what its numbers mean depends on what there is. */
struct op {
    enum op_kind kind;
    uint32_t a;
    uint32_t b;
};

enum receiver { OUT_1, OUT_2, INSIDE, RECEIVERS };

static const char *const receiver_ids[] = {"out1", "out2", "in1"};

/* What the model knows of a message. */
struct mail {
    uint64_t key;
    int64_t sent_ms;
    int64_t due_ms;
    int64_t expires_ms; /* 0: never */
    enum soc_outcome outcome;
    uint8_t from; /* 0 root, 1 user */
    uint8_t to;
    uint8_t priority;
    uint8_t dedupe;   /* 0: none */
    uint16_t attempt; /* at least; more if it was handed out again */
    bool needs_ack;
    bool fails; /* at its first attempt, inside */
    bool is_task;
    bool is_received;
    bool is_again; /* sent again: it has lost its place */
};

/* The last one handled, of one sender to one receiver at one priority. */
struct place {
    int64_t due_ms;
    uint64_t key;
};

struct model {
    struct mail mails[MESSAGES_MAX];
    size_t count;
    struct place inside[2][SOC_PRIORITY_COUNT];
};

struct history {
    struct world world; /* first: hooks get it */
    struct model now;
    struct model durable;
    bool was_out[KEYS_MAX];      /* what the world outside has seen stays seen */
    uint16_t attempts[KEYS_MAX]; /* as it was last handed out */
    struct place outside[2][2][SOC_PRIORITY_COUNT];
    const char *fault; /* the first thing that went wrong */
};

static void check(struct history *h, bool is_right, const char *fault)
{
    if (!is_right && h->fault == NULL)
        h->fault = fault;
}

static int64_t now_of(struct history *h)
{
    return soc_clock_now(soc_host_clock(h->world.host));
}

static struct mail *find(struct history *h, uint64_t key)
{
    for (size_t i = 0; i < h->now.count; i++)
        if (h->now.mails[i].key == key)
            return &h->now.mails[i];
    return NULL;
}

/* The next of its sender, receiver and priority must have become due later. */
static void check_order(struct history *h, struct place *last, const struct mail *mail)
{
    if (mail->is_again)
        return;
    check(h, mail->due_ms > last->due_ms || (mail->due_ms == last->due_ms && mail->key > last->key),
          "order");
    *last = (struct place){mail->due_ms, mail->key};
}

static bool take_out(void *user, const struct soc_handout *handout)
{
    struct history *h = user;
    const struct soc_message *message = handout->message;
    struct mail *mail = find(h, message->key);
    check(h, mail != NULL && message->key < KEYS_MAX, "something unknown was handed out");
    if (h->fault != NULL)
        return true;
    check(h, mail->outcome == SOC_OUTCOME_PENDING, "handed out and not pending");
    check(h, !mail->is_received, "handed out after an ack");
    check(h, mail->due_ms <= now_of(h), "handed out before it was due");
    check(h, mail->expires_ms == 0 || mail->expires_ms > now_of(h), "handed out too late");
    check(h, message->attempt >= h->attempts[mail->key], "attempts went back");
    check(h, message->attempt >= mail->attempt, "the attempt was not raised");
    h->attempts[mail->key] = message->attempt;
    if (!h->was_out[mail->key])
        check_order(h, &h->outside[mail->to][mail->from][mail->priority], mail);
    h->was_out[mail->key] = true;
    if (!mail->needs_ack)
        mail->outcome = SOC_OUTCOME_PROCESSED;
    return true;
}

/* Everybody inside. Root and user get alerts and results, which are not in the model. */
static enum soc_turn_end handle(struct world *world, struct soc_activation *activation,
                                struct soc_buf *error)
{
    struct history *h = (struct history *)world;
    const struct soc_message *message = activation->message;
    struct mail *mail = message->from == NULL ? NULL : find(h, message->key);
    if (mail == NULL)
        return SOC_TURN_DONE;
    check(h, mail->outcome == SOC_OUTCOME_PENDING, "handled and not pending");
    check(h, mail->due_ms <= now_of(h), "handled before it was due");
    check(h, mail->expires_ms == 0 || mail->expires_ms > now_of(h), "handled too late");
    check(h, message->attempt == mail->attempt, "another attempt");
    check_order(h, &h->now.inside[mail->from][mail->priority], mail);
    bool has_failed = mail->fails && message->attempt == 1;
    mail->outcome = has_failed ? SOC_OUTCOME_DEAD : SOC_OUTCOME_PROCESSED;
    if (has_failed)
        soc_buf_put_text(error, "{\"error\":\"boom\"}");
    return has_failed ? SOC_TURN_BROKEN : SOC_TURN_DONE;
}

static void open_door(struct history *h)
{
    struct soc_door door = {.user = h, .deliver = take_out};
    soc_outside_open(h->world.host, &door);
}

static void begin(struct history *h)
{
    struct soc_buf error = {0};
    *h = (struct history){.world = {.worker = handle}};
    h->world.store = soc_memory_open(NULL);
    world_start(&h->world);
    struct soc_host *host = h->world.host;
    soc_agents_set_runnable(host, soc_registry_find_role(host, SOC_SLICE("root")));
    soc_turn_begin(host, host->registry.root, NULL);
    for (int i = 0; i < RECEIVERS; i++) {
        struct soc_agent *child;
        struct soc_spawn spawn = {
            .role = SOC_SLICE("worker"),
            .id = soc_slice_text(receiver_ids[i]),
            .is_external = i != INSIDE,
        };
        CHECK_INT(soc_agents_spawn(host, &spawn, &child, &error), SOC_OK);
    }
    soc_commit_turn(host);
    soc_batch_seal(host);
    open_door(h);
    soc_buf_fini(&error);
}

/* The rule of time: what was not received in time has expired, due or not. */
static void expire(struct history *h)
{
    for (size_t i = 0; i < h->now.count; i++) {
        struct mail *mail = &h->now.mails[i];
        if (mail->outcome == SOC_OUTCOME_PENDING && !mail->is_received && mail->expires_ms != 0 &&
            mail->expires_ms <= now_of(h))
            mail->outcome = SOC_OUTCOME_EXPIRED;
    }
}

/* Lets all happen that can at this time, and makes it durable. */
static void sync(struct history *h)
{
    struct soc_host *host = h->world.host;
    expire(h);
    do {
        soc_host_tick(host);
        soc_batch_seal(host);
    } while (host->ready.count > 0 || host->batch.length > 0);
    h->durable = h->now;
}

static void advance(struct history *h, uint32_t choice)
{
    static const int64_t times[] = {1, 500, 1000, 2000, 5000, 7000, 12000, 19000};
    struct soc_host *host = h->world.host;
    int64_t until_ms = now_of(h) + times[choice % 8];
    for (sync(h); soc_host_next_due(host) != 0 && soc_host_next_due(host) <= until_ms; sync(h))
        soc_clock_move(soc_host_clock(host), soc_host_next_due(host));
    soc_clock_move(soc_host_clock(host), until_ms);
    sync(h);
}

/* Time passes while nobody runs. */
static void crash(struct history *h, bool is_folded, int64_t down_ms)
{
    h->world.now_ms = now_of(h) + down_ms;
    world_restart(&h->world, is_folded);
    struct soc_host *host = h->world.host;
    soc_agents_set_runnable(host, soc_registry_find_role(host, SOC_SLICE("root")));
    h->now = h->durable;
    open_door(h);
}

/* The message that was sent first by this sender under that key, or NULL. */
static struct mail *find_duplicate(struct history *h, int from, int dedupe)
{
    for (size_t i = 0; dedupe != 0 && i < h->now.count; i++)
        if (h->now.mails[i].from == from && h->now.mails[i].dedupe == dedupe)
            return &h->now.mails[i];
    return NULL;
}

static uint64_t key_in(const struct soc_buf *receipt)
{
    uint64_t key = 0;
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_buf_slice(receipt));
    soc_json_next(&walk);
    soc_message_id_parse(soc_json_plain_string(soc_json_member(walk.value, "messageId")), &key);
    return key;
}

/* Sends `mail`, which is complete but for its key, and adds it to the model. */
static void send_mail(struct history *h, struct mail mail, const char *type, const char *task_id,
                      int64_t ttl_ms)
{
    struct soc_host *host = h->world.host;
    char dedupe[2] = {(char)('0' + mail.dedupe), '\0'};
    struct soc_buf answer = {0};
    struct soc_send send = {
        .to = soc_slice_text(receiver_ids[mail.to]),
        .type = soc_slice_text(type),
        .payload = SOC_SLICE("{}"),
        .priority = mail.priority,
        .has_priority = true,
        .requires_ack = mail.needs_ack,
        .has_requires_ack = true,
        .is_formal = true,
        .ttl_ms = ttl_ms,
        .deliver_at_ms = mail.due_ms,
    };
    if (mail.dedupe != 0)
        send.texts[SOC_TEXT_DEDUPE_KEY] = soc_slice_text(dedupe);
    if (task_id != NULL)
        send.texts[SOC_TEXT_TASK_ID] = soc_slice_text(task_id);
    const struct mail *first = find_duplicate(h, mail.from, mail.dedupe);
    check(h,
          soc_gate_send_as(host, mail.from == 0 ? host->registry.root : host->registry.user, &send,
                           &answer) == SOC_OK,
          "a send was refused");
    mail.key = key_in(&answer);
    mail.sent_ms = now_of(h);
    mail.attempt = 1;
    if (first != NULL)
        check(h, mail.key == first->key, "a duplicate has another id");
    else
        h->now.mails[h->now.count++] = mail;
    soc_buf_fini(&answer);
}

static void send(struct history *h, uint32_t a, uint32_t b)
{
    char task_id[16];
    struct mail mail = {
        .from = a % 2,
        .to = (uint8_t)(a / 2 % RECEIVERS),
        .priority = (uint8_t)(a / 6 % 8 < 4 ? SOC_PRIORITY_NORMAL : a / 6 % 4),
        .needs_ack = a / 48 % 4 != 0,
        .fails = a / 192 % 4 == 0,
        .is_task = a / 768 % 4 == 0 && a % 2 == 0,
        .dedupe = (uint8_t)(b % 8 < 5 ? 0 : b % 8 - 4),
        .due_ms = now_of(h) + (b / 8 % 4 == 0 ? 1000 * (b / 32 % 4) : 0),
    };
    int64_t ttl_ms = b / 128 % 3 == 0 ? 1000 * (1 + b / 384 % 8) : 0;
    mail.expires_ms = ttl_ms == 0 ? 0 : now_of(h) + ttl_ms;
    mail.needs_ack &= mail.to != INSIDE;
    snprintf(task_id, sizeof(task_id), "t%zu", h->now.count);
    send_mail(h, mail, mail.is_task ? "task_assign" : "note", mail.is_task ? task_id : NULL,
              ttl_ms);
}

/* The root takes a task back, by a message that is one itself. */
static void abort_task(struct history *h, uint32_t a)
{
    char task_id[16];
    if (h->now.count == 0)
        return;
    size_t number = a % h->now.count;
    struct mail *task = &h->now.mails[number];
    if (!task->is_task)
        return;
    struct mail mail = {.to = task->to, .priority = SOC_PRIORITY_NORMAL, .due_ms = now_of(h)};
    snprintf(task_id, sizeof(task_id), "t%zu", number);
    if (task->outcome == SOC_OUTCOME_PENDING)
        task->outcome = SOC_OUTCOME_CANCELLED;
    send_mail(h, mail, "abort", task_id, 0);
}

static void acknowledge(struct history *h, uint32_t a, uint32_t b)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf error = {0};
    if (h->now.count == 0)
        return;
    struct mail *mail = &h->now.mails[a % h->now.count];
    if (mail->to == INSIDE || !h->was_out[mail->key])
        return;
    struct soc_host *host = h->world.host;
    struct soc_agent *agent = soc_outside_find(host, soc_slice_text(receiver_ids[mail->to]));
    enum soc_ack ack = b % 2 == 0 ? SOC_ACK_RECEIVED : SOC_ACK_PROCESSED;
    soc_message_id_format(id, mail->sent_ms, mail->key);
    int rc = soc_outside_ack(host, agent, soc_slice(id, sizeof(id)), ack, (struct soc_position){0},
                             &error);
    bool is_old = mail->outcome != SOC_OUTCOME_PENDING; /* it may be forgotten by a crash */
    check(h, rc == SOC_OK || (is_old && rc == SOC_ACK_IS_UNKNOWN), "an ack was refused");
    if (mail->outcome == SOC_OUTCOME_PENDING && ack == SOC_ACK_PROCESSED)
        mail->outcome = SOC_OUTCOME_PROCESSED;
    else if (mail->outcome == SOC_OUTCOME_PENDING)
        mail->is_received = true;
    soc_buf_fini(&error);
}

static void change_dead(struct history *h, uint32_t a, bool is_drop)
{
    char text[SOC_MESSAGE_ID_BYTES];
    if (h->now.count == 0)
        return;
    struct mail *mail = &h->now.mails[a % h->now.count];
    soc_message_id_format(text, mail->sent_ms, mail->key);
    h->durable = h->now; /* the store is asked behind everything so far */
    struct soc_slice id = soc_slice(text, sizeof(text));
    bool is_dead = mail->outcome == SOC_OUTCOME_DEAD || mail->outcome == SOC_OUTCOME_EXPIRED;
    int rc = world_change_dead(&h->world, id, is_drop);
    check(h, rc == (is_dead ? SOC_OK : SOC_ENOMESSAGE), "a dead letter is or is not one");
    if (is_dead) {
        mail->outcome = is_drop ? SOC_OUTCOME_DROPPED : SOC_OUTCOME_PENDING;
        mail->expires_ms = 0;
        mail->due_ms = now_of(h);
        mail->is_received = false;
        mail->is_again = true;
        mail->attempt += !is_drop;
    }
}

static void hear(struct history *h, uint32_t a)
{
    struct soc_slice id = soc_slice_text(receiver_ids[a % 2]);
    soc_outside_hear(h->world.host, soc_outside_find(h->world.host, id));
}

static void step(struct history *h, const struct op *op)
{
    switch (op->kind) {
    case SEND:
        return send(h, op->a, op->b);
    case ACK:
        return acknowledge(h, op->a, op->b);
    case ADVANCE:
        return advance(h, op->a);
    case SYNC:
        return sync(h);
    case FLUSH: /* what is let out by it is not durable itself */
        h->durable = h->now;
        soc_batch_seal(h->world.host);
        return;
    case CRASH:
        return crash(h, op->a % 2 == 0, op->b % 4 * 1000);
    case REDELIVER:
    case DROP:
        return change_dead(h, op->a, op->kind == DROP);
    case HEARTBEAT:
        return hear(h, op->a);
    case ABORT:
        return abort_task(h, op->a);
    }
}

/* Where the messages really are. */
struct found {
    bool is_pending[KEYS_MAX];
    size_t pending;
};

static void note_pending(struct found *found, const struct soc_message *message)
{
    if (message->key < KEYS_MAX)
        found->is_pending[message->key] = true;
    found->pending++;
}

static void look(struct soc_host *host, struct found *found)
{
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        for (int p = 0; p < SOC_PRIORITY_COUNT; p++)
            for (struct soc_message *m = agent->mailbox.classes[p].first; m != NULL; m = m->next)
                note_pending(found, m);
        if (agent->activation != NULL && agent->activation->message != NULL)
            note_pending(found, agent->activation->message);
    }
    for (size_t i = 0; i < host->timers.count; i++) {
        struct soc_heap_item *item = host->timers.items[i];
        struct soc_message *m = (void *)((char *)item - offsetof(struct soc_message, timer));
        if (item->kind == SOC_TIMER_MESSAGE && !m->is_queued)
            note_pending(found, m);
    }
}

static void check_mail(struct history *h, const struct mail *mail, const struct found *found)
{
    check(h, found->is_pending[mail->key] == (mail->outcome == SOC_OUTCOME_PENDING),
          "pending here and not there");
}

/* The store has the dead letters of the model and no others. */
static void check_letters(struct history *h)
{
    struct soc_buf letters = {0};
    struct soc_json_walk walk;
    size_t count = 0;
    world_dead_letters(&h->world, &letters);
    soc_json_walk(&walk, soc_buf_slice(&letters));
    for (; h->fault == NULL && soc_json_next(&walk); count++) {
        uint64_t key = 0;
        struct soc_slice status = soc_json_plain_string(soc_json_member(walk.value, "status"));
        soc_message_id_parse(soc_json_plain_string(soc_json_member(walk.value, "id")), &key);
        const struct mail *mail = find(h, key);
        bool is_expired = soc_slice_equal(status, SOC_SLICE("expired"));
        check(h,
              mail != NULL &&
                  mail->outcome == (is_expired ? SOC_OUTCOME_EXPIRED : SOC_OUTCOME_DEAD),
              "dead there and not here");
    }
    for (size_t i = 0; i < h->now.count; i++)
        count -= h->now.mails[i].outcome == SOC_OUTCOME_DEAD ||
                 h->now.mails[i].outcome == SOC_OUTCOME_EXPIRED;
    check(h, h->fault != NULL || count == 0, "dead here and not there");
    soc_buf_fini(&letters);
}

/* sent = processed + pending + expired + dead + dropped + cancelled. What is not in the
 * model (alerts, results) is processed or pending. */
static void check_law(struct history *h)
{
    const struct soc_totals *totals = &h->world.host->totals;
    struct found found = {0};
    uint64_t counts[6] = {0};
    uint64_t sum = 0;
    look(h->world.host, &found);
    for (size_t i = 0; i < h->now.count; i++) {
        check_mail(h, &h->now.mails[i], &found);
        counts[h->now.mails[i].outcome]++;
    }
    for (int i = SOC_OUTCOME_PROCESSED; i <= SOC_OUTCOME_CANCELLED; i++)
        sum += totals->outcome[i];
    check(h, totals->sent == sum + found.pending, "the law");
    for (int i = SOC_OUTCOME_EXPIRED; i <= SOC_OUTCOME_CANCELLED; i++)
        check(h, totals->outcome[i] == counts[i], "a counter");
    check(h,
          totals->outcome[SOC_OUTCOME_PROCESSED] + found.pending ==
              counts[SOC_OUTCOME_PROCESSED] + counts[SOC_OUTCOME_PENDING] + totals->sent -
                  h->now.count,
          "processed and pending");
}

/* Runs a history; the fault it ends with, NULL: none. `*length` is cut to where. */
static const char *run(const struct op *ops, size_t *length)
{
    static struct history h; /* large */
    begin(&h);
    for (size_t i = 0; i < *length && h.fault == NULL; i++) {
        step(&h, &ops[i]);
        if (h.fault == NULL)
            check_law(&h);
        if (h.fault != NULL)
            *length = i + 1;
    }
    if (h.fault == NULL)
        check_letters(&h);
    world_close(&h.world);
    return h.fault;
}

static size_t generate(uint64_t seed, struct op ops[STEPS_MAX])
{
    static const enum op_kind kinds[] = {
        SEND, SEND,  SEND,  SEND,    SEND,    SEND,      ACK,       ACK,  ACK,   ACK,
        SYNC, FLUSH, CRASH, ADVANCE, ADVANCE, REDELIVER, REDELIVER, DROP, ABORT, HEARTBEAT};
    struct soc_rng rng;
    soc_rng_init(&rng, seed);
    size_t length = 4 + soc_rng_below(&rng, STEPS_MAX - 3);
    for (size_t i = 0; i < length; i++)
        ops[i] = (struct op){
            .kind = kinds[soc_rng_below(&rng, sizeof(kinds) / sizeof(kinds[0]))],
            .a = (uint32_t)soc_rng_below(&rng, 1u << 20),
            .b = (uint32_t)soc_rng_below(&rng, 1u << 20),
        };
    return length;
}

/* Takes steps out as long as it still fails. */
static const char *shrink(struct op *ops, size_t *length)
{
    const char *fault = run(ops, length);
    for (size_t i = 0; i < *length;) {
        struct op shorter[STEPS_MAX];
        size_t count = 0;
        for (size_t k = 0; k < *length; k++)
            if (k != i)
                shorter[count++] = ops[k];
        const char *still = run(shorter, &count);
        if (still == NULL) {
            i++;
            continue;
        }
        fault = still;
        memcpy(ops, shorter, count * sizeof(*ops));
        *length = count;
        i = 0;
    }
    return fault;
}

static void show(uint64_t seed, struct op *ops, size_t length)
{
    const char *fault = shrink(ops, &length);
    printf("# HISTORY_SEED=%llu: %s\n", (unsigned long long)seed, fault);
    for (size_t i = 0; i < length; i++)
        printf("#   %s %u %u\n", op_names[ops[i].kind], ops[i].a, ops[i].b);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void every_history_keeps_the_law_of_messages_and_their_order(void)
{
    uint64_t first = number_from("HISTORY_SEED", 1);
    uint64_t count = number_from("HISTORIES", HISTORIES);
    int failed = 0;
    for (uint64_t seed = first; seed < first + count && failed < 3; seed++) {
        struct op ops[STEPS_MAX];
        size_t length = generate(seed, ops);
        if (run(ops, &length) == NULL)
            continue;
        failed++;
        show(seed, ops, length);
    }
    CHECK_INT(failed, 0);
}

int main(void)
{
    RUN(every_history_keeps_the_law_of_messages_and_their_order);
    return check_done();
}
