/* The program: finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "lualib/lua_seed.h"
#include "main/command.h"

int soc_complain(int code, const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fputs("society: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return code;
}

int soc_exit_of(int error)
{
    bool is_disk = error == SOC_EIO || error == SOC_EDISKFULL || error == SOC_ECORRUPT;
    return is_disk ? SOC_EXIT_DISK : SOC_EXIT_FAILED;
}

/* A closed standard stream would be given to the first file opened, and what is
 * printed would land in it. */
static void fill_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* Commands whose outcome is to be the same again say so where it may not be. */
static void warn_of_seeds(const char *name)
{
    static const char *const repeated[] = {"sim", "test", "replay"};
    for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++)
        if (strcmp(name, repeated[i]) == 0 && !soc_lua_seed_is_fixed())
            soc_complain(0, "warning: this program was built with a Lua that hashes differently "
                            "each time, so # of a table with holes may differ from run to run");
}

/* A command whose results did not get out has failed, and says so. */
static int end_output(int code)
{
    int error = fflush(stdout) == 0 ? 0 : errno;
    if (code != SOC_EXIT_DONE || (error == 0 && !ferror(stdout)))
        return code;
    if (error == 0)
        return soc_complain(SOC_EXIT_FAILED, "stdout takes no more");
    return soc_complain(SOC_EXIT_FAILED, "stdout: %s", strerror(error));
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    if (argc < 2) {
        soc_help_print(NULL);
        return SOC_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0)
        name = "version";
    const struct soc_command *command = soc_command_find(name);
    if (command == NULL)
        return soc_complain(SOC_EXIT_USAGE, "there is no command '%s'; see: society help", name);
    warn_of_seeds(name);
    return end_output(command->run(argc - 2, argv + 2));
}
