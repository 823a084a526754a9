/* Command: what the commands of the program share.
 *
 * The commands are Lua modules (lua/society/command/). Those that run a society call one
 * of the functions below with a table of options; it returns the exit code.
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_COMMAND_H
#define SOC_MAIN_COMMAND_H

#include <lua.h>

/* Exit codes; scripts that call the program rely on them. */
enum soc_exit {
    SOC_EXIT_DONE = 0,
    SOC_EXIT_FAILED = 1,
    SOC_EXIT_USAGE = 2,
    SOC_EXIT_DISK = 74,
    SOC_EXIT_INTERRUPTED = 130,
};

/* Prints "society: " and a sentence to stderr and returns `code`. */
int soc_complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the exit code for an error of the store or a script. */
int soc_exit_of(int error);

/* run{ app, state, fresh, policy, set, json, quiet, log, http, http_open, insecure, web, once,
 * rest, again, welcome } -> exit code.
 * `again` is the command that continues the run, `welcome` stands before the address of the
 * page, which is printed if there is one. */
int soc_cmd_run(lua_State *L);

/* sim{ app, first, last, is_many, faults, limit_ms, limit_steps, dump, policy, set, json,
 * rest, again_before, again_after } -> exit code. Seeds are strings of digits. The last
 * two go before and after `--seed N` in the command that repeats a seed. */
int soc_cmd_sim(lua_State *L);

/* check(file, arguments) -> exit code. */
int soc_cmd_check(lua_State *L);

/* replay{ state, app, policy, found, progress } -> totals | nil, error name, sentence.
 * found(finding) and progress(done, rows, differences) are called during the replay. */
int soc_cmd_replay(lua_State *L);

#endif
