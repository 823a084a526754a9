#include "bridge/files/report.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bridge/files/log.h"
#include "bridge/files/state.h"
#include "env/ids.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/registry.h"
#include "parts/tasks/tasks.h"

#define SOON_MS          50   /* changes within this time are written together */
#define LATER_MS         500  /* the same for what agents do */
#define LATER_AGENTS_MAX 1000 /* in larger societies that is written at intervals alone */
#define REPORT_BYTES_MAX (64 << 20)
#define STATUS_SHOWN_MAX 10000 /* agents in status.json */

static void put_time_member(struct soc_buf *out, const char *name, int64_t time_ms)
{
    soc_json_put_name(out, name);
    if (time_ms == 0)
        soc_buf_put_text(out, "null");
    else
        soc_time_put_json(out, time_ms);
}

/* One line per agent, for line-oriented tools. */
static void put_client(struct soc_buf *out, const struct soc_files_client *client)
{
    soc_json_put_string(out, soc_slice_text(client->id));
    soc_buf_put_byte(out, ':');
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "perspective", soc_slice_text(client->perspective));
    soc_json_put_text_member(out, "status",
                             client->is_ended          ? SOC_SLICE("stopped")
                             : client->is_unresponsive ? SOC_SLICE("unresponsive")
                                                       : SOC_SLICE("active"));
    put_time_member(out, "started_at", client->started_ms);
    put_time_member(out, "last_heartbeat", client->heard_ms);
    if (client->since[0] != '\0')
        soc_json_put_text_member(out, "broadcasts_from", soc_slice_text(client->since));
    soc_buf_put_byte(out, '}');
}

static void hear_of(struct soc_files *files, struct soc_files_client *client)
{
    const struct soc_agent *agent =
        client->is_ended ? NULL : soc_outside_find(files->host, soc_slice_text(client->id));
    int64_t heard_ms = agent == NULL ? 0 : soc_outside_heard_ms(files->host, agent);
    heard_ms = soc_clock_date_of(soc_host_clock(files->host), heard_ms);
    if (heard_ms > client->heard_ms)
        client->heard_ms = heard_ms;
}

static void put_agents(struct soc_files *files, struct soc_buf *out)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "workflow_id", soc_slice_text(files->workflow_id));
    put_time_member(out, "created_at", files->created_ms);
    soc_json_put_name(out, "agents");
    soc_buf_put_text(out, "{");
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL) {
        hear_of(files, client);
        soc_buf_put_text(out, out->data[out->length - 1] == '{' ? "\n" : ",\n");
        put_client(out, client);
    }
    soc_buf_put_text(out, "\n}}\n");
}

static void put_status(struct soc_files *files, struct soc_buf *out)
{
    static const char *const names[] = {"status", "current_task", "load"};
    size_t cursor = 0;
    int count = 0;
    const struct soc_agent *agent;
    struct soc_buf load = {0};
    soc_buf_put_byte(out, '{');
    while (count < STATUS_SHOWN_MAX && (agent = soc_registry_each(files->host, &cursor)) != NULL) {
        load.length = 0;
        soc_tasks_put_load(files->host, agent, &load);
        soc_buf_put_text(out, count++ == 0 ? "\n" : ",\n");
        soc_json_put_string(out, soc_agent_id(agent));
        soc_buf_put_byte(out, ':');
        soc_buf_put_byte(out, '{');
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            struct soc_slice value = soc_json_member(soc_buf_slice(&load), names[i]);
            soc_json_put_name(out, names[i]);
            soc_buf_put_slice(out, value.data == NULL ? SOC_SLICE("null") : value);
        }
        soc_buf_put_byte(out, '}');
    }
    soc_buf_put_text(out, "\n}\n");
    soc_buf_fini(&load);
}

/* Writes the pending text unless the file already has it. */
static void write_report(struct soc_files *files, const char *name, struct soc_report *report)
{
    struct soc_slice next = soc_buf_slice(&report->next);
    struct soc_left left;
    if (!soc_slice_equal(next, soc_buf_slice(&report->text))) {
        int code = soc_workdir_replace(&files->dir, SOC_PLACE_STATE, name, next, &left);
        struct soc_spot spot = {.place = SOC_PLACE_STATE, .name = name, .offset = -1};
        soc_files_log_write(files, &spot, &report->is_stuck, code);
        if (code == 0) {
            struct soc_buf other = report->text;
            report->text = report->next;
            report->next = other;
            report->left = left;
        }
    }
    soc_buf_fini(&report->next);
}

static void put_reports(struct soc_files *files)
{
    files->is_report_due = files->is_report_noted = false;
    files->agents.next.length = files->status.next.length = 0;
    put_agents(files, &files->agents.next);
    put_status(files, &files->status.next);
}

static void write_reports(struct soc_files *files)
{
    write_report(files, "agents.json", &files->agents);
    write_report(files, "status.json", &files->status);
}

/* Writes the file even if its text is unchanged. */
static void forget(struct soc_report *report)
{
    report->text.length = 0;
    report->left = (struct soc_left){0};
}

void soc_files_report_forget(struct soc_files *files)
{
    forget(&files->agents);
    forget(&files->status);
    files->events.left = files->errors.left = (struct soc_left){0};
}

static bool check_report(struct soc_files *files, const char *name, struct soc_report *report)
{
    bool is_gone = soc_files_log_is_spoilt(files, SOC_PLACE_STATE, name, &report->left, false);
    if (is_gone)
        forget(report);
    return is_gone || report->is_stuck;
}

void soc_files_report_check(struct soc_files *files)
{
    bool is_due = check_report(files, "agents.json", &files->agents);
    is_due = check_report(files, "status.json", &files->status) || is_due;
    if (is_due)
        soc_files_report_soon(files);
    soc_files_log_check(files);
}

void soc_files_report_now(struct soc_files *files)
{
    soc_files_report_check(files);
    put_reports(files);
    write_reports(files);
}

static int64_t time_member(struct soc_slice object, const char *name)
{
    int64_t time_ms = 0;
    struct soc_slice text = soc_json_plain_string(soc_json_member(object, name));
    return text.data != NULL && soc_time_parse(text, &time_ms) ? time_ms : 0;
}

static void restore(struct soc_files *files, struct soc_slice id, struct soc_slice entry)
{
    struct soc_buf perspective = {0};
    struct soc_files_client *client = soc_alloc_zero(sizeof(*client));
    soc_json_string(soc_json_member(entry, "perspective"), &perspective);
    client->files = files;
    client->id = soc_copy_text(id.data, id.length);
    client->perspective = soc_copy_text(soc_buf_text(&perspective), perspective.length);
    client->started_ms = time_member(entry, "started_at");
    client->heard_ms = time_member(entry, "last_heartbeat");
    struct soc_slice since = soc_json_plain_string(soc_json_member(entry, "broadcasts_from"));
    if (since.length == SOC_MESSAGE_ID_BYTES)
        memcpy(client->since, since.data, since.length);
    client->is_ended = true;
    soc_map_put(&files->clients, soc_slice_text(client->id), client);
    soc_buf_fini(&perspective);
}

void soc_files_report_restore(struct soc_files *files)
{
    struct soc_buf text = {0};
    struct soc_json_walk walk;
    int code =
        soc_workdir_read(&files->dir, SOC_PLACE_STATE, "agents.json", REPORT_BYTES_MAX, &text);
    if (code == 0 && soc_json_check(soc_buf_slice(&text), NULL) == SOC_OK) {
        soc_json_walk(&walk, soc_json_member(soc_buf_slice(&text), "agents"));
        while (soc_json_next(&walk))
            if (soc_id_is_for_outside(walk.name) &&
                soc_outside_find(files->host, walk.name) == NULL)
                restore(files, walk.name, walk.value);
    }
    soc_buf_fini(&text);
}

static void let_reports_out(void *user)
{
    struct soc_files *files = user;
    files->is_report_called = false;
    if (!files->is_stopped)
        write_reports(files);
}

/* Also runs at intervals: heartbeats and loads change by themselves. The current state is
 * written when it is durable; later changes wait for the next run. */
static void ring(void *user)
{
    struct soc_files *files = user;
    if (!files->is_report_called) {
        put_reports(files);
        files->is_report_called = true;
        soc_gate_when_durable(files->host, let_reports_out, files);
    }
    soc_alarm_set(files->report_alarm, files->is_report_due     ? SOON_MS
                                       : files->is_report_noted ? LATER_MS
                                                                : files->settings->heartbeat_ms);
}

void soc_files_report_soon(struct soc_files *files)
{
    if (files->is_report_due || files->report_alarm == NULL)
        return;
    files->is_report_due = true;
    soc_alarm_set(files->report_alarm, SOON_MS);
}

void soc_files_report_later(struct soc_files *files)
{
    if (files->is_report_due || files->is_report_noted || files->report_alarm == NULL ||
        soc_registry_count(files->host) > LATER_AGENTS_MAX)
        return;
    files->is_report_noted = true;
    soc_alarm_set(files->report_alarm, LATER_MS);
}

void soc_files_report_open(struct soc_files *files)
{
    assert(files->report_alarm == NULL);
    files->report_alarm = soc_alarm_open(files->loop, "files report", ring, files);
    soc_files_report_soon(files);
}

void soc_files_report_close(struct soc_files *files)
{
    soc_alarm_close(files->report_alarm);
    files->report_alarm = NULL;
}
