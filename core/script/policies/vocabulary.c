#include "script/policies/vocabulary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/trace.h"
#include "lualib/lua_json.h"
#include "script/policies/policy_check.h"
#include "script/policies/policy_load.h"
#include "script/policies/policy_log.h"
#include "script/policies/policy_set.h"
#include "script/policies/policy_shelf.h"
#include "script/policies/rule.h"
#include "script/turns/frame.h"
#include "script/turns/payload.h"

#define SLOT  "society.vocabulary"
#define SHELF "society.vocabulary_shelf"
#define TRIAL "society.vocabulary_trial"

/* Registry key of { [table of a shipped policy] = its shelf }. */
static const char shelves_key = 0;

/* Holds one spare vocabulary: a userdata, which its state frees last. */
struct soc_vocabulary_shelf {
    struct soc_vocabulary *spare; /* owned; NULL: none */
    bool is_closed;               /* the state is closing: keep nothing more */
};

static void free_type(lua_State *L, struct soc_message_type *type)
{
    if (type == NULL)
        return;
    luaL_unref(L, LUA_REGISTRYINDEX, type->check_ref);
    soc_shape_free(type->shape);
    soc_shape_free(type->shape_in_task);
    free(type->name);
    free(type);
}

void soc_vocabulary_free(lua_State *L, struct soc_vocabulary *vocabulary)
{
    size_t cursor = 0;
    struct soc_message_type *type;
    if (vocabulary == NULL)
        return;
    while ((type = soc_map_each(&vocabulary->types, &cursor)) != NULL)
        free_type(L, type);
    soc_map_fini(&vocabulary->types);
    free_type(L, vocabulary->rest);
    soc_policy_fini(L, &vocabulary->policy);
    free(vocabulary);
}

static int free_slot(lua_State *L)
{
    struct soc_vocabulary **slot = lua_touserdata(L, 1);
    soc_vocabulary_free(L, *slot);
    *slot = NULL;
    return 0;
}

struct soc_vocabulary *soc_vocabulary_take(lua_State *L, int index)
{
    struct soc_vocabulary **slot = lua_touserdata(L, index);
    struct soc_vocabulary *vocabulary = *slot;
    *slot = NULL;
    return vocabulary;
}

static int close_shelf(lua_State *L)
{
    struct soc_vocabulary_shelf *shelf = lua_touserdata(L, 1);
    soc_vocabulary_free(L, shelf->spare);
    shelf->spare = NULL;
    shelf->is_closed = true;
    return 0;
}

void soc_vocabulary_give(lua_State *L, struct soc_vocabulary *vocabulary)
{
    struct soc_vocabulary_shelf *shelf = vocabulary->shelf;
    if (shelf == NULL || shelf->is_closed || shelf->spare != NULL) {
        soc_vocabulary_free(L, vocabulary);
        return;
    }
    shelf->spare = vocabulary;
}

/* Gives the value on top a metatable of that name with the finalizer `end`. */
static void set_end(lua_State *L, const char *name, lua_CFunction end)
{
    if (luaL_newmetatable(L, name)) {
        lua_pushcfunction(L, end);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
}

/* Lends the shelf of the policy's table at `index`. */
static struct soc_vocabulary_shelf *find_shelf(lua_State *L, int index)
{
    int top = lua_gettop(L);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &shelves_key) != LUA_TTABLE) {
        lua_newtable(L);
        lua_replace(L, top + 1);
        lua_pushvalue(L, top + 1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &shelves_key);
    }
    lua_pushvalue(L, index);
    if (lua_rawget(L, top + 1) != LUA_TUSERDATA) {
        struct soc_vocabulary_shelf *made = lua_newuserdatauv(L, sizeof(*made), 0);
        *made = (struct soc_vocabulary_shelf){0};
        set_end(L, SHELF, close_shelf);
        lua_pushvalue(L, index);
        lua_pushvalue(L, -2);
        lua_rawset(L, top + 1);
    }
    struct soc_vocabulary_shelf *shelf = lua_touserdata(L, -1); /* referenced by its table */
    lua_settop(L, top);
    return shelf;
}

/* Pushes an empty slot. */
static struct soc_vocabulary **push_empty_slot(lua_State *L)
{
    struct soc_vocabulary **slot = lua_newuserdatauv(L, sizeof(*slot), 0);
    *slot = NULL;
    set_end(L, SLOT, free_slot);
    return slot;
}

/* Pushes the spare of a shipped policy's table at `index`; NULL, with nothing pushed,
 * if there is none. */
static struct soc_vocabulary *push_spare(lua_State *L, int index)
{
    struct soc_vocabulary_shelf *shelf = find_shelf(L, index);
    if (shelf->spare == NULL)
        return NULL;
    struct soc_vocabulary **slot = push_empty_slot(L);
    *slot = shelf->spare;
    shelf->spare = NULL;
    (*slot)->policy.is_reported = false;
    (*slot)->policy.identity.is_option = false;
    (*slot)->policy.identity.refused[0] = '\0';
    return *slot;
}

/* Pushes a slot with an empty vocabulary: the collector frees it if what follows
 * raises. */
static struct soc_vocabulary *push_slot(lua_State *L, const struct soc_policy_source *source)
{
    struct soc_vocabulary **slot = push_empty_slot(L);
    *slot = soc_alloc_zero(sizeof(**slot));
    soc_policy_init(&(*slot)->policy);
    soc_policy_identify(&(*slot)->policy, source);
    return *slot;
}

/* Arguments and result of one check. */
struct question {
    const struct soc_message_type *type;
    struct soc_slice payload;
    const char *language; /* of the society; NULL: not set */
    struct soc_shape_report *report;
    enum { FITS, FITS_NOT, NONSENSE } answer;
};

/* Adds the texts of the list in field `field` of the table at index 2. */
static void add_texts(lua_State *L, const char *field, struct soc_shape_report *report)
{
    size_t length;
    if (soc_option_field(L, 2, field) == LUA_TTABLE) {
        int list = lua_gettop(L);
        bool is_missing = strcmp(field, "missing_fields") == 0;
        for (lua_Integer i = 1; lua_rawgeti(L, list, i) == LUA_TSTRING; i++) {
            const char *text = lua_tolstring(L, -1, &length);
            struct soc_slice slice = soc_slice(text, length);
            soc_shape_report_add(report, is_missing ? slice : (struct soc_slice){0},
                                 is_missing ? (struct soc_slice){0} : slice);
            lua_settop(L, list);
        }
    }
    lua_settop(L, 2);
}

/* check(payload, settings, language), called protected with a struct question: a policy that
 * raises, or a payload that exhausts the memory, must not do harm. */
static int ask(lua_State *L)
{
    struct question *question = lua_touserdata(L, 1);
    struct soc_detail detail;
    size_t length;
    lua_rawgeti(L, LUA_REGISTRYINDEX, question->type->check_ref);
    if (soc_lua_json_decode(L, question->payload, &detail) < 0)
        return luaL_error(L, "%s", detail.text);
    lua_rawgeti(L, LUA_REGISTRYINDEX, question->type->vocabulary->policy.settings_ref);
    lua_pushstring(L, question->language);
    lua_call(L, 3, 2);
    lua_remove(L, 1); /* the verdict at 1, its reasons at 2 */
    if (lua_type(L, 1) != LUA_TBOOLEAN)
        return luaL_error(L, "check answered %s", luaL_typename(L, 1));
    question->answer = lua_toboolean(L, 1) ? FITS : FITS_NOT;
    if (question->answer == FITS)
        return 0;
    if (lua_type(L, 2) == LUA_TTABLE) {
        add_texts(L, "missing_fields", question->report);
        add_texts(L, "details", question->report);
    } else if (lua_type(L, 2) == LUA_TSTRING) {
        const char *text = lua_tolstring(L, 2, &length);
        soc_shape_report_add(question->report, (struct soc_slice){0}, soc_slice(text, length));
    }
    return 0;
}

static void complain(struct soc_script *script, const struct soc_message_type *type,
                     const char *text)
{
    struct soc_policy *policy = &type->vocabulary->policy;
    struct soc_buf detail = {0};
    if (text == NULL)
        text = "the error raised is not a string";
    soc_policy_log_fail(script, text);
    if (policy->is_reported)
        return;
    policy->is_reported = true;
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "hash", soc_slice_text(policy->identity.hash));
    soc_json_put_text_member(&detail, "kind", SOC_SLICE(SOC_MESSAGES));
    soc_json_put_text_member(&detail, "name", soc_slice_text(policy->identity.name));
    soc_json_put_text_member(&detail, "question", soc_slice_text(type->name));
    soc_json_put_text_member(&detail, "reason", soc_slice_text(text));
    soc_buf_put_byte(&detail, '}');
    soc_log_say_printf(soc_host_log(script->host), SOC_LOG_ERROR,
                       soc_clock_now(soc_host_clock(script->host)), "policy_failed",
                       SOC_SLICE("system"), soc_buf_slice(&detail),
                       "messages/%s: %s: %s; only its fields are checked", policy->identity.name,
                       type->name, text);
    soc_trace_keep(script->host, "policy_failed", soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

static bool ask_check(lua_State *L, struct soc_script *script, const struct soc_message_type *type,
                      struct soc_slice payload, struct soc_shape_report *report)
{
    struct question question = {type, payload, script->language, report, NONSENSE};
    int top = lua_gettop(L);
    soc_policy_set_charge(L, script);
    if (!lua_checkstack(L, 4))
        return true;
    lua_pushcfunction(L, ask);
    lua_pushlightuserdata(L, &question);
    soc_frame_enter(script);
    int status = soc_policy_call(L, 1, 0);
    soc_frame_leave(script);
    if (status != LUA_OK) {
        complain(script, type, lua_tostring(L, -1));
        lua_settop(L, top);
        soc_shape_report_clear(report);
        return true;
    }
    return question.answer == FITS;
}

static bool tell(struct soc_shape_report *report, const char *type, const char *what)
{
    struct soc_buf text = {0};
    soc_buf_printf(&text, "%s %s", type, what);
    soc_shape_report_add(report, (struct soc_slice){0}, soc_buf_slice(&text));
    soc_buf_fini(&text);
    return false;
}

bool soc_vocabulary_fits(lua_State *L, struct soc_script *script,
                         const struct soc_message_type *type, const struct soc_candidate *candidate,
                         struct soc_shape_report *report)
{
    const struct soc_shape *shape = type->shape;
    if (candidate->task_id.data != NULL && type->shape_in_task != NULL)
        shape = type->shape_in_task;
    if (type->is_hosts && candidate->from != NULL)
        return tell(report, type->name, "can only be sent by the host");
    if (shape != NULL && !soc_shape_fits(shape, candidate->payload, NULL))
        return soc_shape_fits(shape, candidate->payload, report);
    if (type->check_ref == LUA_NOREF || ask_check(L, script, type, candidate->payload, report))
        return true;
    if (report->details.length == 0)
        tell(report, type->name, "does not accept this payload");
    return false;
}

static void read_flag(lua_State *L, int index, const char *path, const char *name, bool *out)
{
    int type = soc_option_field(L, index, name);
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        luaL_error(L, "%s: %s must be true or false", path, name);
    *out = lua_toboolean(L, -1);
    lua_pop(L, 1);
}

/* Reads the payload's shape; `optional` is a field that is not required. */
static void read_shape(lua_State *L, int index, const char *path, const char *optional,
                       struct soc_shape **out)
{
    *out = soc_rule_new_shape();
    soc_shape_set_kinds(*out, SOC_SHAPE_BIT(SOC_SHAPE_OBJECT));
    soc_rule_read_fields(L, index, path, 0, optional, *out);
}

/* Fills a type from the table at `index`. */
static void read_type(lua_State *L, int index, const char *path, struct soc_message_type *type)
{
    static const char *const known[] = {"fields",    "required", "requires_ack",
                                        "host_only", "check",    NULL};
    int top = lua_gettop(L);
    if (lua_type(L, index) != LUA_TTABLE)
        luaL_error(L, "%s: a table expected, got %s", path, luaL_typename(L, index));
    soc_rule_check_names(L, index, path, known);
    read_flag(L, index, path, "requires_ack", &type->wants_ack);
    read_flag(L, index, path, "host_only", &type->is_hosts);
    if (soc_option_field(L, index, "fields") != LUA_TNIL ||
        soc_option_field(L, index, "required") != LUA_TNIL) {
        read_shape(L, index, path, NULL, &type->shape);
        if (soc_shape_needs(type->shape, SOC_SLICE("task_id")))
            read_shape(L, index, path, "task_id", &type->shape_in_task);
    }
    lua_settop(L, top);
    int kind = soc_option_field(L, index, "check");
    if (kind != LUA_TNIL && kind != LUA_TFUNCTION)
        luaL_error(L, "%s: check must be a function", path);
    if (kind == LUA_TFUNCTION)
        type->check_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_settop(L, top);
}

static struct soc_message_type *new_type(struct soc_vocabulary *vocabulary, const char *name)
{
    struct soc_message_type *type = soc_alloc_zero(sizeof(*type));
    type->vocabulary = vocabulary;
    type->name = soc_copy_text(name, strlen(name));
    type->check_ref = LUA_NOREF;
    return type;
}

static void read_types(lua_State *L, int index, struct soc_vocabulary *vocabulary)
{
    assert(lua_istable(L, index));
    if (soc_option_field(L, index, "types") != LUA_TTABLE)
        luaL_error(L, "policy %s: types must be a table", vocabulary->policy.identity.name);
    int types = lua_gettop(L);
    const char *name = NULL;
    while ((name = soc_rule_next_name(L, types, vocabulary->policy.identity.name, name)) != NULL) {
        const char *path =
            lua_pushfstring(L, "policy %s: %s", vocabulary->policy.identity.name, name);
        struct soc_message_type *type = new_type(vocabulary, name);
        soc_map_put(&vocabulary->types, soc_slice_text(type->name), type);
        if (vocabulary->types.count > SOC_TYPES_MAX)
            luaL_error(L, "%s: more than %d types", path, SOC_TYPES_MAX);
        if (!soc_id_is_valid(soc_slice_text(name)))
            luaL_error(L, "%s: a type has 1 to 64 characters of A-Z a-z 0-9 _ . -", path);
        soc_option_field(L, types, name);
        read_type(L, lua_gettop(L), path, type);
        lua_settop(L, types);
    }
    if (soc_option_field(L, index, "default") != LUA_TNIL) {
        const char *path =
            lua_pushfstring(L, "policy %s: default", vocabulary->policy.identity.name);
        vocabulary->rest = new_type(vocabulary, "default");
        read_type(L, types + 1, path, vocabulary->rest);
    }
    lua_settop(L, types - 1);
}

/* settings.requires_ack = { TYPE = boolean }; the table is on top. */
static void apply_acks(lua_State *L, struct soc_vocabulary *vocabulary)
{
    int acks = lua_gettop(L);
    size_t cursor = 0;
    struct soc_message_type *type;
    const char *path =
        lua_pushfstring(L, "policy %s: requires_ack", vocabulary->policy.identity.name);
    while ((type = soc_map_each(&vocabulary->types, &cursor)) != NULL)
        type->requires_ack = type->wants_ack;
    if (vocabulary->rest != NULL)
        vocabulary->rest->requires_ack = vocabulary->rest->wants_ack;
    const char *name = NULL;
    while ((name = soc_rule_next_name(L, acks, path, name)) != NULL) {
        type = soc_map_find(&vocabulary->types, soc_slice_text(name));
        if (type == NULL)
            luaL_error(L, "%s: it has no type '%s'", path, name);
        read_flag(L, acks, path, name, &type->requires_ack);
    }
}

/* Pushes { defaults = … }: the vocabulary's own, and those that all have. */
static void push_defaults(lua_State *L, int index)
{
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 4);
    lua_pushliteral(L, "reject");
    lua_setfield(L, -2, "mode");
    lua_newtable(L);
    lua_setfield(L, -2, "requires_ack");
    int defaults = lua_gettop(L);
    if (soc_option_field(L, index, "defaults") == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, defaults + 1) != 0) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, defaults);
        }
    }
    lua_settop(L, defaults);
    lua_setfield(L, -2, "defaults");
}

static void apply_settings(lua_State *L, int index, int settings_index,
                           struct soc_vocabulary *vocabulary)
{
    struct soc_detail detail;
    int top = lua_gettop(L);
    push_defaults(L, index);
    if (soc_policy_push_settings(L, top + 1, settings_index, &detail) < 0)
        luaL_error(L, "policy %s: %s", vocabulary->policy.identity.name, detail.text);
    int settings = lua_gettop(L);
    const char *mode =
        soc_option_field(L, settings, "mode") == LUA_TSTRING ? lua_tostring(L, -1) : "";
    vocabulary->is_lax = strcmp(mode, "warn") == 0;
    if (!vocabulary->is_lax && strcmp(mode, "reject") != 0)
        luaL_error(L, "policy %s: mode must be \"reject\" or \"warn\"",
                   vocabulary->policy.identity.name);
    if (soc_option_field(L, settings, "requires_ack") != LUA_TTABLE)
        luaL_error(L, "policy %s: requires_ack must be a table", vocabulary->policy.identity.name);
    apply_acks(L, vocabulary);
    lua_pushvalue(L, settings);
    soc_policy_keep_ref(L, &vocabulary->policy.settings_ref);
    lua_settop(L, top);
}

/* Raises unless the outcome of example `number` matches its `expect`, which is on top:
 * true (or nil), false, or the missing fields. */
static void compare(lua_State *L, lua_Integer number, const char *type, bool fits,
                    struct soc_shape_report *report)
{
    struct soc_buf expected = {0};
    struct soc_detail detail;
    const char *told = soc_buf_text(&report->details);
    if (lua_type(L, -1) != LUA_TTABLE) {
        if (fits != (lua_isnil(L, -1) || lua_toboolean(L, -1)))
            luaL_error(L, "example %d: a %s was %s%s", (int)number, type,
                       fits ? "taken" : "refused: ", told);
        return;
    }
    bool is_same =
        soc_lua_json_encode(L, -1, "expect", SOC_BRIEF_BYTES_MAX, &expected, &detail) == SOC_OK &&
        !fits && expected.length == report->missing.length + 2 &&
        memcmp(expected.data + 1, soc_buf_text(&report->missing), report->missing.length) == 0;
    soc_buf_fini(&expected);
    if (!is_same)
        luaL_error(L, "example %d: a %s lacks [%s]", (int)number, type,
                   soc_buf_text(&report->missing));
}

/* Buffers for examples: a userdata, because an example that fails raises. */
struct trial {
    struct soc_buf payload;
    struct soc_buf error;
    struct soc_shape_report report;
};

static int free_trial(lua_State *L)
{
    struct trial *trial = lua_touserdata(L, 1);
    soc_buf_fini(&trial->payload);
    soc_buf_fini(&trial->error);
    soc_shape_report_fini(&trial->report);
    return 0;
}

static struct trial *push_trial(lua_State *L)
{
    struct trial *trial = lua_newuserdatauv(L, sizeof(*trial), 0);
    *trial = (struct trial){0};
    set_end(L, TRIAL, free_trial);
    return trial;
}

/* Runs the example at the top, { type, payload, task_id?, expect? }. */
static void run_example(lua_State *L, struct soc_script *script, struct soc_vocabulary *vocabulary,
                        lua_Integer number, struct trial *trial)
{
    int example = lua_gettop(L);
    struct soc_candidate candidate = {0};
    candidate.type = soc_slice_text(
        soc_option_field(L, example, "type") == LUA_TSTRING ? lua_tostring(L, -1) : "");
    candidate.task_id = soc_slice_text(
        soc_option_field(L, example, "task_id") == LUA_TSTRING ? lua_tostring(L, -1) : NULL);
    const struct soc_message_type *type = soc_map_find(&vocabulary->types, candidate.type);
    type = type == NULL ? vocabulary->rest : type;
    if (type == NULL)
        luaL_error(L, "example %d: there is no type '%s'", (int)number, candidate.type.data);
    soc_option_field(L, example, "payload");
    if (soc_payload_encode(L, script, lua_gettop(L), &trial->payload, NULL, &trial->error) < 0)
        luaL_error(L, "example %d: %s", (int)number, soc_buf_text(&trial->error));
    candidate.payload = soc_buf_slice(&trial->payload);
    soc_shape_report_clear(&trial->report);
    bool fits = soc_vocabulary_fits(L, script, type, &candidate, &trial->report);
    if (vocabulary->policy.is_reported)
        luaL_error(L, "example %d: the check of %s fails; the log says why", (int)number,
                   type->name);
    soc_option_field(L, example, "expect");
    compare(L, number, candidate.type.data, fits, &trial->report);
    lua_settop(L, example);
}

struct soc_vocabulary *soc_vocabulary_push(lua_State *L, struct soc_script *script, int index,
                                           const struct soc_policy_source *source,
                                           int settings_index)
{
    static const char *const known[] = {"kind",     "version", "name",  "defaults", "types",
                                        "examples", "default", "texts", NULL};
    struct soc_policy_shape shape;
    struct soc_detail detail;
    soc_kind_shape(SOC_MESSAGES, source->name, source->path, &shape);
    bool is_shelved = soc_policy_is_shelved(L, index);
    bool is_usual = is_shelved && source->path != NULL && lua_isnil(L, settings_index);
    struct soc_vocabulary *spare = is_usual ? push_spare(L, index) : NULL;
    if (spare != NULL)
        return spare;
    if (!is_shelved && soc_policy_check(L, index, &shape, &detail) < 0)
        luaL_error(L, "%s", detail.text);
    struct soc_vocabulary *vocabulary = push_slot(L, source);
    int slot = lua_gettop(L);
    lua_pushvalue(L, index);
    vocabulary->policy.table_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    read_types(L, index, vocabulary);
    soc_rule_check_names(L, index,
                         lua_pushfstring(L, "policy %s", vocabulary->policy.identity.name), known);
    apply_settings(L, index, 0, vocabulary); /* examples use the defaults */
    if (!is_shelved && soc_option_field(L, index, "examples") == LUA_TTABLE) {
        int list = lua_gettop(L);
        lua_Integer count = (lua_Integer)lua_rawlen(L, list);
        struct trial *trial = push_trial(L);
        for (lua_Integer i = 1; i <= count; i++) {
            if (lua_rawgeti(L, list, i) != LUA_TTABLE)
                luaL_error(L, "example %d: it must be a table", (int)i);
            run_example(L, script, vocabulary, i, trial);
            lua_settop(L, list + 1);
        }
    }
    if (source->path != NULL)
        soc_policy_shelf_put(L, script, source->path, source->hash, index);
    if (is_usual)
        vocabulary->shelf = find_shelf(L, index);
    if (!lua_isnil(L, settings_index)) {
        apply_settings(L, index, settings_index, vocabulary);
        soc_policy_keep_given(L, &vocabulary->policy, settings_index);
    }
    lua_settop(L, slot);
    return vocabulary;
}
