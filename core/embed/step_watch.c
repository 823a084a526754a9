#include "embed/step_watch.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/log.h"

struct soc_step_watch {
    struct soc_loop *loop; /* lent */
    struct soc_host *host; /* lent */
    struct soc_watchdog *dog;
};

static void put_time(struct soc_buf *out, const char *what, struct soc_watchdog_time time)
{
    soc_buf_printf(out, ",\"%s_cpu_ms\":%" PRId64 ".%03d,\"%s_ms\":%" PRId64 ".%03d", what,
                   time.cpu_us / 1000, (int)(time.cpu_us % 1000), what, time.wall_us / 1000,
                   (int)(time.wall_us % 1000));
}

static void log_event(const struct soc_step_watch *watch, enum soc_log_level level,
                      const char *event, const struct soc_buf *detail)
{
    soc_log_event(soc_host_log(watch->host), level, soc_clock_now(soc_host_clock(watch->host)),
                  event, SOC_SLICE("system"), soc_buf_slice(detail));
}

static void log_slow(void *user, const char *name, struct soc_watchdog_time time)
{
    struct soc_buf detail = {0};
    soc_buf_printf(&detail, "{\"step\":\"%s\"", name);
    put_time(&detail, "step", time);
    soc_buf_put_byte(&detail, '}');
    log_event(user, SOC_LOG_WARN, "slow_step", &detail);
    soc_buf_fini(&detail);
}

struct soc_step_watch *soc_step_watch_open(struct soc_loop *loop, struct soc_host *host,
                                           int64_t limit_ms)
{
    struct soc_step_watch *watch = soc_alloc_zero(sizeof(*watch));
    watch->loop = loop;
    watch->host = host;
    watch->dog = soc_watchdog_new(limit_ms, log_slow, watch);
    soc_loop_set_watchdog(loop, watch->dog);
    return watch;
}

void soc_step_watch_close(struct soc_step_watch *watch)
{
    struct soc_buf detail = {0};
    if (watch == NULL)
        return;
    struct soc_watchdog_worst worst = soc_watchdog_worst(watch->dog);
    soc_buf_printf(&detail, "{\"steps\":%" PRIu64 ",\"slow\":%" PRIu64 ",\"worst\":\"%s\"",
                   worst.steps, worst.steps_long, worst.step == NULL ? "none" : worst.step);
    put_time(&detail, "step", worst.step_time);
    put_time(&detail, "turn", worst.turn_time);
    soc_buf_put_byte(&detail, '}');
    log_event(watch, worst.steps_long > 0 ? SOC_LOG_WARN : SOC_LOG_INFO, "steps", &detail);
    soc_buf_fini(&detail);
    soc_loop_set_watchdog(watch->loop, NULL);
    soc_watchdog_free(watch->dog);
    free(watch);
}
