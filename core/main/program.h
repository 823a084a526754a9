/* Program: the module society.program, with the C functions that commands in Lua use.
 *
 * Its functions check, call and push; lua/society/command/ decides on presentation and
 * meaning. Apps cannot use them: the sandbox lacks them.
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_PROGRAM_H
#define SOC_MAIN_PROGRAM_H

#include <lua.h>

/* Registry field with the path on which Lua finds installed modules. */
#define SOC_PROGRAM_PATH "society.installed_path"

/* Pushes the module. A lua_CFunction for package.preload. Besides the functions below:
 *   complain(sentence)            prints "society: " and the sentence to stderr
 *   run, sim, check, replay       the commands in C (command.h)
 *   version, installed_path, has_fixed_seed */
int soc_program_open(lua_State *L);

/* Adds the functions that query a society to the module on top of the stack:
 *   ask(state, request)           -> list | nil, error name, sentence
 *   ask_stopped(state, request)   -> the same for a stopped society
 *   is_held(state)                -> whether a process holds the state directory
 *   subjects                      what can be inspected (parts/subjects.h)
 *   operations                    the table of operations (kernel/operations/operation.h), a
 *                                 list of { name, summary, scope, changes, needs_running,
 *                                 for_agents, params, answer }
 *   faults, kinds, settings       names for `sim --faults`, `--policy` and `--set`
 * Requests and lists are JSON. With the error name "refused" the sentence is the error
 * object. */
void soc_program_add_asking(lua_State *L);

/* Adds the functions for text and JSON:
 *   rows(list, names?)            -> iterator over the elements of a JSON list, as JSON
 *                                 or as cells
 *   cells(object, names)          -> texts of those members, in order, for people
 *   members(object)               -> list of { name, text } in order
 *   member(object, name)          -> JSON of that member, or nil
 *   harmless(text, line_end, instead) -> text that cannot control a terminal
 *   parse_time(text)              -> ms, or nil
 *   format_time(ms)               -> RFC 3339
 *   nearest(word, list)           -> the word of the list that is meant, or nil */
void soc_program_add_texts(lua_State *L);

/* Adds the functions for files and the terminal:
 *   now()                         -> ms since 1970
 *   pause(ms)
 *   input(ms)                     -> what stdin has within that time: nil if nothing, "" at
 *                                 its end
 *   is_terminal(0 | 1 | 2)
 *   terminal_width()              -> columns of the terminal that stdout is, or nil
 *   complete_path(path)           -> resolved path | nil, reason
 *   make_directory(path)          -> true | nil, reason, whether the path exists
 *   is_empty_directory(path)
 *   make_private_directory()      -> path of a new one for temporary files | nil, reason
 *   remove_directory(path)        with the files in it, and directories of files
 *   write_new(path, text)         -> true | nil, reason
 *   variables(prefix)             -> list of { name, value } of the environment
 *   ignore_closed_pipes()
 *   open_workflow(path)           -> workflow (program_workflow.c) | nil, reason */
void soc_program_add_system(lua_State *L);

/* Adds the functions for the HTTP door:
 *   token_add(state, name, scopes, agent?) -> token | nil, error name, sentence
 *   token_list(state)             -> JSON list | nil, error name, sentence
 *   token_remove(state, name)     -> "" | nil, error name, sentence
 *   login_url(state)              -> URL with a code | nil, error name, sentence
 *   routes                        what HTTP can be asked (bridge/http/routes.h) */
void soc_program_add_web(lua_State *L);

/* Adds the functions for backups (store/sqlite/backup.h):
 *   backup(state, file, may_replace), restore(file, state), verify_file(file),
 *   verify_state(state)           -> { bytes, sequence, line, records } | nil, error name,
 *                                 sentence
 * and for rows as lines (store/sqlite/transfer.h):
 *   write_rows(state, take, table?), read_rows(state, next) -> true | nil, error name, sentence */
void soc_program_add_backup(lua_State *L);

/* Adds the line editor (libedit):
 *   open_editor(path?)            -> editor with the history in that file | nil, reason
 *   editor:read(prompt, complete) -> line | nil at the end of the input; complete(text before
 *                                 the cursor) -> text to insert?, text to show?
 *   editor:remember(text)         adds to the history
 *   editor:close() */
void soc_program_add_editor(lua_State *L);

/* Opens the workflow directory (bridge/files/workdir.h) whose path is at stack index 1 and
 * pushes it, or nil and the reason. Places are those of the protocol: "agents", …
 *   workflow:read(place, name, from?)     -> bytes from that offset, size | nil, reason
 *   workflow:append(place, name, line)    -> true | nil, reason; as a line of its own
 *   workflow:replace(place, name, text)   -> true | nil, reason; atomically */
int soc_program_open_workflow(lua_State *L);

#endif
