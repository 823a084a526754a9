#include "bridge/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bridge/files_state.h"
#include "env/ids.h"
#include "kernel/envelope.h"
#include "kernel/gate.h"

#define IDENTITY       "files:workflow" /* the position that says which workflow this is */
#define SETTLE_POLL_MS 20

struct soc_files_client *soc_files_find(struct soc_files *files, struct soc_slice id)
{
    return soc_map_find(&files->clients, id);
}

static void set_perspective(struct soc_files_client *client, const struct soc_agent *agent)
{
    const char *set = client->files->settings->perspectives;
    struct soc_buf text = {0};
    if (set == NULL || !soc_json_string(soc_json_member(soc_slice_text(set), client->id), &text))
        soc_buf_put_text(&text, agent->role->id);
    free(client->perspective);
    client->perspective = soc_copy_text(text.data, text.length);
    soc_buf_fini(&text);
}

static void open_inlet(struct soc_files_client *client, struct soc_inlet *inlet, const char *suffix)
{
    struct soc_buf name = {0};
    soc_buf_printf(&name, "%s%s", client->id, suffix);
    soc_inlet_open(inlet, client->files, client, SOC_PLACE_AGENTS, soc_buf_text(&name));
    soc_buf_fini(&name);
}

static void note_stuck(struct soc_files *files, const struct soc_outlet *outlet, bool *is_stuck,
                       struct soc_slice agent, int code)
{
    struct soc_spot spot = {
        .agent = agent, .place = outlet->place, .name = outlet->name, .offset = -1};
    if (code < 0 && !*is_stuck)
        soc_files_log_file(files, SOC_LOG_ERROR, "write_failed", &spot,
                           code == -ELOOP ? "it is a link, which is not followed"
                                          : strerror(-code));
    *is_stuck = code < 0;
}

/* Opens the files of an agent, and makes those that are not there. */
static void open_client(struct soc_files_client *client, const struct soc_agent *agent)
{
    struct soc_files *files = client->files;
    struct soc_buf name = {0};
    client->started_ms = agent->created_ms;
    soc_message_id_format(client->since, agent->created_ms, agent->since);
    set_perspective(client, agent);
    open_inlet(client, &client->acks, SOC_ACK_SUFFIX);
    open_inlet(client, &client->out, SOC_OUT_SUFFIX);
    client->acks.is_acks = true;
    soc_buf_printf(&name, "%s" SOC_QUEUE_SUFFIX, client->id);
    int code = soc_outlet_open(&client->queue, &files->dir, SOC_PLACE_AGENTS, soc_buf_text(&name),
                               soc_clock_now(soc_host_clock(files->host)));
    note_stuck(files, &client->queue, &client->is_stuck, soc_slice_text(client->id), code);
    soc_workdir_append(&files->dir, SOC_PLACE_AGENTS, client->acks.name, SOC_SLICE(""));
    soc_buf_fini(&name);
    soc_files_note_change(client);
    soc_files_report_soon(files);
}

/* Returns the client of an agent, made with its files if it is new. One that agents.json has
 * shown without files, as ended, is another agent if it lives: that file can say anything. */
static struct soc_files_client *need_client(struct soc_files *files, const struct soc_agent *agent)
{
    struct soc_files_client *client = soc_files_find(files, soc_agent_id(agent));
    if (client != NULL && (client->queue.name != NULL || agent->is_ended))
        return client;
    if (client == NULL) {
        client = soc_alloc_zero(sizeof(*client));
        client->files = files;
        client->id = soc_copy_text(agent->id, agent->id_length);
        soc_map_put(&files->clients, soc_slice_text(client->id), client);
    }
    client->is_ended = false;
    client->heard_ms = 0;
    open_client(client, agent);
    return client;
}

static void free_client(struct soc_files_client *client)
{
    soc_inlet_close(&client->acks);
    soc_inlet_close(&client->out);
    soc_outlet_close(&client->queue);
    soc_map_fini(&client->pending);
    free(client->perspective);
    free(client->id);
    free(client);
}

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

/* A broadcast stays until it was handed out to everybody: it is to be written once. */
static bool is_awaited(void *user, uint64_t key)
{
    const struct soc_files *files = user;
    return soc_outside_is_awaited(files->host, key);
}

/* How many of the newest lines a rotation is to leave; 0: it is too early for one. Half of
 * the room is left for what is new; if more than that is pending, or was written a moment
 * ago, the file grows. A rotation must be worth its while: what is pending is counted for
 * an agent; of broadcasts it is as much as the last rotation left, as far as is known. */
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

void soc_files_rotate(struct soc_files *files, struct soc_files_client *client)
{
    struct soc_outlet *outlet = client == NULL ? &files->broadcast : &client->queue;
    char stamp[SOC_TIME_DIGITS + 24] = {0};
    uint64_t newest = plan_rotation(files, outlet, client);
    if (newest == 0)
        return;
    soc_time_digits(stamp, soc_clock_now(soc_host_clock(files->host)));
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

/* What stands in the file already is not written again: after a crash nobody knows
 * whether it was, and a broadcast comes once for each of its receivers. */
static bool deliver(void *user, const struct soc_handout *handout)
{
    struct soc_files *files = user;
    const struct soc_message *message = handout->message;
    if (files->is_stopped)
        return false;
    struct soc_files_client *client = need_client(files, handout->agent);
    struct soc_outlet *outlet = handout->is_broadcast ? &files->broadcast : &client->queue;
    bool *is_stuck = handout->is_broadcast ? &files->is_stuck : &client->is_stuck;
    int code = 0;
    if (!soc_outlet_has(outlet, message->key, message->attempt)) {
        files->scratch.length = 0;
        soc_envelope_put_json(&files->scratch, message);
        code =
            soc_outlet_put(outlet, message->key, message->attempt, soc_buf_slice(&files->scratch),
                           soc_clock_now(soc_host_clock(files->host)));
        note_stuck(files, outlet, is_stuck, soc_agent_id(handout->agent), code);
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
        soc_map_put_number(&client->pending, message->key, client);
    soc_files_rotate(files, handout->is_broadcast ? NULL : client);
    return true;
}

void soc_files_check(struct soc_files *files, struct soc_files_client *client)
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
                       "nobody else is to write here; what is not done with is written again");
    outlet->change = SOC_OUTLET_SOUND;
    struct soc_agent *agent = client == NULL ? NULL : soc_outside_find(files->host, id);
    if (agent != NULL)
        soc_outside_hand_again(files->host, agent);
}

/* What was acked as received in an earlier run is not handed out again, but must stand in
 * the file all the same: the agent may need to read it again. */
static void note_pending(struct soc_files_client *client, uint64_t key)
{
    soc_map_put_number(&client->pending, key, client);
    if (soc_outlet_has(&client->queue, key, 1))
        return;
    client->queue.change = SOC_OUTLET_REPLACED;
    soc_files_note_change(client);
}

static void tell(void *user, const struct soc_door_news *news)
{
    struct soc_files *files = user;
    uint64_t key;
    if (files->is_stopped)
        return;
    struct soc_files_client *client = need_client(files, news->agent);
    struct soc_slice id = soc_slice_text(client->id);
    switch (news->event) {
    case SOC_DOOR_DONE:
        if (soc_message_id_parse(news->message_id, &key))
            soc_map_take_number(&client->pending, key);
        if (client->queue.lines >= (uint64_t)files->settings->messages_max)
            soc_files_note_change(client); /* there may be room to be made */
        return;
    case SOC_DOOR_PENDING:
        if (soc_message_id_parse(news->message_id, &key))
            note_pending(client, key);
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

/* Which workflow this is was kept when it began, «created_ms id»; else it begins now. */
static bool read_identity(struct soc_files *files)
{
    struct soc_slice kept = soc_outside_position(files->host, SOC_SLICE(IDENTITY));
    int64_t created_ms;
    int length = 0;
    if (kept.data == NULL || sscanf(kept.data, "%" SCNd64 " %n", &created_ms, &length) != 1)
        return false;
    files->created_ms = created_ms;
    files->workflow_id = soc_copy_text(kept.data + length, kept.length - (size_t)length);
    return true;
}

static void make_identity(struct soc_files *files, const char *app_name)
{
    char digits[SOC_TIME_DIGITS];
    struct soc_buf id = {0};
    files->created_ms = soc_clock_now(soc_host_clock(files->host));
    soc_time_digits(digits, files->created_ms);
    if (files->settings->workflow_id != NULL)
        soc_buf_put_text(&id, files->settings->workflow_id);
    else
        soc_buf_printf(&id, "%.*s_%.8s", SOC_ID_BYTES_MAX - 9,
                       app_name == NULL || app_name[0] == '\0' ? "society" : app_name, digits);
    files->workflow_id = soc_copy_text(id.data, id.length);
    soc_buf_fini(&id);
}

static void keep_identity(struct soc_files *files)
{
    struct soc_buf value = {0};
    soc_buf_printf(&value, "%" PRId64 " %s", files->created_ms, files->workflow_id);
    soc_outside_keep(files->host, (struct soc_position){.name = SOC_SLICE(IDENTITY),
                                                        .value = soc_buf_slice(&value)});
    soc_buf_fini(&value);
}

static int open_dir(struct soc_files *files, struct soc_detail *detail)
{
    const struct soc_files_settings *settings = files->settings;
    struct soc_buf path = {0};
    if (settings->dir != NULL)
        soc_buf_put_text(&path, settings->dir);
    else
        soc_buf_printf(&path, "%s/%s", settings->base_dir, files->workflow_id);
    int rc = soc_workdir_open(&files->dir, soc_buf_text(&path), true, settings->folder_mode,
                              settings->file_mode, detail);
    soc_buf_fini(&path);
    return rc;
}

static int put_away(struct soc_files *files, const char *why)
{
    char digits[SOC_TIME_DIGITS + 1] = {0};
    struct soc_buf name = {0};
    soc_time_digits(digits, soc_clock_now(soc_host_clock(files->host)));
    soc_buf_printf(&name, "%s.%s%s", files->workflow_id, digits, why);
    int code = soc_workdir_archive(&files->dir, soc_buf_text(&name));
    soc_buf_fini(&name);
    return code;
}

/* A directory that was there may let in more than ours would: those could speak for all. */
static void warn_of_modes(struct soc_files *files)
{
    mode_t mode = 0;
    mode_t root_mode = 0;
    soc_workdir_is_open_to_others(&files->dir, SOC_PLACE_ROOT, &root_mode);
    for (int i = 0; i < SOC_PLACE_COUNT && (root_mode & 0077) != 0; i++) {
        struct soc_spot spot = {
            .place = (enum soc_place)i, .name = i == SOC_PLACE_ROOT ? "." : "", .offset = -1};
        struct soc_buf reason = {0};
        if (!soc_workdir_is_open_to_others(&files->dir, (enum soc_place)i, &mode))
            continue;
        soc_buf_printf(&reason,
                       "its mode is %04o, not %04o: whoever can write there can speak for every "
                       "outside agent",
                       (unsigned)mode, files->settings->folder_mode);
        soc_files_log_file(files, SOC_LOG_WARN, "open_directory", &spot, soc_buf_text(&reason));
        soc_buf_fini(&reason);
    }
}

int soc_files_open(struct soc_files **out, const struct soc_files_options *options,
                   struct soc_detail *detail)
{
    struct soc_files *files = soc_alloc_zero(sizeof(*files));
    files->host = options->host;
    files->loop = options->loop;
    files->settings = options->settings;
    bool is_known = read_identity(files);
    if (!is_known)
        make_identity(files, options->app_name);
    int rc = open_dir(files, detail);
    if (rc == SOC_OK && !is_known) {
        int code = put_away(files, ".before");
        if (code < 0)
            rc = soc_fail(detail, SOC_EACCESS, "files: %s/archive: %s", files->dir.path,
                          strerror(-code));
    }
    if (rc < 0) {
        soc_files_free(files);
        return rc;
    }
    if (is_known)
        soc_files_restore_ended(files);
    else
        keep_identity(files);
    soc_outlet_open(&files->broadcast, &files->dir, SOC_PLACE_CHANNEL, "broadcast.jsonl",
                    soc_clock_now(soc_host_clock(files->host)));
    soc_workdir_append(&files->dir, SOC_PLACE_CHANNEL, "orchestrator.jsonl", SOC_SLICE(""));
    soc_inlet_open(&files->orchestrator, files, NULL, SOC_PLACE_CHANNEL, "orchestrator.jsonl");
    warn_of_modes(files);
    soc_files_watch(files);
    soc_files_open_report(files);
    struct soc_door door = {.user = files, .carries = carries, .deliver = deliver, .tell = tell};
    rc = soc_outside_open(files->host, &door);
    if (rc < 0)
        files->is_stopped = true;
    *out = files;
    return rc;
}

static void note_durable(void *user)
{
    *(bool *)user = true;
}

/* Waits until everything done is durable. */
static void settle(struct soc_files *files)
{
    bool is_durable = false;
    soc_gate_when_durable(files->host, note_durable, &is_durable);
    soc_host_flush(files->host);
    while (!is_durable && !soc_host_is_failed(files->host))
        soc_loop_poll(files->loop, SETTLE_POLL_MS);
}

/* Puts the workflow into the archive. Only then do its files begin anew: after a crash in
 * between what was read of them is missed, which is told, and nothing is taken twice. */
static void archive(struct soc_files *files)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    if (put_away(files, "") < 0)
        return;
    soc_inlet_begin_anew(&files->orchestrator);
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL) {
        if (client->acks.name == NULL)
            continue; /* one of an earlier run */
        soc_inlet_begin_anew(&client->acks);
        soc_inlet_begin_anew(&client->out);
    }
    settle(files);
    soc_files_forget_reports(files);
    soc_files_report_now(files);
}

bool soc_files_take_rest(struct soc_files *files)
{
    if (files == NULL || files->is_stopped)
        return false;
    uint64_t found = files->found;
    soc_files_look_at_all(files, true);
    return files->found != found;
}

void soc_files_stop(struct soc_files *files, bool is_finished)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    if (files == NULL || files->is_stopped)
        return;
    soc_files_unwatch(files);
    soc_files_close_report(files);
    if (soc_host_is_failed(files->host)) {
        files->is_stopped = true;
        return;
    }
    if (is_finished) {
        files->is_over = true; /* a message that came since soc_files_take_rest would stay there */
        soc_files_look_at_all(files, true);
        while ((client = soc_map_each(&files->clients, &cursor)) != NULL)
            client->is_ended = true;
        soc_files_log(files, SOC_LOG_INFO, "finished", (struct soc_slice){0}, (struct soc_slice){0},
                      (struct soc_slice){0});
    }
    settle(files);
    files->is_stopped = true;
    soc_files_report_now(files);
    soc_files_flush_log(files);
    if (is_finished && files->settings->archives)
        archive(files);
}

void soc_files_free(struct soc_files *files)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    if (files == NULL)
        return;
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL)
        free_client(client);
    soc_map_fini(&files->clients);
    if (files->orchestrator.name != NULL)
        soc_inlet_close(&files->orchestrator);
    if (files->broadcast.name != NULL)
        soc_outlet_close(&files->broadcast);
    soc_workdir_close(&files->dir);
    soc_buf_fini(&files->agents.text);
    soc_buf_fini(&files->agents.next);
    soc_buf_fini(&files->status.text);
    soc_buf_fini(&files->status.next);
    soc_buf_fini(&files->events.text);
    soc_buf_fini(&files->errors.text);
    soc_buf_fini(&files->scratch);
    free(files->workflow_id);
    free(files);
}
