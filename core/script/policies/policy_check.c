#include "script/policies/policy_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "lualib/lua_json.h"
#include "lualib/lua_source.h"
#include "lualib/nearest.h"
#include "script/policies/policy_load.h"

/* A policy being checked. */
struct check {
    lua_State *L;
    int index; /* of its table */
    const struct soc_policy_shape *shape;
    struct soc_policy_report *report;
    struct soc_buf source; /* its text, read when a line is needed */
    struct soc_buf got;    /* of one example at a time */
    struct soc_buf expected;
};

void soc_policy_found(struct soc_policy_report *report, int line, bool is_warning,
                      const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (!is_warning)
        report->errors++;
    report->found(report, line, is_warning, text);
}

static bool is_over(const struct check *check)
{
    return check->report->errors > 0 && !check->report->is_whole;
}

/* Lends the policy's text, empty if there is no file. */
static const char *source_of(struct check *check)
{
    if (check->source.length == 0 && check->shape->path != NULL)
        soc_lua_source_read(check->shape->path, &check->source);
    return soc_buf_text(&check->source);
}

/* Returns the first valid line for a policy with a file. */
static int choose_line(struct check *check, int line)
{
    if (check->shape->path == NULL || line > 0)
        return line;
    line = soc_lua_source_return_line(source_of(check));
    return line == 0 ? 1 : line;
}

static int field_line(struct check *check, const char *name)
{
    return choose_line(check, soc_lua_source_field_line(source_of(check), name));
}

/* Returns the line of the function on top if it is in the policy's own file, else 0. */
static int function_line(struct check *check)
{
    lua_Debug debug;
    lua_pushvalue(check->L, -1);
    lua_getinfo(check->L, ">S", &debug);
    const char *path = check->shape->path;
    bool is_own = path != NULL && debug.source[0] == '@' && strcmp(debug.source + 1, path) == 0;
    return is_own ? debug.linedefined : 0;
}

static void check_kind(struct check *check)
{
    const struct soc_policy_shape *shape = check->shape;
    if (soc_option_field(check->L, check->index, "kind") != LUA_TSTRING ||
        strcmp(lua_tostring(check->L, -1), shape->kind) != 0)
        soc_policy_found(check->report, field_line(check, "kind"), false, "kind must be \"%s\"",
                         shape->kind);
    lua_pop(check->L, 1);
}

static void check_data(struct check *check)
{
    lua_State *L = check->L;
    if (soc_option_field(L, check->index, "version") != LUA_TNUMBER)
        soc_policy_found(check->report, field_line(check, "version"), false,
                         "version must be a number");
    int type = soc_option_field(L, check->index, "defaults");
    if (type != LUA_TTABLE && type != LUA_TNIL)
        soc_policy_found(check->report, field_line(check, "defaults"), false,
                         "defaults must be a table, not a %s", luaL_typename(L, -1));
    type = soc_option_field(L, check->index, "examples");
    if (type != LUA_TTABLE && type != LUA_TNIL)
        soc_policy_found(check->report, field_line(check, "examples"), false,
                         "examples must be a list, not a %s", luaL_typename(L, -1));
    lua_pop(L, 3);
}

static void check_functions(struct check *check)
{
    const struct soc_policy_shape *shape = check->shape;
    for (int i = 0; shape->functions[i].name != NULL; i++) {
        const char *name = shape->functions[i].name;
        int type = soc_option_field(check->L, check->index, name);
        if (type == LUA_TNIL && shape->functions[i].is_required)
            soc_policy_found(check->report, choose_line(check, 0), false, "function %s is missing",
                             name);
        else if (type != LUA_TFUNCTION && type != LUA_TNIL)
            soc_policy_found(check->report, field_line(check, name), false,
                             "%s must be a function, not a %s", name, luaL_typename(check->L, -1));
        lua_pop(check->L, 1);
    }
}

static const char *known_field(const void *user, int number)
{
    static const char *const own[] = {"kind", "version", "defaults", "examples", "texts"};
    const int own_count = (int)(sizeof(own) / sizeof(own[0]));
    const struct soc_policy_shape *shape = user;
    if (number < own_count)
        return own[number];
    number -= own_count;
    for (int i = 0; shape->functions[i].name != NULL; i++)
        if (number-- == 0)
            return shape->functions[i].name;
    return shape->fields == NULL ? NULL : shape->fields[number];
}

static bool is_known(const struct soc_policy_shape *shape, const char *name)
{
    const char *each;
    for (int i = 0; (each = known_field(shape, i)) != NULL; i++)
        if (strcmp(each, name) == 0)
            return true;
    return false;
}

/* The key is below its value on top. */
static void warn_of_field(struct check *check)
{
    lua_State *L = check->L;
    const struct soc_policy_shape *shape = check->shape;
    struct soc_buf text = {0};
    if (lua_islightuserdata(L, -2))
        return; /* the host's own key */
    if (lua_type(L, -2) != LUA_TSTRING) {
        soc_policy_found(check->report, choose_line(check, 0), true,
                         "a policy's table cannot have a %s as a key", luaL_typename(L, -2));
        return;
    }
    const char *name = lua_tostring(L, -2);
    if (is_known(shape, name))
        return;
    bool is_function = lua_isfunction(L, -1);
    int line = is_function ? function_line(check) : 0;
    if (line == 0)
        line = field_line(check, name);
    if (is_function)
        soc_buf_printf(&text, "no question to %s policies is called '%s'", shape->kind, name);
    else
        soc_buf_printf(&text, "unknown field '%s'", name);
    soc_nearest_put(&text, name, known_field, shape);
    soc_policy_found(check->report, line, true, "%s", soc_buf_text(&text));
    soc_buf_fini(&text);
}

/* Warnings come in the order of the keys, not of Lua's table. */
static void warn_of_fields(struct check *check)
{
    lua_State *L = check->L;
    int top = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, check->index) != 0) {
        if (lua_type(L, -2) != LUA_TSTRING)
            warn_of_field(check);
        lua_pop(L, 1);
    }
    const char *before = "";
    for (;;) {
        const char *next = NULL; /* the smallest name after `before` */
        lua_settop(L, top);
        lua_pushnil(L);
        while (lua_next(L, check->index) != 0) {
            lua_pop(L, 1);
            const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
            if (name != NULL && strcmp(name, before) > 0 &&
                (next == NULL || strcmp(name, next) < 0))
                next = name; /* stays valid: the table holds it */
        }
        if (next == NULL)
            break;
        before = next;
        lua_pushstring(L, next);
        soc_option_field(L, check->index, next);
        warn_of_field(check);
    }
    lua_settop(L, top);
}

/* Appends the value on top, which is popped, as JSON; or why that fails. */
static bool put_json(lua_State *L, const char *name, struct soc_buf *out)
{
    struct soc_detail detail = {{0}};
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        soc_lua_push_null(L);
    }
    out->length = 0;
    bool is_json =
        soc_lua_json_encode(L, lua_gettop(L), name, SOC_JSON_BYTES_MAX, out, &detail) == SOC_OK;
    if (!is_json)
        soc_buf_put_text(out, detail.text);
    lua_pop(L, 1);
    return is_json;
}

/* Reports a failed example: where it begins or, if that is unknown, where the examples
 * are. */
static void fail_example(struct check *check, int number, const char *text)
{
    int line = soc_lua_source_element_line(source_of(check), "examples", number);
    if (line == 0)
        line = field_line(check, "examples");
    soc_policy_found(check->report, line, false, "example %d: %s", number, text);
}

/* Reports that the policy raised in an example, with its own line if known. */
static void fail_raised(struct check *check, int number)
{
    int line = 0;
    const char *text = lua_tostring(check->L, -1);
    if (text == NULL)
        text = "the error raised is not a string";
    if (check->shape->path != NULL)
        text = soc_policy_locate(check->shape->path, text, &line);
    if (line == 0)
        fail_example(check, number, text);
    else
        soc_policy_found(check->report, line, false, "example %d: %s", number, text);
}

/* Pushes the function, its arguments and the settings. Returns the number of arguments,
 * or -1 with nothing pushed if the example is malformed. */
static int push_question(struct check *check, int example, int settings)
{
    lua_State *L = check->L;
    int top = lua_gettop(L);
    if (soc_option_field(L, example, "ask") == LUA_TSTRING)
        lua_rawget(L, check->index);
    int type = soc_option_field(L, example, "given");
    if (!lua_isfunction(L, -2) || type != LUA_TTABLE) {
        lua_settop(L, top);
        return -1;
    }
    int given = lua_gettop(L);
    int count = (int)lua_rawlen(L, given);
    luaL_checkstack(L, count + 2, NULL);
    for (int i = 1; i <= count; i++)
        lua_rawgeti(L, given, i);
    lua_pushvalue(L, settings);
    lua_remove(L, given);
    return count + 1;
}

static void fail_question(struct check *check, int example, int number)
{
    char text[256];
    lua_State *L = check->L;
    if (soc_option_field(L, example, "ask") == LUA_TSTRING &&
        soc_option_field(L, example, "given") == LUA_TTABLE)
        snprintf(text, sizeof(text), "the policy has no function '%s'", lua_tostring(L, -2));
    else
        snprintf(text, sizeof(text),
                 "{ ask = \"FUNCTION\", given = { ARGUMENTS }, expect = RESULT } is needed");
    fail_example(check, number, text);
    lua_settop(L, example);
}

/* Compares the result on top with the list of texts at `parts`, each of which it must
 * contain: for results that are too long, or not the policy's own, to be written out. */
static void compare_parts(struct check *check, int parts, int number)
{
    lua_State *L = check->L;
    size_t length;
    size_t part_length;
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
    int count = (int)lua_rawlen(L, parts);
    if (count == 0)
        fail_example(check, number, "contains must be a list of texts");
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, parts, i);
        const char *part =
            lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &part_length) : NULL;
        if (part == NULL) {
            fail_example(check, number, "contains must be a list of texts");
            return;
        }
        if (text == NULL || memmem(text, length, part, part_length) == NULL) {
            struct soc_buf reason = {0};
            soc_buf_printf(&reason, "expected a text that contains \"%s\", got %s", part,
                           text == NULL ? luaL_typename(L, -2) : text);
            fail_example(check, number, soc_buf_text(&reason));
            soc_buf_fini(&reason);
            return;
        }
        lua_pop(L, 1);
    }
}

/* An example is { ask = FUNCTION, given = { ARGUMENTS }, expect = FIRST RESULT }, or
 * has contains = { TEXTS } instead of `expect`; it is on top. */
static void run_example(struct check *check, int settings, int number)
{
    lua_State *L = check->L;
    int example = lua_gettop(L);
    int count = push_question(check, example, settings);
    if (count < 0) {
        fail_question(check, example, number);
        return;
    }
    check->report->examples++;
    if (soc_policy_call(L, count, 1) != LUA_OK) {
        fail_raised(check, number);
        return;
    }
    if (soc_option_field(L, example, "contains") == LUA_TTABLE) {
        lua_insert(L, -2);
        compare_parts(check, lua_gettop(L) - 1, number);
        return;
    }
    lua_pop(L, 1);
    bool is_json = put_json(L, "result", &check->got);
    soc_option_field(L, example, "expect");
    is_json = put_json(L, "expect", &check->expected) && is_json;
    if (is_json && soc_slice_equal(soc_buf_slice(&check->got), soc_buf_slice(&check->expected)))
        return;
    struct soc_buf text = {0};
    soc_buf_printf(&text, "expected %s, got %s", soc_buf_text(&check->expected),
                   soc_buf_text(&check->got));
    fail_example(check, number, soc_buf_text(&text));
    soc_buf_fini(&text);
}

static void run_examples(struct check *check)
{
    lua_State *L = check->L;
    int top = lua_gettop(L);
    struct soc_detail detail;
    soc_policy_push_settings(L, check->index, 0, &detail); /* examples use the defaults */
    int count = soc_option_field(L, check->index, "examples") == LUA_TTABLE
                    ? (int)lua_rawlen(L, top + 2)
                    : 0;
    for (int i = 1; i <= count && !is_over(check); i++) {
        if (lua_rawgeti(L, top + 2, i) == LUA_TTABLE)
            run_example(check, top + 1, i);
        else
            fail_example(check, i, "it must be a table");
        lua_settop(L, top + 2);
    }
    lua_settop(L, top);
}

void soc_policy_check_table(lua_State *L, int index, const struct soc_policy_shape *shape,
                            struct soc_policy_report *report)
{
    struct check check = {
        .L = L, .index = lua_absindex(L, index), .shape = shape, .report = report};
    int top = lua_gettop(L);
    luaL_checkstack(L, 20, NULL);
    if (lua_type(L, index) != LUA_TTABLE) {
        soc_policy_found(report, choose_line(&check, 0), false,
                         "the file must return a table, not a %s", luaL_typename(L, index));
    } else {
        check_kind(&check);
        if (!is_over(&check))
            check_data(&check);
        if (!is_over(&check))
            check_functions(&check);
        if (report->is_whole)
            warn_of_fields(&check);
        if (!is_over(&check) && !shape->has_own_examples)
            run_examples(&check);
    }
    lua_settop(L, top);
    soc_buf_fini(&check.source);
    soc_buf_fini(&check.got);
    soc_buf_fini(&check.expected);
}

/* Keeps the first error, for soc_policy_check. */
struct first_error {
    const struct soc_policy_shape *shape;
    struct soc_detail *detail;
};

static void keep_first(struct soc_policy_report *report, int line, bool is_warning,
                       const char *text)
{
    const struct first_error *first = report->user;
    if (is_warning || report->errors > 1)
        return;
    if (first->shape->path != NULL)
        soc_fail(first->detail, SOC_ESCRIPT, "%s:%d: %s", first->shape->path, line, text);
    else
        soc_fail(first->detail, SOC_ESCRIPT, "policy %s: %s", first->shape->name, text);
}

int soc_policy_check(lua_State *L, int index, const struct soc_policy_shape *shape,
                     struct soc_detail *detail)
{
    struct first_error first = {shape, detail};
    struct soc_policy_report report = {.found = keep_first, .user = &first};
    soc_policy_check_table(L, index, shape, &report);
    return report.errors > 0 ? SOC_ESCRIPT : SOC_OK;
}
