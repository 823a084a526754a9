#include "bridge/redis/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kernel/gate.h"
#include "kernel/registry.h"
#include "parts/tasks/tasks.h"

#define KEY        "helix:agent:status"
#define PERIOD_MS  1000
#define CROWD      1000 /* agents for which it is written that often */
#define CROWD_MS   10000
#define AGENTS_MAX 10000 /* that are shown */
#define FIELDS_MAX 500   /* of one command */

/* An agent as the hash shows it. */
struct soc_redis_shown {
    char *id;
    char *text;    /* what is written next; NULL: nothing */
    uint64_t mark; /* hash of what was written; 0: nothing */
    uint64_t seen;
};

static void free_shown(struct soc_redis_shown *shown)
{
    free(shown->id);
    free(shown->text);
    free(shown);
}

static struct soc_redis_shown *need_shown(struct soc_redis_door *door,
                                          const struct soc_agent *agent)
{
    struct soc_redis_shown *shown = soc_map_find(&door->shown, soc_agent_id(agent));
    if (shown != NULL)
        return shown;
    shown = soc_alloc_zero(sizeof(*shown));
    shown->id = soc_copy_text(agent->id, agent->id_length);
    soc_map_put(&door->shown, soc_slice_text(shown->id), shown);
    return shown;
}

/* Writes down how each agent is now. */
static void look(struct soc_redis_door *door)
{
    size_t cursor = 0;
    const struct soc_agent *agent;
    uint64_t count = 0;
    door->looks++;
    while (count++ < AGENTS_MAX && (agent = soc_registry_each(door->host, &cursor)) != NULL) {
        struct soc_redis_shown *shown = need_shown(door, agent);
        door->scratch.length = 0;
        soc_tasks_put_load(door->host, agent, &door->scratch);
        uint64_t mark = soc_hash(door->scratch.data, door->scratch.length, 1) | 1;
        shown->seen = door->looks;
        if (mark == shown->mark)
            continue;
        shown->mark = mark;
        free(shown->text);
        shown->text = soc_copy_text(door->scratch.data, door->scratch.length);
    }
}

static void send_fields(struct soc_redis_door *door, struct soc_slice *arguments, size_t *count)
{
    if (*count > 2)
        soc_redis_command(door->commands, arguments, *count, NULL, NULL);
    *count = 2;
}

static void write_changes(struct soc_redis_door *door)
{
    struct soc_slice arguments[2 + 2 * FIELDS_MAX] = {SOC_SLICE("HSET"), SOC_SLICE(KEY)};
    size_t count = 2;
    size_t cursor = 0;
    struct soc_redis_shown *shown;
    while ((shown = soc_map_each(&door->shown, &cursor)) != NULL) {
        if (shown->text == NULL)
            continue;
        arguments[count++] = soc_slice_text(shown->id);
        arguments[count++] = soc_slice_text(shown->text);
        if (count == sizeof(arguments) / sizeof(arguments[0]))
            send_fields(door, arguments, &count);
    }
    send_fields(door, arguments, &count);
    for (cursor = 0; (shown = soc_map_each(&door->shown, &cursor)) != NULL;) {
        free(shown->text);
        shown->text = NULL;
    }
}

static void remove_ended(struct soc_redis_door *door)
{
    struct soc_slice arguments[] = {SOC_SLICE("HDEL"), SOC_SLICE(KEY), {0}};
    size_t cursor = 0;
    struct soc_redis_shown *shown;
    while ((shown = soc_map_each(&door->shown, &cursor)) != NULL) {
        if (shown->seen == door->looks)
            continue;
        arguments[2] = soc_slice_text(shown->id);
        soc_redis_command(door->commands, arguments, 3, NULL, NULL);
        soc_map_take(&door->shown, soc_slice_text(shown->id));
        free_shown(shown);
    }
}

static void let_out(void *user)
{
    struct soc_redis_door *door = user;
    door->is_status_called = false;
    if (door->is_stopped || !door->is_ready)
        return;
    write_changes(door);
    remove_ended(door);
}

static void ring(void *user)
{
    struct soc_redis_door *door = user;
    door->is_status_due = false;
    if (door->is_stopped || !door->is_ready || door->is_status_called)
        return;
    look(door);
    door->is_status_called = true;
    soc_gate_when_durable(door->host, let_out, door);
}

void soc_redis_status_note(struct soc_redis_door *door)
{
    if (door->status_alarm == NULL || door->is_status_due || door->is_stopped)
        return;
    door->is_status_due = true;
    soc_alarm_set(door->status_alarm,
                  soc_registry_count(door->host) > CROWD ? CROWD_MS : PERIOD_MS);
}

void soc_redis_status_forget(struct soc_redis_door *door)
{
    size_t cursor = 0;
    struct soc_redis_shown *shown;
    while ((shown = soc_map_each(&door->shown, &cursor)) != NULL)
        shown->mark = 0;
    soc_redis_status_note(door);
}

void soc_redis_status_open(struct soc_redis_door *door)
{
    if (door->settings->has_status)
        door->status_alarm = soc_alarm_open(door->loop, "redis status", ring, door);
}

void soc_redis_status_close(struct soc_redis_door *door)
{
    size_t cursor = 0;
    struct soc_redis_shown *shown;
    while ((shown = soc_map_each(&door->shown, &cursor)) != NULL)
        free_shown(shown);
    soc_map_fini(&door->shown);
    soc_alarm_close(door->status_alarm);
}
