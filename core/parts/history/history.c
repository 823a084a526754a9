#include "parts/history/history.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "kernel/mail/envelope.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "parts/history/history_state.h"

#define DAY_MS 86400000ll

/* How often old rows are deleted. */
#define FORGET_EVERY_MS (10 * 60000)

/* The name under which the hash of the scripts is stored. */
#define SCRIPT_RECORD "script"

struct soc_history {
    uint32_t days;
    int64_t forget_ms;        /* next deletion of old rows */
    struct soc_buf arguments; /* of the next effect */
    struct soc_buf state;     /* as it was before the running activation */
    struct soc_buf result;    /* the running activation's answer */
    bool has_state;
    bool has_result; /* set even if it cannot be sent and the turn raises */
};

void soc_history_keep(struct soc_host *host, uint32_t days)
{
    if (days == 0) {
        soc_history_free(host);
        return;
    }
    if (soc_history_state(host)->kept == NULL)
        soc_history_state(host)->kept = soc_alloc_zero(sizeof(*soc_history_state(host)->kept));
    soc_history_state(host)->kept->days = days;
    host->parts.watches_effects = true;
}

void soc_history_free(struct soc_host *host)
{
    if (soc_history_state(host)->kept == NULL)
        return;
    soc_buf_fini(&soc_history_state(host)->kept->arguments);
    soc_buf_fini(&soc_history_state(host)->kept->state);
    soc_buf_fini(&soc_history_state(host)->kept->result);
    free(soc_history_state(host)->kept);
    soc_history_state(host)->kept = NULL;
    host->parts.watches_effects = soc_history_state(host)->replay != NULL;
}

static void put_record(struct soc_host *host, const struct soc_record *record)
{
    soc_batch_keep(host, record);
}

/* Deletes old rows from time to time. */
static void forget_old(struct soc_host *host)
{
    struct soc_history *history = soc_history_state(host)->kept;
    assert(history != NULL && history->days > 0);
    int64_t now_ms = soc_host_now(host);
    int64_t oldest_ms = now_ms - history->days * DAY_MS;
    if (now_ms < history->forget_ms || oldest_ms <= 0)
        return;
    history->forget_ms = now_ms + FORGET_EVERY_MS;
    struct soc_record record = {
        .type = SOC_RECORD_HISTORY_END,
        .history_end = {.time_ms = (uint64_t)oldest_ms},
    };
    put_record(host, &record);
}

static void put_row(struct soc_host *host, const char *what, const struct soc_activation *of,
                    struct soc_slice detail)
{
    struct soc_record record = {.type = SOC_RECORD_HISTORY};
    record.history = (struct soc_record_history){
        .time_ms = (uint64_t)soc_host_now(host),
        .key = of == NULL || of->message == NULL ? 0 : of->message->key,
        .checksum = soc_hash(detail.data, detail.length, 0) & INT64_MAX,
        .what = soc_slice_text(what),
        .agent = of == NULL ? (struct soc_slice){0} : soc_agent_id(of->agent),
        .detail = detail,
    };
    put_record(host, &record);
    forget_old(host);
}

void soc_history_put(struct soc_host *host, const char *what, struct soc_slice detail)
{
    if (soc_history_state(host)->kept != NULL)
        put_row(host, what, host->turn.is_open ? host->turn.activation : NULL, detail);
}

void soc_history_put_source(struct soc_host *host, struct soc_slice text, char hash[17])
{
    snprintf(hash, 17, "%016" PRIx64, soc_hash(text.data, text.length, 0));
    struct soc_record record = {
        .type = SOC_RECORD_SOURCE,
        .source = {.hash = soc_slice(hash, 16), .text = text},
    };
    put_record(host, &record);
}

void soc_history_set_arguments(struct soc_host *host, struct soc_slice arguments)
{
    if (soc_history_state(host)->kept == NULL)
        return;
    soc_history_state(host)->kept->arguments.length = 0;
    soc_buf_put_slice(&soc_history_state(host)->kept->arguments, arguments);
}

struct soc_slice soc_history_arguments(struct soc_host *host)
{
    if (soc_history_state(host)->kept == NULL ||
        soc_history_state(host)->kept->arguments.length == 0)
        return (struct soc_slice){0};
    return soc_buf_slice(&soc_history_state(host)->kept->arguments);
}

void soc_history_keep_state(struct soc_host *host, struct soc_slice state)
{
    if (soc_history_state(host)->kept == NULL)
        return;
    soc_history_state(host)->kept->has_state = true;
    soc_history_state(host)->kept->state.length = 0;
    soc_buf_put_slice(&soc_history_state(host)->kept->state, state);
}

void soc_history_keep_result(struct soc_host *host, struct soc_slice result)
{
    struct soc_history *history = soc_history_state(host)->kept;
    if (history == NULL)
        return;
    history->has_result = true;
    history->result.length = 0;
    soc_buf_put_slice(&history->result, result);
}

static void put_json_member(struct soc_buf *out, const char *name, struct soc_slice json)
{
    if (json.data == NULL || json.length == 0)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_slice(out, json);
}

static void put_effect(const struct soc_activation *activation, uint32_t index, struct soc_buf *out)
{
    assert(index < activation->effects_count);
    const struct soc_effect *effect = &activation->effects[index];
    soc_buf_put_byte(out, '{');
    if (effect->answer_length > 0) {
        put_json_member(out, "answer", soc_activation_answer_of(activation, index));
    } else if (effect->sent_key != 0) {
        soc_json_put_name(out, "answer");
        soc_envelope_put_receipt(out, effect->sent_key, effect->sent_ms);
    }
    put_json_member(out, "arguments", soc_activation_noted(activation, index));
    soc_json_put_name(out, "hash");
    soc_json_put_integer(out, (int64_t)effect->hash);
    soc_json_put_text_member(out, "kind", soc_slice_text(soc_effect_name(effect->kind)));
    soc_buf_put_byte(out, '}');
}

static void put_effects(const struct soc_activation *activation, struct soc_buf *out)
{
    soc_json_put_name(out, "effects");
    soc_buf_put_byte(out, '[');
    for (uint32_t i = 0; i < activation->effects_count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        put_effect(activation, i, out);
    }
    soc_buf_put_byte(out, ']');
}

static void put_isolated(struct soc_buf *out)
{
    soc_json_put_name(out, "isolated");
    soc_buf_put_text(out, "true");
}

static void put_role(struct soc_host *host, const struct soc_role *role, struct soc_buf *out)
{
    soc_json_put_name(out, "role");
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "behaviour", soc_slice_text(role->behaviour));
    soc_json_put_text_member(out, "id", soc_slice_text(role->id));
    if (soc_registry_is_isolated(host, role))
        put_isolated(out);
    soc_json_put_text_member(out, "name", soc_slice_text(role->name));
    soc_buf_put_byte(out, '}');
}

/* Appends the state before the run and, if the run changed it, the state after. */
static void put_states(struct soc_host *host, const struct soc_agent *agent, bool is_over,
                       struct soc_buf *out)
{
    struct soc_slice now = soc_slice(agent->state, agent->state_length);
    const struct soc_history *history = soc_history_state(host)->kept;
    if (is_over && history != NULL && history->has_state) {
        put_json_member(out, "state", soc_buf_slice(&history->state));
        put_json_member(out, "state_after", now);
    } else {
        put_json_member(out, "state", now);
    }
}

static void put_brief(struct soc_host *host, struct soc_agent *agent, struct soc_buf *out)
{
    char hash[17];
    struct soc_slice brief = soc_slice(agent->brief, agent->brief_length);
    if (agent->brief == NULL)
        return;
    if (agent->is_brief_kept || soc_history_state(host)->kept == NULL)
        snprintf(hash, sizeof(hash), "%016" PRIx64, soc_hash(brief.data, brief.length, 0));
    else
        soc_history_put_source(host, brief, hash);
    agent->is_brief_kept = true;
    soc_json_put_text_member(out, "brief", soc_slice(hash, 16));
}

static void describe(struct soc_host *host, const struct soc_activation *activation,
                     const char *end, struct soc_slice error, struct soc_buf *out)
{
    struct soc_agent *agent = activation->agent;
    bool is_over = end[0] == 'd';
    soc_buf_put_byte(out, '{');
    put_brief(host, agent, out);
    put_effects(activation, out);
    soc_json_put_text_member(out, "end", soc_slice_text(end));
    put_json_member(out, "error", error);
    if (soc_registry_isolates(host, agent))
        put_isolated(out);
    if (activation->message != NULL) {
        soc_json_put_name(out, "message");
        soc_envelope_put_script_json(out, activation->message);
    }
    if (agent->parent != NULL)
        soc_json_put_text_member(out, "parent", soc_agent_id(agent->parent));
    if (end[0] != 'w' && soc_history_state(host)->kept != NULL &&
        soc_history_state(host)->kept->has_result)
        put_json_member(out, "result", soc_buf_slice(&soc_history_state(host)->kept->result));
    put_role(host, agent->role, out);
    put_states(host, agent, is_over, out);
    soc_buf_put_byte(out, '}');
}

void soc_history_describe(struct soc_host *host, const struct soc_activation *activation,
                          struct soc_buf *out)
{
    describe(host, activation, "waits", (struct soc_slice){0}, out);
}

void soc_history_put_run(struct soc_host *host, const struct soc_activation *activation,
                         const char *end, struct soc_slice error)
{
    if (soc_history_state(host)->kept == NULL)
        return;
    struct soc_buf detail = {0};
    describe(host, activation, end, error, &detail);
    put_row(host, "run", activation, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
    soc_history_state(host)->kept->has_state = soc_history_state(host)->kept->has_result = false;
}

uint64_t soc_history_script(const struct soc_host *host)
{
    return soc_history_state(host)->script;
}

void soc_history_set_script(struct soc_host *host, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof(text), "%016" PRIx64, hash);
    soc_history_state(host)->script = hash;
    soc_batch_put_meta(host, SCRIPT_RECORD, soc_slice(text, 16));
}

int soc_history_restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type != SOC_RECORD_META ||
        !soc_slice_equal(record->meta.name, SOC_SLICE(SCRIPT_RECORD)))
        return SOC_OK;
    char text[17];
    snprintf(text, sizeof(text), "%.*s", (int)record->meta.value.length, record->meta.value.data);
    soc_history_state(host)->script = strtoull(text, NULL, 16);
    return SOC_OK;
}

void soc_history_put_place(struct soc_host *host, struct soc_buf *out)
{
    char id[SOC_MESSAGE_ID_BYTES];
    const struct soc_activation *activation = host->turn.is_open ? host->turn.activation : NULL;
    if (activation == NULL)
        return;
    soc_json_put_name(out, "effect");
    soc_json_put_integer(out, activation->cursor);
    if (activation->message == NULL)
        return;
    soc_envelope_id(id, activation->message);
    soc_json_put_text_member(out, "message", soc_slice(id, sizeof(id)));
}
