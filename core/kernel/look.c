#include "kernel/look.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/wait.h"
#include "kernel/turns/waiting.h"
#include "store/journal.h"

const char *soc_look_status(const struct soc_host *host, const struct soc_agent *agent)
{
    return soc_status_name(soc_status_of(host, agent));
}

static void put_count(struct soc_buf *out, const char *name, uint64_t count)
{
    soc_json_put_name(out, name);
    soc_json_put_integer(out, (int64_t)count);
}

static void put_time(const struct soc_host *host, struct soc_buf *out, const char *name,
                     int64_t time_ms)
{
    soc_json_put_name(out, name);
    soc_time_put_json(out, soc_clock_date_of(&host->clock, time_ms));
}

uint64_t soc_look_queued(const struct soc_host *host, const struct soc_agent *agent)
{
    uint64_t queued = soc_mailbox_count(&agent->mailbox);
    for (size_t i = 0; host->parts.calls.unread[i] != NULL; i++)
        queued += host->parts.calls.unread[i](host, agent);
    return queued;
}

void soc_look_agent(const struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "id", soc_agent_id(agent));
    soc_json_put_name(out, "role");
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "id", soc_slice_text(agent->role->id));
    soc_json_put_text_member(out, "name", soc_slice_text(agent->role->name));
    soc_buf_put_byte(out, '}');
    if (agent->parent != NULL)
        soc_json_put_text_member(out, "parent", soc_agent_id(agent->parent));
    soc_json_put_text_member(out, "status", soc_slice_text(soc_look_status(host, agent)));
    if (agent->is_external) {
        soc_json_put_name(out, "external");
        soc_buf_put_text(out, "true");
    }
    if (agent->isolation != 0 || agent->role->is_isolated) {
        soc_json_put_name(out, "isolated");
        soc_buf_put_text(out, "true");
    }
    SOC_PARTS_TELL(host, put_agent, host, agent, out);
    put_count(out, "queue_length", soc_look_queued(host, agent));
    put_count(out, "contacts", agent->contacts.count);
    put_count(out, "children", agent->children);
    if (!agent->is_remote) /* when that was, its own host knows */
        put_time(host, out, "created_at", agent->created_ms);
    if (agent->brief != NULL) {
        soc_json_put_name(out, "brief");
        soc_buf_put_slice(out, soc_slice(agent->brief, agent->brief_length));
    }
    if (agent->state != NULL) {
        soc_json_put_name(out, "state");
        soc_buf_put_slice(out, soc_slice(agent->state, agent->state_length));
    }
    soc_buf_put_byte(out, '}');
}

static bool fits(const struct soc_host *host, const struct soc_agent *agent,
                 const struct soc_query *query)
{
    int64_t date_ms = soc_clock_date_of(&host->clock, agent->created_ms);
    return !agent->is_ended &&
           (query->agent.data == NULL || soc_slice_equal(query->agent, soc_agent_id(agent))) &&
           (query->since_ms == 0 || date_ms >= query->since_ms) &&
           (query->until_ms == 0 || date_ms < query->until_ms);
}

void soc_look_agents(const struct soc_host *host, const struct soc_query *query,
                     struct soc_buf *out)
{
    static const struct soc_query everybody = {0};
    const struct soc_agent *agent;
    uint64_t passed_over = 0;
    query = query == NULL ? &everybody : query;
    if (query->limit > 0) {
        uint64_t fitting = 0;
        for (size_t cursor = 0; (agent = soc_map_each(&host->registry.agents, &cursor)) != NULL;)
            fitting += fits(host, agent, query);
        if (fitting > (uint64_t)query->limit)
            passed_over = fitting - (uint64_t)query->limit;
    }
    soc_buf_put_byte(out, '[');
    for (size_t cursor = 0; (agent = soc_map_each(&host->registry.agents, &cursor)) != NULL;) {
        if (!fits(host, agent, query) || (passed_over > 0 && passed_over-- > 0))
            continue;
        if (out->data[out->length - 1] != '[')
            soc_buf_put_byte(out, ',');
        soc_look_agent(host, agent, out);
    }
    soc_buf_put_byte(out, ']');
}

void soc_look_contact(const struct soc_host *host, const struct soc_contact *contact,
                      struct soc_buf *out)
{
    const struct soc_contact_extra *extra = contact->extra;
    const struct soc_role *role = contact->peer->role;
    const char *spec = extra == NULL ? NULL : extra->interface_spec;
    if (spec == NULL)
        spec = role->interface_spec;
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "id", soc_agent_id(contact->peer));
    soc_json_put_text_member(
        out, "role",
        soc_slice_text(extra != NULL && extra->role != NULL ? extra->role : role->name));
    if (spec != NULL) {
        soc_json_put_name(out, "interfaceSpec");
        soc_buf_put_text(out, spec);
    }
    soc_json_put_text_member(out, "source", soc_slice_text(soc_source_name(contact->source)));
    if (extra != NULL)
        soc_json_put_text_member(out, "introducedBy", soc_slice_text(extra->introduced_by));
    if (extra != NULL && extra->via != NULL) {
        soc_json_put_name(out, "via");
        soc_buf_put_text(out, extra->via);
    }
    if (extra != NULL)
        soc_json_put_text_member(out, "reason", soc_slice_text(extra->reason));
    put_time(host, out, "addedAt", contact->added_ms);
    if (extra != NULL)
        soc_json_put_text_member(out, "usageHint", soc_slice_text(extra->usage_hint));
    soc_buf_put_byte(out, '}');
}

void soc_look_contacts(const struct soc_host *host, const struct soc_agent *agent,
                       struct soc_buf *out)
{
    soc_buf_put_byte(out, '[');
    for (uint32_t i = 0; i < agent->contacts.count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_look_contact(host, &agent->contacts.items[i], out);
    }
    soc_buf_put_byte(out, ']');
}

void soc_look_registries(const struct soc_host *host, struct soc_buf *out)
{
    size_t cursor = 0;
    const struct soc_agent *agent;
    soc_buf_put_text(out, "{\"contactRegistries\":{");
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        if (agent->is_ended)
            continue;
        soc_json_put_name(out, agent->id);
        soc_look_contacts(host, agent, out);
    }
    soc_buf_put_text(out, "}}");
}

/* Looked up when somebody asks: a wait costs nothing more. */
static void put_where(const struct soc_host *host, const struct soc_activation *activation,
                      struct soc_buf *out)
{
    struct soc_buf where = {0};
    if (activation->script != NULL && host->hooks.put_where != NULL)
        host->hooks.put_where(host->hooks.user, activation, &where);
    if (where.length > 0)
        soc_json_put_text_member(out, "where", soc_buf_slice(&where));
    soc_buf_fini(&where);
}

void soc_look_wait(const struct soc_host *host, const struct soc_activation *activation,
                   struct soc_buf *out)
{
    const struct soc_wait *wait = &activation->wait;
    const struct soc_wait_ops *ops = soc_wait_ops_of(host, activation);
    char id[SOC_MESSAGE_ID_BYTES];
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "agent", soc_agent_id(activation->agent));
    soc_json_put_text_member(out, "kind", soc_slice_text(soc_wait_name(activation)));
    soc_json_put_name(out, "waits_for");
    soc_wait_put_targets(host, activation->agent, out);
    soc_json_put_text_member(out, "type", soc_symbol_slice(wait->type));
    if (ops != NULL && ops->put != NULL)
        ops->put(host, activation, out);
    if (ops != NULL && ops->put_timeout != NULL)
        ops->put_timeout(host, activation, out);
    if (wait->since_ms != 0)
        put_time(host, out, "since", wait->since_ms);
    if (soc_heap_has(&activation->timer))
        put_time(host, out, "deadline", activation->timer.due_ms);
    soc_json_put_text_member(out, "correlation_id", soc_wait_chain(host, activation, id));
    if (wait->kind == SOC_WAIT_REPLY || wait->kind == SOC_WAIT_TASK || wait->kind == SOC_WAIT_ACK) {
        soc_message_id_format(id, wait->request_ms, wait->request_key);
        soc_json_put_text_member(out, "message_id", soc_slice(id, sizeof(id)));
    }
    put_where(host, activation, out);
    soc_buf_put_byte(out, '}');
}

void soc_look_waits(const struct soc_host *host, struct soc_buf *out)
{
    size_t cursor = 0;
    const struct soc_agent *agent;
    soc_buf_put_byte(out, '[');
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        if (agent->activation == NULL || agent->activation->state == SOC_ACTIVATION_READY)
            continue;
        if (out->data[out->length - 1] != '[')
            soc_buf_put_byte(out, ',');
        soc_look_wait(host, agent->activation, out);
    }
    soc_buf_put_byte(out, ']');
}

void soc_look_stats(struct soc_host *host, struct soc_buf *out)
{
    static const char *const names[] = {"pending", "processed", "expired",    "dead",
                                        "dropped", "cancelled", "handed_over"};
    const struct soc_totals *totals = &host->totals;
    uint64_t pending = totals->sent + totals->taken;
    for (int i = SOC_OUTCOME_PROCESSED; i < SOC_OUTCOME_COUNT; i++)
        pending -= totals->outcome[i];
    soc_buf_put_byte(out, '{');
    put_count(out, "sent", totals->sent);
    put_count(out, "taken", totals->taken);
    put_count(out, names[0], pending);
    for (int i = SOC_OUTCOME_PROCESSED; i < SOC_OUTCOME_COUNT; i++)
        put_count(out, names[i], totals->outcome[i]);
    put_count(out, "agents", host->registry.alive);
    put_count(out, "waiting", host->waits.count);
    put_count(out, "turns", totals->turns);
    put_count(out, "activations", totals->activations);
    put_time(host, out, "now", soc_host_now(host));
    soc_buf_put_byte(out, '}');
}

void soc_look_query(struct soc_host *host, const struct soc_query *query, soc_query_cb *cb,
                    void *user)
{
    struct soc_query dated = *query;
    dated.now_ms = soc_clock_date_of(&host->clock, soc_host_now(host));
    soc_batch_seal(host);
    soc_journal_query(host->journal, &dated, cb, user);
}

void soc_look_page(struct soc_host *host, const struct soc_query *query, soc_page_cb *cb,
                   void *user)
{
    struct soc_query durable = *query;
    durable.is_of_durable = true;
    durable.now_ms = soc_clock_date_of(&host->clock, soc_host_now(host));
    soc_journal_ask(host->journal, &durable, cb, user);
}

void soc_look_drop(struct soc_host *host, const void *user)
{
    if (host->journal != NULL)
        soc_journal_drop(host->journal, user);
}

uint64_t soc_look_last_line(const struct soc_host *host)
{
    return host->journal == NULL ? 0 : soc_journal_durable_line(host->journal);
}

/* A query in progress. The agent may be doing something else when the rows arrive, so it
 * is looked up again by id, message and effect. */
struct question {
    struct soc_host *host;
    struct soc_query query;
    uint32_t index; /* of the effect that waits */
    uint64_t key;   /* of the message its activation handles, 0: `main` */
    char *texts[5]; /* agent, task, type, correlation id, asker; owned */
};

static struct soc_slice copy_text(char **place, struct soc_slice text)
{
    if (text.data == NULL)
        return text;
    *place = soc_copy_text(text.data, text.length);
    return soc_slice(*place, text.length);
}

static void free_question(struct question *question)
{
    for (int i = 0; i < 5; i++)
        free(question->texts[i]);
    free(question);
}

static uint64_t handled_key(const struct soc_activation *activation)
{
    return activation->message == NULL ? 0 : activation->message->key;
}

void soc_look_ask(struct soc_host *host, const struct soc_query *query)
{
    assert(host->turn.is_open && host->turn.activation->effects_count > 0);
    assert(host->turn.activation->wait.kind == SOC_WAIT_NONE);
    struct question *question = soc_alloc_zero(sizeof(*question));
    question->host = host;
    question->query = *query;
    question->query.waits_for_room = question->query.is_prompt = true;
    question->query.agent = copy_text(&question->texts[0], query->agent);
    question->query.task = copy_text(&question->texts[1], query->task);
    question->query.type = copy_text(&question->texts[2], query->type);
    question->query.correlation_id = copy_text(&question->texts[3], query->correlation_id);
    copy_text(&question->texts[4], soc_agent_id(host->turn.agent));
    question->index = host->turn.activation->effects_count - 1;
    question->key = handled_key(host->turn.activation);
    host->turn.activation->wait = (struct soc_wait){.kind = SOC_WAIT_LOOK, .question = question};
}

/* Drops the query of a turn that was rolled back. */
static void forget(struct soc_activation *activation)
{
    if (activation->wait.question != NULL)
        free_question(activation->wait.question);
    activation->wait.question = NULL;
}

static void take_rows(int rc, struct soc_slice rows, void *user)
{
    struct question *question = user;
    struct soc_host *host = question->host;
    if (rc < 0 && rc != SOC_ETOOLARGE) { /* the host is closing or its disk has failed: the next
                                            start repeats it */
        free_question(question);
        return;
    }
    struct soc_agent *agent =
        soc_map_find(&host->registry.agents, soc_slice_text(question->texts[4]));
    struct soc_activation *activation = agent == NULL ? NULL : agent->activation;
    if (activation != NULL && activation->state == SOC_ACTIVATION_WAITING &&
        activation->wait.kind == SOC_WAIT_LOOK && handled_key(activation) == question->key &&
        activation->effects_count == question->index + 1) {
        struct soc_buf answer = {0};
        if (rc < 0) {
            soc_refuse(&answer, rc, "the rows are too large; ask for fewer with `limit`", NULL,
                       (struct soc_slice){0});
        } else {
            soc_buf_put_byte(&answer, '[');
            soc_buf_put_slice(&answer, rows);
            soc_buf_put_byte(&answer, ']');
        }
        soc_waiting_answer(host, activation, soc_buf_slice(&answer));
        soc_buf_fini(&answer);
    }
    free_question(question);
}

/* Starts the query of a turn that has committed. */
static void send_query(struct soc_host *host, struct soc_activation *activation)
{
    struct question *question = activation->wait.question;
    activation->wait.question = NULL;
    if (question != NULL)
        soc_look_query(host, &question->query, take_rows, question);
}

const struct soc_wait_ops soc_look_wait_ops = {
    .kind = SOC_WAIT_LOOK,
    .rolled_back = forget,
    .committed = send_query,
};
