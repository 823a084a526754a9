/* Instructions bench: what one message costs in memory, counted instead of timed.
 *
 *     instructions_bench            prints the figure
 *     instructions_bench --count N  handles N messages and exits, to be counted
 *
 * Instructions do not depend on what else the machine does, so a change of one per
 * cent can be seen. The program runs itself twice under callgrind with different
 * numbers of messages; the difference leaves the start-up out.
 * Layer: bench. Thread: one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "stage.h"

#define CIRCLE       1000 /* workers */
#define ROUND        1000 /* messages under way at a time */
#define FEW          5000
#define MANY         15000
#define INSTRUCTIONS 22478 /* of the version before the kernel had parts, counted likewise */

static void handle(int64_t messages)
{
    struct stage stage = {0};
    stage_open(&stage, "ring", NULL, CIRCLE, ROUND);
    stage_run_until(&stage, "processed", 2 * CIRCLE + ROUND + messages);
    exit(EXIT_SUCCESS); /* what it holds goes with the process: that is not counted */
}

/* Returns the instructions that `messages` messages take, 0 if they cannot be counted. */
static double count(const char *program, int messages)
{
    char command[1024];
    char line[512];
    double instructions = 0;
    snprintf(command, sizeof(command),
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' --count %d 2>&1",
             program, messages);
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
    if (argc == 3 && strcmp(argv[1], "--count") == 0)
        handle(strtoll(argv[2], NULL, 10));
    measure_begin(argc, argv);
    double few = count(argv[0], FEW);
    double many = count(argv[0], MANY);
    if (few == 0 || many <= few) {
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
    return EXIT_SUCCESS;
}
