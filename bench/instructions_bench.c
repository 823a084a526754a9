/* Instructions bench: what one message costs in memory, counted instead of timed.
 *
 *     instructions_bench            prints the figures
 *     instructions_bench --count N  handles N messages and exits, to be counted
 *     instructions_bench --less N   the same without the part `hosts`
 *
 * Instructions do not depend on what else the machine does, so a change of one per
 * cent can be seen. The program runs itself twice under callgrind with different
 * numbers of messages; the difference leaves the start-up out.
 * Layer: bench. Thread: one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/state.h"
#include "measure.h"
#include "parts/table.h"
#include "stage.h"

#define CIRCLE       1000 /* workers */
#define ROUND        1000 /* messages under way at a time */
#define FEW          5000
#define MANY         15000
#define INSTRUCTIONS 22478 /* of the version before the kernel had parts, counted likewise */
#define HOSTS_RATIO  1.01  /* a host without peers against one without the part */

/* Removes the calls of the part `hosts` from a society. */
static void remove_hosts(struct soc_host *host)
{
    struct soc_part_calls *calls = &host->parts.calls;
#define E(function)                                                                                \
    for (size_t from_ = 0, to_ = 0; soc_hosts_part.function != NULL; from_++) {                    \
        calls->function[to_] = calls->function[from_];                                             \
        to_ += calls->function[from_] != soc_hosts_part.function;                                  \
        if (calls->function[from_] == NULL)                                                        \
            break;                                                                                 \
    }
    SOC_PART_MAP(E)
#undef E
}

static void handle(int64_t messages, bool has_hosts)
{
    struct stage stage = {0};
    stage_open(&stage, "ring", NULL, CIRCLE, ROUND);
    if (!has_hosts)
        remove_hosts(stage.parts.host);
    stage_run_until(&stage, "processed", 2 * CIRCLE + ROUND + messages);
    exit(EXIT_SUCCESS); /* what it holds goes with the process: that is not counted */
}

/* Returns the instructions that `messages` messages take, 0 if they cannot be counted. */
static double count(const char *program, const char *how, int messages)
{
    char command[1024];
    char line[512];
    double instructions = 0;
    snprintf(command, sizeof(command),
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' %s %d 2>&1", program,
             how, messages);
    FILE *output = popen(command, "r");
    if (output == NULL)
        return 0;
    while (fgets(line, sizeof(line), output) != NULL) {
        const char *found = strstr(line, "Collected :");
        if (found != NULL)
            instructions = strtod(found + strlen("Collected :"), NULL);
    }
    return pclose(output) == 0 ? instructions : 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && (strcmp(argv[1], "--count") == 0 || strcmp(argv[1], "--less") == 0))
        handle(strtoll(argv[2], NULL, 10), strcmp(argv[1], "--count") == 0);
    measure_begin(argc, argv);
    double few = count(argv[0], "--count", FEW);
    double many = count(argv[0], "--count", MANY);
    double less = count(argv[0], "--less", MANY) - count(argv[0], "--less", FEW);
    if (few == 0 || many <= few || less <= 0) {
        puts("instructions of a message: not counted, valgrind is not installed");
        return EXIT_SUCCESS;
    }
    measure_print(&(struct measure_figure){
        .name = "instructions of a message in memory",
        .unit = "",
        .value = (many - few) / (MANY - FEW),
        .yardstick_name = "before the parts",
        .yardstick = INSTRUCTIONS,
        .goal = MEASURE_AT_MOST,
        .target = INSTRUCTIONS,
    });
    measure_print(&(struct measure_figure){
        .name = "the same for a host that has joined nobody",
        .unit = "",
        .value = (many - few) / (MANY - FEW),
        .yardstick_name = "without the part",
        .yardstick = less / (MANY - FEW),
        .goal = MEASURE_AT_MOST,
        .target = HOSTS_RATIO,
        .is_ratio_meant = true,
    });
    return EXIT_SUCCESS;
}
