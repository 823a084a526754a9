#include "worker/guest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/json.h"
#include "base/limits.h"
#include "lualib/lua_heap.h"
#include "lualib/lua_json.h"
#include "lualib/lua_stages.h"
#include "sandbox/sandbox.h"
#include "worker/guest_parts.h"
#include "worker/parcel.h"

/* Roles may name roles as their behaviour, so far. */
#define NAMES_MAX 8

struct soc_guest *soc_guest_of(lua_State *L)
{
    return *(struct soc_guest **)lua_getextraspace(L);
}

void soc_guest_begin(struct soc_guest *guest, const char *what)
{
    guest->out.length = 0;
    soc_buf_put_byte(&guest->out, '[');
    soc_json_put_string(&guest->out, soc_slice_text(what));
}

void soc_guest_put_text(struct soc_guest *guest, struct soc_slice text)
{
    soc_buf_put_byte(&guest->out, ',');
    soc_json_put_string(&guest->out, text);
}

/* Writes the value at `index` as JSON: of a message only what names it. `what` is the value's name
 * in errors. */
static void put_json(lua_State *L, struct soc_guest *guest, int index, const char *what)
{
    struct soc_detail detail;
    int top = lua_gettop(L);
    luaL_checkstack(L, 8, NULL);
    if (lua_isnil(L, index)) {
        soc_buf_put_text(&guest->out, "null");
        return;
    }
    lua_pushvalue(L, index);
    int rc = soc_lua_json_encode(L, -1, what, SOC_WORKER_FRAME_BYTES_MAX, &guest->out, &detail);
    if (rc == SOC_ETOOLARGE)
        luaL_error(L, "%s: an isolated agent can hand over 2.5 MB at once, written as JSON", what);
    if (rc < 0)
        luaL_error(L, "%s", detail.text);
    lua_settop(L, top);
}

void soc_guest_put_value(lua_State *L, struct soc_guest *guest, int index, const char *what)
{
    soc_buf_put_byte(&guest->out, ',');
    put_json(L, guest, index, what);
}

/* Replaces a message at `index` by a copy without its payload, which the host has. */
static void lighten(lua_State *L, const struct soc_guest *guest, int index)
{
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index))
        return;
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->message_meta_ref);
    bool is_message = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    if (!is_message)
        return;
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        bool is_heavy =
            lua_type(L, -2) == LUA_TSTRING && (strcmp(lua_tostring(L, -2), "payload") == 0 ||
                                               strcmp(lua_tostring(L, -2), "text") == 0);
        if (is_heavy) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_replace(L, index);
}

void soc_guest_put_arguments(lua_State *L, struct soc_guest *guest, int first)
{
    int top = lua_gettop(L);
    luaL_checkstack(L, 8, NULL);
    soc_buf_put_text(&guest->out, ",[");
    for (int i = first; i <= top; i++) {
        if (i > first)
            soc_buf_put_byte(&guest->out, ',');
        lighten(L, guest, i);
        put_json(L, guest, i, "argument");
    }
    soc_buf_put_byte(&guest->out, ']');
}

void soc_guest_say(struct soc_guest *guest)
{
    soc_buf_put_byte(&guest->out, ']');
    if (!soc_parcel_write(guest->fd, soc_buf_slice(&guest->out)))
        _exit(1);
}

static void hear(struct soc_guest *guest)
{
    guest->in.length = 0;
    if (!soc_parcel_read(guest->fd, &guest->in))
        _exit(0); /* the host has gone, or needs this process no more */
}

static void push_json(lua_State *L, struct soc_slice json)
{
    struct soc_detail detail;
    if (soc_slice_equal(json, SOC_SLICE("null")))
        lua_pushnil(L);
    else if (soc_lua_json_decode(L, json, &detail) < 0)
        luaL_error(L, "%s", detail.text);
}

/* Raises if the frame, but for its last bracket, is more than the host takes. */
static void check_frame(lua_State *L, const struct soc_guest *guest)
{
    if (guest->out.length >= SOC_WORKER_FRAME_BYTES_MAX)
        luaL_error(L, "an isolated agent can hand over 2.5 MB at once");
    if (soc_json_count(soc_buf_slice(&guest->out)) > SOC_WORKER_VALUES_MAX)
        luaL_error(L,
                   "an isolated agent can hand over %d values at once, names of members included",
                   SOC_WORKER_VALUES_MAX);
}

int soc_guest_ask(lua_State *L, struct soc_guest *guest)
{
    struct soc_json_walk walk;
    struct soc_json_walk results;
    int count = 0;
    check_frame(L, guest);
    soc_guest_say(guest);
    hear(guest);
    soc_json_walk(&walk, soc_buf_slice(&guest->in));
    soc_json_next(&walk);
    bool is_raised = soc_slice_equal(walk.value, SOC_SLICE("\"raise\""));
    soc_json_next(&walk);
    if (is_raised) {
        push_json(L, walk.value);
        return lua_error(L);
    }
    soc_json_walk(&results, walk.value);
    bool has_message = soc_json_next(&walk);
    for (; soc_json_next(&results); count++) {
        luaL_checkstack(L, 8, "too many results");
        if (has_message && count == 0)
            soc_guest_push_message(L, guest, results.value);
        else
            push_json(L, results.value);
    }
    return count;
}

/* No Lua code runs after this. */
void soc_guest_end_over(struct soc_guest *guest, const char *which, uint64_t limit)
{
    soc_guest_begin(guest, "over");
    soc_guest_put_text(guest, soc_slice_text(which));
    soc_buf_put_byte(&guest->out, ',');
    soc_json_put_integer(&guest->out, (int64_t)limit);
    soc_guest_say(guest);
    _exit(0);
}

static void grow(void *user)
{
    struct soc_guest *guest = user;
    guest->is_grown = true;
    lua_sethook(guest->current, guest->hook, LUA_MASKCOUNT, 1);
}

/* Watches the heap for the growth that is left; a fourth of it at least. */
static void watch_heap(struct soc_guest *guest)
{
    size_t used = soc_lua_heap_bytes(guest->L);
    size_t limit = (size_t)guest->memory_bytes;
    size_t grown = used > guest->bytes_begun ? used - guest->bytes_begun : 0;
    size_t left = grown < limit ? limit - grown : 0;
    guest->is_grown = false;
    soc_lua_heap_watch(guest->L, left > limit / 4 ? left : limit / 4, grow, guest);
}

static void check_memory(lua_State *L, struct soc_guest *guest)
{
    lua_gc(L, LUA_GCCOLLECT);
    if (soc_lua_heap_bytes(L) > guest->bytes_begun + guest->memory_bytes)
        soc_guest_end_over(guest, "memory", guest->memory_bytes);
    watch_heap(guest);
}

/* The hook, set when the heap has grown by the budget, garbage included. */
static void look(lua_State *L, lua_Debug *debug)
{
    (void)debug;
    lua_sethook(L, NULL, 0, 0);
    if (soc_guest_of(L)->is_grown)
        check_memory(L, soc_guest_of(L));
}

static void charge(lua_State *L, uint64_t steps)
{
    (void)steps;
    if (soc_guest_of(L)->is_grown)
        check_memory(L, soc_guest_of(L));
}

static void refuse_text(lua_State *L, uint64_t limit)
{
    soc_guest_end_over(soc_guest_of(L), "text_bytes", limit);
}

static void enter(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    guest->current = L;
    if (guest->is_grown)
        lua_sethook(L, look, LUA_MASKCOUNT, 1);
}

/* Also in the middle of an allocation, where Lua could not go on. */
static void run_out(void *user)
{
    struct soc_guest *guest = user;
    soc_guest_end_over(guest, "memory", guest->memory_bytes);
}

/* Pushes the text of a member, nil if it is absent. */
static const char *push_member(lua_State *L, struct soc_slice object, const char *name)
{
    struct soc_slice member = soc_json_member(object, name);
    if (member.data == NULL)
        lua_pushnil(L);
    else
        push_json(L, member);
    return lua_tostring(L, -1);
}

/* Runs the app's file, which declares roles. */
static void load_app(lua_State *L, const struct soc_guest *guest, struct soc_slice app)
{
    struct soc_detail detail;
    size_t length;
    const char *path = push_member(L, app, "path");
    push_member(L, app, "text");
    push_member(L, app, "arguments");
    int arguments = lua_gettop(L);
    int count = (int)lua_rawlen(L, arguments);
    luaL_checkstack(L, count + 8, "too many arguments");
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->env_ref);
    int env = lua_gettop(L);
    lua_createtable(L, count, 1);
    lua_pushstring(L, path);
    lua_rawseti(L, -2, 0);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, arguments, i);
        lua_rawseti(L, -2, i);
    }
    lua_setfield(L, env, "arg");
    const char *text = lua_tolstring(L, arguments - 1, &length);
    if (soc_sandbox_load_text(L, env, soc_slice(text, length), path, &detail) < 0)
        luaL_error(L, "%s", detail.text);
    for (int i = 1; i <= count; i++)
        lua_rawgeti(L, arguments, i);
    lua_call(L, count, 0);
}

/* Replaces the name on top by what it stands for: a role's behaviour, or a module. */
static void resolve_name(lua_State *L, const struct soc_guest *guest)
{
    for (int i = 0; i < NAMES_MAX && lua_type(L, -1) == LUA_TSTRING; i++) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, guest->roles_ref);
        lua_pushvalue(L, -2);
        if (lua_rawget(L, -2) == LUA_TNIL || lua_rawequal(L, -1, -3)) {
            lua_rawgeti(L, LUA_REGISTRYINDEX, guest->env_ref);
            lua_getfield(L, -1, "require");
            lua_pushvalue(L, -5);
            lua_call(L, 1, 1);
            lua_replace(L, -3);
            lua_pop(L, 1);
        }
        lua_replace(L, -3);
        lua_pop(L, 1);
    }
}

/* The first part of a guest's life, protected: makes the world and finds the behaviour. */
static int open_guest(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    struct soc_buf kept = guest->in; /* loading asks the host for modules */
    guest->in = (struct soc_buf){0};
    struct soc_slice open = soc_json_member(soc_buf_slice(&kept), "open");
    struct soc_slice app = soc_json_member(open, "app");
    soc_guest_make_world(L, guest, open);
    if (app.data != NULL)
        load_app(L, guest, app);
    lua_settop(L, 0);
    if (push_member(L, open, "behaviour") == NULL) {
        lua_pop(L, 1);
        lua_rawgeti(L, LUA_REGISTRYINDEX, guest->roles_ref);
        push_member(L, open, "role");
        lua_rawget(L, -2);
    }
    resolve_name(L, guest);
    int value = lua_gettop(L);
    if (lua_type(L, value) == LUA_TTABLE && soc_lua_stages_has(L, value))
        soc_lua_stages_push(L, value);
    else if (lua_type(L, value) != LUA_TTABLE && lua_type(L, value) != LUA_TFUNCTION)
        return luaL_error(L, "behaviour: a function, a table of handlers or the name of a module "
                             "that returns one expected");
    guest->behaviour_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->env_ref);
    soc_sandbox_freeze(L, -1);
    soc_sandbox_allow_load(L, -1, true);
    soc_buf_fini(&guest->in);
    guest->in = kept;
    return 0;
}

/* Pushes the handler for the message below it; false, with nothing pushed: there is none. */
static bool push_handler(lua_State *L, const struct soc_guest *guest, int message, bool is_of_host)
{
    int type = lua_rawgeti(L, LUA_REGISTRYINDEX, guest->behaviour_ref);
    if (type == LUA_TFUNCTION && !is_of_host)
        return true;
    if (type == LUA_TTABLE) {
        lua_getfield(L, message, "type");
        if (lua_rawget(L, -2) != LUA_TFUNCTION) {
            lua_pop(L, 1);
            lua_pushstring(L, is_of_host ? "system" : "default");
            lua_gettable(L, -2);
        }
        lua_remove(L, -2);
        if (lua_isfunction(L, -1))
            return true;
    }
    lua_pop(L, 1);
    return false;
}

/* Handles one message: the body of its coroutine. */
static int handle_message(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    struct soc_slice run = soc_json_member(soc_buf_slice(&guest->in), "run");
    bool is_of_host = soc_slice_equal(soc_json_member(run, "is_of_host"), SOC_SLICE("true"));
    soc_guest_push_agent(L, guest, soc_json_member(run, "state"));
    soc_guest_push_message(L, guest, soc_json_member(run, "message"));
    lua_rawgeti(L, LUA_REGISTRYINDEX, guest->fields_ref);
    push_member(L, run, "parent");
    lua_setfield(L, -2, "parent");
    lua_pop(L, 1);
    if (!push_handler(L, guest, 2, is_of_host)) {
        soc_guest_begin(guest, "unhandled");
        return 0;
    }
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    guest->is_running = true;
    lua_call(L, 2, 1);
    soc_guest_begin(guest, "done");
    soc_guest_put_value(L, guest, lua_gettop(L), "result");
    soc_guest_put_state(L, guest, 1);
    check_frame(L, guest);
    return 0;
}

/* Begins a frame that says how the coroutine `co` failed. Runs protected. */
static int describe(lua_State *L)
{
    struct soc_guest *guest = soc_guest_of(L);
    lua_State *co = lua_tothread(L, 1);
    struct soc_detail detail;
    soc_guest_begin(guest, "error");
    soc_buf_put_byte(&guest->out, ',');
    size_t begin = guest->out.length;
    if (lua_isnil(co, -1) || soc_lua_json_encode(co, lua_gettop(co), "error", SOC_STATE_BYTES_MAX,
                                                 &guest->out, &detail) < 0)
        soc_buf_put_text(&guest->out, "\"(an error value that is not JSON)\"");
    if (soc_json_count(soc_buf_slice(&guest->out)) > SOC_WORKER_VALUES_MAX - 1) {
        guest->out.length = begin;
        soc_buf_put_text(&guest->out, "\"(an error value that is too large)\"");
    }
    luaL_traceback(L, co, NULL, 0);
    soc_guest_put_text(guest, soc_slice_text(lua_tostring(L, -1)));
    return 0;
}

/* Runs the C function in a coroutine of its own; the frame that ends it is in `out`. */
static bool run_protected(struct soc_guest *guest, lua_CFunction function)
{
    lua_State *L = guest->L;
    lua_State *co = lua_newthread(L);
    int results;
    guest->current = co;
    guest->bytes_begun = soc_lua_heap_bytes(L);
    watch_heap(guest);
    lua_pushcfunction(co, function);
    int status = lua_resume(co, L, 0, &results);
    guest->is_running = false;
    if (status == LUA_ERRMEM)
        run_out(guest);
    if (status == LUA_YIELD) {
        lua_settop(co, 0);
        lua_pushliteral(co, "a behaviour yielded outside any coroutine of its own");
    }
    bool is_done = status == LUA_OK;
    guest->current = L;
    if (!is_done) {
        lua_pushcfunction(L, describe);
        lua_pushvalue(L, -2);
        if (lua_pcall(L, 1, 0, 0) != LUA_OK)
            run_out(guest);
    }
    soc_lua_heap_watch(L, 0, NULL, NULL);
    lua_settop(L, 0);
    return is_done;
}

static uint64_t number_of(struct soc_slice object, const char *name, uint64_t otherwise)
{
    int64_t number;
    struct soc_slice member = soc_json_member(object, name);
    return member.data != NULL && soc_json_integer(member, &number) && number > 0 ? (uint64_t)number
                                                                                  : otherwise;
}

static bool open_state(struct soc_guest *guest)
{
    struct soc_slice open = soc_json_member(soc_buf_slice(&guest->in), "open");
    guest->memory_bytes = number_of(open, "memory_bytes", SOC_SCRIPT_GROWTH_BYTES_MAX);
    /* Far beyond the budget: the budget ends the script, not the heap. */
    guest->L = soc_lua_heap_open((size_t)guest->memory_bytes * 4 + SOC_SCRIPT_TEXT_BYTES_MAX * 2);
    if (guest->L == NULL)
        return false;
    soc_lua_heap_set_end(guest->L, SIZE_MAX, run_out, guest);
    *(struct soc_guest **)lua_getextraspace(guest->L) = guest;
    luaL_openlibs(guest->L);
    soc_sandbox_set_budget(
        guest->L, &(struct soc_sandbox_budget){
                      .charge = charge,
                      .refuse_text = refuse_text,
                      .enter = enter,
                      .text_bytes_max = number_of(open, "text_bytes", SOC_SCRIPT_TEXT_BYTES_MAX),
                  });
    return true;
}

void soc_guest_run(int fd, struct soc_buf *first)
{
    struct soc_guest guest = {.fd = fd, .in = *first, .hook = look};
    if (!open_state(&guest))
        _exit(1);
    if (!run_protected(&guest, open_guest)) {
        soc_guest_say(&guest);
        _exit(0);
    }
    for (;;) {
        run_protected(&guest, handle_message);
        soc_guest_say(&guest);
        soc_lua_heap_tend(guest.L);
        hear(&guest);
    }
}
