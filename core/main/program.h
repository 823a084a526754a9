/* Program: the module society.program, what commands written in Lua need of C.
 *
 * Its functions check, call and push; how things look and what they mean is decided in
 * lua/society/command/. They are not for apps: those run in a sandbox that lacks them.
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_PROGRAM_H
#define SOC_MAIN_PROGRAM_H

#include <lua.h>

/* Registry field with the path on which Lua finds installed modules. */
#define SOC_PROGRAM_PATH "society.installed_path"

/* Pushes the module. A lua_CFunction, for package.preload. Beside the functions below:
 *   complain(sentence)            prints "society: " and the sentence to stderr
 *   run, sim, check, replay       the commands in C (command.h)
 *   version, installed_path, has_fixed_seed */
int soc_program_open(lua_State *L);

/* Adds the functions that ask a society to the module on top of the stack:
 *   ask(state, request)           -> list | nil, error name, sentence
 *   ask_stopped(state, request)   -> the same, of a society that does not run
 *   is_held(state)                -> whether a process holds the state directory
 *   subjects                      what can be looked at (parts/subjects.h)
 *   faults, kinds                 names for `sim --faults` and `--policy`
 * A request and a list are JSON. The error name "refused" comes with the error object. */
void soc_program_add_asking(lua_State *L);

/* Adds the functions for texts and JSON:
 *   rows(list, names?)            -> iterator over the elements of a JSON list: as they
 *                                 stand, or their cells
 *   cells(object, names)          -> texts of those members, in order, for people
 *   members(object)               -> list of { name, text } in order
 *   member(object, name)          -> JSON of that member, or nil
 *   harmless(text, line_end, instead) -> text that cannot control a terminal
 *   parse_time(text)              -> ms, or nil
 *   format_time(ms)               -> RFC 3339 */
void soc_program_add_texts(lua_State *L);

/* Adds the functions for files and the terminal:
 *   now()                         -> ms since 1970
 *   pause(ms)
 *   input(ms)                     -> what stdin has within that time: nil nothing, "" its end
 *   is_terminal(0 | 1 | 2)
 *   complete_path(path)           -> without links and dots, or nil and why not
 *   make_directory(path)          -> true | nil, why not, whether something is there
 *   is_empty_directory(path)
 *   write_new(path, text)         -> true | nil, why not
 *   ignore_closed_pipes()
 *   open_workflow(path)           -> workflow (program_workflow.c) | nil, why not */
void soc_program_add_system(lua_State *L);

/* Pushes the directory of a workflow (bridge/files/workdir.h), opened by the path at stack
 * index 1; or nil and why not. The places are those of the protocol: "agents", …
 *   workflow:read(place, name, from?)     -> bytes from that offset, size | nil, why not
 *   workflow:append(place, name, line)    -> true | nil, why not; as a line of its own
 *   workflow:replace(place, name, text)   -> true | nil, why not; at one stroke */
int soc_program_open_workflow(lua_State *L);

#endif
