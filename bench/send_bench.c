/* Send bench: what validators and the contacts policy add to a send.
 *
 *     send_bench [--full]
 *
 * Root sends in a loop to agents that sleep, so that sends are measured and little
 * else. The yardstick is the same send of the same message where nobody is asked:
 * contacts `open`, messages `any`. The two take turns; both are CPU time.
 * Layer: bench. Thread: one. */
#include <stdlib.h>

#include "measure.h"
#include "stage.h"

#define WINDOW        5000 /* sends measured at once; the best one counts */
#define WINDOWS_QUICK 20
#define WINDOWS_FULL  50
#define REPEATS       5
#define RATIO         2

/* What one society showed. */
struct run {
    int64_t message; /* of bench/apps/send.lua */
    int64_t is_checked;
    int windows;
    double send_us;
};

static void measure_sends(void *shared)
{
    struct run *run = shared;
    struct stage stage = {0};
    stage_open(&stage, "send", NULL, run->message, run->is_checked);
    stage_run_until(&stage, "sent", WINDOW);
    for (int i = 0; i < run->windows; i++) {
        int64_t before = stage_count(&stage, "sent");
        int64_t begin_us = measure_cpu_us();
        stage_run_until(&stage, "sent", before + WINDOW);
        double sent = (double)(stage_count(&stage, "sent") - before);
        double send_us = (double)(measure_cpu_us() - begin_us) / sent;
        run->send_us = i == 0 || send_us < run->send_us ? send_us : run->send_us;
    }
}

static void print_pair(const char *name, int64_t message, int windows)
{
    double best[2] = {0, 0};
    for (int i = 0; i < 2 * REPEATS; i++) {
        struct run run = {.message = message, .is_checked = i % 2, .windows = windows};
        measure_in_child(measure_sends, &run, sizeof(run));
        best[i % 2] = i < 2 || run.send_us < best[i % 2] ? run.send_us : best[i % 2];
    }
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "us",
        .value = best[1],
        .yardstick_name = "nobody is asked",
        .yardstick = best[0],
        .goal = MEASURE_AT_MOST,
        .target = RATIO,
        .is_ratio_meant = true,
    });
}

int main(int argc, char **argv)
{
    int windows = measure_begin(argc, argv) ? WINDOWS_FULL : WINDOWS_QUICK;
    print_pair("checked send, no rules (general)", 1, windows);
    print_pair("checked send, data (alert)", 2, windows);
    print_pair("checked send, data + function (result)", 3, windows);
    print_pair("checked send, function (task_assignment)", 4, windows);
    return EXIT_SUCCESS;
}
