#include "model/group/barrier.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/agent.h"

struct soc_barrier *soc_barrier_new(uint64_t key, int64_t time_ms, int64_t deadline_ms,
                                    struct soc_agent *owner)
{
    struct soc_barrier *barrier = soc_alloc_zero(sizeof(*barrier));
    barrier->key = key;
    barrier->time_ms = time_ms;
    barrier->deadline_ms = deadline_ms;
    barrier->owner = owner;
    return barrier;
}

void soc_barrier_free(struct soc_barrier *barrier)
{
    if (barrier == NULL)
        return;
    for (uint32_t i = 0; i < barrier->count; i++)
        free(barrier->seats[i].payload);
    free(barrier->seats);
    soc_map_fini(&barrier->by_agent);
    free(barrier);
}

struct soc_seat *soc_barrier_find(const struct soc_barrier *barrier, const struct soc_agent *agent)
{
    uintptr_t number = (uintptr_t)soc_map_find(&barrier->by_agent, soc_agent_id(agent));
    return number == 0 ? NULL : &barrier->seats[number - 1];
}

struct soc_seat *soc_barrier_add(struct soc_barrier *barrier, struct soc_agent *agent)
{
    struct soc_seat *seat = soc_barrier_find(barrier, agent);
    if (seat != NULL)
        return seat;
    if (barrier->count == barrier->capacity) {
        barrier->capacity = barrier->capacity == 0 ? 8 : barrier->capacity * 2;
        barrier->seats = soc_realloc(barrier->seats, barrier->capacity * sizeof(*barrier->seats));
    }
    seat = &barrier->seats[barrier->count++];
    *seat = (struct soc_seat){.agent = agent};
    soc_map_put(&barrier->by_agent, soc_agent_id(agent), (void *)(uintptr_t)barrier->count);
    barrier->open++;
    return seat;
}

static bool settle(struct soc_barrier *barrier, struct soc_seat *seat, enum soc_seat_state state)
{
    if (seat->state != SOC_SEAT_ASKED)
        return false;
    assert(barrier->open > 0);
    seat->state = (uint8_t)state;
    barrier->open--;
    barrier->looked_index = barrier->looked_seat = 0;
    return true;
}

bool soc_barrier_answer(struct soc_barrier *barrier, struct soc_seat *seat,
                        struct soc_slice payload)
{
    if (!settle(barrier, seat, SOC_SEAT_ANSWERED))
        return false;
    soc_text_set(&seat->payload, payload);
    return true;
}

bool soc_barrier_miss(struct soc_barrier *barrier, struct soc_seat *seat)
{
    return settle(barrier, seat, SOC_SEAT_MISSING);
}

bool soc_barrier_is_over(const struct soc_barrier *barrier, int64_t now_ms)
{
    return barrier->open == 0 || now_ms >= barrier->deadline_ms;
}

const struct soc_seat *soc_barrier_open_seat(struct soc_barrier *barrier, uint32_t index)
{
    if (index >= barrier->open)
        return NULL;
    if (index < barrier->looked_index)
        barrier->looked_index = barrier->looked_seat = 0;
    for (;; barrier->looked_seat++) {
        assert(barrier->looked_seat < barrier->count);
        if (barrier->seats[barrier->looked_seat].state != SOC_SEAT_ASKED)
            continue;
        if (barrier->looked_index == index)
            return &barrier->seats[barrier->looked_seat];
        barrier->looked_index++;
    }
}

void soc_barrier_put_members(struct soc_buf *out, const struct soc_barrier *barrier)
{
    soc_json_put_name(out, "missing");
    soc_buf_put_byte(out, '[');
    for (uint32_t i = 0; i < barrier->count; i++) {
        if (barrier->seats[i].state == SOC_SEAT_ANSWERED)
            continue;
        if (out->data[out->length - 1] != '[')
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, soc_agent_id(barrier->seats[i].agent));
    }
    soc_buf_put_byte(out, ']');
    soc_json_put_name(out, "responses");
    soc_buf_put_byte(out, '{');
    for (uint32_t i = 0; i < barrier->count; i++) {
        if (barrier->seats[i].state != SOC_SEAT_ANSWERED)
            continue;
        soc_json_put_name(out, barrier->seats[i].agent->id);
        soc_buf_put_text(out, barrier->seats[i].payload);
    }
    soc_buf_put_byte(out, '}');
}

void soc_barrier_put_json(struct soc_buf *out, const struct soc_barrier *barrier,
                          struct soc_slice id)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "checkpoint_id", id);
    soc_barrier_put_members(out, barrier);
    soc_buf_put_byte(out, '}');
}
