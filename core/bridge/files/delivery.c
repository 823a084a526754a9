#include "bridge/files/delivery.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "bridge/files/clients.h"
#include "bridge/files/log.h"
#include "bridge/files/report.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"

static bool carries(void *user, const struct soc_agent *agent)
{
    struct soc_files *files = user;
    bool takes = soc_id_is_for_outside(soc_agent_id(agent));
    struct soc_spot spot = {
        .agent = soc_agent_id(agent), .place = SOC_PLACE_AGENTS, .name = "", .offset = -1};
    if (!takes && !files->is_stopped)
        soc_files_log_file(files, SOC_LOG_ERROR, "refused_id", &spot,
                           "an id that ends with .out would share the file of another agent");
    return takes;
}

static bool is_pending(void *user, uint64_t key)
{
    const struct soc_files_client *client = user;
    return soc_map_find_number(&client->pending, key) != NULL;
}

/* A broadcast stays until every agent has it, so that it is written only once. */
static bool is_awaited(void *user, uint64_t key)
{
    const struct soc_files *files = user;
    return soc_outside_is_awaited(files->host, key);
}

/* Returns how many of the newest lines a rotation keeps; 0: too early to rotate. Half of
 * the space is for new lines; if more than that is pending or was just written, the file
 * grows. A rotation must remove enough lines: for an agent, pending lines are counted; for
 * broadcasts, the number that the last rotation kept is the estimate. */
static uint64_t plan_rotation(struct soc_files *files, struct soc_outlet *outlet,
                              const struct soc_files_client *client)
{
    const struct soc_files_settings *settings = files->settings;
    uint64_t half = (uint64_t)settings->messages_max / 2;
    uint64_t held = client == NULL ? 0 : client->pending.count;
    if (!settings->rotates || outlet->lines < (uint64_t)settings->messages_max ||
        outlet->lines < 2 * held || (client == NULL && outlet->lines < outlet->left + half))
        return 0;
    int64_t now_ms = soc_clock_now(soc_host_clock(files->host));
    uint64_t old = settings->keep_ms == 0
                       ? outlet->lines
                       : soc_outlet_count_old(outlet, now_ms - settings->keep_ms);
    uint64_t newest = outlet->lines - old > half ? outlet->lines - old : half;
    return old < half || outlet->lines < newest + held + half / 2 ? 0 : newest;
}

void soc_files_delivery_rotate(struct soc_files *files, struct soc_files_client *client)
{
    struct soc_outlet *outlet = client == NULL ? &files->broadcast : &client->queue;
    char stamp[SOC_TIME_DIGITS + 24] = {0};
    uint64_t newest = plan_rotation(files, outlet, client);
    if (newest == 0)
        return;
    soc_time_digits(stamp, soc_clock_date(soc_host_clock(files->host)));
    int code = -EEXIST;
    for (int i = 1; i < 100 && code == -EEXIST; i++) {
        snprintf(stamp + SOC_TIME_DIGITS, sizeof(stamp) - SOC_TIME_DIGITS, "-%d", i);
        if (client == NULL)
            code = soc_outlet_rotate(outlet, stamp, newest, is_awaited, files);
        else
            code = soc_outlet_rotate(outlet, stamp, newest, is_pending, client);
    }
    struct soc_spot spot = {.agent = soc_slice_text(client == NULL ? NULL : client->id),
                            .place = outlet->place,
                            .name = outlet->name,
                            .offset = -1};
    if (code == 0 || !outlet->is_unrotated)
        soc_files_log_file(files, code < 0 ? SOC_LOG_ERROR : SOC_LOG_INFO,
                           code < 0 ? "rotate_failed" : "rotated", &spot,
                           code < 0 ? strerror(-code) : stamp);
    outlet->is_unrotated = code < 0;
}

static void log_delivery(struct soc_files *files, const struct soc_handout *handout)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf detail = {0};
    bool is_first = handout->message->attempt <= 1;
    soc_envelope_id(id, handout->message);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_name(&detail, "attempt");
    soc_json_put_integer(&detail, handout->message->attempt);
    soc_json_put_text_member(
        &detail, "from",
        soc_slice_text(handout->message->from == NULL ? "system" : handout->message->from->id));
    soc_json_put_text_member(&detail, "type", soc_symbol_slice(handout->message->type));
    soc_buf_put_byte(&detail, '}');
    soc_files_log(files, handout->is_warning ? SOC_LOG_WARN : SOC_LOG_INFO,
                  is_first ? "delivered" : "resent", soc_agent_id(handout->agent),
                  soc_slice(id, sizeof(id)), soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* A message already in the file is not written again: after a crash it may be there, and a
 * broadcast is handed out once per receiver. */
static bool deliver(void *user, const struct soc_handout *handout)
{
    struct soc_files *files = user;
    const struct soc_message *message = handout->message;
    uint64_t key = soc_envelope_key(message); /* as it is read from the file */
    if (files->is_stopped)
        return false;
    struct soc_files_client *client = soc_files_clients_need(files, handout->agent);
    struct soc_outlet *outlet = handout->is_broadcast ? &files->broadcast : &client->queue;
    bool *is_stuck = handout->is_broadcast ? &files->is_stuck : &client->is_stuck;
    int code = 0;
    if (!soc_outlet_has(outlet, key, message->attempt)) {
        files->scratch.length = 0;
        soc_envelope_put_json(&files->scratch, message);
        code = soc_outlet_put(outlet, key, message->attempt, soc_buf_slice(&files->scratch),
                              soc_clock_now(soc_host_clock(files->host)));
        struct soc_spot spot = {.agent = soc_agent_id(handout->agent),
                                .place = outlet->place,
                                .name = outlet->name,
                                .offset = -1};
        soc_files_log_write(files, &spot, is_stuck, code);
        if (code == 0)
            log_delivery(files, handout);
        if (client->queue.change != SOC_OUTLET_SOUND)
            soc_files_note_change(client);
    }
    if (code < 0) {
        files->is_held = true;
        return false;
    }
    if (!handout->is_broadcast)
        soc_map_put_number(&client->pending, key, client);
    soc_files_delivery_rotate(files, handout->is_broadcast ? NULL : client);
    return true;
}

void soc_files_delivery_check(struct soc_files *files, struct soc_files_client *client)
{
    struct soc_outlet *outlet = client == NULL ? &files->broadcast : &client->queue;
    struct soc_slice id = soc_slice_text(client == NULL ? NULL : client->id);
    soc_outlet_check(outlet, soc_clock_now(soc_host_clock(files->host)));
    if (outlet->change == SOC_OUTLET_SOUND)
        return;
    struct soc_spot spot = {
        .agent = id, .place = outlet->place, .name = outlet->name, .offset = outlet->size};
    bool is_cut = outlet->change == SOC_OUTLET_TRUNCATED;
    soc_files_log_file(files, SOC_LOG_WARN, is_cut ? "file_truncated" : "file_replaced", &spot,
                       "only the society may write here; unfinished messages are written again");
    outlet->change = SOC_OUTLET_SOUND;
    struct soc_agent *agent = client == NULL ? NULL : soc_outside_find(files->host, id);
    if (agent != NULL)
        soc_outside_hand_again(files->host, agent);
}

/* A message acked as received in an earlier run is not handed out again, but must be in the
 * file: the agent may need to read it again. */
static void note_pending(struct soc_files_client *client, uint64_t key)
{
    soc_map_put_number(&client->pending, key, client);
    if (soc_outlet_has(&client->queue, key, 1))
        return;
    client->queue.change = SOC_OUTLET_REPLACED;
    soc_files_note_change(client);
}

/* An ack stands in the queue of the agent, among its messages. One that cannot be written is
 * lost: the agent sends its message again and gets another. */
static void write_ack(struct soc_files *files, struct soc_files_client *client,
                      struct soc_slice ack)
{
    struct soc_outlet *outlet = &client->queue;
    int code = soc_outlet_put(outlet, 0, 0, ack, soc_clock_now(soc_host_clock(files->host)));
    struct soc_spot spot = {.agent = soc_slice_text(client->id),
                            .place = outlet->place,
                            .name = outlet->name,
                            .offset = -1};
    soc_files_log_write(files, &spot, &client->is_stuck, code);
    if (outlet->change != SOC_OUTLET_SOUND)
        soc_files_note_change(client);
    soc_files_delivery_rotate(files, client);
}

static void tell(void *user, const struct soc_door_news *news)
{
    struct soc_files *files = user;
    uint64_t key;
    if (files->is_stopped)
        return;
    struct soc_files_client *client = soc_files_clients_need(files, news->agent);
    struct soc_slice id = soc_slice_text(client->id);
    switch (news->event) {
    case SOC_DOOR_DONE:
        if (soc_message_id_parse(news->message_id, &key))
            soc_map_take_number(&client->pending, key);
        if (client->queue.lines >= (uint64_t)files->settings->messages_max)
            soc_files_note_change(client); /* a rotation may make room */
        return;
    case SOC_DOOR_PENDING:
        if (soc_message_id_parse(news->message_id, &key))
            note_pending(client, key);
        return;
    case SOC_DOOR_ACK:
        write_ack(files, client, news->ack);
        return;
    case SOC_DOOR_FAILED: /* whoever asked for an ack misses it */
        return;
    case SOC_DOOR_BORN:
        soc_files_log(files, SOC_LOG_INFO, "registered", id, (struct soc_slice){0},
                      (struct soc_slice){0});
        break;
    case SOC_DOOR_ENDED:
        client->is_ended = true;
        soc_files_log(files, SOC_LOG_INFO, "stopped", id, (struct soc_slice){0},
                      (struct soc_slice){0});
        break;
    case SOC_DOOR_UNRESPONSIVE:
    case SOC_DOOR_RESPONSIVE:
        client->is_unresponsive = news->event == SOC_DOOR_UNRESPONSIVE;
        soc_files_log(files, client->is_unresponsive ? SOC_LOG_ERROR : SOC_LOG_INFO,
                      client->is_unresponsive ? "unresponsive" : "responsive", id,
                      (struct soc_slice){0}, (struct soc_slice){0});
        break;
    }
    soc_files_report_soon(files);
}

static void note_change(void *user)
{
    soc_files_report_later(user);
}

struct soc_door soc_files_delivery_door(struct soc_files *files)
{
    assert(!files->is_stopped);
    return (struct soc_door){
        .user = files,
        .carries = carries,
        .deliver = deliver,
        .tell = tell,
        .changed = note_change,
    };
}
