/* A society inside a C program: embed APP.lua
 *
 * Runs the app in memory, numbers the lines it prints, then writes to root as the
 * user would and runs on until that is handled. */
#include <stdio.h>

#include "society.h"

static bool show(void *user, const char *stream, const char *agent, const char *text, size_t length)
{
    int *count = user;
    return printf("%d %s from %s: %.*s\n", ++*count, stream, agent, (int)length, text) >= 0;
}

int main(int argc, char **argv)
{
    int count = 0;
    struct soc_society_options options = {.app_file = argv[1], .show = show, .user = &count};
    struct soc_society *society;
    char error[SOC_SOCIETY_ERROR_BYTES];

    if (argc != 2 || soc_society_open(&society, &options, error) < 0)
        return fprintf(stderr, "embed: %s\n", argc != 2 ? "which app?" : error), 1;
    enum soc_society_end end = soc_society_run(society);
    if (soc_society_send(society, "root", NULL, "C", NULL, error) < 0)
        fprintf(stderr, "embed: %s\n", error);
    else
        end = soc_society_run(society);
    int rc = soc_society_close(society);
    return rc == 0 && end == SOC_SOCIETY_DONE && count > 0 ? 0 : 1;
}
