#include "parts/hosts/hosts_probe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/transit.h"
#include "kernel/registry.h"
#include "kernel/turns/deadlock.h"
#include "kernel/turns/wait.h"
#include "parts/hosts/hosts_notify.h"
#include "parts/hosts/hosts_ring.h"
#include "parts/hosts/hosts_state.h"

#define FIRST_MS 1000  /* from the beginning of a wait until its first probe */
#define MOST_MS  60000 /* between two of them */
#define SENT_MAX 256   /* probes that leave because of one */

/* A wait for an agent elsewhere. */
struct watch {
    struct soc_heap_item due;
    struct soc_agent *agent; /* lent */
    uint64_t number;         /* of the wait */
    uint32_t tries;          /* probes sent */
};

struct soc_hosts_probes {
    struct soc_map watches; /* address of the agent -> watch, owned */
    struct soc_heap times;  /* of them */
};

struct soc_hosts_probes *soc_hosts_probes_new(void)
{
    return soc_alloc_zero(sizeof(struct soc_hosts_probes));
}

void soc_hosts_probes_free(struct soc_hosts_probes *probes)
{
    struct watch *watch;
    if (probes == NULL)
        return;
    for (size_t cursor = 0; (watch = soc_map_each(&probes->watches, &cursor)) != NULL;)
        free(watch);
    soc_heap_fini(&probes->times);
    soc_map_fini(&probes->watches);
    free(probes);
}

/* ---- the way of a probe ---- */

/* An agent of this host that a probe has reached, and along which wait. */
struct step {
    struct soc_agent *agent;
    size_t from;  /* index of the step that led here */
    size_t edge;  /* which of its targets this is */
    size_t depth; /* 1 for the first */
};

/* A probe on this host. */
struct walk {
    struct soc_host *host;
    struct soc_slice path;   /* waits it has come along, with commas */
    size_t length;           /* how many */
    struct soc_slice origin; /* whose wait it started from … */
    int64_t number;          /* … and the number of that */
    int64_t time_ms;         /* when it started, which distinguishes the probes of one wait */
    struct step *steps;
    size_t count;
    size_t capacity;
    size_t sent;
    bool is_closed; /* it has met the wait it started from */
};

static bool is_new(const struct walk *walk, const struct soc_agent *agent)
{
    const int64_t numbers[] = {walk->number, walk->time_ms};
    struct soc_slice id = soc_agent_id(agent);
    uint64_t hash = soc_hash(walk->origin.data, walk->origin.length, 1);
    hash = soc_hash(numbers, sizeof(numbers), hash);
    return !soc_hosts_has_seen(walk->host, soc_hash(id.data, id.length, hash));
}

static void add_step(struct walk *walk, struct soc_agent *agent, size_t from, size_t edge)
{
    if (walk->count == walk->capacity) {
        walk->capacity = walk->capacity == 0 ? 16 : walk->capacity * 2;
        walk->steps = soc_realloc(walk->steps, walk->capacity * sizeof(*walk->steps));
    }
    size_t depth = walk->count == 0 ? 1 : walk->steps[from].depth + 1;
    walk->steps[walk->count++] = (struct step){agent, from, edge, depth};
}

/* Appends the waits along the whole way that leaves step `at` by its target `edge`. */
static void put_path(const struct walk *walk, size_t at, size_t edge, struct soc_buf *out)
{
    size_t way[SOC_HOSTS_RING_MAX];
    size_t depth = walk->steps[at].depth;
    assert(depth <= SOC_HOSTS_RING_MAX);
    for (size_t i = depth; i > 0; i--) {
        way[i - 1] = at;
        at = walk->steps[at].from;
    }
    soc_buf_put_byte(out, '[');
    soc_buf_put_slice(out, walk->path);
    for (size_t i = 0; i < depth; i++) {
        if (walk->length + i > 0)
            soc_buf_put_byte(out, ',');
        soc_hosts_put_wait(walk->host, walk->steps[way[i]].agent,
                           i + 1 < depth ? walk->steps[way[i + 1]].edge : edge, out);
    }
    soc_buf_put_byte(out, ']');
}

/* Passes the probe on to the host of an agent elsewhere. */
static void pass_on(struct walk *walk, size_t at, size_t edge, const struct soc_agent *proxy)
{
    struct soc_buf payload = {0};
    struct soc_slice local;
    struct soc_slice name;
    uint32_t most = walk->length == 0 ? 0 : SENT_MAX;
    if (walk->sent == SENT_MAX || !soc_id_divide(soc_agent_id(proxy), &local, &name) ||
        !soc_id_is_valid(local) || soc_slice_equal(local, SOC_SLICE("system")) ||
        !soc_hosts_can_notify(walk->host, name, most + (uint32_t)walk->sent))
        return;
    walk->sent++;
    soc_buf_put_byte(&payload, '{');
    soc_json_put_text_member(&payload, "id", local);
    soc_json_put_name(&payload, "time");
    soc_json_put_integer(&payload, walk->time_ms);
    soc_json_put_name(&payload, "path");
    put_path(walk, at, edge, &payload);
    soc_buf_put_byte(&payload, '}');
    soc_hosts_notify(walk->host, name, "host_probe", soc_buf_slice(&payload));
    soc_buf_fini(&payload);
}

static bool is_origin(const struct walk *walk, const struct soc_agent *agent)
{
    return soc_wait_target(walk->host, agent, 0) != NULL &&
           agent->activation->wait.number == (uint64_t)walk->number &&
           soc_hosts_ring_names(walk->host, walk->origin, agent);
}

/* The probe has met the wait it started from, as target `edge` of step `at`. */
static void close_ring(struct walk *walk, size_t at, size_t edge)
{
    struct soc_buf cycle = {0};
    walk->is_closed = true;
    put_path(walk, at, edge, &cycle);
    soc_hosts_confirm_ring(walk->host, soc_buf_slice(&cycle), true);
    soc_buf_fini(&cycle);
}

static void follow(struct walk *walk, size_t at, size_t edge, struct soc_agent *target)
{
    if (target->is_remote)
        pass_on(walk, at, edge, target);
    else if (is_origin(walk, target))
        close_ring(walk, at, edge);
    else if (walk->length + walk->steps[at].depth < SOC_HOSTS_RING_MAX &&
             soc_deadlock_target(walk->host, target, 0) != NULL && is_new(walk, target))
        add_step(walk, target, at, edge);
}

/* Goes on from an agent of this host along all waits. */
static void walk_from(struct walk *walk, struct soc_agent *agent)
{
    if (soc_deadlock_target(walk->host, agent, 0) == NULL || !is_new(walk, agent))
        return;
    add_step(walk, agent, 0, 0);
    for (size_t at = 0; at < walk->count && !walk->is_closed; at++) {
        struct soc_agent *target;
        for (size_t i = 0;
             !walk->is_closed &&
             (target = soc_deadlock_target(walk->host, walk->steps[at].agent, i)) != NULL;
             i++)
            follow(walk, at, i, target);
    }
    free(walk->steps);
}

/* ---- where probes start ---- */

static bool waits_elsewhere(const struct soc_host *host, const struct soc_agent *agent)
{
    const struct soc_agent *target = NULL;
    for (size_t i = 0;
         agent != host->registry.user && (target = soc_wait_target(host, agent, i)) != NULL; i++)
        if (target->is_remote)
            return true;
    return false;
}

static void drop(struct soc_hosts_probes *probes, struct watch *watch)
{
    soc_heap_remove(&probes->times, &watch->due);
    soc_map_take_number(&probes->watches, (uintptr_t)watch->agent);
    free(watch);
}

void soc_hosts_probe_watch(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_hosts *hosts = soc_hosts_state(host);
    struct soc_hosts_probes *probes = hosts->probes;
    if (hosts->peers.count == 0 || !waits_elsewhere(host, agent))
        return;
    const struct soc_wait *wait = &agent->activation->wait;
    struct watch *watch = soc_map_find_number(&probes->watches, (uintptr_t)agent);
    if (watch != NULL && watch->number == wait->number)
        return;
    if (watch != NULL)
        drop(probes, watch);
    watch = soc_alloc_zero(sizeof(*watch));
    watch->agent = agent;
    watch->number = wait->number;
    soc_map_put_number(&probes->watches, (uintptr_t)agent, watch);
    soc_heap_add(&probes->times, &watch->due, wait->since_ms + FIRST_MS);
}

void soc_hosts_probe_forget(struct soc_host *host, const struct soc_activation *activation,
                            struct soc_slice answer)
{
    struct soc_hosts_probes *probes = soc_hosts_state(host)->probes;
    (void)answer;
    if (probes->watches.count == 0)
        return;
    struct watch *watch = soc_map_find_number(&probes->watches, (uintptr_t)activation->agent);
    if (watch != NULL)
        drop(probes, watch);
}

int64_t soc_hosts_probe_due(const struct soc_host *host)
{
    const struct soc_heap_item *item = soc_heap_peek(&soc_hosts_state(host)->probes->times);
    return item == NULL ? 0 : item->due_ms;
}

/* Sends a probe along every wait of the agent that leaves this host. */
static void start_probe(struct soc_host *host, const struct watch *watch)
{
    struct soc_agent *target;
    struct soc_buf origin = {0};
    struct walk walk = {
        .host = host, .number = (int64_t)watch->number, .time_ms = soc_host_now(host)};
    soc_buf_put_slice(&origin, soc_agent_id(watch->agent));
    soc_buf_put_byte(&origin, '@');
    soc_buf_put_text(&origin, host->registry.host_name);
    walk.origin = soc_buf_slice(&origin);
    add_step(&walk, watch->agent, 0, 0);
    for (size_t i = 0; (target = soc_deadlock_target(host, watch->agent, i)) != NULL; i++)
        if (target->is_remote)
            pass_on(&walk, 0, i, target);
    free(walk.steps);
    soc_buf_fini(&origin);
}

void soc_hosts_probe_fire(struct soc_host *host)
{
    struct soc_hosts_probes *probes = soc_hosts_state(host)->probes;
    struct watch *watch = (void *)soc_heap_peek(&probes->times);
    assert(watch != NULL);
    int64_t delay_ms = watch->tries > 5 ? MOST_MS : (int64_t)FIRST_MS << (watch->tries + 1);
    const struct soc_activation *activation = watch->agent->activation;
    if (activation == NULL || activation->wait.number != watch->number ||
        !waits_elsewhere(host, watch->agent)) {
        drop(probes, watch);
        return;
    }
    soc_heap_remove(&probes->times, &watch->due);
    soc_heap_add(&probes->times, &watch->due,
                 soc_host_now(host) + (delay_ms < MOST_MS ? delay_ms : MOST_MS));
    start_probe(host, watch);
    watch->tries++;
}

/* ---- probes of others ---- */

/* The wait along which a probe has come to this host. */
struct edge {
    struct soc_hosts_peer *peer;
    struct soc_agent *waiter; /* a proxy; NULL: none was made yet */
    struct soc_agent *target; /* as the waiter sees it */
    struct soc_slice kind;
    struct soc_slice type; /* awaited; absent: any */
    int64_t question;      /* the key of the message to be answered, on its own host; 0: none */
};

static bool is_kind(const struct edge *edge, const char *kind)
{
    return soc_slice_equal(edge->kind, soc_slice_text(kind));
}

/* Tells whether the message says that the question of the edge was processed. */
static bool is_its_ack(const struct edge *edge, const struct soc_message *message)
{
    uint64_t key;
    struct soc_slice id =
        soc_json_plain_string(soc_json_member(soc_message_payload(message), "message_id"));
    return soc_slice_equal(soc_symbol_slice(message->type), SOC_SLICE("host_ack")) &&
           id.data != NULL && soc_message_id_parse(id, &key) && (int64_t)key == edge->question;
}

/* Tells whether a message to the waiter may answer its question. */
static bool may_answer(struct soc_host *host, const struct edge *edge,
                       const struct soc_message *message)
{
    uint64_t key;
    if (message->from == NULL || is_kind(edge, "task"))
        return true;
    if (message->reply_to == 0)
        return soc_message_text(message, SOC_TEXT_TASK_ID).data != NULL;
    struct soc_slice id = soc_message_text(message, SOC_TEXT_FOREIGN_REPLY);
    if (id.data == NULL)
        id = soc_hosts_asked_id(host, message->reply_to);
    return id.data != NULL && soc_message_id_parse(id, &key) && (int64_t)key == edge->question;
}

/* Tells whether a message that leaves this host may end the wait. */
static bool may_end(struct soc_host *host, const struct edge *edge,
                    const struct soc_message *message)
{
    if (message->to != edge->waiter && !soc_registry_is_all(message->to))
        return is_kind(edge, "ack") && is_its_ack(edge, message);
    if (is_kind(edge, "receive"))
        return message->from == edge->target &&
               (edge->type.data == NULL ||
                soc_slice_equal(edge->type, soc_symbol_slice(message->type)));
    return may_answer(host, edge, message);
}

/* The same of all mail that waits for one proxy of that host. */
static bool has_in_outbox(struct soc_host *host, const struct edge *edge, const char *local)
{
    struct soc_buf address = {0};
    soc_buf_printf(&address, "%s@%s", local, edge->peer->name);
    const struct soc_agent *proxy =
        local[0] == '\0' ? edge->waiter : soc_registry_find_known(host, soc_buf_slice(&address));
    soc_buf_fini(&address);
    for (int i = 0; proxy != NULL && i < SOC_PRIORITY_COUNT; i++)
        for (const struct soc_message *message = proxy->mailbox.classes[i].first; message != NULL;
             message = message->next)
            if (may_end(host, edge, message))
                return true;
    return false;
}

/* Tells whether something that may end the wait is on its way, as far as this host knows. */
static bool is_on_its_way(struct soc_host *host, const struct edge *edge)
{
    const struct soc_hosts_peer *peer = edge->peer;
    const struct soc_message *delayed;
    size_t cursor = 0;
    for (uint64_t n = 1; n <= peer->items_count; n++) {
        const struct soc_message *message = soc_hosts_item_at(peer, peer->end.acked + n)->message;
        if (message != NULL && may_end(host, edge, message))
            return true;
    }
    while ((delayed = soc_transit_each(host, &cursor)) != NULL)
        if (may_end(host, edge, delayed))
            return true;
    return has_in_outbox(host, edge, "") || has_in_outbox(host, edge, "All") ||
           has_in_outbox(host, edge, "system");
}

/* Lends the agent of this host that really answers the question: a broker may have asked
 * another one. NULL: none does. */
static struct soc_agent *find_answerer(struct soc_host *host, const struct edge *edge)
{
    struct soc_agent *asked = edge->target;
    const struct soc_hosts_asked *question;
    const struct soc_part_calls *calls = &host->parts.calls;
    bool has_work = false;
    uint64_t key;
    for (size_t i = 0; !has_work && calls->has_work[i] != NULL; i++)
        has_work = calls->has_work[i](host, asked);
    for (size_t cursor = 0;
         has_work && (question = soc_map_each(&soc_hosts_state(host)->asked, &cursor)) != NULL;) {
        if (question->to != edge->target || question->from != edge->waiter ||
            !soc_message_id_parse(soc_slice(question->id, SOC_MESSAGE_ID_BYTES), &key) ||
            (int64_t)key != edge->question)
            continue;
        for (size_t i = 0; calls->answerer[i] != NULL; i++)
            if (calls->answerer[i](host, question->key, &asked))
                return asked;
    }
    return asked;
}

/* Reads the path of a probe: where it started, and the edge it came along. */
static bool read_path(struct soc_host *host, struct soc_slice path, struct walk *walk,
                      struct edge *edge)
{
    struct soc_json_walk waits;
    struct soc_slice last = {0};
    struct soc_slice local;
    struct soc_slice name;
    if (path.length < 2 || path.data[0] != '[')
        return false;
    soc_json_walk(&waits, path);
    while (soc_json_next(&waits)) {
        last = waits.value;
        if (walk->length++ > 0)
            continue;
        walk->origin = soc_json_plain_string(soc_json_member(last, "id"));
        if (!soc_json_integer(soc_json_member(last, "number"), &walk->number))
            return false;
    }
    struct soc_slice from = soc_json_plain_string(soc_json_member(last, "id"));
    edge->kind = soc_json_plain_string(soc_json_member(last, "kind"));
    edge->type = soc_json_plain_string(soc_json_member(last, "type"));
    soc_json_integer(soc_json_member(last, "question"), &edge->question);
    if (walk->length == 0 || walk->length >= SOC_HOSTS_RING_MAX || walk->origin.data == NULL ||
        from.data == NULL || edge->kind.data == NULL || !soc_id_divide(from, &local, &name) ||
        !soc_slice_equal(name, soc_slice_text(edge->peer->name)))
        return false;
    walk->path = soc_slice(path.data + 1, path.length - 2);
    edge->waiter = soc_registry_find_known(host, from);
    return true;
}

void soc_hosts_take_probe(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_slice id,
                          struct soc_slice payload)
{
    struct walk walk = {.host = host};
    struct edge edge = {.peer = peer, .target = soc_registry_find(host, id)};
    if (edge.target == NULL || edge.target->is_remote || host->registry.host_name == NULL ||
        !soc_json_integer(soc_json_member(payload, "time"), &walk.time_ms) ||
        !read_path(host, soc_json_member(payload, "path"), &walk, &edge))
        return;
    struct soc_agent *agent = find_answerer(host, &edge);
    if (agent == NULL || agent->is_remote || soc_deadlock_target(host, agent, 0) == NULL ||
        is_on_its_way(host, &edge))
        return;
    if (!is_origin(&walk, agent)) {
        walk_from(&walk, agent);
        return;
    }
    struct soc_buf cycle = {0};
    soc_buf_put_byte(&cycle, '[');
    soc_buf_put_slice(&cycle, walk.path);
    soc_buf_put_byte(&cycle, ']');
    soc_hosts_confirm_ring(host, soc_buf_slice(&cycle), true);
    soc_buf_fini(&cycle);
}
