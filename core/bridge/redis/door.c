#include "bridge/redis/door.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bridge/redis/intake.h"
#include "bridge/redis/outlet.h"
#include "bridge/redis/poll.h"
#include "bridge/redis/state.h"
#include "bridge/redis/status.h"
#include "env/rng.h"

#define IDENTITY          "redis:owner" /* the position that keeps who this society is */
#define COMPLAINTS_MAX    20            /* lines a second about what clients do wrong */
#define COMPLAINTS_MS     1000
#define ERROR_BYTES_SHOWN 200

/* ---- logs ---- */

static int64_t now_of(const struct soc_redis_door *door)
{
    return soc_clock_now(soc_host_clock(door->host));
}

static void write_line(struct soc_redis_door *door, enum soc_log_level level,
                       struct soc_slice agent, const char *format, va_list arguments)
{
    char text[SOC_LOG_MEMBER_BYTES_MAX];
    vsnprintf(text, sizeof(text), format, arguments);
    soc_log_line(soc_host_log(door->host), level, now_of(door), "redis",
                 agent.data == NULL ? SOC_SLICE("system") : agent, soc_slice_text(text));
}

void soc_redis_door_log(struct soc_redis_door *door, enum soc_log_level level,
                        struct soc_slice agent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(door, level, agent, format, arguments);
    va_end(arguments);
}

void soc_redis_door_complain(struct soc_redis_door *door, struct soc_slice agent,
                             const char *format, ...)
{
    int64_t now_ms = now_of(door);
    if (now_ms - door->complained_ms >= COMPLAINTS_MS) {
        if (door->hidden > 0)
            soc_redis_door_log(door, SOC_LOG_WARN, (struct soc_slice){0},
                               "%d more lines like the last ones were not logged", door->hidden);
        door->complained_ms = now_ms;
        door->complaints = door->hidden = 0;
    }
    if (++door->complaints > COMPLAINTS_MAX) {
        door->hidden++;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    write_line(door, SOC_LOG_WARN, agent, format, arguments);
    va_end(arguments);
}

bool soc_redis_door_is_refused(struct soc_redis_door *door, const struct soc_redis_reply *reply,
                               bool *is_told)
{
    static const char *const useless[] = {"READONLY", "LOADING", "MASTERDOWN", "NOAUTH"};
    char why[ERROR_BYTES_SHOWN + 32];
    struct soc_slice error = soc_redis_reply_error(reply);
    if (error.length == 0)
        return false;
    int length = (int)(error.length < ERROR_BYTES_SHOWN ? error.length : ERROR_BYTES_SHOWN);
    snprintf(why, sizeof(why), "Redis refuses: %.*s", length, error.data);
    for (size_t i = 0; i < sizeof(useless) / sizeof(useless[0]); i++) {
        if (!soc_redis_reply_is_error(reply, useless[i]))
            continue;
        soc_redis_drop(door->commands, why);
        return true;
    }
    if (!*is_told)
        soc_redis_door_log(door, SOC_LOG_ERROR, (struct soc_slice){0}, "%s", why);
    *is_told = true;
    return true;
}

/* ---- the connections ---- */

static void note_up(void *user)
{
    struct soc_redis_door *door = user;
    if (door->is_down)
        soc_redis_door_log(door, SOC_LOG_INFO, (struct soc_slice){0}, "Redis is there again");
    door->is_down = false;
    soc_redis_poll_start(door);
}

/* What is under way gets no reply; it goes out again under the same ids. */
static void note_down(void *user, const char *why)
{
    struct soc_redis_door *door = user;
    door->is_ready = false;
    if (!door->is_down && !door->is_stopped)
        soc_redis_door_log(door, SOC_LOG_WARN, (struct soc_slice){0},
                           "%s; the society runs on and connects again", why);
    door->is_down = true;
}

static void subscribe(void *user)
{
    struct soc_redis_door *door = user;
    soc_redis_subscribe(door->ears, SOC_SLICE("PSUBSCRIBE"), SOC_SLICE("agent:*:inbox"));
    soc_redis_subscribe(door->ears, SOC_SLICE("PSUBSCRIBE"), SOC_SLICE("reply:*"));
}

static void hear(void *user, const struct soc_redis_reply *message)
{
    soc_redis_intake_hear(user, message);
}

void soc_redis_door_set_epoch(struct soc_redis_door *door, struct soc_slice epoch)
{
    bool was_known = door->epoch[0] != '\0';
    free(door->epoch);
    door->epoch = soc_copy_text(epoch.data, epoch.length);
    soc_redis_poll_load_places(door);
    if (!was_known)
        return;
    soc_redis_door_log(door, SOC_LOG_WARN, (struct soc_slice){0},
                       "Redis has forgotten everything; what is pending is sent again");
    soc_redis_status_forget(door);
    soc_redis_outlet_start_over(door);
}

void soc_redis_door_be_ready(struct soc_redis_door *door)
{
    door->is_ready = true;
    soc_redis_outlet_send_all(door);
    soc_outside_resume(door->host);
    soc_redis_status_note(door);
}

struct soc_agent *soc_redis_door_find(struct soc_redis_door *door, struct soc_slice id)
{
    struct soc_agent *agent = soc_outside_find(door->host, id);
    return agent != NULL &&
                   soc_redis_settings_carry(door->settings, soc_slice_text(agent->role->id))
               ? agent
               : NULL;
}

/* ---- the host's side ---- */

static bool carries(void *user, const struct soc_agent *agent)
{
    const struct soc_redis_door *door = user;
    return soc_redis_settings_carry(door->settings, soc_slice_text(agent->role->id));
}

static void note_change(void *user)
{
    struct soc_redis_door *door = user;
    door->is_changed = true;
    soc_redis_status_note(door);
}

/* Reads who this society is, or makes it up: a copy of its state is the same one. */
static void find_owner(struct soc_redis_door *door)
{
    struct soc_slice kept = soc_outside_position(door->host, SOC_SLICE(IDENTITY));
    char text[24];
    if (kept.length > 0) {
        door->owner = soc_copy_text(kept.data, kept.length);
        return;
    }
    snprintf(text, sizeof(text), "%016" PRIx64, soc_rng_system_seed());
    door->owner = soc_copy_text(text, strlen(text));
    soc_outside_keep(door->host, (struct soc_position){.name = SOC_SLICE(IDENTITY),
                                                       .value = soc_slice_text(door->owner)});
}

static int connect_both(struct soc_redis_door *door, const char *url, struct soc_detail *detail)
{
    const char *variable = door->settings->password_env;
    struct soc_redis_options how = {.url = soc_slice_text(url), .name = "society-door"};
    struct soc_redis_events events = {.up = note_up, .down = note_down, .user = door};
    if (variable != NULL) {
        how.password = soc_slice_text(getenv(variable));
        if (how.password.data == NULL)
            return soc_fail(detail, SOC_EINVAL,
                            "redis: the variable %s, which 'password_env' names, is not set",
                            variable);
    }
    door->commands = soc_redis_open(door->loop, &how, &events, detail);
    if (door->commands == NULL)
        return SOC_EINVAL;
    events = (struct soc_redis_events){.up = subscribe, .push = hear, .user = door};
    how.name = "society-ears";
    door->ears = soc_redis_open(door->loop, &how, &events, detail);
    return SOC_OK;
}

int soc_redis_door_open(struct soc_redis_door **out, const struct soc_redis_door_options *options,
                        struct soc_detail *detail)
{
    const char *url = options->url != NULL ? options->url : options->settings->url;
    const char *name = options->app_name;
    if (url == NULL)
        return soc_fail(
            detail, SOC_EINVAL,
            "redis: no address; set redis = { url = \"redis://HOST\" } or give --redis");
    struct soc_redis_door *door = soc_alloc_zero(sizeof(*door));
    struct soc_buf prefix = {0};
    door->host = options->host;
    door->loop = options->loop;
    door->settings = options->settings;
    soc_buf_printf(&prefix, "society:%s:door:", name == NULL || name[0] == '\0' ? "society" : name);
    door->prefix = soc_copy_text(prefix.data, prefix.length);
    door->epoch = soc_copy_text("", 0);
    soc_buf_fini(&prefix);
    *out = door;
    int rc = connect_both(door, url, detail);
    if (rc < 0)
        return rc;
    find_owner(door);
    soc_redis_outlet_open(door);
    soc_redis_poll_open(door);
    soc_redis_status_open(door);
    struct soc_door outside = {
        .user = door,
        .carries = carries,
        .deliver = soc_redis_outlet_deliver,
        .tell = soc_redis_outlet_tell,
        .changed = note_change,
        .confirms = true,
        .is_silent = true,
    };
    return soc_outside_open(door->host, &outside);
}

bool soc_redis_door_is_done(const struct soc_redis_door *door)
{
    return door == NULL || !door->is_ready || soc_redis_outlet_is_empty(door);
}

void soc_redis_door_stop(struct soc_redis_door *door)
{
    if (door == NULL || door->is_stopped)
        return;
    door->is_stopped = true;
    soc_redis_close(door->commands);
    soc_redis_close(door->ears);
    door->commands = door->ears = NULL;
}

void soc_redis_door_free(struct soc_redis_door *door)
{
    if (door == NULL)
        return;
    soc_redis_door_stop(door);
    soc_redis_status_close(door);
    soc_redis_poll_close(door);
    soc_redis_outlet_close(door);
    soc_buf_fini(&door->scratch);
    free(door->prefix);
    free(door->owner);
    free(door->epoch);
    free(door);
}
