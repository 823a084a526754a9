#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/ending.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/router.h"
#include "kernel/operations/awaiting.h"
#include "kernel/recover.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/egress.h"
#include "parts/outside/outside.h"
#include "parts/outside/outside_letters.h"
#include "parts/outside/outside_operations.h"

/* Tells whether a door may lead to the agent: those on other hosts are the part `hosts`'. */
static bool is_ours(const struct soc_agent *agent)
{
    return agent->is_external && !agent->is_remote;
}

static void *open_outside(struct soc_host *host)
{
    (void)host;
    struct soc_outside *outside = soc_alloc_zero(sizeof(*outside));
    outside->heartbeat_ms = SOC_HEARTBEAT_MS;
    return outside;
}

static void free_outsider(struct soc_outsider *outsider)
{
    size_t cursor = 0;
    struct soc_letter *letter;
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL)
        free(letter);
    soc_map_fini(&outsider->letters);
    soc_map_fini(&outsider->externals);
    soc_map_fini(&outsider->foreigns);
    free(outsider->ended);
    free(outsider);
}

static void free_position(struct soc_kept_position *position)
{
    free(position->name);
    free(position->value);
    free(position);
}

static void free_outside(struct soc_host *host)
{
    struct soc_outside *outside = soc_outside_of_host(host);
    size_t cursor = 0;
    void *item;
    while ((item = soc_map_each(&outside->outsiders, &cursor)) != NULL)
        free_outsider(item);
    for (cursor = 0; (item = soc_map_each(&outside->positions, &cursor)) != NULL;)
        free_position(item);
    while (outside->notices_first != NULL) {
        struct soc_door_notice *next = outside->notices_first->next;
        free(outside->notices_first->json);
        free(outside->notices_first);
        outside->notices_first = next;
    }
    soc_map_fini(&outside->outsiders);
    soc_map_fini(&outside->positions);
    soc_map_fini(&outside->received);
    soc_heap_fini(&outside->timers);
    free(outside);
}

static const struct soc_door *find_door(const struct soc_outside *outside,
                                        const struct soc_agent *agent)
{
    for (size_t i = 0; i < outside->door_count; i++) {
        const struct soc_door *door = &outside->doors[i];
        if (door->carries == NULL || door->carries(door->user, agent))
            return door;
    }
    return NULL;
}

struct soc_outsider *soc_outside_need(struct soc_host *host, struct soc_agent *agent)
{
    assert(is_ours(agent));
    struct soc_outside *outside = soc_outside_of_host(host);
    struct soc_outsider *outsider = soc_map_find(&outside->outsiders, soc_agent_id(agent));
    if (outsider != NULL)
        return outsider;
    outsider = soc_alloc_zero(sizeof(*outsider));
    outsider->host = host;
    outsider->agent = agent;
    outsider->door = find_door(outside, agent);
    outsider->known_key = host->next_key;
    soc_map_put(&outside->outsiders, soc_agent_id(agent), outsider);
    soc_pulse_begin(&outsider->pulse, soc_host_now(host));
    soc_outside_watch(outsider);
    return outsider;
}

/* Drops a reference held by a callback; frees the outsider if the agent has terminated
 * and nothing else refers to it. */
static void release(struct soc_outsider *outsider)
{
    assert(outsider->calls > 0);
    outsider->calls--;
    if (outsider->calls > 0 || !outsider->agent->is_ended || outsider->letters.count > 0)
        return;
    soc_map_take(&soc_outside_of_host(outsider->host)->outsiders, soc_agent_id(outsider->agent));
    free_outsider(outsider);
}

static void release_now(void *user)
{
    release(user);
}

static void tell_first(void *user)
{
    struct soc_host *host = user;
    struct soc_outside *outside = soc_outside_of_host(host);
    struct soc_door_notice *notice = outside->notices_first;
    assert(notice != NULL); /* one call per notice, in order */
    const struct soc_door *door = notice->outsider->door;
    struct soc_door_news news = {
        .event = notice->event, .agent = notice->outsider->agent, .key = notice->key};
    outside->notices_first = notice->next;
    if (outside->notices_first == NULL)
        outside->notices_last = NULL;
    if (notice->key != 0)
        news.message_id = soc_slice(notice->id, sizeof(notice->id));
    if (notice->event == SOC_DOOR_FAILED)
        news.failure = soc_slice_text(notice->json);
    else
        news.ack = soc_slice_text(notice->json);
    door->tell(door->user, &news);
    release(notice->outsider);
    free(notice->json);
    free(notice);
}

static bool has_listener(const struct soc_outsider *outsider)
{
    return outsider->door != NULL && outsider->door->tell != NULL;
}

/* Queues a notice, owned from now on; it may be delivered and freed at once. */
static void add_notice(struct soc_outsider *outsider, struct soc_door_notice *notice)
{
    struct soc_host *host = outsider->host;
    struct soc_outside *outside = soc_outside_of_host(host);
    assert(has_listener(outsider));
    outsider->calls++;
    notice->outsider = outsider;
    *(outside->notices_last == NULL ? &outside->notices_first : &outside->notices_last->next) =
        notice;
    outside->notices_last = notice;
    soc_egress_call(host, tell_first, host);
}

void soc_outside_tell(struct soc_outsider *outsider, enum soc_door_event event,
                      const struct soc_message *message)
{
    if (!has_listener(outsider))
        return;
    struct soc_door_notice *notice = soc_alloc_zero(sizeof(*notice));
    notice->event = event;
    if (message != NULL) {
        notice->key = message->key;
        soc_envelope_id(notice->id, message);
    }
    add_notice(outsider, notice);
}

static void put_ack(struct soc_outsider *outsider, struct soc_slice for_id, struct soc_slice by,
                    enum soc_ack ack)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf json = {0};
    int64_t now_ms = soc_host_now(outsider->host);
    if (!has_listener(outsider))
        return;
    soc_ack_id_format(id, now_ms, ++outsider->acks);
    soc_buf_put_byte(&json, '{');
    soc_json_put_text_member(&json, "ack_for", for_id);
    soc_json_put_text_member(&json, "from", by);
    soc_json_put_text_member(&json, "id", soc_slice(id, sizeof(id)));
    soc_json_put_text_member(&json, "status", soc_slice_text(soc_ack_name(ack)));
    soc_json_put_name(&json, "timestamp");
    soc_time_put_json(&json, soc_clock_date_of(&outsider->host->clock, now_ms));
    soc_buf_put_byte(&json, '}');
    struct soc_door_notice *notice = soc_alloc_zero(sizeof(*notice));
    notice->event = SOC_DOOR_ACK;
    soc_text_set(&notice->json, soc_buf_slice(&json));
    soc_buf_fini(&json);
    add_notice(outsider, notice);
}

void soc_outside_send_ack(struct soc_outsider *outsider, const struct soc_message *message,
                          enum soc_ack ack)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_slice for_id = soc_message_text(message, SOC_TEXT_EXTERNAL_ID);
    if (!(message->flags & SOC_MESSAGE_REQUIRES_ACK) || message->flags & SOC_MESSAGE_IS_BROADCAST ||
        outsider->agent->is_ended)
        return;
    soc_envelope_id(id, message);
    put_ack(outsider, for_id.data != NULL ? for_id : soc_slice(id, sizeof(id)),
            soc_agent_id(message->to), ack);
}

void soc_outside_tell_failure(struct soc_outsider *outsider, const struct soc_message *message,
                              enum soc_outcome outcome)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf json = {0};
    int code = outcome == SOC_OUTCOME_EXPIRED     ? SOC_EEXPIRED
               : outcome == SOC_OUTCOME_CANCELLED ? SOC_ECANCELLED
               : outcome == SOC_OUTCOME_DROPPED   ? SOC_EDROPPED
                                                  : SOC_ERECEIVER;
    if (!has_listener(outsider))
        return;
    soc_envelope_id(id, message);
    soc_refusal_begin(&json, code,
                      code == SOC_ERECEIVER ? "the message could not be handled" : NULL);
    soc_json_put_text_member(&json, "message_id", soc_slice(id, sizeof(id)));
    soc_json_put_text_member(&json, "to", soc_agent_id(message->to));
    soc_json_put_text_member(&json, "correlation_id",
                             soc_message_text(message, SOC_TEXT_CORRELATION_ID));
    soc_refusal_end(&json, code);
    struct soc_door_notice *notice = soc_alloc_zero(sizeof(*notice));
    notice->event = SOC_DOOR_FAILED;
    soc_text_set(&notice->json, soc_buf_slice(&json));
    soc_buf_fini(&json);
    add_notice(outsider, notice);
}

void soc_outside_repeat_ack(struct soc_outsider *outsider, struct soc_slice for_id,
                            struct soc_slice by)
{
    put_ack(outsider, for_id, by, SOC_ACK_RECEIVED);
}

void soc_outside_born(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_outsider *outsider = soc_outside_need(host, agent);
    outsider->known_key = 0; /* no message went to it before */
    soc_outside_tell(outsider, SOC_DOOR_BORN, NULL);
}

void soc_outside_ended(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_outsider *outsider = soc_outside_need(host, agent);
    soc_heap_remove(&soc_outside_of_host(host)->timers, &outsider->timer);
    soc_outside_tell(outsider, SOC_DOOR_ENDED, NULL);
    outsider->calls++;
    soc_egress_call(host, release_now, outsider);
}

/* Tells whether handing the message out ends it: no ack is required, or none would
 * come. */
static bool ends_when_out(const struct soc_message *message)
{
    return !(message->flags & SOC_MESSAGE_REQUIRES_ACK) ||
           message->flags & SOC_MESSAGE_IS_BROADCAST;
}

void soc_outside_end_letter(struct soc_letter *letter)
{
    struct soc_message *message = letter->message;
    struct soc_agent *agent = letter->outsider->agent;
    struct soc_host *host = letter->outsider->host;
    soc_mailbox_remove(&agent->mailbox, message);
    soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    soc_ending_check(host, agent);
}

/* Starts the ladder of a letter that needs an ack; a resend continues its own. */
static void climb(struct soc_letter *letter)
{
    if (!ends_when_out(letter->message) && !letter->is_received && letter->ladder.step == 0)
        soc_outside_climb(letter);
}

/* Hands one letter out. False if the door cannot take it. */
static bool deliver(struct soc_letter *letter)
{
    const struct soc_outsider *outsider = letter->outsider;
    struct soc_message *message = letter->message;
    struct soc_handout handout = {
        .agent = outsider->agent,
        .message = message,
        .is_again = letter->is_again,
        .is_warning = letter->is_warning,
        .is_broadcast = (message->flags & SOC_MESSAGE_IS_BROADCAST) != 0,
    };
    if (!outsider->door->deliver(outsider->door->user, &handout))
        return false;
    soc_outside_unqueue(letter);
    letter->is_out = letter->was_out = true;
    letter->is_again = letter->is_warning = false;
    SOC_PARTS_TELL(outsider->host, deliver, outsider->host, message);
    if (!outsider->door->confirms)
        climb(letter);
    return true;
}

/* Tells whether the letter is durable and has not expired; at a start, expiry is
 * noticed only a moment later. */
static bool may_leave(const struct soc_letter *letter)
{
    struct soc_host *host = letter->outsider->host;
    int64_t expires_ms = letter->message->expires_ms;
    return letter->sequence <= host->outbox.released &&
           (expires_ms == 0 || letter->is_received || expires_ms > soc_host_now(host));
}

/* Letters that end by being handed out are finished after the loop, because that may
 * change the mailbox. */
static void hand_out(struct soc_outsider *outsider)
{
    struct soc_buf done = {0};
    bool can = outsider->door != NULL && !outsider->agent->is_ended && outsider->agent->hold == 0;
    for (int p = 0; p < SOC_PRIORITY_COUNT; p++) {
        struct soc_letter *next;
        for (struct soc_letter *letter = outsider->waiting[p].first; can && letter != NULL;
             letter = next) {
            const struct soc_message *message = letter->message;
            next = letter->next;
            if (!may_leave(letter))
                continue;
            can = deliver(letter);
            if (can && ends_when_out(message) && !outsider->door->confirms)
                soc_buf_put(&done, &message->key, sizeof(message->key));
        }
    }
    const uint64_t *keys = (const void *)done.data;
    for (size_t i = 0; i < done.length / sizeof(*keys); i++) {
        struct soc_letter *letter = soc_map_find_number(&outsider->letters, keys[i]);
        if (letter != NULL)
            soc_outside_end_letter(letter);
    }
    soc_buf_fini(&done);
}

static void hand_out_now(void *user)
{
    struct soc_outsider *outsider = user;
    outsider->is_called = false;
    if (outsider->is_redeemed)
        soc_outside_climb_all(outsider);
    outsider->is_redeemed = false;
    hand_out(outsider);
    release(outsider);
}

/* Returns the number of the batch that holds current changes. */
static uint64_t this_batch(const struct soc_host *host)
{
    return host->batch.length == 0 ? host->next_sequence - 1 : host->next_sequence;
}

void soc_outside_call(struct soc_outsider *outsider)
{
    struct soc_host *host = outsider->host;
    uint64_t sequence = this_batch(host);
    if (outsider->door == NULL || (outsider->is_called && outsider->called == sequence))
        return;
    outsider->is_called = true;
    outsider->called = sequence;
    outsider->calls++;
    soc_egress_call(host, hand_out_now, outsider);
}

void soc_outside_take(struct soc_host *host, struct soc_message *message)
{
    struct soc_outsider *outsider = soc_outside_need(host, message->to);
    struct soc_letter *letter = soc_alloc_zero(sizeof(*letter));
    bool is_start = host->journal == NULL;
    assert(soc_map_find_number(&outsider->letters, message->key) == NULL);
    letter->outsider = outsider;
    letter->message = message;
    letter->is_again = is_start;
    letter->is_received =
        soc_map_take_number(&soc_outside_of_host(host)->received, message->key) != NULL;
    letter->is_out = letter->was_out = letter->is_received;
    letter->sequence = is_start ? 0 : this_batch(host);
    message->is_outside = true;
    soc_map_put_number(&outsider->letters, message->key, letter);
    soc_outside_name(letter);
    const struct soc_message *last = message->to->mailbox.classes[message->priority].last;
    if (message->flags & SOC_MESSAGE_IS_BROADCAST && last != NULL &&
        soc_message_is_younger(last, message))
        soc_mailbox_put_back(&message->to->mailbox, message);
    else
        soc_mailbox_push(&message->to->mailbox, message);
    struct soc_agent *to = message->to;
    if (!letter->is_received) {
        soc_outside_queue(letter);
        soc_mail_watch(host, message); /* may expire it */
    }
    if (!is_start) {
        soc_outside_call(outsider);
        soc_awaiting_note_mail(host, to);
    }
}

void soc_outside_let_go(struct soc_host *host, struct soc_message *message)
{
    struct soc_outsider *outsider = soc_outside_need(host, message->to);
    struct soc_letter *letter = soc_map_take_number(&outsider->letters, message->key);
    assert(letter != NULL && letter->message == message);
    message->is_outside = false;
    soc_outside_stop(letter);
    soc_outside_unqueue(letter);
    soc_outside_remember(letter);
    if (letter->was_out)
        soc_outside_tell(outsider, SOC_DOOR_DONE, message);
    if (letter->is_given_up && soc_pulse_redeem(&outsider->pulse)) {
        outsider->is_redeemed = true;
        soc_outside_call(outsider);
    }
    free(letter);
}

/* Tells the door which messages were acked before the restart and are still pending. */
static void tell_received(struct soc_outsider *outsider)
{
    size_t cursor = 0;
    const struct soc_letter *letter;
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL)
        if (letter->is_received)
            soc_outside_tell(outsider, SOC_DOOR_PENDING, letter->message);
}

static void enter(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_outsider *outsider =
        soc_map_find(&soc_outside_of_host(host)->outsiders, soc_agent_id(agent));
    if (outsider != NULL && outsider->door != NULL)
        return;
    outsider = soc_outside_need(host, agent);
    outsider->door = find_door(soc_outside_of_host(host), agent);
    if (outsider->door == NULL)
        return;
    if (outsider->known_key != 0) /* created while the state was loaded */
        outsider->known_key = host->next_key;
    soc_pulse_begin(&outsider->pulse, soc_host_now(host));
    soc_outside_watch(outsider);
    soc_outside_tell(outsider, SOC_DOOR_BORN, NULL);
    tell_received(outsider);
    soc_outside_call(outsider);
}

int soc_outside_open(struct soc_host *host, const struct soc_door *door)
{
    assert(door->deliver != NULL);
    struct soc_outside *outside = soc_outside_of_host(host);
    if (outside->door_count == SOC_DOORS_MAX)
        return SOC_ETOOLARGE;
    outside->doors[outside->door_count++] = *door;
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL)
        if (agent->is_external && !agent->is_ended)
            enter(host, agent);
    return SOC_OK;
}

void soc_outside_resume(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_outsider *outsider;
    while ((outsider = soc_map_each(&soc_outside_of_host(host)->outsiders, &cursor)) != NULL)
        soc_outside_call(outsider);
}

void soc_outside_hand_again(struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_outsider *outsider =
        soc_map_find(&soc_outside_of_host(host)->outsiders, soc_agent_id(agent));
    size_t cursor = 0;
    struct soc_letter *letter;
    if (outsider == NULL)
        return;
    while ((letter = soc_map_each(&outsider->letters, &cursor)) != NULL) {
        if (!letter->is_out)
            continue;
        letter->is_out = false;
        letter->is_again = true;
        soc_outside_queue(letter);
    }
    soc_outside_call(outsider);
}

void soc_outside_confirm(struct soc_host *host, struct soc_slice agent, uint64_t key)
{
    const struct soc_outsider *outsider =
        soc_map_find(&soc_outside_of_host(host)->outsiders, agent);
    struct soc_letter *letter =
        outsider == NULL ? NULL : soc_map_find_number(&outsider->letters, key);
    if (letter == NULL || !letter->is_out)
        return;
    if (ends_when_out(letter->message))
        soc_outside_end_letter(letter);
    else
        climb(letter);
}

bool soc_outside_is_awaited(const struct soc_host *host, uint64_t key)
{
    size_t cursor = 0;
    const struct soc_outsider *outsider;
    while ((outsider = soc_map_each(&soc_outside_of_host(host)->outsiders, &cursor)) != NULL)
        if (soc_map_find_number(&outsider->letters, key) != NULL)
            return true;
    return false;
}

struct soc_agent *soc_outside_find(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    return agent == NULL || agent->is_ended || !is_ours(agent) ? NULL : agent;
}

int64_t soc_outside_heard_ms(const struct soc_host *host, const struct soc_agent *agent)
{
    const struct soc_outsider *outsider =
        soc_map_find(&soc_outside_of_host(host)->outsiders, soc_agent_id(agent));
    return outsider == NULL ? 0 : outsider->pulse.heard_ms;
}

static void set_position(struct soc_host *host, struct soc_slice name, struct soc_slice value)
{
    struct soc_map *positions = &soc_outside_of_host(host)->positions;
    struct soc_kept_position *kept = soc_map_find(positions, name);
    if (kept == NULL) {
        kept = soc_alloc_zero(sizeof(*kept));
        soc_text_set(&kept->name, name);
        soc_map_put(positions, soc_slice_text(kept->name), kept);
    }
    soc_text_set(&kept->value, value);
}

void soc_outside_keep(struct soc_host *host, struct soc_position position)
{
    if (position.name.data == NULL)
        return;
    struct soc_record record = {
        .type = SOC_RECORD_POSITION,
        .position = {.name = position.name, .value = position.value},
    };
    soc_batch_put(host, &record);
    set_position(host, position.name, position.value);
}

struct soc_slice soc_outside_position(const struct soc_host *host, struct soc_slice name)
{
    const struct soc_kept_position *kept =
        soc_map_find(&soc_outside_of_host(host)->positions, name);
    return kept == NULL ? (struct soc_slice){0} : soc_slice_text(kept->value);
}

void soc_outside_restore_position(struct soc_host *host, const struct soc_record_position *record)
{
    set_position(host, record->name, record->value);
}

/* Live, a receipt is a flag of the letter. Recovery reads receipts before the letters are
 * made, so it keeps them in a map until then. */
void soc_outside_restore_receipt(struct soc_host *host, struct soc_message *message,
                                 const struct soc_record_receipt *record)
{
    if (message == NULL)
        return;
    message->attempt = (uint16_t)record->attempt;
    if (record->ack != SOC_ACK_NONE)
        soc_map_put_number(&soc_outside_of_host(host)->received, record->key, message);
}

void soc_outside_forget_receipt(struct soc_host *host, uint64_t key)
{
    soc_map_take_number(&soc_outside_of_host(host)->received, key);
}

void soc_outside_record(struct soc_host *host, const struct soc_letter *letter)
{
    struct soc_record record = {.type = SOC_RECORD_RECEIPT};
    record.receipt = (struct soc_record_receipt){
        .key = letter->message->key,
        .time_ms = (uint64_t)soc_host_now(host),
        .attempt = letter->message->attempt,
        .ack = letter->is_received ? SOC_ACK_RECEIVED : SOC_ACK_NONE,
    };
    soc_batch_put(host, &record);
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_RECEIPT)
        soc_outside_restore_receipt(host, soc_recover_pending(host, record->receipt.key),
                                    &record->receipt);
    else if (record->type == SOC_RECORD_MESSAGE_AGAIN)
        soc_outside_forget_receipt(host, record->message_again.key);
    else if (record->type == SOC_RECORD_POSITION)
        soc_outside_restore_position(host, &record->position);
    return SOC_OK;
}

static bool take(struct soc_host *host, struct soc_message *message)
{
    if (!is_ours(message->to))
        return false;
    soc_outside_take(host, message);
    return true;
}

static bool finishing(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                      struct soc_slice reason)
{
    (void)outcome;
    (void)reason;
    if (message->is_outside)
        soc_outside_let_go(host, message);
    return false;
}

/* Tells whether a message was dropped because what it answers had ended: that is all there was
 * to do with it. */
static bool came_late(enum soc_outcome outcome, struct soc_slice reason)
{
    static const char begin[] = "{\"error\":\"late_";
    return outcome == SOC_OUTCOME_DROPPED && reason.length >= sizeof(begin) &&
           memcmp(reason.data, begin, sizeof(begin) - 1) == 0;
}

/* What an outside agent sent has been handled. */
static bool finish(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                   struct soc_slice reason)
{
    bool is_done = outcome == SOC_OUTCOME_PROCESSED || came_late(outcome, reason);
    if (is_done && message->from != NULL && is_ours(message->from))
        soc_outside_send_ack(soc_outside_need(host, message->from), message, SOC_ACK_PROCESSED);
    return false;
}

/* Tells the door of an outside agent that nobody handles what the agent sent. */
static void failed(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome)
{
    const struct soc_agent *from = message->from;
    struct soc_outsider *outsider = NULL;
    if (from != NULL && from->is_external && !from->is_ended && message->to != NULL &&
        message->reply_to == 0)
        outsider = soc_map_find(&soc_outside_of_host(host)->outsiders, soc_agent_id(from));
    if (outsider != NULL)
        soc_outside_tell_failure(outsider, message, outcome);
}

static void agent_born(struct soc_host *host, struct soc_agent *agent)
{
    if (is_ours(agent))
        soc_outside_born(host, agent);
}

static void agent_ended(struct soc_host *host, struct soc_agent *agent)
{
    if (is_ours(agent))
        soc_outside_ended(host, agent);
}

static void agent_held(struct soc_host *host, struct soc_agent *agent)
{
    if (is_ours(agent))
        soc_outside_note_hold(host, agent);
}

static void settle(struct soc_host *host)
{
    const struct soc_outside *outside = soc_outside_of_host(host);
    for (size_t i = 0; i < outside->door_count; i++)
        if (outside->doors[i].changed != NULL)
            outside->doors[i].changed(outside->doors[i].user);
}

static bool is_busy(const struct soc_host *host)
{
    return soc_outside_of_host(host)->climbed > 0;
}

static void put_agent(const struct soc_host *host, const struct soc_agent *agent,
                      struct soc_buf *out)
{
    int64_t heard_ms = is_ours(agent) ? soc_outside_heard_ms(host, agent) : 0;
    if (heard_ms == 0)
        return;
    soc_json_put_name(out, "last_heartbeat");
    soc_time_put_json(out, soc_clock_date_of(&host->clock, heard_ms));
}

const struct soc_part soc_outside_part = {
    .name = "outside",
    .number = SOC_PART_OUTSIDE,
    .operations = soc_outside_operations,
    .open = open_outside,
    .settle = settle,
    .free = free_outside,
    .is_busy = is_busy,
    .due = soc_outside_due,
    .fire = soc_outside_fire,
    .restore = restore,
    .agent_born = agent_born,
    .agent_ended = agent_ended,
    .hand_out = take,
    .finishing = finishing,
    .finish = finish,
    .failed = failed,
    .agent_held = agent_held,
    .put_agent = put_agent,
};
