#include "loop/alarm.h"

#include <assert.h>
#include <stdlib.h>

#include <uv.h>

#include "base/mem.h"

struct soc_alarm {
    uv_timer_t timer;
    struct soc_loop *loop;
    const char *name;
    soc_alarm_cb *cb;
    void *user;
};

struct soc_alarm *soc_alarm_open(struct soc_loop *loop, const char *name, soc_alarm_cb *cb,
                                 void *user)
{
    struct soc_alarm *alarm = soc_alloc_zero(sizeof(*alarm));
    int rc = uv_timer_init(soc_loop_uv(loop), &alarm->timer);
    assert(rc == 0);
    (void)rc;
    alarm->timer.data = alarm;
    alarm->loop = loop;
    alarm->name = name;
    alarm->cb = cb;
    alarm->user = user;
    return alarm;
}

static void ring(uv_timer_t *timer)
{
    struct soc_alarm *alarm = timer->data;
    struct soc_watchdog *dog = soc_loop_watchdog(alarm->loop);
    soc_watchdog_begin(dog, alarm->name);
    alarm->cb(alarm->user);
    soc_watchdog_end(dog);
}

void soc_alarm_set(struct soc_alarm *alarm, int64_t wait_ms)
{
    if (wait_ms < 0) {
        uv_timer_stop(&alarm->timer);
        return;
    }
    uv_update_time(alarm->timer.loop);
    uv_timer_start(&alarm->timer, ring, wait_ms < 1 ? 1 : (uint64_t)wait_ms, 0);
}

static void free_alarm(uv_handle_t *handle)
{
    free(handle->data);
}

void soc_alarm_close(struct soc_alarm *alarm)
{
    if (alarm != NULL)
        uv_close((uv_handle_t *)&alarm->timer, free_alarm);
}
