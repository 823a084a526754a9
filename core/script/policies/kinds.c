#include "script/policies/kinds.h"

#include <assert.h>
#include <string.h>

#include "lualib/nearest.h"
#include "lualib/options.h"
#include "model/delivery/ladder.h"

static const struct {
    const char *name;
    const char *fallback;
} kinds[SOC_POLICY_COUNT] = {
#define K(tag, folder, fallback) {folder, fallback},
    SOC_POLICY_MAP(K)
#undef K
};

static const struct {
    enum soc_policy_kind kind;
    const char *function;
    bool is_required;
    enum soc_answer_form answer;
} questions[SOC_QUESTION_COUNT] = {
#define Q(tag, kind, function, is_required, answer)                                                \
    {SOC_POLICY_##kind, function, is_required, answer},
    SOC_QUESTION_MAP(Q)
#undef Q
};

const char *soc_kind_name(int number)
{
    assert(number >= 0);
    if (number == SOC_POLICY_COUNT)
        return SOC_MESSAGES;
    return number < SOC_POLICY_COUNT ? kinds[number].name : NULL;
}

int soc_kind_find(const char *kind)
{
    for (int i = 0; i < SOC_POLICY_COUNT; i++)
        if (strcmp(kinds[i].name, kind) == 0)
            return i;
    return -1;
}

const char *soc_kind_fallback(enum soc_policy_kind kind)
{
    assert(kind < SOC_POLICY_COUNT);
    return kinds[kind].fallback;
}

enum soc_policy_kind soc_kind_of(enum soc_policy_question question)
{
    assert(question < SOC_QUESTION_COUNT);
    return questions[question].kind;
}

const char *soc_kind_function(enum soc_policy_question question)
{
    assert(question < SOC_QUESTION_COUNT);
    return questions[question].function;
}

bool soc_kind_find_question(const char *kind, const char *function,
                            enum soc_policy_question *question)
{
    for (int i = 0; i < SOC_QUESTION_COUNT; i++) {
        *question = (enum soc_policy_question)i;
        if (strcmp(kinds[questions[i].kind].name, kind) == 0 &&
            strcmp(questions[i].function, function) == 0)
            return true;
    }
    return false;
}

static bool is_one_of(lua_State *L, int index, const char *first, const char *second)
{
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    return text != NULL && (strcmp(text, first) == 0 || strcmp(text, second) == 0);
}

/* A rung of a ladder: { at_ms, action }. */
static bool is_rung(lua_State *L, int index)
{
    int top = lua_gettop(L);
    size_t length = 0;
    if (!lua_istable(L, index))
        return false;
    soc_option_field(L, index, "at_ms");
    lua_Number at_ms = lua_tonumber(L, -1);
    bool is_time = lua_type(L, -1) == LUA_TNUMBER && at_ms >= 0 && at_ms <= 1e14;
    soc_option_field(L, index, "action");
    const char *action = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
    bool is_action = action != NULL && soc_rung_parse(soc_slice(action, length)) != SOC_RUNG_END;
    lua_settop(L, top);
    return is_time && is_action;
}

bool soc_kind_is_answer(lua_State *L, int index, enum soc_policy_question question)
{
    lua_Number number = lua_tonumber(L, index);
    switch (questions[question].answer) {
    case SOC_ANSWER_BOOLEAN:
        return lua_isboolean(L, index);
    case SOC_ANSWER_VERDICT:
        return lua_isboolean(L, index) || lua_istable(L, index);
    case SOC_ANSWER_TEXT:
        return lua_type(L, index) == LUA_TSTRING;
    case SOC_ANSWER_NAME:
        return lua_isnil(L, index) || lua_type(L, index) == LUA_TSTRING;
    case SOC_ANSWER_DELAY:
        return lua_isnil(L, index) ||
               (lua_type(L, index) == LUA_TNUMBER && number >= 0 && number <= 1e14);
    case SOC_ANSWER_TABLE:
        return lua_istable(L, index);
    case SOC_ANSWER_RUNG:
        return lua_isnil(L, index) || is_rung(L, lua_absindex(L, index));
    case SOC_ANSWER_FATE:
        return is_one_of(L, index, "end", "adopt");
    }
    return false;
}

static void add_functions(int kind, struct soc_policy_shape *shape)
{
    size_t count = 0;
    for (int i = 0; i < SOC_QUESTION_COUNT; i++) {
        if ((int)questions[i].kind != kind)
            continue;
        assert(count + 1 < sizeof(shape->functions) / sizeof(shape->functions[0]));
        shape->functions[count].name = questions[i].function;
        shape->functions[count++].is_required = questions[i].is_required;
    }
}

bool soc_kind_shape(const char *kind, const char *name, const char *path,
                    struct soc_policy_shape *shape)
{
    static const char *const fields[] = {"types", "default", "name", NULL};
    int number = soc_kind_find(kind);
    bool is_messages = strcmp(kind, SOC_MESSAGES) == 0;
    *shape = (struct soc_policy_shape){.name = name, .path = path};
    if (is_messages) {
        shape->kind = SOC_MESSAGES;
        shape->fields = fields;
        shape->has_own_examples = true;
    } else if (number >= 0) {
        shape->kind = kinds[number].name;
        add_functions(number, shape);
    }
    return is_messages || number >= 0;
}

static const char *each_kind(const void *user, int number)
{
    (void)user;
    return soc_kind_name(number);
}

void soc_kind_put_unknown(struct soc_buf *out, const char *kind)
{
    soc_buf_printf(out, "there is no policy kind '%s'", kind);
    soc_nearest_put(out, kind, each_kind, NULL);
    soc_buf_put_text(out, " (kinds:");
    for (int i = 0; soc_kind_name(i) != NULL; i++)
        soc_buf_printf(out, "%s %s", i == 0 ? "" : ",", soc_kind_name(i));
    soc_buf_put_byte(out, ')');
}

void soc_kind_wrap(lua_State *L, const char *kind, int index, int settings_index)
{
    assert(lua_isfunction(L, index));
    const char *function = "function";
    for (int i = SOC_QUESTION_COUNT - 1; i >= 0; i--)
        if (strcmp(kinds[questions[i].kind].name, kind) == 0)
            function = questions[i].function; /* the kind's first question */
    lua_createtable(L, 0, 4);
    lua_pushstring(L, kind);
    lua_setfield(L, -2, "kind");
    lua_pushinteger(L, 1);
    lua_setfield(L, -2, "version");
    if (settings_index != 0) { /* a function cannot declare its settings */
        lua_pushvalue(L, settings_index);
        lua_setfield(L, -2, "defaults");
    }
    lua_pushvalue(L, index);
    lua_setfield(L, -2, function);
    lua_replace(L, index);
}
