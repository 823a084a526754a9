#include "stage.h"

#include <stdio.h>

#include "base/json.h"
#include "kernel/gate.h"
#include "kernel/look.h"
#include "kernel/turns/batch.h"
#include "measure.h"

#define POLL_MS     20
#define NUMBER_TEXT 24

static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    (void)user;
    (void)stream;
    (void)agent;
    (void)text;
    return true;
}

static void failed(void *user, const struct soc_detail *detail)
{
    (void)user;
    measure_require(false, detail->text);
}

void stage_open(struct stage *stage, const char *app, const char *directory, int64_t first,
                int64_t second)
{
    char path[MEASURE_PATH_BYTES];
    char numbers[2][NUMBER_TEXT];
    char *arguments[] = {numbers[0], numbers[1]};
    struct soc_detail detail = {0};
    snprintf(path, sizeof(path), "bench/apps/%s.lua", app);
    snprintf(numbers[0], NUMBER_TEXT, "%lld", (long long)first);
    snprintf(numbers[1], NUMBER_TEXT, "%lld", (long long)second);
    struct soc_assembly_options options = {
        .app_file = path,
        .state_dir = directory,
        .is_simulated = directory == NULL,
        .seed = 1,
        .arguments = arguments,
        .argument_count = 2,
        .log = {.level = SOC_LOG_WARN},
        .show = show,
        .failed = failed,
    };
    measure_require(soc_assembly_load(&stage->parts, &options, &detail) == SOC_OK, detail.text);
    measure_require(soc_assembly_start(&stage->parts, &detail) == SOC_OK, detail.text);
}

int64_t stage_count(struct stage *stage, const char *counter)
{
    int64_t count = 0;
    struct soc_buf stats = {0};
    soc_look_stats(stage->parts.host, &stats);
    soc_json_integer(soc_json_member(soc_buf_slice(&stats), counter), &count);
    soc_buf_fini(&stats);
    return count;
}

static bool is_reached(struct stage *stage)
{
    if (stage->counter == NULL)
        return measure_now_us() >= stage->goal;
    return stage_count(stage, stage->counter) >= stage->goal;
}

static int64_t tick(void *user)
{
    struct stage *stage = user;
    int64_t wait_ms = soc_host_tick(stage->parts.host);
    if (is_reached(stage))
        soc_loop_stop(stage->parts.loop);
    return wait_ms;
}

static void run(struct stage *stage)
{
    if (is_reached(stage))
        return;
    if (stage->parts.loop != NULL) {
        soc_loop_run(stage->parts.loop, tick, stage);
        return;
    }
    do
        measure_require(soc_host_tick(stage->parts.host) == SOC_TICK_NOW || is_reached(stage),
                        "nothing is left to do");
    while (!is_reached(stage));
}

void stage_run_until(struct stage *stage, const char *counter, int64_t goal)
{
    stage->counter = counter;
    stage->goal = goal;
    run(stage);
}

void stage_run_for(struct stage *stage, int64_t us)
{
    stage->counter = NULL;
    stage->goal = measure_now_us() + us;
    run(stage);
}

static void note_durable(void *user)
{
    *(bool *)user = true;
}

void stage_settle(struct stage *stage)
{
    bool is_durable = false;
    soc_gate_when_durable(stage->parts.host, note_durable, &is_durable);
    soc_batch_seal(stage->parts.host);
    while (!is_durable && stage->parts.loop != NULL)
        soc_loop_poll(stage->parts.loop, POLL_MS);
}

void stage_close(struct stage *stage, int64_t fold_ms_max)
{
    soc_host_close(stage->parts.host, fold_ms_max);
    stage->parts.host = NULL;
    soc_assembly_free(&stage->parts);
}
