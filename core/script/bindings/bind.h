/* Bind: the functions that scripts see, put where scripts find them.
 *
 * Methods of agents (agent:send_message) and functions of require("society") are C
 * closures with the box as upvalue 1.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_BIND_H
#define SOC_SCRIPT_BINDINGS_BIND_H

#include "script/turns/box.h"

/* Each adds the functions of its file, bind_*.c. */
void soc_bind_agent(lua_State *L, struct soc_script *script);
void soc_bind_chat(lua_State *L, struct soc_script *script);
void soc_bind_choose(lua_State *L, struct soc_script *script);
void soc_bind_delivery(lua_State *L, struct soc_script *script);
void soc_bind_endings(lua_State *L, struct soc_script *script);
void soc_bind_group(lua_State *L, struct soc_script *script);
void soc_bind_http(lua_State *L, struct soc_script *script);
void soc_bind_run_lua(lua_State *L, struct soc_script *script);
void soc_bind_human(lua_State *L, struct soc_script *script);
void soc_bind_introductions(lua_State *L, struct soc_script *script);
void soc_bind_mail(lua_State *L, struct soc_script *script);
void soc_bind_orders(lua_State *L, struct soc_script *script);
void soc_bind_people(lua_State *L, struct soc_script *script);
void soc_bind_society(lua_State *L, struct soc_script *script);
void soc_bind_tasks(lua_State *L, struct soc_script *script);

struct soc_query;

/* Reads the filters of society.`what`, the first argument, which may be missing. The texts
 * of `query` are lent by the stack. Raises for a filter that it does not have. */
void soc_bind_society_query(lua_State *L, const char *what, struct soc_query *query);

/* Adds methods of agents, or functions of require("society"). */
void soc_bind_methods(lua_State *L, const struct soc_script *script, const luaL_Reg *functions);
void soc_bind_functions(lua_State *L, const struct soc_script *script, const luaL_Reg *functions);

/* Name of the metatable of society.new's objects. */
#define SOC_WORLD "society.world"

/* For functions of society.*: lends the script. If the first argument is an object of
 * society.new (s:role{…}), removes it from the stack. */
struct soc_script *soc_bind_enter(lua_State *L);

/* Lends the text that is the first argument of society.`call`. luaL_check… would not do:
 * soc_bind_enter may have removed an argument that Lua counts. */
struct soc_slice soc_bind_check_text(lua_State *L, const char *call, const char *what);

#endif
