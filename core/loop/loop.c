#include "loop/loop.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "base/mem.h"

#define DESCRIPTORS_MIN 16 /* that a loop and its first handles take */

struct waker {
    soc_wake_cb *cb; /* NULL: the slot is free */
    void *user;
};

struct soc_loop {
    uv_loop_t uv;
    uv_async_t wake;      /* soc_loop_wake; keeps uv_run waiting when nothing else is open */
    uv_prepare_t prepare; /* runs the tick: after all callbacks, before libuv sleeps */
    uv_idle_t idle;       /* active while the tick has more work, so that libuv does not sleep */
    uv_timer_t timer;     /* when the tick or the poll must run at the latest */
    soc_tick_cb *tick;
    void *tick_user;
    uv_signal_t signals[2];
    bool has_signals;
    bool is_stopped;
    struct soc_watchdog *dog; /* lent; NULL: steps are not measured */
    struct waker wakers[SOC_LOOP_WAKERS_MAX];
    void (*interrupt_cb)(int signal_number, void *user);
    void *interrupt_user;
};

static void call_wakers(uv_async_t *async)
{
    struct soc_loop *loop = async->data;
    for (int i = 0; i < SOC_LOOP_WAKERS_MAX; i++) {
        if (loop->wakers[i].cb == NULL)
            continue;
        soc_watchdog_begin(loop->dog, "waker");
        loop->wakers[i].cb(loop->wakers[i].user);
        soc_watchdog_end(loop->dog);
    }
}

static void require_uv(int rc)
{
    assert(rc == 0);
    (void)rc;
}

int soc_loop_check_room(struct soc_detail *detail)
{
    int files[DESCRIPTORS_MIN];
    int count = 0;
    while (count < DESCRIPTORS_MIN && (files[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    int error = errno;
    for (int i = 0; i < count; i++)
        close(files[i]);
    if (count == DESCRIPTORS_MIN)
        return SOC_OK;
    return soc_fail(detail, SOC_EACCESS, "%s: the limit is %ld; raise it with: ulimit -n 1024",
                    strerror(error), sysconf(_SC_OPEN_MAX));
}

struct soc_loop *soc_loop_new(void)
{
    struct soc_loop *loop = soc_alloc_zero(sizeof(*loop));
    require_uv(uv_loop_init(&loop->uv));
    require_uv(uv_async_init(&loop->uv, &loop->wake, call_wakers));
    require_uv(uv_prepare_init(&loop->uv, &loop->prepare));
    require_uv(uv_idle_init(&loop->uv, &loop->idle));
    require_uv(uv_timer_init(&loop->uv, &loop->timer));
    loop->wake.data = loop;
    loop->prepare.data = loop;
    return loop;
}

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void soc_loop_free(struct soc_loop *loop)
{
    if (loop == NULL)
        return;
    uv_walk(&loop->uv, close_handle, NULL);
    while (uv_loop_close(&loop->uv) == UV_EBUSY)
        uv_run(&loop->uv, UV_RUN_DEFAULT);
    free(loop);
}

/* The tick, which follows, handles what is due. */
static void pass_time(uv_timer_t *timer)
{
    (void)timer;
}

static void pass_idle(uv_idle_t *idle)
{
    (void)idle;
}

/* Runs the tick and tells libuv how long it may sleep. If the tick ran outside uv_run, a
 * timer could fire between its answer and the sleep, and libuv would sleep on without a
 * tick. */
static void run_tick(uv_prepare_t *prepare)
{
    struct soc_loop *loop = prepare->data;
    if (loop->is_stopped)
        return;
    soc_watchdog_begin(loop->dog, "tick");
    int64_t wait_ms = loop->tick(loop->tick_user);
    soc_watchdog_end(loop->dog);
    uv_timer_stop(&loop->timer);
    if (wait_ms == SOC_TICK_NOW)
        require_uv(uv_idle_start(&loop->idle, pass_idle));
    else
        uv_idle_stop(&loop->idle);
    if (wait_ms > 0) {
        uv_update_time(&loop->uv);
        require_uv(uv_timer_start(&loop->timer, pass_time, (uint64_t)wait_ms, 0));
    }
}

void soc_loop_run(struct soc_loop *loop, soc_tick_cb *tick, void *user)
{
    loop->is_stopped = false;
    loop->tick = tick;
    loop->tick_user = user;
    require_uv(uv_prepare_start(&loop->prepare, run_tick));
    while (!loop->is_stopped)
        uv_run(&loop->uv, UV_RUN_DEFAULT);
    uv_prepare_stop(&loop->prepare);
    uv_idle_stop(&loop->idle);
    uv_timer_stop(&loop->timer);
}

void soc_loop_stop(struct soc_loop *loop)
{
    loop->is_stopped = true;
    uv_stop(&loop->uv);
}

int soc_loop_add_waker(struct soc_loop *loop, soc_wake_cb *cb, void *user)
{
    int number = 0;
    while (number < SOC_LOOP_WAKERS_MAX && loop->wakers[number].cb != NULL)
        number++;
    assert(number < SOC_LOOP_WAKERS_MAX);
    loop->wakers[number] = (struct waker){cb, user};
    return number;
}

void soc_loop_remove_waker(struct soc_loop *loop, int number)
{
    assert(number >= 0 && number < SOC_LOOP_WAKERS_MAX && loop->wakers[number].cb != NULL);
    loop->wakers[number] = (struct waker){0};
}

void soc_loop_wake(struct soc_loop *loop)
{
    require_uv(uv_async_send(&loop->wake));
}

/* Ends the wait even if the timer fires before libuv sleeps. */
static void end_wait(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

void soc_loop_poll(struct soc_loop *loop, int64_t wait_ms)
{
    assert(wait_ms >= 0);
    if (wait_ms > 0) {
        uv_update_time(&loop->uv);
        require_uv(uv_timer_start(&loop->timer, end_wait, (uint64_t)wait_ms, 0));
    }
    uv_run(&loop->uv, wait_ms == 0 ? UV_RUN_NOWAIT : UV_RUN_ONCE);
    uv_timer_stop(&loop->timer);
}

static void take_signal(uv_signal_t *handle, int signal_number)
{
    struct soc_loop *loop = handle->data;
    soc_watchdog_begin(loop->dog, "signal");
    loop->interrupt_cb(signal_number, loop->interrupt_user);
    soc_watchdog_end(loop->dog);
}

void soc_loop_on_interrupt(struct soc_loop *loop, void (*cb)(int signal_number, void *user),
                           void *user)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    loop->interrupt_cb = cb;
    loop->interrupt_user = user;
    if (loop->has_signals)
        return;
    loop->has_signals = true;
    for (int i = 0; i < 2; i++) {
        require_uv(uv_signal_init(&loop->uv, &loop->signals[i]));
        loop->signals[i].data = loop;
        require_uv(uv_signal_start(&loop->signals[i], take_signal, numbers[i]));
    }
}

void soc_loop_set_watchdog(struct soc_loop *loop, struct soc_watchdog *dog)
{
    loop->dog = dog;
}

struct soc_watchdog *soc_loop_watchdog(const struct soc_loop *loop)
{
    return loop->dog;
}

struct uv_loop_s *soc_loop_uv(struct soc_loop *loop)
{
    return &loop->uv;
}
