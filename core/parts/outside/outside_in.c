/* Outside, input: messages, acks and signs of life. */
#include <assert.h>

#include "base/json.h"
#include "env/ids.h"
#include "kernel/gate.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/adopt.h"
#include "kernel/mail/asked.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/requests.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/trace.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "parts/duplicates/duplicates.h"
#include "parts/group/barriers.h"
#include "parts/outside/outside_letters.h"
#include "parts/tasks/tasks_lookup.h"

static bool is_text(const struct soc_message *message, enum soc_message_text which,
                    struct soc_slice text)
{
    struct soc_slice own = soc_message_text(message, which);
    return own.data != NULL && soc_slice_equal(own, text);
}

/* Lends the letter answered by naming `id`, its own or its correlation id, or NULL;
 * `*request` is its open request, or NULL. */
static struct soc_letter *find_answered(const struct soc_outsider *outsider, struct soc_slice id,
                                        const struct soc_request **request)
{
    size_t cursor = 0;
    struct soc_letter *letter = soc_outside_find_letter(outsider, id);
    if (letter != NULL)
        return letter;
    *request = soc_request_find_text(outsider->host, outsider->agent, id);
    if (*request != NULL)
        return soc_map_find_number(&outsider->letters, (*request)->key);
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL)
        if (is_text(letter->message, SOC_TEXT_CORRELATION_ID, id))
            return letter;
    return NULL;
}

/* Tells whether an answer to `asker` goes there, in which case it needs no permission. */
static bool goes_to(struct soc_host *host, const struct soc_send *send,
                    const struct soc_agent *asker)
{
    return asker != NULL &&
           (send->to.data == NULL || soc_registry_receiver(host, send->to) == asker);
}

static bool is_type(struct soc_slice type, const char *name)
{
    return type.data != NULL && soc_slice_equal(type, soc_slice_text(name));
}

static bool is_result(struct soc_slice type)
{
    return is_type(type, "result") || is_type(type, "task_complete");
}

/* Results and checkpoint responses are told apart from late replies by the router. */
static bool has_own_rules(struct soc_slice type)
{
    return is_result(type) || is_type(type, "checkpoint_response");
}

/* Addresses mail that answers nothing open. False if it is late: the asker no longer
 * waits, or nobody asked. Otherwise it goes to the author of what it answers and
 * continues that chain. */
static bool address_rest(const struct soc_outsider *outsider, const struct soc_outside_mail *mail,
                         struct soc_send *send)
{
    struct soc_host *host = outsider->host;
    uint64_t key = 0;
    bool is_ours = soc_message_id_parse(mail->answers, &key);
    const struct soc_ended_letter *ended = soc_outside_find_ended(outsider, mail->answers);
    const struct soc_task *task = is_ours ? soc_tasks_find_key(host, key) : NULL;
    const struct soc_agent *asker = ended == NULL ? NULL : ended->from;
    if (task != NULL && task->owner == outsider->agent &&
        soc_message_id_is(mail->answers, task->opened_ms, key))
        asker = task->assigner;
    else if (ended != NULL && ended->wants_reply && goes_to(host, send, ended->from))
        return has_own_rules(send->type);
    else if (ended == NULL && send->to.data == NULL && !mail->is_chain)
        return has_own_rules(send->type);
    if (send->to.data == NULL && asker != NULL && !mail->is_chain)
        send->to = soc_agent_id(asker);
    if (send->texts[SOC_TEXT_CORRELATION_ID].data == NULL)
        send->texts[SOC_TEXT_CORRELATION_ID] = mail->answers;
    return true;
}

/* A report on an open task goes to its assigner, and on a checkpoint to its opener,
 * unless a receiver is named. A result answers its task. */
static void address_report(const struct soc_outsider *outsider, struct soc_send *send)
{
    struct soc_host *host = outsider->host;
    struct soc_adopted adopted;
    soc_adopt(&adopted, send->payload);
    struct soc_slice type = send->type.data != NULL ? send->type : adopted.type;
    struct soc_slice id = send->texts[SOC_TEXT_TASK_ID];
    if (is_type(type, "checkpoint_response") && send->to.data == NULL) {
        const struct soc_agent *asker = soc_barriers_asker(host, send->payload);
        if (asker != NULL)
            send->to = soc_agent_id(asker);
    }
    if (!is_result(type) && !is_type(type, "progress_update"))
        return;
    const struct soc_task *task =
        soc_tasks_find(host, outsider->agent, id.data != NULL ? id : adopted.task_id);
    if (task == NULL || !soc_tasks_has_assigner(task) || !goes_to(host, send, task->assigner))
        return;
    send->to = soc_agent_id(task->assigner);
    send->is_report = true;
    if (!is_result(type))
        return;
    send->answers_key = task->key;
    send->answers_ms = task->opened_ms;
    if (send->texts[SOC_TEXT_CORRELATION_ID].data == NULL)
        send->texts[SOC_TEXT_CORRELATION_ID] = soc_slice_text(task->correlation_id);
}

/* Completes `send` as an answer to what the mail says it answers; `*cause` is the
 * answered message, lent, or NULL. False: it is late. The default receiver is the
 * orchestrator. */
static bool address(struct soc_outsider *outsider, const struct soc_outside_mail *mail,
                    struct soc_send *send, const struct soc_message **cause)
{
    struct soc_host *host = outsider->host;
    const struct soc_request *request = NULL;
    struct soc_asked asked;
    bool is_in_time = true;
    *cause = NULL;
    if (mail->answers.data != NULL) {
        const struct soc_letter *letter = find_answered(outsider, mail->answers, &request);
        *cause = letter == NULL ? NULL : letter->message;
        if (letter != NULL && goes_to(host, send, letter->message->from)) {
            send->answers = letter->message;
            send->to = soc_agent_id(letter->message->from);
        } else if (request != NULL && goes_to(host, send, request->from)) {
            send->answers_key = request->key;
            send->answers_ms = request->time_ms;
            send->to = soc_agent_id(request->from);
        } else if (letter == NULL && soc_asked_find(host, outsider->agent, mail->answers, &asked) &&
                   goes_to(host, send, asked.from)) {
            soc_asked_address(&asked, send);
        } else if (letter == NULL) {
            is_in_time = address_rest(outsider, mail, send);
        }
    }
    if (send->answers == NULL && send->answers_key == 0)
        address_report(outsider, send);
    if (send->to.data == NULL)
        send->to = SOC_SLICE("orchestrator");
    send->is_report |= soc_registry_receiver(host, send->to) ==
                       soc_registry_receiver(host, SOC_SLICE("orchestrator"));
    return is_in_time;
}

/* Tells whether the message with that id went to exactly one other agent: it is an open
 * request, or pending for an outside agent, or ended there recently. */
static bool went_elsewhere(const struct soc_outsider *outsider, struct soc_slice id)
{
    struct soc_host *host = outsider->host;
    size_t cursor = 0;
    const struct soc_outsider *other;
    const struct soc_request *request = soc_request_find_id(host, id);
    if (request != NULL && request->to != outsider->agent)
        return true;
    while ((other = soc_map_each(&soc_outside_of_host(host)->outsiders, &cursor)) != NULL) {
        const struct soc_letter *letter = soc_outside_find_letter(other, id);
        const struct soc_ended_letter *ended =
            letter == NULL ? soc_outside_find_ended(other, id) : NULL;
        if (letter != NULL)
            return !(letter->message->flags & SOC_MESSAGE_IS_BROADCAST);
        if (ended != NULL)
            return !ended->is_broadcast;
    }
    return false;
}

/* Explains why the agent may not answer or ack a message that is not pending for it.
 * NULL: the message may have been sent to it so long ago that it is forgotten. */
static const char *explain_unknown(const struct soc_outsider *outsider, struct soc_slice id)
{
    uint64_t key = 0;
    bool is_ours = soc_message_id_parse(id, &key);
    if (is_ours && went_elsewhere(outsider, id))
        return "that message went to another agent";
    if (is_ours && soc_message_id_host(key) != soc_message_id_host(outsider->host->next_key))
        return NULL; /* of another host */
    if (is_ours && key < outsider->known_key && key >= outsider->agent->since)
        return NULL;
    return "no message with that id went to this agent";
}

/* Drops an answer that is late or answers nothing, unless it was taken before. */
static int drop_late(struct soc_outsider *outsider, struct soc_agent *agent,
                     const struct soc_outside_mail *mail, struct soc_buf *answer)
{
    struct soc_host *host = outsider->host;
    const char *reason = NULL;
    if (soc_duplicates_find(host, agent, &mail->send, answer))
        return SOC_OK;
    if (soc_outside_find_ended(outsider, mail->answers) == NULL)
        reason = explain_unknown(outsider, mail->answers);
    int rc = soc_refuse(answer, SOC_ENOMESSAGE,
                        reason == NULL ? "the request is no longer open" : reason, "reply_to",
                        mail->answers);
    soc_trace_event_of(host, SOC_LOG_WARN, "late_reply", agent, mail->answers,
                       soc_buf_slice(answer));
    return rc;
}

/* Returns the key of the task that a result ends or retries, 0: none. */
static uint64_t task_of(struct soc_host *host, const struct soc_message *message)
{
    if (!is_result(soc_symbol_slice(message->type)))
        return 0;
    const struct soc_task *task = soc_tasks_find_key(host, message->reply_to);
    if (task == NULL || task->owner != message->from)
        task = soc_tasks_find(host, message->from, soc_message_text(message, SOC_TEXT_TASK_ID));
    return task == NULL ? 0 : task->key;
}

/* Returns the key of the pending question that a late checkpoint_response answers, 0: none.
 * One in time has it as reply_to. */
static uint64_t question_of(const struct soc_outsider *outsider, const struct soc_message *message)
{
    struct soc_slice payload = soc_message_payload(message);
    size_t cursor = 0;
    const struct soc_letter *letter;
    if (!is_type(soc_symbol_slice(message->type), "checkpoint_response") || payload.data[0] != '{')
        return 0;
    struct soc_slice id = soc_json_plain_string(soc_json_member(payload, "checkpoint_id"));
    while (id.data != NULL && (letter = soc_map_each(&outsider->letters, &cursor)) != NULL) {
        const struct soc_message *asked = letter->message;
        if (!is_type(soc_symbol_slice(asked->type), "checkpoint_request") ||
            soc_message_payload(asked).data[0] != '{')
            continue;
        struct soc_slice own =
            soc_json_plain_string(soc_json_member(soc_message_payload(asked), "checkpoint_id"));
        if (own.data != NULL && soc_slice_equal(own, id))
            return asked->key;
    }
    return 0;
}

/* An answer ends the letter it answers; a result only if it ends or retries its task. */
static void end_answered(struct soc_outsider *outsider, uint64_t reply_to, uint64_t task_key)
{
    struct soc_host *host = outsider->host;
    const struct soc_task *task = task_key == 0 ? NULL : soc_tasks_find_key(host, task_key);
    struct soc_letter *letter = NULL;
    if (task_key != 0 && (task == NULL || task->again_ms != 0))
        letter = soc_map_find_number(&outsider->letters, task_key);
    else if (task_key == 0 && reply_to != 0)
        letter = soc_map_find_number(&outsider->letters, reply_to);
    if (letter != NULL)
        soc_outside_end_letter(letter);
}

static void note_refusal(struct soc_host *host, const struct soc_agent *agent,
                         struct soc_slice error)
{
    soc_trace_event(host, SOC_LOG_WARN, "outside_refused", agent, error);
}

/* Tells whether the refusal is temporary, so that the door must wait. */
static bool is_temporary(int rc)
{
    return rc == SOC_EMAILBOX || rc == SOC_EDISKFULL;
}

/* Logs a message that was sent before, and acks it if its type or its sender asks for that. */
static void take_again(struct soc_outsider *outsider, const struct soc_send *send,
                       struct soc_slice receipt)
{
    struct soc_host *host = outsider->host;
    soc_duplicates_trace(host, outsider->agent, receipt);
    struct soc_buf error = {0};
    struct soc_adopted adopted = {0};
    struct soc_candidate candidate = {.from = outsider->agent, .payload = send->payload};
    const struct soc_agent *to = soc_registry_receiver(host, send->to);
    bool requires_ack = send->requires_ack;
    if (!send->has_requires_ack) {
        soc_adopt(&adopted, send->payload);
        soc_adopt_type(send->type, &adopted, &candidate.type, &error);
        candidate.task_id = adopted.task_id;
        host->hooks.check_message(host->hooks.user, &candidate, &requires_ack, &error);
    }
    if (requires_ack && to != NULL && send->texts[SOC_TEXT_EXTERNAL_ID].data != NULL)
        soc_outside_repeat_ack(outsider, send->texts[SOC_TEXT_EXTERNAL_ID], soc_agent_id(to));
    soc_buf_fini(&error);
}

int soc_outside_accept(struct soc_host *host, struct soc_agent *agent,
                       const struct soc_outside_mail *mail, struct soc_position position,
                       struct soc_buf *answer)
{
    struct soc_outsider *outsider = soc_outside_need(host, agent);
    struct soc_send send = mail->send;
    assert(!host->turn.is_open);
    struct soc_message *message;
    const struct soc_message *cause;
    if (!mail->is_again)
        soc_outside_hear(host, agent);
    if (!address(outsider, mail, &send, &cause)) {
        soc_outside_keep(host, position);
        return drop_late(outsider, agent, mail, answer);
    }
    soc_turn_begin(host, agent, NULL);
    host->turn.cause = cause;
    int rc = soc_router_send(host, agent, &send, &message, answer);
    if (rc != SOC_OK) {
        soc_turn_rollback(host);
        if (is_temporary(rc))
            return rc;
        soc_outside_keep(host, position);
        if (rc < 0)
            note_refusal(host, agent, soc_buf_slice(answer));
        else
            take_again(outsider, &send, soc_buf_slice(answer));
        return rc < 0 ? rc : SOC_OK;
    }
    uint64_t reply_to = message->reply_to != 0 ? message->reply_to : question_of(outsider, message);
    uint64_t task_key = task_of(host, message);
    soc_outside_send_ack(outsider, message, SOC_ACK_RECEIVED);
    answer->length = 0;
    soc_gate_put_receipt(host, message, answer);
    soc_outside_keep(host, position);
    soc_commit_turn(host);
    end_answered(outsider, reply_to, task_key);
    return SOC_OK;
}

static void trace_ack(struct soc_host *host, const struct soc_agent *agent,
                      const struct soc_message *message, enum soc_ack ack)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf detail = {0};
    soc_envelope_id(id, message);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "message_id", soc_slice(id, sizeof(id)));
    soc_json_put_text_member(&detail, "status", soc_slice_text(soc_ack_name(ack)));
    soc_buf_put_byte(&detail, '}');
    soc_trace_event_about(host, SOC_LOG_DEBUG, "acked", agent, message, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* The agent acks a message that is not pending for it. */
static int take_stray_ack(struct soc_outsider *outsider, struct soc_slice id, struct soc_buf *error)
{
    if (soc_outside_find_ended(outsider, id) != NULL)
        return SOC_OK;
    const char *reason = explain_unknown(outsider, id);
    if (reason == NULL)
        return SOC_ACK_IS_UNKNOWN;
    int rc = soc_refuse(error, SOC_ENOMESSAGE, reason, "message_id", id);
    note_refusal(outsider->host, outsider->agent, soc_buf_slice(error));
    return rc;
}

int soc_outside_ack(struct soc_host *host, struct soc_agent *agent, struct soc_slice id,
                    enum soc_ack ack, struct soc_position position, struct soc_buf *error)
{
    struct soc_outsider *outsider = soc_outside_need(host, agent);
    assert(!host->turn.is_open);
    soc_outside_hear(host, agent);
    soc_outside_keep(host, position);
    struct soc_letter *letter = soc_outside_find_letter(outsider, id);
    if (letter == NULL)
        return take_stray_ack(outsider, id, error);
    if (soc_pulse_redeem(&outsider->pulse))
        soc_outside_climb_all(outsider);
    soc_outside_stop(letter);
    trace_ack(host, agent, letter->message, ack);
    if (ack == SOC_ACK_PROCESSED) {
        soc_outside_end_letter(letter);
    } else if (!letter->is_received) {
        letter->is_received = letter->is_out = true;
        soc_outside_unqueue(letter);
        soc_heap_remove(&host->timers, &letter->message->timer); /* it arrived in time */
        soc_outside_record(host, letter);
        soc_acks_note(host, letter->message, SOC_ACK_RECEIVED);
    }
    return SOC_OK;
}

void soc_outside_note_arrival(struct soc_host *host, struct soc_agent *agent, struct soc_slice id)
{
    const struct soc_letter *letter = soc_outside_find_letter(soc_outside_need(host, agent), id);
    struct soc_buf error = {0};
    if (letter != NULL && !letter->is_received)
        soc_outside_ack(host, agent, id, SOC_ACK_RECEIVED, (struct soc_position){0}, &error);
    soc_buf_fini(&error);
}

void soc_outside_hear(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_outsider *outsider = soc_outside_need(host, agent);
    bool is_back = soc_pulse_hear(&outsider->pulse, soc_host_now(host));
    soc_outside_watch(outsider);
    if (!is_back)
        return;
    agent->is_unresponsive = false;
    soc_trace_event(host, SOC_LOG_INFO, "responsive", agent, SOC_SLICE("{}"));
    soc_outside_tell(outsider, SOC_DOOR_RESPONSIVE, NULL);
    soc_outside_climb_all(outsider);
}
