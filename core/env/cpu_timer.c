#include "env/cpu_timer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

struct soc_cpu_timer {
    timer_t timer;
    pthread_t thread;
    soc_cpu_timer_cb *cb;
    void *user;
};

static int tick_signal(void)
{
    return SIGRTMIN + 7;
}

static void tick(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    int saved = errno;
    struct timespec now;
    const struct soc_cpu_timer *timer = info->si_value.sival_ptr;
    if (info->si_code == SI_TIMER && timer != NULL) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        timer->cb(timer->user, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    }
    errno = saved;
}

struct soc_cpu_timer *soc_cpu_timer_new(int64_t period_us, soc_cpu_timer_cb *cb, void *user)
{
    assert(period_us > 0 && cb != NULL);
    struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = tick_signal()};
    struct soc_cpu_timer *timer = soc_alloc_zero(sizeof(*timer));
    timer->thread = pthread_self();
    timer->cb = cb;
    timer->user = user;
    sigemptyset(&action.sa_mask);
    event.sigev_value.sival_ptr = timer;
    event._sigev_un._tid = gettid();
    struct timespec period = {period_us / 1000000, period_us % 1000000 * 1000};
    struct itimerspec periods = {period, period};
    if (sigaction(tick_signal(), &action, NULL) < 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer->timer) < 0) {
        free(timer);
        return NULL;
    }
    timer_settime(timer->timer, 0, &periods, NULL);
    return timer;
}

/* A tick that is on its way is taken off the queue. One of another timer may be lost with it:
 * the next one comes. */
void soc_cpu_timer_free(struct soc_cpu_timer *timer)
{
    sigset_t signals;
    sigset_t former;
    if (timer == NULL)
        return;
    sigemptyset(&signals);
    sigaddset(&signals, tick_signal());
    pthread_sigmask(SIG_BLOCK, &signals, &former);
    timer_delete(timer->timer);
    struct timespec at_once = {0};
    while (sigtimedwait(&signals, NULL, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    free(timer);
}

int soc_cpu_timer_is_mine(const struct soc_cpu_timer *timer)
{
    return pthread_equal(timer->thread, pthread_self());
}
