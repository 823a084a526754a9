#include "bridge/redis/outlet.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bridge/redis/status.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"

#define ENTRIES_MAX  256       /* that wait in one outlet */
#define BYTES_MAX    (1 << 20) /* of them, but for one entry alone */
#define BATCH_MAX    64        /* entries of one script */
#define BATCH_BYTES  (256 << 10)
#define FORGET_MAX   64 /* fields to forget that wait for a script of their own */
#define ASKED_MAX    4096
#define RETRY_MS     250
#define KEEP_SECONDS "604800" /* how long Redis remembers what it was given */

#define FIXED 5 /* arguments of the script before the fields to forget */
#define EACH  8 /* arguments for each entry */

/* KEYS: what was sent, inbox, queue. ARGV: how long that is remembered, how much inbox and
 * queue hold, how long replies last, how many fields are forgotten, these fields; then for
 * each entry field, where to, envelope, payload, correlation id, sender, id and attempt.
 * Returns how many were put, and why not the next one. Types are looked at first, so that
 * nothing is put half. A list has the payload as `content`, too, as its protocol has it. */
static const char script[] =
    "local keep, imax, qmax, rsec, n = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], "
    "tonumber(ARGV[5]) "
    "for i = 6, 5 + n do redis.call('HDEL', KEYS[1], ARGV[i]) end "
    "local function fits(key, want) "
    "  local t = redis.call('TYPE', key).ok "
    "  return t == 'none' or t == want "
    "end "
    "local done, at = 0, 6 + n "
    "while ARGV[at] do "
    "  local field, to, text, payload, cid = unpack(ARGV, at, at + 4) "
    "  local from, id, attempt = ARGV[at + 5], ARGV[at + 6], tonumber(ARGV[at + 7]) "
    "  local before = field ~= '' and tonumber(redis.call('HGET', KEYS[1], field) or 0) or 0 "
    "  if to ~= '' and (field == '' or before < attempt) then "
    "    local inbox, queue, reply = to:find('i'), to:find('q'), to:find('r') "
    "    if inbox and not fits(KEYS[2], 'stream') then "
    "      return {done, KEYS[2] .. ' is no stream'} end "
    "    if queue and not fits(KEYS[3], 'list') then "
    "      return {done, KEYS[3] .. ' is no list'} end "
    "    if queue and redis.call('LLEN', KEYS[3]) >= qmax then "
    "      if not inbox and not reply then "
    "        return {done, KEYS[3] .. ' is full; nobody reads it'} end "
    "      queue = nil end "
    "    if inbox then "
    "      redis.call('XADD', KEYS[2], 'MAXLEN', '~', imax, '*', 'message', text) "
    "      redis.call('PUBLISH', KEYS[2], text) end "
    "    if queue then "
    "      if payload ~= '' then text = text:sub(1, -2) .. ',\"content\":' .. payload .. '}' end "
    "      redis.call('LPUSH', KEYS[3], text) end "
    "    if reply then "
    "      local key = 'reply:' .. cid "
    "      if fits(key, 'stream') then "
    "        redis.call('XADD', key, 'MAXLEN', '~', '100', '*', 'message', payload, "
    "          'from', from, 'id', id) "
    "        redis.call('EXPIRE', key, rsec) end "
    "      redis.call('PUBLISH', key, payload) end "
    "    if field ~= '' then "
    "      redis.call('HSET', KEYS[1], field, attempt) "
    "      redis.call('EXPIRE', KEYS[1], keep) end "
    "  end "
    "  done = done + 1 "
    "  at = at + 8 "
    "end "
    "return {done}";

bool soc_redis_outlet_is_key(struct soc_slice text)
{
    if (text.length == 0 || text.length > SOC_REDIS_CID_BYTES)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              c == '_' || c == '.' || c == '-'))
            return false;
    }
    return true;
}

/* ---- outlets and entries ---- */

static char *join(const char *a, const char *b, const char *c)
{
    struct soc_buf text = {0};
    soc_buf_printf(&text, "%s%s%s", a, b, c);
    char *joined = soc_copy_text(text.data, text.length);
    soc_buf_fini(&text);
    return joined;
}

static void fini_entry(struct soc_redis_entry *entry)
{
    free(entry->agent);
    free(entry->field);
    free(entry->from);
    free(entry->id);
    free(entry->reply);
    free(entry->json);
    free(entry->payload);
    free(entry);
}

static void fini_outlet(struct soc_redis_outlet *outlet)
{
    while (outlet->first != NULL) {
        struct soc_redis_entry *next = outlet->first->next;
        fini_entry(outlet->first);
        outlet->first = next;
    }
    soc_buf_fini(&outlet->done);
    free(outlet->id);
    free(outlet->inbox);
    free(outlet->queue);
    free(outlet->sent);
}

static struct soc_redis_outlet *need_outlet(struct soc_redis_door *door,
                                            const struct soc_agent *agent)
{
    struct soc_redis_outlet *outlet = soc_map_find(&door->outlets, soc_agent_id(agent));
    if (outlet != NULL)
        return outlet;
    outlet = soc_alloc_zero(sizeof(*outlet));
    outlet->door = door;
    outlet->id = soc_copy_text(agent->id, agent->id_length);
    outlet->inbox = join("agent:", outlet->id, ":inbox");
    outlet->queue = join("helix:queue:", outlet->id, "");
    outlet->sent = join(door->prefix, "sent:", outlet->id);
    soc_map_put(&door->outlets, soc_slice_text(outlet->id), outlet);
    return outlet;
}

static void add_entry(struct soc_redis_outlet *outlet, struct soc_redis_entry *entry)
{
    if (outlet->last == NULL)
        outlet->first = entry;
    else
        outlet->last->next = entry;
    outlet->last = entry;
    outlet->count++;
    outlet->bytes += entry->bytes;
}

/* Removes the first entry and returns it. */
static struct soc_redis_entry *pop_entry(struct soc_redis_outlet *outlet)
{
    struct soc_redis_entry *entry = outlet->first;
    assert(entry != NULL);
    outlet->first = entry->next;
    if (outlet->first == NULL)
        outlet->last = NULL;
    outlet->count--;
    outlet->bytes -= entry->bytes;
    return entry;
}

/* Lends the entry of a message that waits or is under way, or NULL. */
static struct soc_redis_entry *find_entry(const struct soc_redis_outlet *outlet, uint64_t key,
                                          struct soc_slice agent)
{
    for (struct soc_redis_entry *entry = outlet->first; entry != NULL; entry = entry->next)
        if (entry->key == key && soc_slice_equal(soc_slice_text(entry->agent), agent))
            return entry;
    return NULL;
}

static char *copy(struct soc_slice text)
{
    return text.data == NULL ? NULL : soc_copy_text(text.data, text.length);
}

/* ---- sending ---- */

/* The arguments of one script; texts are lent, numbers are kept here. */
struct arguments {
    struct soc_slice *items;
    size_t count;
    char numbers[4][24];
    char attempts[BATCH_MAX][8];
};

static void add_argument(struct arguments *arguments, const char *text)
{
    arguments->items[arguments->count++] = text == NULL ? SOC_SLICE("") : soc_slice_text(text);
}

static void add_number(struct arguments *arguments, int place, int64_t number)
{
    snprintf(arguments->numbers[place], sizeof(arguments->numbers[place]), "%" PRId64, number);
    add_argument(arguments, arguments->numbers[place]);
}

static const char *letters_of(unsigned to)
{
    static const char *const letters[] = {"", "i", "q", "iq", "r", "ir", "qr", "iqr"};
    return letters[to & 7];
}

static void add_entries(struct arguments *arguments, struct soc_redis_outlet *outlet)
{
    size_t bytes = 0;
    for (const struct soc_redis_entry *entry = outlet->first;
         entry != NULL && outlet->in_flight < BATCH_MAX && (bytes == 0 || bytes < BATCH_BYTES);
         entry = entry->next) {
        add_argument(arguments, entry->field);
        add_argument(arguments, letters_of(entry->to));
        add_argument(arguments, entry->json);
        add_argument(arguments, entry->payload);
        add_argument(arguments, entry->reply);
        add_argument(arguments, entry->from);
        add_argument(arguments, entry->id);
        char *attempt = arguments->attempts[outlet->in_flight];
        snprintf(attempt, sizeof(arguments->attempts[0]), "%u", entry->attempt);
        add_argument(arguments, attempt);
        bytes += entry->bytes + 1;
        outlet->in_flight++;
    }
}

static void send_some(struct soc_redis_outlet *outlet)
{
    struct soc_redis_door *door = outlet->door;
    const struct soc_redis_settings *settings = door->settings;
    if (outlet->is_sending || !door->is_ready || door->is_stopped ||
        (outlet->first == NULL && outlet->done_count < FORGET_MAX))
        return;
    size_t room = 3 + 3 + FIXED + outlet->done_count + EACH * BATCH_MAX;
    struct arguments arguments = {.items = soc_alloc(room * sizeof(struct soc_slice))};
    add_argument(&arguments, "EVAL");
    add_argument(&arguments, script);
    add_argument(&arguments, "3");
    add_argument(&arguments, outlet->sent);
    add_argument(&arguments, outlet->inbox);
    add_argument(&arguments, outlet->queue);
    add_argument(&arguments, KEEP_SECONDS);
    add_number(&arguments, 0, settings->inbox_max);
    add_number(&arguments, 1, settings->queue_max);
    add_number(&arguments, 2, settings->reply_s);
    add_number(&arguments, 3, (int64_t)outlet->done_count);
    for (size_t at = 0; at < outlet->done.length; at += strlen(outlet->done.data + at) + 1)
        add_argument(&arguments, outlet->done.data + at);
    outlet->done_in_flight = outlet->done.length;
    outlet->in_flight = 0;
    add_entries(&arguments, outlet);
    assert(arguments.count <= room);
    outlet->is_sending = soc_redis_command(door->commands, arguments.items, arguments.count,
                                           door->note_sent, outlet) == SOC_OK;
    if (!outlet->is_sending)
        outlet->in_flight = 0;
    free(arguments.items);
}

static void forget_done(struct soc_redis_outlet *outlet)
{
    size_t sent = outlet->done_in_flight;
    size_t rest = outlet->done.length - sent;
    memmove(outlet->done.data, outlet->done.data + sent, rest);
    outlet->done.length = rest;
    outlet->done_count = 0;
    for (size_t at = 0; at < rest; at += strlen(outlet->done.data + at) + 1)
        outlet->done_count++;
}

/* The script has run, or the connection was lost; then it may have run, and what it put is
 * remembered. */
static void take_result(void *user, const struct soc_redis_reply *reply)
{
    struct soc_redis_outlet *outlet = user;
    struct soc_redis_door *door = outlet->door;
    if (door->is_stopped || reply == NULL ||
        soc_redis_door_is_refused(door, reply, &outlet->is_stuck)) {
        outlet->is_sending = false;
        if (!door->is_stopped && reply != NULL)
            soc_alarm_set(door->retry_alarm, RETRY_MS);
        return;
    }
    if (outlet->done.length > 0)
        forget_done(outlet);
    int64_t done = soc_redis_reply_integer(soc_redis_reply_at(reply, 0), 0);
    struct soc_slice why = soc_redis_reply_text(soc_redis_reply_at(reply, 1));
    for (int64_t i = 0; i < done && outlet->in_flight > 0; i++) {
        struct soc_redis_entry *entry = pop_entry(outlet);
        outlet->in_flight--;
        if (entry->key != 0 && entry->agent != NULL)
            soc_outside_confirm(door->host, soc_slice_text(entry->agent), entry->key);
        fini_entry(entry);
    }
    outlet->in_flight = 0;
    outlet->is_sending = false; /* not before: confirming may add entries */
    if (why.length > 0) {
        if (!outlet->is_stuck)
            soc_redis_door_log(door, SOC_LOG_WARN, soc_slice_text(outlet->id), "mail waits: %.*s",
                               (int)why.length, why.data);
        outlet->is_stuck = true;
        soc_alarm_set(door->retry_alarm, RETRY_MS);
        return;
    }
    outlet->is_stuck = false;
    send_some(outlet);
    if (outlet->is_held && outlet->count <= ENTRIES_MAX / 2 && outlet->bytes <= BYTES_MAX / 2) {
        outlet->is_held = false;
        soc_outside_resume(door->host);
    }
}

void soc_redis_outlet_send_all(struct soc_redis_door *door)
{
    size_t cursor = 0;
    struct soc_redis_outlet *outlet;
    send_some(&door->common);
    while ((outlet = soc_map_each(&door->outlets, &cursor)) != NULL)
        send_some(outlet);
}

static void retry(void *user)
{
    soc_redis_outlet_send_all(user);
}

/* ---- requests that were handed out ---- */

static void free_asked(struct soc_redis_asked *asked)
{
    free(asked->correlation_id);
    free(asked->agent);
    free(asked->message_id);
    free(asked);
}

const struct soc_redis_asked *soc_redis_outlet_find_asked(const struct soc_redis_door *door,
                                                          struct soc_slice correlation_id)
{
    return soc_map_find(&door->asked, correlation_id);
}

void soc_redis_outlet_forget_asked(struct soc_redis_door *door, struct soc_slice correlation_id)
{
    struct soc_redis_asked *asked = soc_map_take(&door->asked, correlation_id);
    if (asked != NULL)
        free_asked(asked);
}

static void note_asked(struct soc_redis_door *door, struct soc_slice correlation_id,
                       struct soc_slice agent, struct soc_slice message_id)
{
    size_t cursor = 0;
    soc_redis_outlet_forget_asked(door, correlation_id);
    if (door->asked.count >= ASKED_MAX) {
        const struct soc_redis_asked *oldest = soc_map_each(&door->asked, &cursor);
        soc_redis_outlet_forget_asked(door, soc_slice_text(oldest->correlation_id));
    }
    struct soc_redis_asked *asked = soc_alloc_zero(sizeof(*asked));
    asked->correlation_id = copy(correlation_id);
    asked->agent = copy(agent);
    asked->message_id = copy(message_id);
    soc_map_put(&door->asked, soc_slice_text(asked->correlation_id), asked);
}

/* ---- what the host calls ---- */

/* Appends the envelope. A request names the channel on which its reply is expected. */
static void put_envelope(struct soc_redis_door *door, const struct soc_handout *handout,
                         struct soc_slice id, struct soc_buf *out)
{
    const struct soc_message *message = handout->message;
    if (!(message->flags & SOC_MESSAGE_WANTS_REPLY)) {
        soc_envelope_put_json(out, message);
        return;
    }
    struct soc_buf plain = {0};
    struct soc_buf chained = {0};
    struct soc_buf value = {0};
    struct soc_slice chain = soc_message_text(message, SOC_TEXT_CORRELATION_ID);
    if (!soc_redis_outlet_is_key(chain))
        chain = id;
    soc_envelope_put_json(&plain, message);
    soc_json_put_string(&value, chain);
    soc_json_put_changed(&chained, soc_buf_slice(&plain), "correlation_id", soc_buf_slice(&value));
    value.length = 0;
    soc_buf_printf(&value, "\"reply:%.*s\"", (int)chain.length, chain.data);
    soc_json_put_changed(out, soc_buf_slice(&chained), "reply_channel", soc_buf_slice(&value));
    note_asked(door, chain, soc_agent_id(handout->agent), id);
    soc_buf_fini(&plain);
    soc_buf_fini(&chained);
    soc_buf_fini(&value);
}

static bool is_guest(const struct soc_redis_door *door, const struct soc_agent *agent)
{
    return door->settings->guest != NULL &&
           soc_slice_equal(soc_agent_id(agent), soc_slice_text(door->settings->guest));
}

/* Returns where a message goes. Clients without a name read no queue of the guest's. */
static unsigned places_of(const struct soc_redis_door *door, const struct soc_handout *handout)
{
    const struct soc_message *message = handout->message;
    struct soc_slice chain = soc_message_text(message, SOC_TEXT_CORRELATION_ID);
    bool is_reply = message->reply_to != 0 && soc_redis_outlet_is_key(chain);
    if (handout->is_broadcast)
        return SOC_REDIS_TO_INBOX;
    if (is_guest(door, handout->agent))
        return is_reply ? SOC_REDIS_TO_REPLY : SOC_REDIS_TO_INBOX;
    return (door->settings->has_inbox ? SOC_REDIS_TO_INBOX : 0) |
           (door->settings->has_queue ? SOC_REDIS_TO_QUEUE : 0) |
           (is_reply ? SOC_REDIS_TO_REPLY : 0);
}

static struct soc_redis_entry *new_entry(struct soc_redis_door *door,
                                         const struct soc_handout *handout, bool is_bare)
{
    const struct soc_message *message = handout->message;
    struct soc_redis_entry *entry = soc_alloc_zero(sizeof(*entry));
    char id[SOC_MESSAGE_ID_BYTES];
    soc_envelope_id(id, message);
    entry->key = message->key;
    entry->attempt = message->attempt;
    entry->agent = soc_copy_text(handout->agent->id, handout->agent->id_length);
    if (is_bare)
        return entry;
    struct soc_slice chain = soc_message_text(message, SOC_TEXT_CORRELATION_ID);
    entry->field = soc_copy_text(id, sizeof(id));
    entry->to = places_of(door, handout);
    entry->id = soc_copy_text(id, sizeof(id));
    entry->from = message->from == NULL
                      ? soc_copy_text("system", 6)
                      : soc_copy_text(message->from->id, message->from->id_length);
    if (entry->to & SOC_REDIS_TO_REPLY)
        entry->reply = copy(chain);
    door->scratch.length = 0;
    put_envelope(door, handout, soc_slice(id, sizeof(id)), &door->scratch);
    entry->json = soc_copy_text(door->scratch.data, door->scratch.length);
    entry->payload = copy(soc_message_payload(message));
    entry->bytes = door->scratch.length + soc_message_payload(message).length;
    return entry;
}

bool soc_redis_outlet_deliver(void *user, const struct soc_handout *handout)
{
    struct soc_redis_door *door = user;
    const struct soc_message *message = handout->message;
    if (door->is_stopped || !door->is_ready)
        return false;
    struct soc_redis_outlet *outlet =
        handout->is_broadcast ? &door->common : need_outlet(door, handout->agent);
    if ((handout->is_again || message->attempt > 1) &&
        find_entry(outlet, message->key, soc_agent_id(handout->agent)) != NULL)
        return true;
    if (outlet->count >= ENTRIES_MAX || (outlet->count > 0 && outlet->bytes >= BYTES_MAX)) {
        outlet->is_held = true;
        return false;
    }
    bool is_bare = handout->is_broadcast &&
                   soc_map_put_number(&door->broadcasts, message->key, outlet) != NULL;
    add_entry(outlet, new_entry(door, handout, is_bare));
    send_some(outlet);
    return true;
}

/* A message is no longer pending: Redis need not remember it. */
static void note_done(struct soc_redis_door *door, const struct soc_door_news *news)
{
    struct soc_redis_outlet *outlet = soc_map_find_number(&door->broadcasts, news->key);
    if (outlet == NULL)
        outlet = need_outlet(door, news->agent);
    else if (soc_outside_is_awaited(door->host, news->key))
        return;
    soc_map_take_number(&door->broadcasts, news->key);
    soc_buf_put_slice(&outlet->done, news->message_id);
    soc_buf_put_byte(&outlet->done, '\0');
    outlet->done_count++;
    send_some(outlet);
}

/* Lets an entry without a message go to an outside agent as its mail does. */
static void put_ack(struct soc_redis_door *door, const struct soc_door_news *news)
{
    if (is_guest(door, news->agent) && !door->settings->has_inbox)
        return;
    struct soc_redis_outlet *outlet = need_outlet(door, news->agent);
    if (outlet->count >= ENTRIES_MAX)
        return; /* who misses an ack sends again and gets another */
    struct soc_redis_entry *entry = soc_alloc_zero(sizeof(*entry));
    entry->to =
        (door->settings->has_inbox ? SOC_REDIS_TO_INBOX : 0) |
        (door->settings->has_queue && !is_guest(door, news->agent) ? SOC_REDIS_TO_QUEUE : 0);
    entry->json = copy(news->ack);
    entry->bytes = news->ack.length;
    add_entry(outlet, entry);
    send_some(outlet);
}

void soc_redis_outlet_refuse(struct soc_redis_door *door, struct soc_slice correlation_id,
                             struct soc_slice error)
{
    struct soc_redis_outlet *outlet = &door->common;
    if (!soc_redis_outlet_is_key(correlation_id) || outlet->count >= ENTRIES_MAX * 4)
        return;
    struct soc_redis_entry *entry = soc_alloc_zero(sizeof(*entry));
    entry->to = SOC_REDIS_TO_REPLY;
    entry->reply = copy(correlation_id);
    entry->from = soc_copy_text("system", 6);
    entry->payload = copy(error);
    entry->bytes = error.length;
    add_entry(outlet, entry);
    send_some(outlet);
}

static void answer_failure(struct soc_redis_door *door, struct soc_slice failure)
{
    struct soc_buf text = {0};
    if (soc_json_string(soc_json_member(failure, "correlation_id"), &text))
        soc_redis_outlet_refuse(door, soc_buf_slice(&text), failure);
    soc_buf_fini(&text);
}

void soc_redis_outlet_tell(void *user, const struct soc_door_news *news)
{
    struct soc_redis_door *door = user;
    if (door->is_stopped)
        return;
    switch (news->event) {
    case SOC_DOOR_DONE:
        note_done(door, news);
        return;
    case SOC_DOOR_ACK:
        put_ack(door, news);
        return;
    case SOC_DOOR_FAILED:
        answer_failure(door, news->failure);
        return;
    case SOC_DOOR_BORN:
    case SOC_DOOR_ENDED:
        door->is_changed = true;
        soc_redis_status_note(door);
        return;
    case SOC_DOOR_PENDING: /* it was handed over in an earlier run, and acked */
    case SOC_DOOR_UNRESPONSIVE:
    case SOC_DOOR_RESPONSIVE:
        return;
    }
}

void soc_redis_outlet_start_over(struct soc_redis_door *door)
{
    size_t cursor = 0;
    struct soc_redis_outlet *outlet;
    soc_map_fini(&door->broadcasts);
    while ((outlet = soc_map_each(&door->outlets, &cursor)) != NULL) {
        const struct soc_agent *agent = soc_redis_door_find(door, soc_slice_text(outlet->id));
        if (agent != NULL)
            soc_outside_hand_again(door->host, agent);
    }
}

bool soc_redis_outlet_is_empty(const struct soc_redis_door *door)
{
    size_t cursor = 0;
    const struct soc_redis_outlet *outlet;
    if (door->common.first != NULL)
        return false;
    while ((outlet = soc_map_each(&door->outlets, &cursor)) != NULL)
        if (outlet->first != NULL)
            return false;
    return true;
}

void soc_redis_outlet_open(struct soc_redis_door *door)
{
    door->common.door = door;
    door->note_sent = take_result;
    door->common.inbox = soc_copy_text("broadcast:all", 13);
    door->common.queue = join(door->prefix, "none", "");
    door->common.sent = join(door->prefix, "sent", "");
    door->retry_alarm = soc_alarm_open(door->loop, "redis outlet", retry, door);
}

void soc_redis_outlet_close(struct soc_redis_door *door)
{
    size_t cursor = 0;
    struct soc_redis_outlet *outlet;
    struct soc_redis_asked *asked;
    while ((outlet = soc_map_each(&door->outlets, &cursor)) != NULL) {
        fini_outlet(outlet);
        free(outlet);
    }
    for (cursor = 0; (asked = soc_map_each(&door->asked, &cursor)) != NULL;)
        free_asked(asked);
    fini_outlet(&door->common);
    soc_map_fini(&door->outlets);
    soc_map_fini(&door->asked);
    soc_map_fini(&door->broadcasts);
    soc_alarm_close(door->retry_alarm);
}
