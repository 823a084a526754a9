#include "script/history/history.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/version.h"
#include "lualib/lua_json.h"
#include "lualib/lua_source.h"
#include "lualib/sources.h"
#include "parts/history/history.h"
#include "parts/policies/policies.h"
#include "script/policies/messages.h"
#include "script/policies/policy.h"
#include "script/policies/policy_texts.h"
#include "script/policies/swap.h"

void soc_script_keep_history(struct soc_script *script, uint32_t days)
{
    bool was_kept = script->keeps_history;
    script->keeps_history = days > 0;
    soc_history_keep(script->host, days);
    if (days > 0 && !was_kept && script->is_started)
        soc_history_start(script->L, script);
}

/* A society's files, as they are told apart from those of others in the same Lua
 * state, and the list of them that is being written. */
struct files {
    struct soc_script *script;
    struct soc_buf *out; /* NULL: each gets a row of its own */
    const char *wanted;
    bool is_wanted;
};

static bool lies_in(const char *path, const char *directory)
{
    size_t length = directory == NULL ? 0 : strlen(directory);
    if (length == 1 && directory[0] == '.' && path[0] != '/' && strncmp(path, "../", 3) != 0)
        return true; /* the app's own directory, given without a name */
    return length > 0 && strncmp(path, directory, length) == 0 && path[length] == '/';
}

static void compare_path(void *user, const char *path)
{
    struct files *files = user;
    files->is_wanted |= strcmp(path, files->wanted) == 0;
}

static bool is_own(struct files *files, const char *path)
{
    const struct soc_script *script = files->script;
    if (lies_in(path, script->home) || lies_in(path, script->app_dir))
        return true;
    if (script->kept.app_file != NULL && strcmp(path, script->kept.app_file) == 0)
        return true;
    files->wanted = path;
    files->is_wanted = false;
    soc_swap_each_file(files->script, compare_path, files);
    return files->is_wanted;
}

static void put_file(void *user, const char *path)
{
    struct files *files = user;
    struct soc_buf text = {0};
    struct soc_buf row = {0};
    char hash[17];
    if (is_own(files, path) && soc_lua_source_read(path, &text)) {
        struct soc_buf *out = files->out == NULL ? &row : files->out;
        soc_history_put_source(files->script->host, soc_slice(soc_buf_text(&text), text.length),
                               hash);
        if (out->length > 0 && out->data[out->length - 1] == '}')
            soc_buf_put_byte(out, ',');
        soc_buf_put_byte(out, '{');
        soc_json_put_text_member(out, "hash", soc_slice(hash, 16));
        soc_json_put_text_member(out, "path", soc_slice_text(path));
        soc_buf_put_byte(out, '}');
        if (files->out == NULL)
            soc_history_put(files->script->host, "file", soc_buf_slice(out));
    }
    soc_buf_fini(&text);
    soc_buf_fini(&row);
}

static void put_number(struct soc_buf *out, const char *name, int64_t number)
{
    soc_json_put_name(out, name);
    soc_json_put_integer(out, number);
}

void soc_history_start(lua_State *L, struct soc_script *script)
{
    struct soc_buf row = {0};
    struct files files = {.script = script, .out = &row};
    soc_buf_put_byte(&row, '{');
    soc_json_put_text_member(&row, "app", soc_slice_text(script->kept.app_file));
    soc_json_put_text_member(&row, "app_dir", soc_slice_text(script->app_dir));
    soc_json_put_name(&row, "arguments");
    soc_buf_put_slice(&row, script->kept.app_arguments.length == 0
                                ? SOC_SLICE("[]")
                                : soc_buf_slice(&script->kept.app_arguments));
    put_number(&row, "effects_max", soc_gate_effects_max(script->host));
    soc_json_put_name(&row, "files");
    soc_buf_put_byte(&row, '[');
    script->kept.sources = soc_sources_each(L, 0, put_file, &files);
    soc_buf_put_byte(&row, ']');
    soc_json_put_text_member(&row, "home", soc_slice_text(script->home));
    soc_json_put_name(&row, "policies");
    soc_buf_put_slice(&row, soc_policies_recorded(script->host));
    put_number(&row, "steps_max", script->steps_max);
    soc_json_put_text_member(&row, "version", SOC_SLICE(SOC_VERSION));
    soc_buf_put_byte(&row, '}');
    soc_history_put(script->host, "start", soc_buf_slice(&row));
    soc_buf_fini(&row);
}

void soc_history_more_files(lua_State *L, struct soc_script *script)
{
    struct files files = {.script = script};
    script->kept.sources = soc_sources_each(L, script->kept.sources, put_file, &files);
}

/* The last argument of each kind of effect, counted with the handle that methods get
 * first: what stands behind it on the stack is the binding's own. */
static int last_argument(lua_State *L, enum soc_effect_kind kind)
{
    int top = lua_gettop(L);
    int last = 4;
    switch (kind) {
    case SOC_EFFECT_PRINT:
        return top - 1; /* the line made of them */
    case SOC_EFFECT_NOW:
    case SOC_EFFECT_CONTACTS:
        last = 1;
        break;
    case SOC_EFFECT_SEND:
    case SOC_EFFECT_REQUEST:
    case SOC_EFFECT_RECEIVE:
    case SOC_EFFECT_SLEEP:
    case SOC_EFFECT_CREATE_ROLE:
    case SOC_EFFECT_CONTACT:
    case SOC_EFFECT_KNOWS:
    case SOC_EFFECT_CAN_SEND:
    case SOC_EFFECT_ADD_CONTACT:
    case SOC_EFFECT_REMOVE_CONTACT:
    case SOC_EFFECT_LOAD:
    case SOC_EFFECT_ESCALATE:
    case SOC_EFFECT_REQUEST_INTRODUCTION:
    case SOC_EFFECT_BROADCAST:
    case SOC_EFFECT_CHECKPOINT:
        last = 2;
        break;
    case SOC_EFFECT_LOG:
    case SOC_EFFECT_RANDOM:
    case SOC_EFFECT_LOOK:
        last = 3;
        break;
    default:
        break;
    }
    return last < top ? last : top;
}

/* Appends the value at `index`, null if it is no JSON: then people see nothing, while
 * what is compared is the hash. */
static void put_value(lua_State *L, int index, struct soc_buf *out)
{
    struct soc_detail detail;
    size_t length = out->length;
    if (lua_isnil(L, index) ||
        soc_lua_json_encode(L, index, "value", SOC_JSON_BYTES_MAX, out, &detail) < 0) {
        out->length = length;
        soc_buf_put_text(out, "null");
    }
}

/* Tells whether the first argument of that effect is a message, which its id names
 * well enough. */
static bool is_about_message(enum soc_effect_kind kind)
{
    return kind == SOC_EFFECT_REPLY || kind == SOC_EFFECT_INTRODUCE || kind == SOC_EFFECT_DECLINE ||
           kind == SOC_EFFECT_COMPLETE || kind == SOC_EFFECT_FAIL;
}

/* Appends the id of the message at `index`, or the value if it is none. */
static void put_message(lua_State *L, int index, struct soc_buf *out)
{
    size_t start = out->length;
    put_value(L, index, out);
    struct soc_slice id = soc_json_member(soc_slice(out->data + start, out->length - start), "id");
    if (id.data == NULL)
        return;
    memmove(out->data + start, id.data, id.length);
    out->length = start + id.length;
}

void soc_history_arguments_of(lua_State *L, struct soc_script *script, enum soc_effect_kind kind)
{
    struct soc_buf *out = &script->kept.arguments;
    int last = last_argument(L, kind);
    int first = lua_type(L, 1) == LUA_TUSERDATA ? 2 : 1;
    while (last >= first && lua_isnil(L, last))
        last--;
    out->length = 0;
    soc_buf_put_byte(out, '[');
    for (int i = first; i <= last; i++) {
        if (i > first)
            soc_buf_put_byte(out, ',');
        if (i == 2 && is_about_message(kind))
            put_message(L, i, out);
        else
            put_value(L, i, out);
    }
    soc_buf_put_byte(out, ']');
    soc_history_set_arguments(script->host, soc_buf_slice(out));
}

void soc_history_ask(lua_State *L, struct soc_script *script, int count)
{
    struct soc_buf *out = &script->kept.arguments;
    int first = lua_gettop(L) - count + 1;
    script->kept.failure.length = 0;
    out->length = 0;
    soc_buf_put_text(out, "[");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        put_value(L, first + i, out);
    }
    soc_buf_put_byte(out, ']');
}

void soc_history_note_failure(struct soc_script *script, const char *text)
{
    if (!script->keeps_history)
        return;
    script->kept.failure.length = 0;
    soc_buf_put_text(&script->kept.failure, text);
}

/* Puts a row with the arguments that were noted. */
static void put_question(struct soc_script *script, const char *kind, const char *question,
                         const char *policy, struct soc_slice answer)
{
    struct soc_buf row = {0};
    soc_buf_put_byte(&row, '{');
    soc_json_put_name(&row, "answer");
    soc_buf_put_slice(&row, answer);
    soc_json_put_name(&row, "arguments");
    soc_buf_put_slice(&row, soc_buf_slice(&script->kept.arguments));
    soc_history_put_place(script->host, &row);
    if (script->kept.failure.length > 0)
        soc_json_put_text_member(&row, "failed", soc_buf_slice(&script->kept.failure));
    soc_json_put_text_member(&row, "kind", soc_slice_text(kind));
    soc_json_put_text_member(&row, "policy", soc_slice_text(policy));
    soc_json_put_text_member(&row, "question", soc_slice_text(question));
    soc_buf_put_byte(&row, '}');
    soc_history_put(script->host, "question", soc_buf_slice(&row));
    soc_buf_fini(&row);
}

void soc_history_put_answer(lua_State *L, struct soc_buf *out)
{
    soc_buf_put_byte(out, '[');
    put_value(L, lua_gettop(L) - 1, out);
    soc_buf_put_byte(out, ',');
    put_value(L, lua_gettop(L), out);
    soc_buf_put_byte(out, ']');
}

void soc_history_answered(lua_State *L, struct soc_script *script, const char *kind,
                          const char *question, const struct soc_policy *policy, bool has_answer)
{
    struct soc_buf answer = {0};
    if (has_answer)
        soc_history_put_answer(L, &answer);
    else
        soc_buf_put_text(&answer, "null");
    put_question(script, kind, question, policy->identity.name, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

void soc_history_put_verdict(bool requires_ack, int rc, struct soc_slice error, struct soc_buf *out)
{
    soc_buf_put_text(out, rc == SOC_OK ? "[\"fits\"" : rc > 0 ? "[\"warned\"" : "[\"refused\"");
    soc_buf_put_text(out, requires_ack ? ",true," : ",false,");
    soc_buf_put_slice(out, rc == SOC_OK || error.length == 0 ? SOC_SLICE("null") : error);
    soc_buf_put_byte(out, ']');
}

void soc_history_checked(struct soc_script *script, const struct soc_candidate *candidate,
                         bool requires_ack, int rc, struct soc_slice error)
{
    struct soc_buf *out = &script->kept.arguments;
    struct soc_buf answer = {0};
    out->length = 0;
    soc_buf_put_text(out, "[{");
    if (candidate->from != NULL)
        soc_json_put_text_member(out, "from", soc_agent_id(candidate->from));
    soc_json_put_name(out, "payload");
    soc_buf_put_slice(out, candidate->payload);
    soc_json_put_text_member(out, "task_id", candidate->task_id);
    soc_json_put_text_member(out, "type", candidate->type);
    soc_buf_put_text(out, "}]");
    soc_history_put_verdict(requires_ack, rc, error, &answer);
    put_question(script, SOC_MESSAGES, "check", SOC_MESSAGES, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}
