#include "bridge/files/files.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bridge/files/clients.h"
#include "bridge/files/delivery.h"
#include "bridge/files/inlet.h"
#include "bridge/files/log.h"
#include "bridge/files/report.h"
#include "bridge/files/watch.h"
#include "env/ids.h"
#include "kernel/gate.h"
#include "kernel/turns/batch.h"

#define IDENTITY       "files:workflow" /* the position that stores the identity of the workflow */
#define SETTLE_POLL_MS 20

/* Reads the identity of the workflow, «created_ms id»; a new workflow starts now. */
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
    files->created_ms = soc_clock_date(soc_host_clock(files->host));
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
    soc_time_digits(digits, soc_clock_date(soc_host_clock(files->host)));
    soc_buf_printf(&name, "%s.%s%s", files->workflow_id, digits, why);
    int code = soc_workdir_archive(&files->dir, soc_buf_text(&name));
    soc_buf_fini(&name);
    return code;
}

/* An existing directory may be writable for others, who could then write as any agent. */
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
                       "its mode is %04o, not %04o: anyone who can write there can write as any "
                       "outside agent",
                       (unsigned)mode, files->settings->folder_mode);
        soc_files_log_file(files, SOC_LOG_WARN, "open_directory", &spot, soc_buf_text(&reason));
        soc_buf_fini(&reason);
    }
}

int soc_files_open(struct soc_files **out, const struct soc_files_options *options,
                   struct soc_detail *detail)
{
    assert(options->host != NULL && options->loop != NULL && options->settings != NULL);
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
        soc_files_report_restore(files);
    else
        keep_identity(files);
    soc_outlet_open(&files->broadcast, &files->dir, SOC_PLACE_CHANNEL, "broadcast.jsonl",
                    soc_clock_now(soc_host_clock(files->host)));
    soc_workdir_append(&files->dir, SOC_PLACE_CHANNEL, "orchestrator.jsonl", SOC_SLICE(""));
    soc_inlet_open(&files->orchestrator, files, NULL, SOC_PLACE_CHANNEL, "orchestrator.jsonl");
    warn_of_modes(files);
    soc_files_watch_open(files);
    soc_files_report_open(files);
    struct soc_door door = soc_files_delivery_door(files);
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

/* Waits until everything is durable. */
static void settle(struct soc_files *files)
{
    bool is_durable = false;
    soc_gate_when_durable(files->host, note_durable, &is_durable);
    soc_batch_seal(files->host);
    while (!is_durable && !soc_host_is_failed(files->host))
        soc_loop_poll(files->loop, SETTLE_POLL_MS);
}

/* Archives the workflow, then starts its files over. After a crash in between, the files
 * are reported as missing, and no line is taken twice. */
static void archive(struct soc_files *files)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    if (put_away(files, "") < 0)
        return;
    soc_inlet_begin_anew(&files->orchestrator);
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL) {
        if (client->acks.name == NULL)
            continue; /* of an earlier run */
        soc_inlet_begin_anew(&client->acks);
        soc_inlet_begin_anew(&client->out);
    }
    settle(files);
    soc_files_report_forget(files);
    soc_files_report_now(files);
}

bool soc_files_take_rest(struct soc_files *files)
{
    if (files == NULL || files->is_stopped)
        return false;
    uint64_t found = files->found;
    bool has_more = soc_files_watch_take_rest(files);
    return has_more || files->found != found;
}

void soc_files_stop(struct soc_files *files, bool is_finished)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    if (files == NULL || files->is_stopped)
        return;
    soc_files_watch_close(files);
    soc_files_report_close(files);
    if (soc_host_is_failed(files->host)) {
        files->is_stopped = true;
        return;
    }
    if (is_finished) {
        files->is_over = true; /* nobody would read a message that arrived since */
        while (soc_files_watch_take_rest(files))
            continue;
        while ((client = soc_map_each(&files->clients, &cursor)) != NULL)
            client->is_ended = true;
        soc_files_log(files, SOC_LOG_INFO, "finished", (struct soc_slice){0}, (struct soc_slice){0},
                      (struct soc_slice){0});
    }
    settle(files);
    files->is_stopped = true;
    soc_files_report_now(files);
    soc_files_log_flush(files);
    if (is_finished && files->settings->archives)
        archive(files);
}

void soc_files_free(struct soc_files *files)
{
    if (files == NULL)
        return;
    soc_files_clients_free(files);
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
