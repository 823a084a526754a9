/* Bind: the functions scripts see, put where scripts find them.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_BIND_H
#define SOC_SCRIPT_BINDINGS_BIND_H

#include "script/inside.h"

/* bind_*.c: the functions scripts see. */
void soc_bind_agent(lua_State *L, struct soc_script *script);
void soc_bind_mail(lua_State *L, struct soc_script *script);
void soc_bind_introductions(lua_State *L, struct soc_script *script);
void soc_bind_tasks(lua_State *L, struct soc_script *script);
void soc_bind_delivery(lua_State *L, struct soc_script *script);
void soc_bind_atonce(lua_State *L, struct soc_script *script);
void soc_bind_people(lua_State *L, struct soc_script *script);
void soc_bind_endings(lua_State *L, struct soc_script *script);
void soc_bind_society(lua_State *L, struct soc_script *script);
void soc_bind_orders(lua_State *L, struct soc_script *script);

/* Name of the metatable of society.new's objects. */
#define SOC_WORLD "society.world"

/* For functions of society.*: lends the script. If the first argument is an object of
 * society.new (s:role{…}), removes it from the stack. */
struct soc_script *soc_society_enter(lua_State *L);

/* Lends the text that is the first argument of society.`call`. Arguments are checked here,
 * not by luaL_check…: the world that s:method() has given is off the stack, and Lua would
 * take the next one for it. */
struct soc_slice soc_society_check_text(lua_State *L, const char *call, const char *what);

/* Gate functions for the sandbox: print, os.time, os.clock, math.random. */
int soc_gate_fn_print(lua_State *L);
int soc_gate_fn_time(lua_State *L);
int soc_gate_fn_clock(lua_State *L);
int soc_gate_fn_random(lua_State *L);

#endif
