#include "parts/outside/outside_operations.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/gate.h"
#include "kernel/mail/envelope.h"
#include "kernel/operations/awaiting.h"
#include "kernel/operations/given.h"
#include "kernel/operations/message_params.h"
#include "kernel/refusal.h"
#include "parts/outside/outside.h"
#include "parts/outside/outside_letters.h"

#define MAIL_MAX 100

static const struct soc_param mail_params[] = {
    {.name = "agent",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "the id of a living agent outside"},
    {.name = "after", .kind = SOC_PARAM_ID, .summary = "only what came after this pending message"},
    {.name = "wait_ms",
     .kind = SOC_PARAM_INTEGER,
     .most = SOC_WAIT_MS_MAX,
     .summary = "how long to wait if there is nothing; 0: not at all"},
    {.name = NULL},
};

static const char *const statuses[] = {"received", "processed", NULL};

static const struct soc_param ack_params[] = {
    {.name = "message_id",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "the message's id, ours or the sender's own"},
    {.name = "status",
     .kind = SOC_PARAM_CHOICE,
     .choices = statuses,
     .is_needed = true,
     .summary = "processed ends the message"},
    {.name = "agent",
     .most = SOC_KEY_BYTES_MAX,
     .summary = "the agent outside; one who speaks as it need not say so"},
    {.name = NULL},
};

static const struct soc_param ack_members[] = {
    {.name = "agent", .is_needed = true, .summary = "the agent outside"},
    {.name = "message_id", .is_needed = true, .summary = "as given"},
    {.name = "status", .is_needed = true, .summary = "as given"},
    {.name = NULL},
};

/* A call that waits for mail. */
struct vigil {
    char *agent; /* id, owned */
    uint64_t after;
};

static void free_vigil(void *work)
{
    struct vigil *vigil = work;
    if (vigil == NULL)
        return;
    free(vigil->agent);
    free(vigil);
}

static bool is_durable(const struct soc_letter *letter)
{
    return letter->sequence <= letter->outsider->host->outbox.released;
}

/* Appends the list of letters after the one with that key; all, if it is not pending. */
static void put_mail(struct soc_outsider *outsider, uint64_t after, struct soc_buf *out)
{
    const struct soc_letter *letter;
    bool is_after = soc_map_find_number(&outsider->letters, after) == NULL;
    int count = 0;
    soc_buf_put_byte(out, '[');
    for (size_t cursor = 0;
         count < MAIL_MAX && (letter = soc_map_each(&outsider->letters, &cursor)) != NULL;) {
        if (is_after && is_durable(letter)) {
            soc_buf_put_text(out, count++ == 0 ? "" : ",");
            soc_envelope_put_json(out, letter->message);
        }
        is_after |= letter->message->key == after;
    }
    soc_buf_put_byte(out, ']');
}

/* Answers that the agent is not outside, or not there. */
static void refuse_agent(struct soc_call *call, struct soc_slice id)
{
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_ENOAGENT, "no live agent outside has that id", "agentId", id);
    soc_call_refuse(call, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

/* The mail that woke the call is durable, or its time is over. */
static void answer_mail(void *user)
{
    struct soc_call *call = user;
    const struct vigil *vigil = call->work;
    struct soc_agent *agent = soc_outside_find(call->host, soc_slice_text(vigil->agent));
    struct soc_buf list = {0};
    if (agent == NULL) {
        refuse_agent(call, soc_slice_text(vigil->agent));
        return;
    }
    put_mail(soc_outside_need(call->host, agent), vigil->after, &list);
    soc_call_answer(call, soc_buf_slice(&list));
    soc_buf_fini(&list);
}

static void wake(void *user, enum soc_awaited why)
{
    struct soc_call *call = user;
    if (why != SOC_AWAITED_GONE)
        soc_gate_when_durable(call->host, answer_mail, call);
}

static void look_at_mail(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    struct soc_slice id = soc_given_text(given, "agent");
    struct soc_slice after = soc_given_text(given, "after");
    int64_t wait_ms = soc_given_integer(given, "wait_ms", 0);
    struct soc_agent *agent = soc_outside_find(host, id);
    struct soc_buf list = {0};
    uint64_t key = 0;
    if (!soc_given_may_see(given, id))
        return;
    if (agent == NULL) {
        refuse_agent(given->call, id);
        return;
    }
    soc_outside_hear(host, agent);
    const struct soc_letter *letter =
        after.data == NULL ? NULL : soc_outside_find_letter(soc_outside_need(host, agent), after);
    if (letter != NULL)
        key = letter->message->key;
    put_mail(soc_outside_need(host, agent), key, &list);
    if (list.length > 2 || wait_ms == 0) {
        soc_given_answer_when_durable(given, &list);
    } else {
        struct vigil *vigil = soc_alloc_zero(sizeof(*vigil));
        vigil->agent = soc_copy_text(id.data, id.length);
        vigil->after = key;
        given->call->work = vigil;
        given->call->free_work = free_vigil;
        soc_awaiting_mail(host, agent, wait_ms, wake, given->call);
    }
    soc_buf_fini(&list);
}

static void ack(struct soc_given *given)
{
    struct soc_host *host = given->society->host;
    struct soc_slice as = given->caller->agent;
    struct soc_slice id = soc_given_text(given, "agent");
    struct soc_slice message_id = soc_given_text(given, "message_id");
    struct soc_slice status = soc_given_text(given, "status");
    struct soc_buf answer = {0};
    if (id.data == NULL)
        id = as;
    if (id.data == NULL) {
        soc_given_fault(given, "agent",
                        "'agent' is missing; it must be the id of an agent outside, unless "
                        "the caller speaks as one");
        return;
    }
    if (!soc_given_may_see(given, id))
        return;
    struct soc_agent *agent = soc_outside_find(host, id);
    if (agent == NULL) {
        refuse_agent(given->call, id);
        return;
    }
    int rc = soc_outside_ack(host, agent, message_id, soc_ack_parse(status),
                             (struct soc_position){0}, &answer);
    if (rc >= 0) {
        soc_buf_put_text(&answer, "[{");
        soc_json_put_text_member(&answer, "agent", id);
        soc_json_put_text_member(&answer, "message_id", message_id);
        soc_json_put_text_member(&answer, "status", status);
        soc_buf_put_text(&answer, "}]");
    }
    soc_given_finish(given, rc < 0 ? rc : SOC_OK, message_id, &answer);
}

const struct soc_operation soc_outside_operations[] = {
    {.name = "mail",
     .summary = "what waits for an agent outside, in the order in which it came, up to 100",
     .scope = SOC_SCOPE_READ,
     .needs_running = true,
     .is_for_agents = true,
     .params = mail_params,
     .answer = soc_message_members,
     .tells = SOC_MESSAGE_PARAMS_ENVELOPE,
     .run = look_at_mail},
    {.name = "ack",
     .summary = "acknowledges a message for an agent outside",
     .scope = SOC_SCOPE_WRITE,
     .changes = true,
     .needs_running = true,
     .is_for_agents = true,
     .params = ack_params,
     .answer = ack_members,
     .run = ack},
    {.name = NULL},
};
