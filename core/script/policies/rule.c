#include "script/policies/rule.h"

#include <assert.h>
#include <string.h>

#include <lauxlib.h>

#include "base/limits.h"
#include "env/clock.h"
#include "env/ids.h"
#include "lualib/options.h"

static bool is_time(struct soc_slice text)
{
    int64_t time_ms;
    return soc_time_parse(text, &time_ms);
}

static const struct soc_shape_words words = {soc_id_is_valid, is_time};

struct soc_shape *soc_rule_new_shape(void)
{
    return soc_shape_new(0, &words);
}

const char *soc_rule_next_name(lua_State *L, int index, const char *path, const char *name)
{
    assert(lua_istable(L, index));
    const char *next = NULL;
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "%s: keys must be strings, got %s", path, luaL_typename(L, -1));
        const char *key = lua_tostring(L, -1); /* stays valid: the table holds it */
        if ((name == NULL || strcmp(key, name) > 0) && (next == NULL || strcmp(key, next) < 0))
            next = key;
    }
    return next;
}

void soc_rule_check_names(lua_State *L, int index, const char *path, const char *const *known)
{
    const char *name = NULL;
    while ((name = soc_rule_next_name(L, index, path, name)) != NULL) {
        int i = 0;
        while (known[i] != NULL && strcmp(known[i], name) != 0)
            i++;
        if (known[i] == NULL)
            luaL_error(L, "%s: unknown field '%s'", path, name);
    }
}

/* Pushes the field; false if it is nil. Raises if it is not a table. */
static bool push_table(lua_State *L, int index, const char *path, const char *name)
{
    int type = soc_option_field(L, index, name);
    if (type != LUA_TNIL && type != LUA_TTABLE)
        luaL_error(L, "%s: %s must be a table, got %s", path, name, luaL_typename(L, -1));
    return type == LUA_TTABLE;
}

/* Returns text number `i` of the list; absent after its end. Leaves it on the stack. */
static struct soc_slice text_at(lua_State *L, int list, lua_Integer i, const char *path,
                                const char *name)
{
    size_t length;
    if (lua_rawgeti(L, list, i) == LUA_TNIL)
        return (struct soc_slice){0};
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "%s: %s must be a list of strings", path, name);
    const char *text = lua_tolstring(L, -1, &length);
    return soc_slice(text, length);
}

static uint32_t kind_bit(lua_State *L, const char *path, struct soc_slice name)
{
    int kind = soc_shape_kind_find(name);
    if (kind >= 0)
        return SOC_SHAPE_BIT(kind);
    if (!soc_slice_equal(name, SOC_SLICE("any")))
        luaL_error(L, "%s: there is no kind '%s'", path, name.data);
    return 0;
}

/* Returns the kinds that the value on top names: one name or a list of them. */
static uint32_t read_kinds(lua_State *L, const char *path)
{
    size_t length;
    if (lua_type(L, -1) == LUA_TSTRING) {
        const char *name = lua_tolstring(L, -1, &length);
        return kind_bit(L, path, soc_slice(name, length));
    }
    if (lua_type(L, -1) != LUA_TTABLE)
        luaL_error(L, "%s: kind must be a name or a list of names", path);
    uint32_t kinds = 0;
    int list = lua_gettop(L);
    struct soc_slice name;
    for (lua_Integer i = 1; (name = text_at(L, list, i, path, "kind")).data != NULL; i++) {
        kinds |= kind_bit(L, path, name);
        lua_settop(L, list);
    }
    return kinds;
}

static void read_values(lua_State *L, int index, const char *path, struct soc_shape *shape)
{
    assert(lua_istable(L, index));
    if (push_table(L, index, path, "values")) {
        int list = lua_gettop(L);
        struct soc_slice value;
        for (lua_Integer i = 1; (value = text_at(L, list, i, path, "values")).data != NULL; i++) {
            soc_shape_add_value(shape, value);
            lua_settop(L, list);
        }
    }
}

/* Adds the member `name`, whose rule is in the table at `fields`. */
static void read_field(lua_State *L, int fields, const char *path, int depth, const char *name,
                       bool is_required, struct soc_shape *shape)
{
    int top = lua_gettop(L);
    const char *inside = lua_pushfstring(L, "%s.%s", path, name);
    struct soc_shape *member = soc_shape_add_field(shape, soc_slice_text(name), is_required);
    if (member == NULL)
        luaL_error(L, "%s: more than %d fields", path, SOC_SHAPE_FIELDS_MAX);
    if (soc_option_field(L, fields, name) == LUA_TNIL)
        luaL_error(L, "%s: required, and not among the fields", inside);
    soc_rule_read(L, lua_gettop(L), inside, depth + 1, member);
    lua_settop(L, top);
}

/* Returns true if `name` is among the first `count` texts of the list. */
static bool is_in_list(lua_State *L, int list, lua_Integer count, const char *name)
{
    bool is_in = false;
    for (lua_Integer i = 1; list != 0 && !is_in && i <= count; i++) {
        lua_rawgeti(L, list, i);
        is_in = strcmp(lua_tostring(L, -1), name) == 0;
        lua_pop(L, 1);
    }
    return is_in;
}

void soc_rule_read_fields(lua_State *L, int index, const char *path, int depth,
                          const char *optional, struct soc_shape *shape)
{
    int top = lua_gettop(L);
    luaL_checkstack(L, 16, "rules inside rules");
    if (!push_table(L, index, path, "fields")) {
        if (push_table(L, index, path, "required"))
            luaL_error(L, "%s: required names fields, and there are none", path);
        lua_settop(L, top);
        return;
    }
    int fields = lua_gettop(L);
    int required = push_table(L, index, path, "required") ? lua_gettop(L) : 0;
    lua_Integer count = 0;
    struct soc_slice needed;
    while (required != 0 &&
           (needed = text_at(L, required, count + 1, path, "required")).data != NULL) {
        bool is_needed = optional == NULL || strcmp(needed.data, optional) != 0;
        if (is_in_list(L, required, count++, needed.data))
            luaL_error(L, "%s: '%s' is required twice", path, needed.data);
        read_field(L, fields, path, depth, needed.data, is_needed, shape);
        lua_settop(L, required);
    }
    const char *name = NULL;
    while ((name = soc_rule_next_name(L, fields, path, name)) != NULL)
        if (!is_in_list(L, required, count, name))
            read_field(L, fields, path, depth, name, false, shape);
    lua_settop(L, top);
}

static uint32_t implied_kinds(lua_State *L, int index)
{
    static const struct {
        const char *name;
        enum soc_shape_kind kind;
    } implied[] = {
        {"fields", SOC_SHAPE_OBJECT}, {"items", SOC_SHAPE_LIST}, {"values", SOC_SHAPE_STRING}};
    for (size_t i = 0; i < sizeof(implied) / sizeof(implied[0]); i++)
        if (soc_option_field(L, index, implied[i].name) != LUA_TNIL)
            return SOC_SHAPE_BIT(implied[i].kind);
    return 0;
}

void soc_rule_read(lua_State *L, int index, const char *path, int depth, struct soc_shape *shape)
{
    static const char *const known[] = {"kind", "values", "items", "fields", "required", NULL};
    int top = lua_gettop(L);
    luaL_checkstack(L, 16, "rules inside rules");
    if (depth > SOC_SHAPE_DEPTH_MAX)
        luaL_error(L, "%s: rules are at most %d deep", path, SOC_SHAPE_DEPTH_MAX);
    if (lua_type(L, index) == LUA_TSTRING) {
        lua_pushvalue(L, index);
        soc_shape_set_kinds(shape, read_kinds(L, path));
        lua_settop(L, top);
        return;
    }
    if (lua_type(L, index) != LUA_TTABLE)
        luaL_error(L, "%s: a kind or a table of rules expected, got %s", path,
                   luaL_typename(L, index));
    soc_rule_check_names(L, index, path, known);
    bool has_kind = soc_option_field(L, index, "kind") != LUA_TNIL;
    soc_shape_set_kinds(shape, has_kind ? read_kinds(L, path) : implied_kinds(L, index));
    lua_settop(L, top);
    read_values(L, index, path, shape);
    const char *inside = lua_pushfstring(L, "%s[]", path);
    if (soc_option_field(L, index, "items") != LUA_TNIL)
        soc_rule_read(L, lua_gettop(L), inside, depth + 1, soc_shape_items(shape));
    soc_rule_read_fields(L, index, path, depth, NULL, shape);
    lua_settop(L, top);
}
