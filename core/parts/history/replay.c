#include "parts/history/replay.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/turns/turn.h"
#include "parts/history/history.h"
#include "parts/history/history_state.h"
#include "parts/history/replay_operations.h"

/* Lends the text of a member that holds an id or a name made by the host. */
static struct soc_slice plain(struct soc_slice object, const char *name)
{
    return soc_json_plain_string(soc_json_member(object, name));
}

static int64_t integer(struct soc_slice object, const char *name)
{
    int64_t number = 0;
    soc_json_integer(soc_json_member(object, name), &number);
    return number;
}

static int64_t moment(struct soc_slice object, const char *name)
{
    int64_t time_ms = 0;
    soc_time_parse(plain(object, name), &time_ms);
    return time_ms;
}

static bool is_true(struct soc_slice object, const char *name)
{
    return soc_slice_equal(soc_json_member(object, name), SOC_SLICE("true"));
}

/* Decodes any text member into `out`. Absent if there is none. */
static struct soc_slice read_text(struct soc_slice object, const char *name, struct soc_buf *out)
{
    out->length = 0;
    if (!soc_json_string(soc_json_member(object, name), out))
        return (struct soc_slice){0};
    return soc_slice(soc_buf_text(out), out->length);
}

struct soc_agent *soc_replay_agent(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_map_find(&host->registry.agents, id);
    if (agent == NULL) {
        struct soc_role *role = soc_map_find(&host->registry.roles, SOC_SLICE("unknown"));
        agent = soc_agent_new(id, role, NULL, 0);
        agent->number = ++host->registry.births;
        soc_map_put(&host->registry.agents, soc_agent_id(agent), agent);
    }
    return agent;
}

static struct soc_role *role_of(struct soc_host *host, struct soc_slice row)
{
    struct soc_slice id = plain(row, "id");
    struct soc_role *role = soc_map_find(&host->registry.roles, id);
    if (role != NULL)
        return role;
    struct soc_buf text = {0};
    role = soc_role_new(id, read_text(row, "name", &text));
    soc_text_set(&role->behaviour, read_text(row, "behaviour", &text));
    role->is_isolated = is_true(row, "isolated");
    soc_map_put(&host->registry.roles, soc_slice_text(role->id), role);
    soc_buf_fini(&text);
    return role;
}

struct soc_agent *soc_replay_prepare(struct soc_host *host, struct soc_slice id,
                                     struct soc_slice run, struct soc_slice brief)
{
    struct soc_agent *agent = soc_replay_agent(host, id);
    struct soc_slice role = soc_json_member(run, "role");
    struct soc_slice parent = plain(run, "parent");
    struct soc_slice state = soc_json_member(run, "state");
    if (plain(role, "id").data != NULL)
        agent->role = role_of(host, role);
    agent->parent = parent.data == NULL ? NULL : soc_replay_agent(host, parent);
    agent->isolation = is_true(run, "isolated") ? SOC_ISOLATED : 0;
    free(agent->state);
    agent->state = NULL;
    agent->state_length = 0;
    if (state.data != NULL)
        soc_agent_set_state(agent, state);
    if (brief.data != NULL)
        soc_agent_set_brief(agent, brief);
    return agent;
}

/* Returns the time encoded in the id of a message that is only mentioned. */
static int64_t read_id_time(struct soc_slice id)
{
    char text[SOC_TIME_BYTES + 1];
    int64_t time_ms = 0;
    if (id.length != SOC_MESSAGE_ID_BYTES)
        return 0;
    snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s.%.3sZ", id.data + 4, id.data + 8,
             id.data + 10, id.data + 13, id.data + 15, id.data + 17, id.data + 20);
    soc_time_parse(soc_slice_text(text), &time_ms);
    return time_ms;
}

/* Reads what soc_envelope_put_script_json wrote. NULL if it is not a message. */
static struct soc_message *read_message(struct soc_host *host, struct soc_slice row)
{
    static const char *const names[SOC_TEXT_COUNT] = {
#define F(tag, name, kind, ...) SOC_IF_TEXT_##kind([SOC_TEXT_##tag] = #name, )
        SOC_MESSAGE_FIELD_MAP(F)
#undef F
    };
    struct soc_buf texts[SOC_TEXT_COUNT] = {{0}};
    enum soc_priority priority = SOC_PRIORITY_NORMAL;
    struct soc_slice from = plain(row, "from");
    struct soc_slice to = plain(row, "to");
    struct soc_slice reply_to = plain(row, "reply_to");
    bool is_broadcast = soc_slice_equal(to, SOC_SLICE("All"));
    double ttl_seconds = 0;
    struct soc_message_draft draft = {
        .time_ms = read_id_time(plain(row, "id")),
        .sent_date_ms = moment(row, "timestamp"),
        .deliver_at_ms = moment(row, "deliver_at"),
        .deadline_ms = moment(row, "deadline"),
        .attempt = (uint16_t)integer(row, "attempt"),
        .hops = (uint32_t)integer(row, "hops"),
        .payload = soc_json_member(row, "payload"),
    };
    if (from.data == NULL || to.data == NULL || draft.payload.data == NULL ||
        plain(row, "type").data == NULL || !soc_message_id_parse(plain(row, "id"), &draft.key))
        return NULL;
    if (!soc_slice_equal(from, SOC_SLICE("system")))
        draft.from = soc_replay_agent(host, from);
    draft.to = is_broadcast ? host->turn.agent : soc_replay_agent(host, to);
    draft.type = soc_intern(&host->types.table, plain(row, "type"));
    soc_priority_parse(plain(row, "priority"), &priority);
    draft.priority = (uint8_t)priority;
    if (is_true(row, "requires_ack"))
        draft.flags |= SOC_MESSAGE_REQUIRES_ACK;
    if (is_true(row, "wants_reply"))
        draft.flags |= SOC_MESSAGE_WANTS_REPLY;
    if (is_broadcast)
        draft.flags |= SOC_MESSAGE_IS_BROADCAST;
    if (reply_to.data != NULL && soc_message_id_parse(reply_to, &draft.reply_to))
        draft.reply_to_ms = read_id_time(reply_to);
    if (soc_json_number(soc_json_member(row, "ttl_seconds"), &ttl_seconds))
        draft.expires_ms = draft.time_ms + (int64_t)(ttl_seconds * 1000 + 0.5);
    for (int i = 0; i < SOC_TEXT_COUNT; i++)
        draft.texts[i] = read_text(row, names[i], &texts[i]);
    struct soc_message *message = soc_message_new(&draft);
    for (int i = 0; i < SOC_TEXT_COUNT; i++)
        soc_buf_fini(&texts[i]);
    return message;
}

static int read_effects(struct soc_slice run, struct soc_activation *activation)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_json_member(run, "effects"));
    while (soc_json_next(&walk)) {
        enum soc_effect_kind kind;
        struct soc_slice answer = soc_json_member(walk.value, "answer");
        struct soc_slice arguments = soc_json_member(walk.value, "arguments");
        if (!soc_effect_parse(plain(walk.value, "kind"), &kind))
            return SOC_ECORRUPT;
        uint32_t index =
            soc_activation_add(activation, kind, (uint64_t)integer(walk.value, "hash"));
        if (answer.data != NULL)
            soc_activation_answer(activation, index, answer);
        if (arguments.data != NULL)
            soc_activation_note(activation, index, arguments);
    }
    return SOC_OK;
}

static void put_effect(struct soc_buf *out, enum soc_effect_kind kind, struct soc_slice arguments)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "effect", soc_slice_text(soc_effect_name(kind)));
    if (arguments.data != NULL && arguments.length > 0) {
        soc_json_put_name(out, "arguments");
        soc_buf_put_slice(out, arguments);
    }
    soc_buf_put_byte(out, '}');
}

static void put_recorded_effect(struct soc_buf *out, const struct soc_activation *activation,
                                uint32_t index)
{
    assert(index < activation->effects_count);
    put_effect(out, activation->effects[index].kind, soc_activation_noted(activation, index));
}

/* Appends how a run ended. The traceback of an error is left out: its line numbers may
 * change without changing the behaviour. */
static void put_end(struct soc_buf *out, const char *end, struct soc_slice error)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "end", soc_slice_text(end));
    static const char *const members[] = {"error", "message"};
    for (int i = 0; i < 2 && error.data != NULL && error.length > 0; i++) {
        struct soc_slice value = soc_json_member(error, members[i]);
        if (value.data == NULL)
            continue;
        soc_json_put_name(out, members[i]);
        soc_buf_put_slice(out, value);
    }
    soc_buf_put_byte(out, '}');
}

static void put_recorded_end(struct soc_buf *out, struct soc_slice run)
{
    struct soc_buf end = {0};
    soc_json_string(soc_json_member(run, "end"), &end);
    put_end(out, soc_buf_text(&end), soc_json_member(run, "error"));
    soc_buf_fini(&end);
}

static bool ends_with(struct soc_slice run, const char *end)
{
    return soc_slice_equal(plain(run, "end"), soc_slice_text(end));
}

/* Tells whether the recorded run was ended by its budget of CPU time or memory. Where that was
 * depends on the machine, so the record says how far the run came, and no further is compared. */
static bool was_cut(const struct soc_replay *replay)
{
    struct soc_slice error = soc_json_member(replay->run, "error");
    struct soc_slice which = plain(error, "which");
    return ends_with(replay->run, "broken") &&
           soc_slice_equal(plain(error, "error"), SOC_SLICE("budget_exceeded")) &&
           (soc_slice_equal(which, SOC_SLICE("cpu_ms")) ||
            soc_slice_equal(which, SOC_SLICE("memory")));
}

/* Tells whether the recorded run ended at this effect because its script had changed. */
static bool had_changed(const struct soc_replay *replay, uint32_t index)
{
    struct soc_slice error = soc_json_member(replay->run, "error");
    struct soc_slice recorded = soc_json_member(error, "index");
    int64_t number = -1;
    return soc_slice_equal(plain(error, "error"), SOC_SLICE("nondeterministic")) &&
           (!soc_json_integer(recorded, &number) || number == index);
}

int soc_replay_begin(struct soc_host *host, struct soc_activation *activation,
                     enum soc_effect_kind kind, struct soc_effect_hash hash,
                     struct soc_slice *answer, struct soc_buf *error)
{
    struct soc_replay *replay = soc_history_state(host)->replay;
    assert(replay != NULL);
    if (soc_effect_is_aside(kind)) { /* need not be the same, and is not done again */
        replay->effects +=
            soc_activation_pass_aside(activation, kind, hash.now, answer) == SOC_ASIDE_RECORDED;
        return SOC_GATE_RECORDED;
    }
    uint32_t index = soc_activation_next(activation);
    activation->cursor = index + 1;
    bool is_more = index >= activation->effects_count;
    const struct soc_effect *effect = is_more ? NULL : &activation->effects[index];
    bool is_same = !is_more && soc_effect_fits(effect, kind, hash);
    replay->index = index;
    if (is_same)
        *answer = soc_activation_answer_of(activation, index);
    if (is_same && answer->data != NULL) {
        replay->effects++;
        return SOC_GATE_RECORDED;
    }
    bool is_open = ends_with(replay->run, "waits") || was_cut(replay);
    replay->is_at_end = is_same || (is_more && is_open) || had_changed(replay, index);
    if (!replay->is_at_end) {
        replay->point = SOC_REPLAY_EFFECT;
        if (is_more)
            put_recorded_end(&replay->recorded, replay->run);
        else
            put_recorded_effect(&replay->recorded, activation, index);
        put_effect(&replay->now, kind, soc_history_arguments(host));
    }
    return soc_refuse(error, SOC_ENONDET, NULL, NULL, (struct soc_slice){0});
}

static void compare_json(struct soc_replay *replay, enum soc_replay_point point,
                         struct soc_slice recorded, struct soc_slice now)
{
    if (replay->point != SOC_REPLAY_SAME || soc_slice_equal(recorded, now))
        return;
    replay->point = point;
    soc_buf_put_slice(&replay->recorded, recorded);
    soc_buf_put_slice(&replay->now, now);
}

/* Tells whether the recorded run raised only because its result could not be sent,
 * which is the host's doing and not the script's. */
static bool was_refused(const struct soc_replay *replay, bool is_done)
{
    return is_done && replay->has_result && ends_with(replay->run, "raised") &&
           soc_json_member(replay->run, "result").data != NULL;
}

/* Reports effects missing at the end of the script, or a different end. */
static void compare_end(struct soc_replay *replay, const struct soc_activation *activation,
                        enum soc_turn_end end, struct soc_slice error)
{
    static const char *const names[] = {"done", "waits", "raised", "broken"};
    struct soc_buf recorded = {0};
    struct soc_buf now = {0};
    uint32_t next = soc_activation_next(activation);
    bool is_missing = next < activation->effects_count;
    if (is_missing && had_changed(replay, next))
        return;
    put_end(&now, is_missing && end == SOC_TURN_BROKEN ? "done" : names[end],
            is_missing ? (struct soc_slice){0} : error);
    if (is_missing) {
        replay->index = next;
        put_recorded_effect(&recorded, activation, next);
    } else if (!was_refused(replay, end == SOC_TURN_DONE)) {
        put_recorded_end(&recorded, replay->run);
    } else {
        soc_buf_put_slice(&recorded, soc_buf_slice(&now));
    }
    compare_json(replay, is_missing ? SOC_REPLAY_EFFECT : SOC_REPLAY_END, soc_buf_slice(&recorded),
                 soc_buf_slice(&now));
    soc_buf_fini(&recorded);
    soc_buf_fini(&now);
}

/* A recorded run that was waiting or cut, and whose script now runs on, has nothing to
 * compare: it was stopped before its last turn, or in it. */
static void compare(struct soc_replay *replay, const struct soc_activation *activation,
                    enum soc_turn_end end, struct soc_slice error)
{
    const struct soc_agent *agent = activation->agent;
    struct soc_slice after = soc_json_member(replay->run, "state_after");
    if (replay->point != SOC_REPLAY_SAME || replay->is_at_end)
        return;
    if ((ends_with(replay->run, "waits") || was_cut(replay)) &&
        soc_activation_next(activation) >= activation->effects_count)
        return;
    compare_end(replay, activation, end, error);
    if (end != SOC_TURN_DONE)
        return;
    compare_json(replay, SOC_REPLAY_RESULT, soc_json_member(replay->run, "result"),
                 soc_buf_slice(&replay->result));
    if (ends_with(replay->run, "done"))
        compare_json(replay, SOC_REPLAY_STATE,
                     after.data == NULL ? soc_json_member(replay->run, "state") : after,
                     soc_slice(agent->state, agent->state_length));
}

static void run(struct soc_host *host, struct soc_activation *activation, struct soc_replay *replay)
{
    struct soc_buf error = {0};
    soc_activation_restart(activation);
    soc_history_state(host)->replay = replay;
    host->parts.watches_effects = true;
    enum soc_turn_end end = host->hooks.run(host->hooks.user, activation, &error);
    soc_history_state(host)->replay = NULL;
    host->parts.watches_effects = soc_history_state(host)->kept != NULL;
    compare(replay, activation, end, soc_buf_slice(&error));
    soc_buf_fini(&error);
    if (activation->script != NULL)
        host->hooks.drop(host->hooks.user, activation);
}

int soc_replay_run(struct soc_host *host, struct soc_agent *agent, struct soc_replay *replay)
{
    assert(!host->turn.is_open && !soc_replay_is_under_way(host));
    struct soc_slice message = soc_json_member(replay->run, "message");
    struct soc_activation *former = agent->activation;
    struct soc_activation *activation = soc_activation_new();
    activation->agent = agent;
    agent->activation = activation;
    soc_turn_begin(host, agent, activation);
    int rc = read_effects(replay->run, activation);
    if (rc == SOC_OK && message.data != NULL) {
        activation->message = read_message(host, message);
        rc = activation->message == NULL ? SOC_ECORRUPT : SOC_OK;
    }
    if (rc == SOC_OK)
        run(host, activation, replay);
    soc_turn_rollback(host);
    soc_message_free(activation->message);
    activation->message = NULL;
    soc_activation_free(activation);
    agent->activation = former;
    soc_replay_settle(host);
    return rc;
}

void soc_replay_settle(struct soc_host *host)
{
    host->batch.length = 0;
}

void soc_replay_fini(struct soc_replay *replay)
{
    soc_buf_fini(&replay->recorded);
    soc_buf_fini(&replay->now);
    soc_buf_fini(&replay->where);
    soc_buf_fini(&replay->result);
    *replay = (struct soc_replay){0};
}

bool soc_replay_is_under_way(const struct soc_host *host)
{
    return soc_history_state(host)->replay != NULL;
}

void soc_replay_set_where(struct soc_host *host, struct soc_slice where)
{
    struct soc_replay *replay = soc_history_state(host)->replay;
    if (replay == NULL || replay->point != SOC_REPLAY_EFFECT)
        return;
    replay->where.length = 0;
    soc_buf_put_slice(&replay->where, where);
}

bool soc_replay_keep_result(struct soc_host *host, struct soc_slice result)
{
    struct soc_replay *replay = soc_history_state(host)->replay;
    if (replay == NULL) {
        soc_history_keep_result(host, result);
        return true;
    }
    replay->has_result = true;
    soc_buf_put_slice(&replay->result, result);
    return false;
}

static void *open_history(struct soc_host *host)
{
    (void)host;
    return soc_alloc_zero(sizeof(struct soc_history_state));
}

static void free_history(struct soc_host *host)
{
    soc_history_free(host);
    free(soc_history_state(host));
}

static int begin_effect(struct soc_host *host, struct soc_activation *activation,
                        enum soc_effect_kind kind, struct soc_effect_hash hash,
                        struct soc_slice *answer, struct soc_buf *error)
{
    if (!soc_replay_is_under_way(host))
        return SOC_PART_EFFECT_LIVE;
    return soc_replay_begin(host, activation, kind, hash, answer, error);
}

static void state_changed(struct soc_host *host, struct soc_agent *agent)
{
    soc_history_keep_state(host, soc_slice(agent->state, agent->state_length));
}

const struct soc_part soc_history_part = {
    .name = "history",
    .number = SOC_PART_HISTORY,
    .operations = soc_replay_operations,
    .open = open_history,
    .free = free_history,
    .restore = soc_history_restore,
    .run_ended = soc_history_put_run,
    .state_changed = state_changed,
    .begin_effect = begin_effect,
    .arguments = soc_history_arguments,
};
