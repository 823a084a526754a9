#include "bridge/files/watch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/limits.h"
#include "bridge/files/archive.h"
#include "bridge/files/delivery.h"
#include "bridge/files/inlet.h"
#include "bridge/files/log.h"
#include "bridge/files/report.h"
#include "bridge/files/state.h"
#include "env/clock.h"

#define BEAT_BYTES_MAX 256

#define DAY_MS INT64_C(86400000)

/* Time spent on files before other work runs. */
#define STEP_US 5000

static int64_t date_of(struct soc_files *files)
{
    return soc_clock_date(soc_host_clock(files->host));
}

static void name_beat(const struct soc_files_client *client, struct soc_buf *name)
{
    soc_buf_printf(name, "%s" SOC_HEARTBEAT_SUFFIX, client->id);
}

/* Reads the time in a heartbeat. Returns false if it is malformed. An empty file is just
 * being written (`date > FILE`) and leaves `*beat_ms` unchanged. */
static bool read_beat(struct soc_files *files, const char *name, int64_t *beat_ms)
{
    struct soc_buf text = {0};
    bool is_good =
        soc_workdir_read(&files->dir, SOC_PLACE_HEARTBEAT, name, BEAT_BYTES_MAX, &text) == 0;
    size_t length = 0;
    while (length < text.length && text.data[length] > ' ')
        length++;
    if (is_good && text.length > 0)
        is_good = length > 0 && soc_time_parse(soc_slice(text.data, length), beat_ms);
    soc_buf_fini(&text);
    return is_good;
}

/* A heartbeat with a new time is a sign of life. The first one seen must be recent: it may be
 * a leftover. */
static void take_beat(struct soc_files_client *client, const char *name)
{
    struct soc_files *files = client->files;
    struct soc_agent *agent = soc_outside_find(files->host, soc_slice_text(client->id));
    int64_t beat_ms = client->beat_ms;
    bool is_time = read_beat(files, name, &beat_ms);
    bool is_first = client->beat_ms == 0;
    struct soc_spot spot = {.agent = soc_slice_text(client->id),
                            .place = SOC_PLACE_HEARTBEAT,
                            .name = name,
                            .offset = -1};
    if (!is_time && !client->is_beat_faulty)
        soc_files_log_file(files, SOC_LOG_WARN, "malformed_heartbeat", &spot,
                           "expected one line with an RFC 3339 time");
    client->is_beat_faulty = !is_time;
    if (!is_time || beat_ms == client->beat_ms)
        return;
    client->beat_ms = beat_ms;
    if (agent == NULL || (is_first && date_of(files) - beat_ms > files->settings->silence_ms))
        return;
    files->found++;
    if (client->heard_ms == 0)
        soc_files_report_soon(files);
    client->heard_ms = beat_ms;
    soc_outside_hear(files->host, agent);
}

static void look_at_beat(struct soc_files_client *client)
{
    struct soc_files *files = client->files;
    struct stat info;
    struct soc_buf name = {0};
    name_beat(client, &name);
    int folder = files->dir.folders[SOC_PLACE_HEARTBEAT];
    if (fstatat(folder, soc_buf_text(&name), &info, AT_SYMLINK_NOFOLLOW) == 0) {
        int64_t facts[] = {(int64_t)info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                           info.st_size};
        uint64_t mark = soc_hash(facts, sizeof(facts), 1);
        if (mark != client->beat_mark || !files->settings->caches_heartbeat)
            take_beat(client, soc_buf_text(&name));
        client->beat_mark = mark;
    }
    soc_buf_fini(&name);
}

static void note_orchestrator(struct soc_files *files)
{
    if (files->look_alarm == NULL)
        return;
    files->is_orchestrator_changed = true;
    soc_alarm_set(files->look_alarm, 1);
}

/* Returns true if its files have more than is taken at a time. Messages are taken before
 * acks: agents write them first. */
static bool look_at(struct soc_files_client *client, bool is_last)
{
    struct soc_files *files = client->files;
    struct soc_lines_end end;
    if (client->is_ended) /* its lines are refused and logged */
        return client->out.name != NULL && soc_inlet_look(&client->out, is_last);
    look_at_beat(client);
    if (!is_last) {
        soc_files_delivery_check(files, client);
        soc_files_delivery_rotate(files, client);
    }
    soc_lines_find_end(&files->dir, client->acks.place, client->acks.name, &end);
    bool has_more = soc_inlet_look(&files->orchestrator, is_last);
    if (has_more)
        note_orchestrator(files);
    has_more = soc_inlet_look(&client->out, is_last) || has_more;
    return soc_inlet_look_at_acks(client, &end, is_last) || has_more;
}

static void note_all(struct soc_files *files)
{
    files->is_all_changed = true;
    soc_alarm_set(files->look_alarm, 1);
}

static bool ends_with(const char *name, size_t length, const char *suffix)
{
    size_t suffix_length = strlen(suffix);
    return length > suffix_length &&
           memcmp(name + length - suffix_length, suffix, suffix_length) == 0;
}

static void note_file(void *user, const char *name)
{
    static const char *const suffixes[] = {SOC_ACK_SUFFIX, SOC_OUT_SUFFIX, SOC_HEARTBEAT_SUFFIX};
    struct soc_files *files = user;
    if (name == NULL) {
        note_all(files);
        return;
    }
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (!ends_with(name, length, suffixes[i]))
            continue;
        struct soc_slice id = soc_slice(name, length - strlen(suffixes[i]));
        struct soc_files_client *client = soc_files_find(files, id);
        if (client != NULL)
            soc_files_note_change(client);
    }
}

static void note_channel(void *user, const char *name)
{
    struct soc_files *files = user;
    if (name == NULL || strcmp(name, files->orchestrator.name) == 0)
        note_orchestrator(files);
    else if (strcmp(name, "agents") == 0) /* the folder itself */
        soc_alarm_set(files->sweep_alarm, 1);
}

static void begin_step(struct soc_files *files)
{
    files->until_us = soc_clock_monotonic_us() + STEP_US;
}

static bool is_step_over(const struct soc_files *files)
{
    return soc_clock_monotonic_us() >= files->until_us;
}

/* Puts those whose turn has not come in front of those that come again. */
static void put_back(struct soc_files *files, struct soc_files_client *first)
{
    struct soc_files_client *last = first;
    if (first == NULL)
        return;
    while (last->next_changed != NULL)
        last = last->next_changed;
    last->next_changed = files->changed;
    files->changed = first;
    soc_alarm_set(files->look_alarm, 1);
}

/* Looks at reported files, for one step. A file with more to read goes to the back. */
static void look_at_changed(void *user)
{
    struct soc_files *files = user;
    struct soc_files_client *client = files->changed;
    files->changed = NULL;
    begin_step(files);
    if (files->is_all_changed) {
        files->is_all_changed = false;
        soc_alarm_set(files->sweep_alarm, 1);
    }
    for (bool is_first = true; client != NULL && (is_first || !is_step_over(files));
         is_first = false) {
        struct soc_files_client *next = client->next_changed;
        client->is_changed = false;
        client->next_changed = NULL;
        if (look_at(client, false))
            soc_files_note_change(client);
        client = next;
    }
    put_back(files, client);
    if (files->is_orchestrator_changed) {
        files->is_orchestrator_changed = false;
        if (soc_inlet_look(&files->orchestrator, false))
            note_orchestrator(files);
    }
}

bool soc_files_watch_take_rest(struct soc_files *files)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    bool has_more = false;
    begin_step(files);
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL) {
        if (!look_at(client, true))
            continue;
        has_more = true;
        soc_files_note_change(client);
    }
    if (soc_inlet_look(&files->orchestrator, true)) {
        has_more = true;
        note_orchestrator(files);
    }
    return has_more;
}

/* Looks at every file, from where the last step stopped; false if there are more. */
static bool sweep_files(struct soc_files *files)
{
    struct soc_files_client *client;
    if (files->sweep_next == 0) {
        soc_files_delivery_check(files, NULL);
        soc_files_delivery_rotate(files, NULL);
    }
    while ((client = soc_map_each(&files->clients, &files->sweep_next)) != NULL) {
        if (look_at(client, false))
            soc_files_note_change(client);
        if (is_step_over(files))
            return false;
    }
    files->sweep_next = 0;
    if (soc_inlet_look(&files->orchestrator, false))
        note_orchestrator(files);
    return true;
}

static void close_folders(struct soc_files *files)
{
    for (int i = 0; i < 3; i++) {
        soc_folder_close(files->folders[i]);
        files->folders[i] = NULL;
    }
}

static void open_folders(struct soc_files *files)
{
    static const enum soc_place places[] = {SOC_PLACE_AGENTS, SOC_PLACE_CHANNEL,
                                            SOC_PLACE_HEARTBEAT};
    struct soc_buf path = {0};
    bool is_told = !files->settings->polls;
    for (int i = 0; i < 3 && is_told; i++) {
        path.length = 0;
        soc_buf_printf(&path, "%s/%s", files->dir.path, soc_place_path(places[i]));
        files->folders[i] = soc_folder_open(files->loop, soc_buf_text(&path),
                                            i == 1 ? note_channel : note_file, files);
        is_told = files->folders[i] != NULL;
    }
    soc_buf_fini(&path);
    if (!is_told)
        close_folders(files);
}

/* A folder was replaced: create our files there and look at everything. */
static void move_in(struct soc_files *files)
{
    size_t cursor = 0;
    const struct soc_files_client *client;
    const struct soc_inlet *common = &files->orchestrator;
    soc_workdir_append(&files->dir, common->place, common->name, SOC_SLICE(""));
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL)
        if (!client->is_ended)
            soc_workdir_append(&files->dir, client->acks.place, client->acks.name, SOC_SLICE(""));
    close_folders(files);
    open_folders(files);
    soc_files_report_forget(files);
    soc_files_report_soon(files);
    note_all(files);
}

static const char *why_lost(int code)
{
    if (code == -ELOOP || code == -ENOTDIR)
        return "a link or a file, not a directory";
    return code == -EBUSY ? "another society uses it" : strerror(-code);
}

/* Checks that the open folders are still those at their paths. */
static void check_folders(struct soc_files *files)
{
    bool has_moved = false;
    for (int i = 0; i < SOC_PLACE_COUNT; i++) {
        int code = soc_workdir_renew(&files->dir, (enum soc_place)i);
        struct soc_spot spot = {
            .place = (enum soc_place)i, .name = i == SOC_PLACE_ROOT ? "." : "", .offset = -1};
        has_moved |= code == 1;
        if (code == 1)
            soc_files_log_file(files, SOC_LOG_WARN, "directory_replaced", &spot,
                               "moved, removed or replaced; the new one is used and unfinished "
                               "messages are written again");
        else if (code < 0 && !files->is_lost[i])
            soc_files_log_file(files, SOC_LOG_ERROR, "directory_lost", &spot, why_lost(code));
        files->is_lost[i] = code < 0;
    }
    if (has_moved)
        move_in(files);
}

/* Removes from the archive what retention does not keep. */
static void check_archive(struct soc_files *files)
{
    int64_t days = soc_host_retention_days(files->host);
    int64_t mb = soc_host_retention_mb(files->host);
    int64_t now_ms = soc_clock_monotonic_us() / 1000;
    bool is_early = files->archive_ms > 0 && now_ms < files->archive_ms + SOC_ARCHIVE_LOOK_MS;
    if ((days == 0 && mb == 0) || is_early)
        return;
    struct soc_archive_limits limits = {
        .oldest_ms = days == 0 ? INT64_MIN : date_of(files) - days * DAY_MS,
        .bytes_max = mb << 20,
    };
    int removed = soc_archive_prune(&files->dir, &limits);
    files->archive_ms = removed == SOC_ARCHIVE_REMOVALS_MAX ? 0 : now_ms;
    if (removed == 0)
        return;
    struct soc_buf detail = {0};
    soc_buf_printf(&detail, "{\"files\":%d}", removed);
    soc_files_log(files, SOC_LOG_INFO, "archive_pruned", (struct soc_slice){0},
                  (struct soc_slice){0}, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* Looks at everything; the interval grows while nothing arrives. With inotify this finds
 * missed changes and lines that wait for a newline. */
static void sweep(void *user)
{
    struct soc_files *files = user;
    const struct soc_files_settings *settings = files->settings;
    begin_step(files);
    if (!sweep_files(files)) {
        soc_alarm_set(files->sweep_alarm, 1);
        return;
    }
    check_folders(files);
    check_archive(files);
    soc_files_report_check(files);
    if (files->is_held) {
        files->is_held = false;
        soc_outside_resume(files->host);
    }
    int64_t longer = (int64_t)((double)files->sweep_ms * settings->poll_backoff) + 1;
    files->sweep_ms = longer < settings->poll_max_ms ? longer : settings->poll_max_ms;
    if (files->found != files->sweep_at)
        files->sweep_ms = settings->poll_ms;
    if (files->folders[0] != NULL)
        files->sweep_ms = settings->poll_max_ms;
    files->sweep_at = files->found;
    soc_alarm_set(files->sweep_alarm, files->sweep_ms);
}

void soc_files_watch_open(struct soc_files *files)
{
    assert(files->look_alarm == NULL && files->sweep_alarm == NULL);
    files->look_alarm = soc_alarm_open(files->loop, "files", look_at_changed, files);
    files->sweep_alarm = soc_alarm_open(files->loop, "files sweep", sweep, files);
    open_folders(files);
    files->sweep_ms = files->settings->poll_ms;
    soc_alarm_set(files->sweep_alarm, 1);
}

void soc_files_watch_close(struct soc_files *files)
{
    close_folders(files);
    soc_alarm_close(files->look_alarm);
    soc_alarm_close(files->sweep_alarm);
    files->look_alarm = files->sweep_alarm = NULL;
}
