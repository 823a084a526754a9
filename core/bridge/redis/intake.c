#include "bridge/redis/intake.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bridge/redis/outlet.h"
#include "env/ids.h"
#include "kernel/gate.h"
#include "kernel/mail/send_reader.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"

#define KEY_BYTES 160 /* of the key by which an entry is known */

/* One message that is being taken. */
struct arrival {
    struct soc_redis_door *door;
    struct soc_redis_source *source; /* NULL: it was published */
    struct soc_slice text;           /* JSON */
    struct soc_slice agent;          /* whose key it is */
    struct soc_slice chain;          /* correlation id of what it asks; absent: it asks nothing */
    struct soc_slice answers;        /* what it answers, whatever it says; absent: see its text */
    struct soc_agent *speaker;
    struct soc_position position;
    const char *key; /* by which the entry is known; NULL: none */
};

/* An error on its way to who asked. */
struct answer {
    struct soc_redis_door *door;
    char *chain;
    char *error;
};

static void answer_now(void *user)
{
    struct answer *answer = user;
    if (!answer->door->is_stopped)
        soc_redis_outlet_refuse(answer->door, soc_slice_text(answer->chain),
                                soc_slice_text(answer->error));
    free(answer->chain);
    free(answer->error);
    free(answer);
}

/* Answers a request with an error, once everything that led to it is durable. */
static void answer_error(const struct arrival *arrival, struct soc_slice error)
{
    if (arrival->chain.data == NULL || !soc_redis_outlet_is_key(arrival->chain))
        return;
    struct answer *answer = soc_alloc_zero(sizeof(*answer));
    answer->door = arrival->door;
    answer->chain = soc_copy_text(arrival->chain.data, arrival->chain.length);
    answer->error = soc_copy_text(error.data, error.length);
    soc_gate_when_durable(arrival->door->host, answer_now, answer);
}

static void keep_position(const struct arrival *arrival)
{
    soc_outside_keep(arrival->door->host, arrival->position);
}

/* Skips what is no message, or from nobody. */
static bool skip(const struct arrival *arrival, int code, const char *reason)
{
    struct soc_buf error = {0};
    keep_position(arrival);
    soc_redis_door_complain(arrival->door, arrival->agent, "skipped: %s", reason);
    soc_refuse(&error, code, reason, NULL, (struct soc_slice){0});
    answer_error(arrival, soc_buf_slice(&error));
    soc_buf_fini(&error);
    return true;
}

/* The receiver or the disk is full. A published message cannot wait. */
static bool wait_or_lose(const struct arrival *arrival, int rc, struct soc_slice error)
{
    if (arrival->source == NULL) {
        soc_redis_door_complain(arrival->door, arrival->agent, "a published message is lost: %s",
                                soc_error_text(rc));
        answer_error(arrival, error);
        return true;
    }
    if (!arrival->source->is_waiting)
        soc_redis_door_log(arrival->door, SOC_LOG_WARN, arrival->agent, "mail waits in Redis: %s",
                           soc_error_text(rc));
    arrival->source->is_waiting = true;
    return false;
}

/* Sends to one receiver; absent: to whoever it answers, or the orchestrator. False: it waits. */
static bool accept(const struct arrival *arrival, struct soc_outside_mail *mail,
                   struct soc_slice to, struct soc_position position)
{
    struct soc_buf answer = {0};
    bool is_taken = true;
    mail->send.to = to;
    mail->is_again = arrival->source != NULL && arrival->source->is_waiting;
    int rc = soc_outside_accept(arrival->door->host, arrival->speaker, mail, position, &answer);
    if (rc == SOC_EMAILBOX || rc == SOC_EDISKFULL)
        is_taken = wait_or_lose(arrival, rc, soc_buf_slice(&answer));
    else if (rc < 0)
        answer_error(arrival, soc_buf_slice(&answer)); /* the host has logged it */
    soc_buf_fini(&answer);
    return is_taken;
}

/* The position is committed with the last receiver; the key of the entry tells who has it. */
static bool accept_list(const struct arrival *arrival, struct soc_outside_mail *mail,
                        const struct soc_send_input *input)
{
    for (size_t i = 0; i < input->receivers_count; i++) {
        bool is_last = i + 1 == input->receivers_count;
        struct soc_slice to = input->receivers[i];
        const struct soc_agent *agent = soc_registry_receiver(arrival->door->host, to);
        if (agent != NULL) /* an agent named twice, even by an alias, gets it once */
            to = soc_agent_id(agent);
        if (!accept(arrival, mail, to, is_last ? arrival->position : (struct soc_position){0}))
            return false;
    }
    return true;
}

/* Gives an entry without an id the key of its place. */
static void give_key(const struct arrival *arrival, struct soc_send *send, bool is_list)
{
    struct soc_slice *key = &send->texts[SOC_TEXT_DEDUPE_KEY];
    struct soc_slice *id = &send->texts[SOC_TEXT_EXTERNAL_ID];
    send->is_listed = is_list;
    if (is_list && key->data == NULL && id->data != NULL)
        *key = *id;
    if (is_list)
        *id = (struct soc_slice){0}; /* an external id belongs to one message */
    if (id->data == NULL && key->data == NULL && arrival->key != NULL)
        *key = soc_slice_text(arrival->key);
}

static bool accept_input(const struct arrival *arrival, struct soc_send_input *input)
{
    bool is_outbox = arrival->source != NULL && arrival->source->kind == SOC_REDIS_OUTBOX;
    bool is_reply = arrival->answers.data != NULL;
    soc_send_input_settle(input, soc_host_clock(arrival->door->host));
    struct soc_outside_mail mail = {
        .send = input->send,
        .answers = is_reply ? arrival->answers : input->reply_to,
        .is_chain = !is_reply && !soc_send_input_has(input, SOC_MESSAGE_FIELD_REPLY_TO),
    };
    if (is_outbox && mail.is_chain && !soc_send_input_has(input, SOC_MESSAGE_FIELD_TO))
        mail.answers = mail.send.texts[SOC_TEXT_CORRELATION_ID];
    give_key(arrival, &mail.send, is_outbox && input->receivers != NULL);
    if (is_outbox && input->receivers != NULL)
        return accept_list(arrival, &mail, input);
    if (is_reply)
        return accept(arrival, &mail, (struct soc_slice){0}, arrival->position);
    return accept(arrival, &mail, is_outbox ? input->send.to : arrival->agent, arrival->position);
}

static bool take_message(const struct arrival *arrival)
{
    struct soc_send_reader reader = {0};
    struct soc_send_input input = {0};
    struct soc_send_input_fault fault;
    int rc = soc_send_reader_read(&reader, arrival->text, SOC_SEND_FROM_FILE, &input, &fault);
    bool is_taken = rc < 0 ? skip(arrival, rc, fault.detail.text) : accept_input(arrival, &input);
    soc_send_reader_fini(&reader);
    return is_taken;
}

static bool is_ack(const struct arrival *arrival)
{
    return soc_json_member(arrival->text, "ack_for").data != NULL ||
           (soc_json_member(arrival->text, "msg_id").data != NULL &&
            soc_json_member(arrival->text, "payload").data == NULL);
}

static bool take_ack(const struct arrival *arrival)
{
    struct soc_buf id = {0};
    struct soc_buf error = {0};
    const char *reason = NULL;
    enum soc_ack ack = soc_ack_read(arrival->text, &id, NULL, &reason);
    if (ack == SOC_ACK_NONE) {
        skip(arrival, SOC_EINVAL, reason);
    } else if (soc_outside_ack(arrival->door->host, arrival->speaker, soc_buf_slice(&id), ack,
                               arrival->position, &error) < 0) {
        answer_error(arrival, soc_buf_slice(&error));
    }
    soc_buf_fini(&id);
    soc_buf_fini(&error);
    return true;
}

/* Finds who speaks; NULL: nobody that may. */
static struct soc_agent *find_speaker(const struct arrival *arrival)
{
    struct soc_redis_door *door = arrival->door;
    struct soc_buf from = {0};
    struct soc_agent *agent = NULL;
    if (arrival->source != NULL && arrival->source->kind == SOC_REDIS_OUTBOX)
        return soc_redis_door_find(door, arrival->agent);
    struct soc_slice id =
        soc_json_text(soc_json_member(arrival->text, "from"), SOC_ID_BYTES_MAX, &from);
    if (id.data != NULL)
        agent = soc_redis_door_find(door, id);
    if (agent == NULL && door->settings->guest != NULL)
        agent = soc_redis_door_find(door, soc_slice_text(door->settings->guest));
    soc_buf_fini(&from);
    return agent;
}

/* Takes one text, from wherever. `chain` has room for the correlation id. */
static bool take(struct arrival *arrival, struct soc_buf *chain)
{
    struct soc_json_fault fault = {0};
    if (soc_json_check(arrival->text, &fault) < 0)
        return skip(arrival, SOC_EJSON, "it is no JSON");
    if (soc_json_kind(arrival->text) != SOC_JSON_OBJECT)
        return skip(arrival, SOC_EINVAL, "it is no JSON object");
    struct soc_slice id =
        soc_json_text(soc_json_member(arrival->text, "correlation_id"), SOC_REDIS_CID_BYTES, chain);
    if (soc_json_member(arrival->text, "reply_to").data == NULL)
        arrival->chain = id;
    if (arrival->speaker == NULL)
        arrival->speaker = find_speaker(arrival);
    if (arrival->speaker == NULL)
        return skip(arrival, SOC_EFORBIDDEN,
                    "'from' must name an agent outside that lives behind Redis; with the setting "
                    "'guest' others may write as well");
    if (is_ack(arrival))
        return take_ack(arrival);
    if (soc_slice_equal(soc_json_plain_string(soc_json_member(arrival->text, "type")),
                        SOC_SLICE("heartbeat"))) {
        soc_outside_hear(arrival->door->host, arrival->speaker);
        keep_position(arrival);
        return true;
    }
    return take_message(arrival);
}

bool soc_redis_intake_take(struct soc_redis_source *source, struct soc_slice id,
                           struct soc_slice text)
{
    struct soc_redis_door *door = source->door;
    struct soc_buf chain = {0};
    char value[SOC_REDIS_PLACE_BYTES + 64];
    char key[KEY_BYTES];
    snprintf(value, sizeof(value), "%s %.*s", door->epoch, (int)id.length, id.data);
    snprintf(key, sizeof(key), "%s:%s", source->position, value);
    struct arrival arrival = {
        .door = door,
        .source = source,
        .text = soc_slice(text.data + 1, text.length - 1),
        .agent = soc_slice_text(source->agent),
        .position = {.name = soc_slice_text(source->position), .value = soc_slice_text(value)},
        .key = key,
    };
    bool is_taken = true;
    if (text.data[0] == '!') {
        char reason[256];
        snprintf(reason, sizeof(reason), "%.*s", (int)arrival.text.length, arrival.text.data);
        skip(&arrival, SOC_ETOOLARGE, reason);
    } else {
        is_taken = take(&arrival, &chain);
    }
    if (is_taken)
        source->is_waiting = false;
    soc_buf_fini(&chain);
    return is_taken;
}

/* Takes `begin` from the start of `*text`. */
static bool take_prefix(struct soc_slice *text, struct soc_slice begin)
{
    if (text->length < begin.length || memcmp(text->data, begin.data, begin.length) != 0)
        return false;
    *text = soc_slice(text->data + begin.length, text->length - begin.length);
    return true;
}

/* Takes `end` from the end of `*text`. */
static bool take_suffix(struct soc_slice *text, struct soc_slice end)
{
    if (text->length < end.length ||
        memcmp(text->data + text->length - end.length, end.data, end.length) != 0)
        return false;
    *text = soc_slice(text->data, text->length - end.length);
    return true;
}

/* A reply to a request that was handed out: any JSON, which is its payload. */
static void hear_reply(struct soc_redis_door *door, struct soc_slice correlation_id,
                       struct soc_slice text)
{
    const struct soc_redis_asked *asked = soc_redis_outlet_find_asked(door, correlation_id);
    if (asked == NULL)
        return; /* one of ours, or nobody's */
    struct soc_buf chain = {0};
    struct soc_buf json = {0};
    struct arrival arrival = {
        .door = door,
        .agent = soc_slice_text(asked->agent),
        .speaker = soc_redis_door_find(door, soc_slice_text(asked->agent)),
    };
    if (arrival.speaker != NULL && soc_json_check(text, NULL) == SOC_OK) {
        soc_buf_put_text(&json, "{\"payload\":");
        soc_buf_put_slice(&json, text);
        soc_buf_put_text(&json, "}");
        arrival.text = soc_buf_slice(&json);
        arrival.answers = soc_slice_text(asked->message_id);
        take(&arrival, &chain);
        soc_redis_outlet_forget_asked(door, correlation_id);
    } else if (arrival.speaker != NULL) {
        skip(&arrival, SOC_EJSON, "a reply that is no JSON");
    }
    soc_buf_fini(&json);
    soc_buf_fini(&chain);
}

void soc_redis_intake_hear(struct soc_redis_door *door, const struct soc_redis_reply *message)
{
    struct soc_slice channel = soc_redis_reply_text(soc_redis_reply_at(message, 2));
    struct soc_slice text = soc_redis_reply_text(soc_redis_reply_at(message, 3));
    struct soc_buf chain = {0};
    if (door->is_stopped || soc_host_is_failed(door->host) || text.data == NULL)
        return;
    if (take_prefix(&channel, SOC_SLICE("reply:"))) {
        if (!soc_host_is_full(door->host))
            hear_reply(door, channel, text);
        return;
    }
    if (!take_prefix(&channel, SOC_SLICE("agent:")) || !take_suffix(&channel, SOC_SLICE(":inbox")))
        return;
    struct arrival arrival = {.door = door, .agent = channel, .text = text};
    const struct soc_agent *agent =
        soc_id_is_valid(channel) ? soc_registry_find(door->host, channel) : NULL;
    if (!soc_id_is_valid(channel))
        skip(&arrival, SOC_EBADID, "the channel names no agent");
    else if ((agent != NULL && agent->is_external) || agent == soc_registry_user(door->host))
        ; /* what we have published ourselves; nobody inside reads it */
    else if (text.length > (size_t)door->settings->message_bytes)
        skip(&arrival, SOC_ETOOLARGE, "it is longer than message_bytes");
    else
        take(&arrival, &chain);
    soc_buf_fini(&chain);
}
