#include "worker/job.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "base/json.h"
#include "base/limits.h"
#include "lualib/lua_heap.h"
#include "lualib/lua_json.h"
#include "sandbox/sandbox.h"

/* VM instructions between two looks at the budget. */
#define STEPS_PER_LOOK 1000

/* Values around a result: [{"printed": …, "result": …}]. */
#define RESULT_VALUES 5

struct job {
    lua_State *L;
    struct soc_slice request;
    struct soc_buf *answer;
    struct soc_buf printed;
    soc_job_last_words *answer_at_once;
    void *user;
    uint64_t memory_bytes;
    uint64_t steps_max; /* 0: time bounds it, from outside */
    uint64_t steps;
    const char *over; /* the budget that is spent; NULL: none */
    uint64_t over_limit;
};

void soc_job_put_error(struct soc_buf *answer, const char *error, struct soc_slice message)
{
    answer->length = 0;
    soc_buf_put_byte(answer, '{');
    soc_json_put_text_member(answer, "error", soc_slice_text(error));
    soc_json_put_text_member(answer, "message", message);
    soc_buf_put_byte(answer, '}');
}

void soc_job_put_over(struct soc_buf *answer, const char *which, uint64_t limit)
{
    soc_job_put_error(answer, "budget_exceeded",
                      SOC_SLICE("the script did too much; give it less to do or a larger budget"));
    answer->length--;
    soc_json_put_name(answer, "limit");
    soc_json_put_integer(answer, (int64_t)limit);
    soc_json_put_text_member(answer, "which", soc_slice_text(which));
    soc_buf_put_byte(answer, '}');
}

static struct job *job_of(lua_State *L)
{
    return *(struct job **)lua_getextraspace(L);
}

/* Ends the script; it cannot catch that. */
static void end_job(lua_State *L, const char *which, uint64_t limit)
{
    struct job *job = job_of(L);
    if (job->over == NULL) {
        job->over = which;
        job->over_limit = limit;
    }
    lua_pushliteral(L, "{}");
    soc_sandbox_raise_fatal(L);
}

static void charge(lua_State *L, uint64_t steps)
{
    struct job *job = job_of(L);
    job->steps += steps;
    if (job->over != NULL)
        end_job(L, job->over, job->over_limit);
    if (job->steps_max > 0 && job->steps > job->steps_max)
        end_job(L, "steps", job->steps_max);
    if (soc_lua_heap_bytes(L) > job->memory_bytes) {
        lua_gc(L, LUA_GCCOLLECT);
        if (soc_lua_heap_bytes(L) > job->memory_bytes)
            end_job(L, "memory", job->memory_bytes);
    }
}

static void refuse_text(lua_State *L, uint64_t limit)
{
    end_job(L, "text_bytes", limit);
}

static void look(lua_State *L, lua_Debug *debug)
{
    (void)debug;
    charge(L, (uint64_t)lua_gethookcount(L));
}

static void enter(lua_State *L)
{
    if (job_of(L)->steps_max > 0)
        lua_sethook(L, look, LUA_MASKCOUNT, SOC_SANDBOX_HOOK_STEPS);
}

/* In a worker: no Lua code runs after this, so nothing can go wrong in it. */
static void run_out_of_memory(void *user)
{
    struct job *job = user;
    soc_job_put_over(job->answer, "memory", job->memory_bytes);
    job->answer_at_once(job->user, soc_buf_slice(job->answer));
}

/* One operation inside Lua asks for far more than the budget, and Lua could not go on. In a
 * worker the script was ended before. */
static void halt(void *user)
{
    const struct job *job = user;
    fprintf(stderr,
            "society: a script of run_lua asked for more memory than its budget of %llu "
            "bytes at once, which ends a simulation\n",
            (unsigned long long)job->memory_bytes);
    _exit(EXIT_FAILURE);
}

static int job_print(lua_State *L)
{
    struct job *job = lua_touserdata(L, lua_upvalueindex(1));
    for (int i = 1; i <= lua_gettop(L); i++) {
        size_t length;
        const char *text = lua_tolstring(L, i, &length);
        if (length + job->printed.length + 2 > SOC_RUN_LUA_PRINT_BYTES_MAX)
            return luaL_error(L, "print: a script can print %d bytes at most",
                              (int)SOC_RUN_LUA_PRINT_BYTES_MAX);
        if (i > 1)
            soc_buf_put_byte(&job->printed, '\t');
        soc_buf_put(&job->printed, text, length);
    }
    soc_buf_put_byte(&job->printed, '\n');
    return 0;
}

static int refuse_effect(lua_State *L)
{
    return luaL_error(L, "there is no clock and no chance here: pass in what the script needs "
                         "as values");
}

static uint64_t number_of(struct soc_slice request, const char *name, uint64_t otherwise)
{
    int64_t number;
    struct soc_slice member = soc_json_member(request, name);
    if (member.data == NULL || !soc_json_integer(member, &number) || number < 0)
        return otherwise;
    return (uint64_t)number;
}

/* Pushes the environment and, above it, the values. */
static void push_environment(lua_State *L, struct job *job)
{
    struct soc_sandbox_gate gate = {job_print, refuse_effect, refuse_effect, refuse_effect, job};
    struct soc_slice values = soc_json_member(job->request, "values");
    struct soc_detail detail;
    soc_sandbox_push(L, &gate);
    int env = lua_gettop(L);
    soc_lua_json_open(L);
    soc_sandbox_preload(L, env, "society.json");
    lua_settop(L, env);
    if (values.data == NULL)
        lua_newtable(L);
    else if (soc_lua_json_decode(L, values, &detail) < 0)
        luaL_error(L, "values: %s", detail.text);
    lua_pushvalue(L, -1);
    lua_setfield(L, env, "values");
}

/* Writes the answer from the result on top. */
static void put_result(lua_State *L, struct job *job)
{
    struct soc_detail detail;
    struct soc_buf *out = job->answer;
    soc_buf_put_text(out, "[{");
    if (job->printed.length > 0) {
        if (soc_utf8_fault(soc_buf_slice(&job->printed)) >= 0)
            luaL_error(L, "what the script printed is not UTF-8");
        soc_json_put_text_member(out, "printed", soc_buf_slice(&job->printed));
    }
    if (!lua_isnil(L, -1)) {
        soc_json_put_name(out, "result");
        if (soc_lua_json_encode(L, lua_gettop(L), "result", SOC_RUN_LUA_BYTES_MAX, out, &detail) <
            0)
            luaL_error(L, "%s", detail.text);
    }
    soc_buf_put_text(out, "}]");
    if (soc_json_count(soc_buf_slice(out)) > SOC_WORKER_VALUES_MAX)
        luaL_error(L, "a result can have %d values, names of members included",
                   SOC_WORKER_VALUES_MAX - RESULT_VALUES);
}

/* The body, protected: loads the script, runs it and writes the answer. */
static int body(lua_State *L)
{
    struct job *job = job_of(L);
    struct soc_buf script = {0};
    struct soc_detail detail;
    push_environment(L, job);
    soc_json_string(soc_json_member(job->request, "script"), &script);
    soc_sandbox_freeze(L, 1);
    soc_sandbox_allow_load(L, 1, true);
    int rc = soc_sandbox_load_text(L, 1, soc_buf_slice(&script), "script", &detail);
    soc_buf_fini(&script);
    if (rc < 0)
        return luaL_error(L, "%s", detail.text);
    lua_pushvalue(L, 2);
    lua_call(L, 1, 1);
    put_result(L, job);
    return 0;
}

/* Of a script's error, as it is shown. */
#define ERROR_BYTES_MAX 4096

/* Replaces the value at 1 by its JSON. A lua_CFunction: it may run out of memory. */
static int encode_error(lua_State *L)
{
    struct soc_buf json = {0};
    struct soc_detail detail;
    lua_settop(L, 1);
    if (soc_lua_json_encode(L, 1, "error", ERROR_BYTES_MAX, &json, &detail) == SOC_OK)
        lua_pushlstring(L, json.data, json.length);
    soc_buf_fini(&json);
    return 1;
}

static void put_failure(struct job *job, lua_State *co)
{
    lua_State *L = job->L;
    size_t length = 0;
    lua_pushcfunction(L, encode_error);
    lua_pushvalue(co, -1);
    lua_xmove(co, L, 1);
    if (job->over != NULL || !lua_istable(L, -1))
        lua_remove(L, -2);
    else if (lua_pcall(L, 1, 1, 0) != LUA_OK)
        lua_pushnil(L);
    const char *text = lua_tolstring(L, -1, &length);
    if (job->over != NULL)
        soc_job_put_over(job->answer, job->over, job->over_limit);
    else if (text == NULL || soc_utf8_fault(soc_slice(text, length)) >= 0)
        soc_job_put_error(job->answer, "script_error",
                          SOC_SLICE("(an error that is neither a text nor JSON)"));
    else
        soc_job_put_error(job->answer, "script_error",
                          soc_slice(text, length < ERROR_BYTES_MAX ? length : ERROR_BYTES_MAX));
}

/* Opens the state; false, with an answer, if that fails. */
static bool open_state(struct job *job)
{
    /* Far beyond the budget: the budget ends the script, not the heap. */
    job->L = soc_lua_heap_open((size_t)job->memory_bytes * 4 + SOC_SCRIPT_TEXT_BYTES_MAX * 2);
    if (job->L == NULL) {
        soc_job_put_over(job->answer, "memory", job->memory_bytes);
        return false;
    }
    soc_lua_heap_set_end(job->L, SIZE_MAX, halt, job);
    *(struct job **)lua_getextraspace(job->L) = job;
    luaL_openlibs(job->L);
    soc_sandbox_set_budget(job->L, &(struct soc_sandbox_budget){
                                       .charge = charge,
                                       .refuse_text = refuse_text,
                                       .enter = enter,
                                       .text_bytes_max = SOC_SCRIPT_TEXT_BYTES_MAX,
                                   });
    return true;
}

void soc_job_run(struct soc_slice request, struct soc_buf *answer,
                 soc_job_last_words *answer_at_once, void *user)
{
    struct job job = {
        .request = request,
        .answer = answer,
        .answer_at_once = answer_at_once,
        .user = user,
        .memory_bytes = number_of(request, "memory_bytes", SOC_SCRIPT_GROWTH_BYTES_MAX),
        .steps_max = number_of(request, "steps", 0),
    };
    int results;
    answer->length = 0;
    if (!open_state(&job))
        return;
    lua_State *co = lua_newthread(job.L);
    *(struct job **)lua_getextraspace(co) = &job;
    lua_pushcfunction(co, body);
    if (job.steps_max > 0)
        lua_sethook(co, look, LUA_MASKCOUNT, STEPS_PER_LOOK);
    if (answer_at_once != NULL)
        soc_lua_heap_watch(job.L, (size_t)job.memory_bytes, run_out_of_memory, &job);
    int status = lua_resume(co, job.L, 0, &results);
    lua_sethook(co, NULL, 0, 0);
    if (status == LUA_YIELD)
        soc_job_put_error(answer, "script_error",
                          SOC_SLICE("the script yielded outside any "
                                    "coroutine of its own"));
    else if (status != LUA_OK)
        put_failure(&job, co);
    soc_lua_heap_watch(job.L, 0, NULL, NULL);
    soc_buf_fini(&job.printed);
    soc_lua_heap_close(job.L);
}
