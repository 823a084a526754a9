#include "script/bindings/bind_agent.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/look.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "parts/telemetry/telemetry.h"
#include "script/bindings/bind.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"

/* agent:sleep(ms) */
static int agent_sleep(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    lua_Integer ms = luaL_checkinteger(L, 2);
    soc_effect_check_wait(L);
    luaL_argcheck(L, ms >= 0 && ms <= 366 * 86400000ll, 2, "ms from 0 to one year expected");
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_SLEEP, (uint64_t)ms, &count) == SOC_GATE_RECORDED)
        return count;
    struct soc_wait wait = {.kind = SOC_WAIT_SLEEP, .timeout_ms = ms};
    wait.deadline_ms = soc_clock_now(soc_host_clock(script->host)) + (ms > 0 ? ms : 1);
    soc_gate_wait(script->host, &wait);
    return soc_effect_yield(L);
}

static int push_now(lua_State *L, struct soc_frame *frame)
{
    struct soc_script *script = frame->script;
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_NOW, 0, &count) == SOC_GATE_RECORDED)
        return count;
    soc_buf_printf(&frame->answer, "[%lld]",
                   (long long)soc_clock_date(soc_host_clock(script->host)));
    return soc_effect_finish(L, frame, SOC_OK);
}

/* agent:now() -> ms since 1970 UTC */
static int agent_now(lua_State *L)
{
    return push_now(L, soc_frame_open(soc_handle_script(L)));
}

/* Begins a named look as an effect. Returns true if the record answers it, with `count`
 * values pushed. */
static bool begin_look(lua_State *L, struct soc_frame *frame, const char *name, int *count)
{
    struct soc_script *script = frame->script;
    uint64_t hash = soc_hash(name, strlen(name), SOC_EFFECT_LOOK);
    return soc_effect_begin(L, script, SOC_EFFECT_LOOK, hash, count) == SOC_GATE_RECORDED;
}

/* agent:idle_talk() -> messages of the lineage at hand, up to the one that is handled, in
 * which nobody made progress (parts/supervision/guard.h) */
static int agent_idle_talk(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    const struct soc_message *message = soc_gate_activation(script->host)->message;
    int count;
    if (begin_look(L, frame, "idle_talk", &count))
        return count;
    soc_buf_printf(&frame->answer, "[%u]", message == NULL ? 0 : (unsigned)message->idle_hops);
    return soc_effect_finish(L, frame, SOC_OK);
}

/* agent:effects_left() -> how many effects it may still have while it handles its message,
 * and how many at most. No effect itself: it says the same each time the script is run. */
static int agent_effects_left(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    lua_Integer most = soc_gate_effects_max(script->host);
    lua_Integer used = soc_gate_activation(script->host)->cursor;
    lua_pushinteger(L, used < most ? most - used : 0);
    lua_pushinteger(L, most);
    return 2;
}

/* agent:progress(): something came of this, though the host cannot see it */
static int agent_progress(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    int count;
    if (begin_look(L, frame, "progress", &count))
        return count;
    soc_gate_progress(script->host);
    soc_buf_put_text(&frame->answer, "[]");
    return soc_effect_finish(L, frame, SOC_OK);
}

/* Lends the text at `index`; absent: it is not given. */
static struct soc_slice optional_text(lua_State *L, int index)
{
    size_t length;
    if (lua_isnoneornil(L, index))
        return (struct soc_slice){0};
    luaL_checktype(L, index, LUA_TSTRING);
    const char *text = lua_tolstring(L, index, &length);
    return soc_slice(text, length);
}

/* agent:begin_tool(name, id?, arguments?): for telemetry; no effect */
static int agent_begin_tool(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    luaL_checktype(L, 2, LUA_TSTRING);
    soc_telemetry_begin_tool(script->host, optional_text(L, 2), optional_text(L, 3),
                             optional_text(L, 4));
    return 0;
}

/* agent:end_tool(result?, is_failed?): for telemetry; no effect */
static int agent_end_tool(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    if (!lua_isnoneornil(L, 3))
        luaL_checktype(L, 3, LUA_TBOOLEAN);
    soc_telemetry_end_tool(script->host, optional_text(L, 2), lua_toboolean(L, 3));
    return 0;
}

/* As math.random: a float, 1..m, or m..n. The 64 bits are the effect's answer. */
static int push_random(lua_State *L, struct soc_frame *frame, int first)
{
    struct soc_script *script = frame->script;
    lua_Integer low = 1;
    lua_Integer high = 0;
    int arguments = lua_gettop(L) - first + 1;
    if (arguments == 1)
        high = luaL_checkinteger(L, first);
    if (arguments >= 2) {
        low = luaL_checkinteger(L, first);
        high = luaL_checkinteger(L, first + 1);
    }
    if (arguments > 0)
        luaL_argcheck(L, low <= high, lua_gettop(L), "interval is empty");
    uint64_t hash = soc_effect_hash_arguments(L, frame, first);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_RANDOM, hash, &count) == SOC_GATE_LIVE) {
        soc_buf_printf(&frame->answer, "[%lld]", (long long)soc_gate_random(script->host));
        soc_effect_finish(L, frame, SOC_OK);
    }
    uint64_t bits = (uint64_t)lua_tointeger(L, -1);
    if (arguments == 0) {
        lua_pushnumber(L, (lua_Number)(bits >> 11) * 0x1.0p-53);
    } else {
        uint64_t span = (uint64_t)high - (uint64_t)low + 1;
        uint64_t scaled = span == 0 ? bits : (uint64_t)(((unsigned __int128)bits * span) >> 64);
        lua_pushinteger(L, (lua_Integer)((uint64_t)low + scaled));
    }
    return 1;
}

/* agent:random(m?, n?) */
static int agent_random(lua_State *L)
{
    return push_random(L, soc_frame_open(soc_handle_script(L)), 2);
}

/* agent:log(level, text, fields?) */
static int agent_log(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    bool has_fields = !lua_isnoneornil(L, 4);
    lua_settop(L, has_fields ? 4 : 3); /* nil is no JSON */
    size_t level_length;
    size_t length;
    const char *level_name = luaL_checklstring(L, 2, &level_length);
    const char *text = luaL_checklstring(L, 3, &length);
    enum soc_log_level level;
    luaL_argcheck(L, soc_log_level_parse(soc_slice(level_name, level_length), &level), 2,
                  "debug, info, warn or error expected");
    uint64_t hash = soc_effect_hash_arguments(L, frame, 2);
    struct soc_slice fields = {0};
    if (has_fields)
        fields = soc_buf_slice(&frame->scratch);
    int count;
    if (soc_effect_begin_aside(L, script, SOC_EFFECT_LOG, hash, &count) == SOC_GATE_RECORDED)
        return count;
    soc_gate_log(script->host, level, soc_slice(text, length), fields);
    return soc_effect_end(L, script, SOC_SLICE("[]"));
}

/* agent:milestone(text): an event of the activity log */
static int agent_milestone(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    size_t length;
    lua_settop(L, 2);
    if (lua_type(L, 2) != LUA_TSTRING)
        luaL_argerror(L, 2, "a text expected");
    const char *text = lua_tolstring(L, 2, &length);
    uint64_t hash = soc_effect_hash_arguments(L, frame, 2);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_MILESTONE, hash, &count) == SOC_GATE_RECORDED)
        return count;
    soc_gate_milestone(script->host, soc_slice(text, length));
    return soc_effect_end(L, script, SOC_SLICE("[]"));
}

/* agent:version(name, default?, current?): which version of a piece of the script the activation
 * follows. `current` from its first call on, unless the activation had passed there with a
 * script that did not call it: then `default`. */
static int agent_version(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    int count;
    luaL_checktype(L, 2, LUA_TSTRING);
    lua_Integer older = luaL_optinteger(L, 3, 0);
    luaL_argcheck(L, older >= 0 && older < LUA_MAXINTEGER, 3,
                  "a smaller integer from 0 on expected");
    lua_Integer current = luaL_optinteger(L, 4, older + 1);
    luaL_argcheck(L, current > older, 4, "an integer above the default expected");
    lua_settop(L, 2);
    uint64_t hash = soc_effect_hash_arguments(L, frame, 2);
    if (soc_effect_begin_aside(L, script, SOC_EFFECT_VERSION, hash, &count) == SOC_GATE_LIVE) {
        soc_buf_printf(&frame->answer, "[%lld]", (long long)current);
        return soc_effect_finish(L, frame, SOC_OK);
    }
    if (count == 0)
        lua_pushinteger(L, older);
    return 1;
}

/* Prints for the running agent. Each line of an isolated one begins with `ID| `, and nothing in it
 * moves the cursor: no stranger prints what could pass for the host's or another agent's. */
static void print_out(struct soc_script *script, struct soc_slice text)
{
    const struct soc_agent *agent = soc_gate_activation(script->host)->agent;
    struct soc_buf line = {0};
    struct soc_buf mark = {0};
    if (!soc_registry_isolates(script->host, agent)) {
        soc_gate_print(script->host, text);
        return;
    }
    soc_buf_printf(&mark, "\n%s| ", agent->id);
    soc_buf_put_text(&line, soc_buf_text(&mark) + 1);
    soc_log_put_harmless(&line, text, soc_buf_text(&mark), ' ');
    soc_gate_print(script->host, soc_buf_slice(&line));
    soc_buf_fini(&mark);
    soc_buf_fini(&line);
}

/* Returns the length of all that print_out puts before lines of the text. */
static size_t marks_length(struct soc_script *script, struct soc_slice text)
{
    const struct soc_agent *agent = soc_gate_activation(script->host)->agent;
    size_t count = 1;
    if (!soc_registry_isolates(script->host, agent))
        return 0;
    for (size_t i = 0; i < text.length; i++)
        count += text.data[i] == '\n';
    return count * (strlen(agent->id) + strlen("| "));
}

/* print(…): an effect inside a turn. While the app loads, the line goes to the log. */
static int gate_print(lua_State *L)
{
    struct soc_script *script = *(struct soc_script **)lua_touserdata(L, lua_upvalueindex(1));
    int arguments = lua_gettop(L); /* the sandbox has converted them to strings */
    size_t bytes = 0;
    luaL_Buffer line;
    if (script == NULL || script->is_dropping)
        return luaL_error(L, "print: the society has ended");
    for (int i = 1; i <= arguments; i++)
        bytes += (size_t)lua_rawlen(L, i) + 1;
    if (bytes > SOC_PRINT_BYTES_MAX)
        return luaL_error(L, "print: a line can have 1 MB at most");
    luaL_buffinit(L, &line);
    for (int i = 1; i <= arguments; i++) {
        if (i > 1)
            luaL_addchar(&line, '\t');
        lua_pushvalue(L, i);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    if (soc_gate_activation(script->host) == NULL) {
        soc_log_line(soc_host_log(script->host), SOC_LOG_INFO,
                     soc_clock_now(soc_host_clock(script->host)), "print", SOC_SLICE("load"),
                     soc_slice(text, length));
        return 0;
    }
    if (length + marks_length(script, soc_slice(text, length)) > SOC_PRINT_BYTES_MAX)
        return luaL_error(L, "print: a line can have 1 MB at most, with the agent's id in front of "
                             "each line in it");
    int count;
    uint64_t hash = soc_hash(text, length, 0);
    if (soc_effect_begin_aside(L, script, SOC_EFFECT_PRINT, hash, &count) == SOC_GATE_RECORDED)
        return 0;
    print_out(script, soc_slice(text, length));
    soc_gate_answer(script->host, SOC_SLICE("[]"));
    return 0;
}

/* Opens the frame of a sandbox function that is an effect. */
static struct soc_frame *gate_frame(lua_State *L, const char *name)
{
    struct soc_script *script = *(struct soc_script **)lua_touserdata(L, lua_upvalueindex(1));
    if (script == NULL || soc_gate_activation(script->host) == NULL)
        luaL_error(L, "%s is an effect: it works inside a behaviour, not while the script loads",
                   name);
    return soc_frame_open(script);
}

static int gate_time(lua_State *L)
{
    push_now(L, gate_frame(L, "os.time"));
    lua_pushinteger(L, lua_tointeger(L, -1) / 1000);
    return 1;
}

/* CPU time would differ between runs, so this is the society's time. */
static int gate_clock(lua_State *L)
{
    push_now(L, gate_frame(L, "os.clock"));
    lua_pushnumber(L, (lua_Number)lua_tointeger(L, -1) / 1000);
    return 1;
}

static int gate_random(lua_State *L)
{
    return push_random(L, gate_frame(L, "math.random"), 1);
}

static const luaL_Reg agent_functions[] = {
    {"sleep", agent_sleep},
    {"now", agent_now},
    {"random", agent_random},
    {"idle_talk", agent_idle_talk},
    {"effects_left", agent_effects_left},
    {"progress", agent_progress},
    {"begin_tool", agent_begin_tool},
    {"end_tool", agent_end_tool},
    {"log", agent_log},
    {"milestone", agent_milestone},
    {"version", agent_version},
    {NULL, NULL},
};

void soc_bind_agent(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, agent_functions);
}

void soc_bind_agent_fill_gate(struct soc_script *script, struct soc_sandbox_gate *gate)
{
    *gate = (struct soc_sandbox_gate){
        .print = gate_print,
        .time = gate_time,
        .clock = gate_clock,
        .random = gate_random,
        .upvalue = script->box,
    };
}
