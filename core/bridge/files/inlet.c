#include "bridge/files/inlet.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bridge/files/log.h"
#include "bridge/files/report.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/mail/send_reader.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"

/* Of a file, read at a time. */
#define LOOK_BYTES_MAX (2 << 20)

/* Malformed lines in a row that are logged one by one. */
#define MALFORMED_LOGGED_MAX 100

/* A line being read. */
struct reading {
    struct soc_inlet *inlet;
    const struct soc_line *line;
    struct soc_agent *agent; /* the sender */
    bool is_placed;          /* it has one receiver and no id: its place identifies it */
};

void soc_inlet_open(struct soc_inlet *inlet, struct soc_files *files,
                    struct soc_files_client *client, enum soc_place place, const char *name)
{
    assert(files != NULL && name != NULL && inlet->name == NULL);
    struct soc_buf position = {0};
    soc_buf_printf(&position, "files:%s/%s", soc_place_path(place), name);
    *inlet = (struct soc_inlet){.files = files, .client = client, .place = place};
    inlet->name = soc_copy_text(name, strlen(name));
    inlet->position = soc_copy_text(position.data, position.length);
    soc_lines_set_position(&inlet->lines,
                           soc_outside_position(files->host, soc_buf_slice(&position)));
    soc_buf_fini(&position);
}

void soc_inlet_close(struct soc_inlet *inlet)
{
    free(inlet->name);
    free(inlet->position);
    *inlet = (struct soc_inlet){0};
}

static struct soc_slice speaker(const struct soc_inlet *inlet)
{
    return inlet->client == NULL ? (struct soc_slice){0} : soc_slice_text(inlet->client->id);
}

/* Returns the position after the line, to be committed with its effects. */
static struct soc_position position_of(const struct soc_inlet *inlet,
                                       char text[SOC_LINES_POSITION_BYTES])
{
    soc_lines_put_position(&inlet->lines, text);
    return (struct soc_position){.name = soc_slice_text(inlet->position),
                                 .value = soc_slice_text(text)};
}

static void keep_position(const struct soc_inlet *inlet)
{
    char text[SOC_LINES_POSITION_BYTES];
    soc_outside_keep(inlet->files->host, position_of(inlet, text));
}

void soc_inlet_begin_anew(struct soc_inlet *inlet)
{
    soc_lines_begin_anew(&inlet->lines);
    keep_position(inlet);
}

static void log_line(const struct soc_inlet *inlet, enum soc_log_level level, const char *event,
                     const struct soc_line *line, const char *reason)
{
    struct soc_spot spot = {.agent = speaker(inlet),
                            .place = inlet->place,
                            .name = inlet->name,
                            .offset = line->offset};
    if (line->kind <= SOC_LINE_UNENDED && soc_json_check(line->text, NULL) == SOC_OK &&
        soc_json_kind(line->text) == SOC_JSON_OBJECT)
        spot.line = line->text;
    soc_files_log_file(inlet->files, level, event, &spot, reason);
}

/* Logs a malformed line. Of very many in a row only their number is logged, when they end. */
static void log_malformed(struct soc_inlet *inlet, const struct soc_line *line, const char *reason)
{
    keep_position(inlet);
    inlet->files->found++;
    inlet->malformed++;
    if (inlet->malformed <= MALFORMED_LOGGED_MAX)
        log_line(inlet, SOC_LOG_WARN, "malformed_line", line, reason);
    if (inlet->malformed == MALFORMED_LOGGED_MAX)
        log_line(inlet, SOC_LOG_WARN, "malformed_lines", line,
                 "if more of them follow, they are skipped and counted, not logged one by one");
}

/* A line that is not malformed ends a row of those that are. */
static void end_malformed(struct soc_inlet *inlet, const struct soc_line *line)
{
    struct soc_buf reason = {0};
    if (inlet->malformed > MALFORMED_LOGGED_MAX) {
        soc_buf_printf(&reason, "%" PRIu64 " lines in a row were malformed and skipped",
                       inlet->malformed);
        log_line(inlet, SOC_LOG_WARN, "malformed_lines", line, soc_buf_text(&reason));
    }
    inlet->malformed = 0;
    soc_buf_fini(&reason);
}

/* Skips a line and logs the reason. */
static bool skip(const struct soc_inlet *inlet, const char *event, const struct soc_line *line,
                 const char *reason)
{
    keep_position(inlet);
    inlet->files->found++;
    log_line(inlet, SOC_LOG_WARN, event, line, reason);
    return true;
}

/* Logs a refusal of the host: its error object with the place of the line. */
static void log_refusal(const struct reading *reading, struct soc_slice error)
{
    const struct soc_inlet *inlet = reading->inlet;
    struct soc_buf detail = {0};
    struct soc_buf file = {0};
    soc_buf_printf(&file, "%s/%s", soc_place_path(inlet->place), inlet->name);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "file", soc_buf_slice(&file));
    soc_json_put_name(&detail, "offset");
    soc_json_put_integer(&detail, reading->line->offset);
    soc_files_log_put_line(&detail, reading->line->text);
    soc_json_put_name(&detail, "reason");
    soc_buf_put_slice(&detail, error);
    soc_buf_put_byte(&detail, '}');
    soc_files_log(inlet->files, SOC_LOG_WARN, "refused", soc_slice_text(reading->agent->id),
                  (struct soc_slice){0}, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
    soc_buf_fini(&file);
}

/* Gives a line without an id a key made of its place and contents. */
static void give_key(struct reading *reading, struct soc_send *send, bool is_list,
                     char room[SOC_LINES_KEY_BYTES])
{
    struct soc_slice *key = &send->texts[SOC_TEXT_DEDUPE_KEY];
    struct soc_slice *id = &send->texts[SOC_TEXT_EXTERNAL_ID];
    send->is_listed = is_list;
    if (is_list && key->data == NULL && id->data != NULL)
        *key = *id;
    if (is_list)
        *id = (struct soc_slice){0}; /* an external id belongs to one message */
    if (id->data != NULL || key->data != NULL)
        return;
    reading->is_placed = !is_list;
    soc_lines_key(&reading->inlet->lines, reading->inlet->name, reading->line, room);
    *key = soc_slice_text(room);
}

static void log_accepted(struct reading *reading, const struct soc_send *send,
                         struct soc_slice receipt)
{
    struct soc_json_walk walk;
    struct soc_buf detail = {0};
    soc_json_walk(&walk, receipt);
    soc_json_next(&walk);
    struct soc_slice id = soc_json_plain_string(soc_json_member(walk.value, "messageId"));
    bool is_known = soc_json_member(walk.value, "duplicate").data != NULL;
    if (is_known && reading->is_placed) {
        log_line(reading->inlet, SOC_LOG_WARN, "duplicate", reading->line,
                 "already taken: the same bytes were at this place; give lines an id to repeat "
                 "them");
        return;
    }
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "to", send->to);
    soc_json_put_text_member(&detail, "type", send->type);
    soc_json_put_text_member(&detail, "external_id", send->texts[SOC_TEXT_EXTERNAL_ID]);
    soc_buf_put_byte(&detail, '}');
    soc_files_log(reading->inlet->files, SOC_LOG_INFO, is_known ? "duplicate" : "accepted",
                  soc_slice_text(reading->agent->id), id, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* Logs once that a line waits and why. */
static void log_waiting(const struct reading *reading, int rc)
{
    if (!reading->inlet->is_waiting)
        log_line(reading->inlet, SOC_LOG_WARN, "waiting", reading->line, soc_error_text(rc));
    reading->inlet->is_waiting = true;
}

/* Sends to one receiver; absent: the sender of what it answers, or the orchestrator.
 * Returns false if it must be retried later. */
static bool accept(struct reading *reading, struct soc_outside_mail *mail, struct soc_slice to,
                   struct soc_position position)
{
    struct soc_buf answer = {0};
    struct soc_host *host = reading->inlet->files->host;
    mail->send.to = to;
    mail->is_again = reading->inlet->is_waiting; /* only the first line can be waiting */
    int rc = soc_outside_accept(host, reading->agent, mail, position, &answer);
    bool is_taken = rc != SOC_EMAILBOX && rc != SOC_EDISKFULL;
    if (!is_taken)
        log_waiting(reading, rc);
    else if (rc < 0)
        log_refusal(reading, soc_buf_slice(&answer));
    else
        log_accepted(reading, &mail->send, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
    return is_taken;
}

/* The position is committed with the last receiver. After a crash in between, or if a
 * receiver is full, the line is read again; its key identifies receivers that have it. */
static bool accept_list(struct reading *reading, struct soc_outside_mail *mail,
                        const struct soc_send_input *input, struct soc_position position)
{
    struct soc_host *host = reading->inlet->files->host;
    assert(input->receivers_count > 0);
    for (size_t i = 0; i < input->receivers_count; i++) {
        bool is_last = i + 1 == input->receivers_count;
        struct soc_slice to = input->receivers[i];
        const struct soc_agent *agent = soc_registry_receiver(host, to);
        if (agent != NULL) /* an agent named twice, even by an alias, gets it once */
            to = soc_agent_id(agent);
        if (!accept(reading, mail, to, is_last ? position : (struct soc_position){0}))
            return false;
    }
    return true;
}

/* Sends the message of a line. `reply_to` names what it answers; without a receiver its
 * correlation id does. */
static bool accept_input(struct reading *reading, struct soc_send_input *input)
{
    assert(reading->agent != NULL);
    struct soc_inlet *inlet = reading->inlet;
    char place[SOC_LINES_POSITION_BYTES];
    char key[SOC_LINES_KEY_BYTES];
    soc_send_input_settle(input, soc_host_clock(inlet->files->host));
    struct soc_outside_mail mail = {
        .send = input->send,
        .answers = input->reply_to,
        .is_chain = !soc_send_input_has(input, SOC_MESSAGE_FIELD_REPLY_TO),
    };
    if (mail.is_chain && !soc_send_input_has(input, SOC_MESSAGE_FIELD_TO))
        mail.answers = mail.send.texts[SOC_TEXT_CORRELATION_ID];
    give_key(reading, &mail.send, input->receivers != NULL, key);
    if (input->receivers != NULL)
        return accept_list(reading, &mail, input, position_of(inlet, place));
    return accept(reading, &mail, input->send.to, position_of(inlet, place));
}

static bool take_message(struct reading *reading)
{
    struct soc_send_reader reader = {0};
    struct soc_send_input input = {0};
    struct soc_send_input_fault fault;
    bool is_taken = true;
    int rc = soc_send_reader_read(&reader, reading->line->text, SOC_SEND_FROM_FILE, &input, &fault);
    if (rc < 0)
        skip(reading->inlet, "malformed_line", reading->line, fault.detail.text);
    else
        is_taken = accept_input(reading, &input);
    soc_send_reader_fini(&reader);
    return is_taken;
}

/* Looks for a message that the host no longer has in the queues. Returns false if it is in
 * the queue of another agent. Otherwise `*event` is the event to log. */
static bool find_in_files(const struct reading *reading, struct soc_slice id, const char **event)
{
    struct soc_files *files = reading->inlet->files;
    struct soc_files_client *own = soc_files_find(files, soc_agent_id(reading->agent));
    struct soc_files_client *client;
    size_t cursor = 0;
    uint64_t key = 0;
    *event = "ack_unknown";
    if (!soc_message_id_parse(id, &key))
        return true;
    if (soc_outlet_has(&files->broadcast, key, 1) ||
        (own != NULL && soc_outlet_has(&own->queue, key, 1))) {
        *event = "acked";
        return true;
    }
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL)
        if (client != own && client->queue.name != NULL && soc_outlet_has(&client->queue, key, 1))
            return false;
    return true;
}

static void log_ack(const struct reading *reading, const char *event, struct soc_slice id,
                    enum soc_ack ack)
{
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "status", soc_slice_text(soc_ack_name(ack)));
    soc_buf_put_byte(&detail, '}');
    soc_files_log(reading->inlet->files, SOC_LOG_INFO, event,
                  reading->agent == NULL ? speaker(reading->inlet) : soc_agent_id(reading->agent),
                  id, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

static bool take_ack(struct reading *reading)
{
    struct soc_inlet *inlet = reading->inlet;
    struct soc_buf id = {0};
    struct soc_buf error = {0};
    const char *reason = NULL;
    char place[SOC_LINES_POSITION_BYTES];
    enum soc_ack ack = soc_ack_read(reading->line->text, &id, NULL, &reason);
    if (ack == SOC_ACK_NONE) {
        skip(inlet, "malformed_ack", reading->line, reason);
    } else {
        const char *event = "acked";
        int rc = soc_outside_ack(inlet->files->host, reading->agent, soc_buf_slice(&id), ack,
                                 position_of(inlet, place), &error);
        if (rc == SOC_ACK_IS_UNKNOWN && !find_in_files(reading, soc_buf_slice(&id), &event))
            rc = soc_refuse(&error, SOC_ENOMESSAGE, "that message went to another agent",
                            "message_id", soc_buf_slice(&id));
        if (rc < 0)
            log_refusal(reading, soc_buf_slice(&error));
        else
            log_ack(reading, event, soc_buf_slice(&id), ack);
    }
    soc_buf_fini(&id);
    soc_buf_fini(&error);
    return true;
}

/* Accepts the ack of an ended agent for a finished message: an answer may end the agent, and
 * its ack arrives afterwards. */
static bool pass_ack(struct reading *reading)
{
    struct soc_inlet *inlet = reading->inlet;
    struct soc_buf id = {0};
    const char *reason = NULL;
    enum soc_ack ack = soc_ack_read(reading->line->text, &id, NULL, &reason);
    if (ack == SOC_ACK_NONE) {
        skip(inlet, "malformed_ack", reading->line, reason);
    } else {
        keep_position(inlet);
        log_ack(reading, "ack_unknown", soc_buf_slice(&id), ack);
    }
    soc_buf_fini(&id);
    return true;
}

static bool has_member(const struct soc_line *line, const char *name)
{
    return soc_json_member(line->text, name).data != NULL;
}

static bool is_ack(const struct soc_inlet *inlet, const struct soc_line *line)
{
    return inlet->is_acks || has_member(line, "ack_for") ||
           (has_member(line, "msg_id") && !has_member(line, "payload"));
}

/* Returns true if the agent that owns the file has ended. */
static bool has_ended(const struct soc_inlet *inlet)
{
    return inlet->client != NULL && soc_outside_find(inlet->files->host, speaker(inlet)) == NULL;
}

/* Returns true if only one user may write as the agent: ID.out.jsonl belongs to another user
 * than ours, in a folder that only we can write to. If others can write to the folder, any
 * of them could create the file. The answer is kept once it is true. */
static bool is_owned(struct soc_files_client *client)
{
    const struct soc_workdir *dir = &client->files->dir;
    int folder = dir->folders[SOC_PLACE_AGENTS];
    struct stat info;
    if (client->is_owned || client->out.name == NULL ||
        fstatat(folder, client->out.name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(info.st_mode) || info.st_uid == geteuid())
        return client->is_owned;
    client->owner = info.st_uid;
    client->is_owned = fstat(folder, &info) == 0 && (info.st_mode & 0022) == 0;
    return client->is_owned;
}

/* Finds the sender: the owner of the file; in the common file the line names an outside
 * agent. NULL with `*reason` if there is none. */
static struct soc_agent *find_speaker(struct reading *reading, const char **reason)
{
    const struct soc_inlet *inlet = reading->inlet;
    struct soc_host *host = inlet->files->host;
    struct soc_files_client *client = inlet->client;
    struct soc_slice id = speaker(inlet);
    struct soc_buf from = {0};
    if (client == NULL)
        id = soc_json_text(soc_json_member(reading->line->text, "from"), SOC_ID_BYTES_MAX, &from);
    struct soc_agent *agent = id.data == NULL ? NULL : soc_outside_find(host, id);
    soc_buf_fini(&from);
    if (agent == NULL) {
        *reason = client != NULL ? "the agent has ended"
                                 : "'from' is not an outside agent registered here";
        return NULL;
    }
    if (client == NULL)
        client = soc_files_find(inlet->files, soc_agent_id(agent));
    if (client == NULL || !is_owned(client) ||
        (inlet->client != NULL && inlet->lines.owner == client->owner))
        return agent;
    *reason = inlet->client == NULL
                  ? "the agent's .out.jsonl belongs to another user; only that user may write as it"
                  : "only the owner of the agent's .out.jsonl may write as it";
    return NULL;
}

/* Reports an agent at once when it is heard for the first time. */
static void note_heard(struct soc_files *files, const struct soc_agent *agent)
{
    struct soc_files_client *client = soc_files_find(files, soc_agent_id(agent));
    if (client != NULL && client->heard_ms == 0)
        soc_files_report_soon(files);
}

static bool take_object(struct soc_inlet *inlet, const struct soc_line *line)
{
    struct reading reading = {.inlet = inlet, .line = line};
    const char *reason = NULL;
    reading.agent = find_speaker(&reading, &reason);
    bool is_taken;
    if (reading.agent == NULL && has_ended(inlet) && is_ack(inlet, line)) {
        is_taken = pass_ack(&reading);
    } else if (reading.agent == NULL) {
        is_taken = skip(inlet, "refused", line, reason);
    } else if (is_ack(inlet, line)) {
        is_taken = take_ack(&reading);
    } else if (soc_slice_equal(soc_json_plain_string(soc_json_member(line->text, "type")),
                               SOC_SLICE("heartbeat"))) {
        soc_outside_hear(inlet->files->host, reading.agent);
        keep_position(inlet);
        is_taken = true;
    } else if (inlet->files->is_over) {
        is_taken = skip(inlet, "refused", line, "the society has ended; nobody would read it");
    } else {
        is_taken = take_message(&reading);
    }
    if (reading.agent != NULL)
        note_heard(inlet->files, reading.agent);
    return is_taken;
}

/* Takes nothing while the disk is full or has failed: lines can wait. */
static bool take_text(struct soc_inlet *inlet, const struct soc_line *line)
{
    struct soc_host *host = inlet->files->host;
    struct soc_json_fault fault = {0};
    if (soc_host_is_full(host) || soc_host_is_failed(host))
        return false;
    int rc = soc_json_check(line->text, &fault);
    if (rc < 0 && line->kind == SOC_LINE_UNENDED) {
        soc_lines_leave_torn(&inlet->lines);
        log_line(inlet, SOC_LOG_WARN, "torn_line", line, "the last line has no newline yet");
        return false;
    }
    if (rc < 0) {
        struct soc_buf reason = {0};
        soc_buf_printf(&reason, "not JSON: %s", fault.reason == NULL ? "unreadable" : fault.reason);
        log_malformed(inlet, line, soc_buf_text(&reason));
        soc_buf_fini(&reason);
        return true;
    }
    if (soc_json_kind(line->text) != SOC_JSON_OBJECT) {
        log_malformed(inlet, line, "not a JSON object");
        return true;
    }
    end_malformed(inlet, line);
    if (!take_object(inlet, line))
        return false;
    inlet->files->found++;
    inlet->is_waiting = false;
    return true;
}

static bool take_line(void *user, const struct soc_line *line)
{
    struct soc_inlet *inlet = user;
    if (line->kind > SOC_LINE_UNENDED)
        inlet->is_waiting = false; /* the line that waited may be gone */
    switch (line->kind) {
    case SOC_LINE_WHOLE:
    case SOC_LINE_UNENDED:
        return take_text(inlet, line);
    case SOC_LINE_TOO_LONG:
        return skip(inlet, "line_too_long", line, "longer than buffers.line_bytes");
    case SOC_LINE_LONG_END:
        keep_position(inlet);
        return true;
    case SOC_LINE_TRUNCATED:
        return skip(inlet, "file_truncated", line,
                    "shorter than the part already read; reading starts over");
    case SOC_LINE_REPLACED:
        return skip(inlet, "file_replaced", line,
                    "not the file that was read before; reading starts over");
    case SOC_LINE_REMOVED:
        return skip(inlet, "file_removed", line, "it is gone");
    case SOC_LINE_RETURNED:
        return skip(inlet, "file_returned", line,
                    "the file is back with the same bytes; they are not taken again");
    default:
        log_line(inlet, SOC_LOG_ERROR, "file_unreadable", line, line->text.data);
        return true;
    }
}

/* Confirms that an acked message arrived and leaves the ack for later. */
static bool take_receipt(void *user, const struct soc_line *line)
{
    struct reading reading = {.inlet = user, .line = line};
    struct soc_buf id = {0};
    const char *reason = NULL;
    struct soc_agent *agent = find_speaker(&reading, &reason);
    if (agent != NULL && line->kind <= SOC_LINE_UNENDED &&
        soc_json_check(line->text, NULL) == SOC_OK &&
        soc_ack_read(line->text, &id, NULL, &reason) != SOC_ACK_NONE)
        soc_outside_note_arrival(reading.inlet->files->host, agent, soc_buf_slice(&id));
    soc_buf_fini(&id);
    return true;
}

static struct soc_look_options options_of(const struct soc_inlet *inlet, bool is_last)
{
    const struct soc_files *files = inlet->files;
    return (struct soc_look_options){
        .dir = &files->dir,
        .place = inlet->place,
        .name = inlet->name,
        .line_bytes_max = (size_t)files->settings->line_bytes_max,
        .lines_max = (int)files->settings->lines_max,
        .bytes_max = LOOK_BYTES_MAX,
        .until_us = files->until_us,
        .now_ms = soc_clock_now(soc_host_clock(files->host)),
        .wait_ms = files->settings->wait_ms,
        .is_last = is_last,
    };
}

bool soc_inlet_look(struct soc_inlet *inlet, bool is_last)
{
    assert(inlet->name != NULL);
    struct soc_look_options options = options_of(inlet, is_last);
    return soc_lines_look(&inlet->lines, &options, take_line, inlet);
}

/* Only the ack of an agent that is ending can end it before its own messages are taken.
 * Other acks do not wait for lines: a line that waits for a full mailbox may depend on just
 * these acks. */
static bool may_end_by_ack(const struct soc_files_client *client)
{
    const struct soc_agent *agent =
        soc_outside_find(client->files->host, soc_slice_text(client->id));
    return agent != NULL && agent->is_ending;
}

bool soc_inlet_look_at_acks(struct soc_files_client *client, const struct soc_lines_end *end,
                            bool is_last)
{
    assert(client->acks.is_acks && end != NULL);
    struct soc_inlet *acks = &client->acks;
    struct soc_look_options options = options_of(acks, is_last);
    options.end = end;
    if (!may_end_by_ack(client) ||
        (!client->files->orchestrator.lines.is_behind && !client->out.lines.is_behind))
        return soc_lines_look(&acks->lines, &options, take_line, acks);
    struct soc_lines before = acks->lines;
    soc_lines_look(&acks->lines, &options, take_receipt, acks);
    acks->lines = before;
    return false;
}
