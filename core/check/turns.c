/* Turns: activations, their effects and their waits. */
#include "base/json.h"
#include "check/check.h"
#include "check/readers.h"

/* Finds the agent that a record names; it must exist. */
static struct soc_check_agent *need_agent(struct soc_check *check, struct soc_slice id)
{
    struct soc_check_agent *agent = soc_books_find(check, id);
    if (agent == NULL)
        soc_books_fail(check, "a record names %.*s, which was never born", (int)id.length, id.data);
    return agent;
}

static void read_activation(struct soc_check *check, const struct soc_record_activation *record)
{
    struct soc_check_agent *agent = need_agent(check, record->agent);
    if (agent == NULL)
        return;
    if (agent->is_active)
        soc_books_fail(check, "%.*s started on a message while it handled another",
                       (int)agent->id.length, agent->id.data);
    const struct soc_check_message *message =
        record->key < check->messages_count ? check->messages[record->key] : NULL;
    if (record->key != 0 && (message == NULL || message->outcome != SOC_OUTCOME_PENDING))
        soc_books_fail(check, "%.*s handles message %llu, which is not pending",
                       (int)agent->id.length, agent->id.data, (unsigned long long)record->key);
    if (message != NULL)
        soc_check_times_start(check, agent, message, (int64_t)record->time_ms);
    agent->is_active = true;
    agent->active_key = record->key;
    agent->is_waiting = agent->has_task_end = false;
    agent->effects = 0;
}

static void note_call(struct soc_check *check, struct soc_check_agent *agent, struct soc_slice call)
{
    if (call.length > 0 && call.data[0] == '{')
        agent->call = soc_books_copy(check, soc_json_plain_string(soc_json_member(call, "id")));
}

/* main raised: its last effect, which was answered, may come once more. */
static void read_main_failed(struct soc_check *check, struct soc_slice mark)
{
    struct soc_check_agent *user = need_agent(check, SOC_SLICE("user"));
    int64_t index = -1;
    if (user == NULL || mark.length == 0)
        return;
    if (!soc_json_integer(soc_json_member(mark, "effect"), &index) || !user->is_active ||
        user->is_waiting || index + 1 != (int64_t)user->effects)
        soc_books_fail(check, "main failed at an effect that is not its last");
    user->may_repeat = true;
}

static void read_effect(struct soc_check *check, const struct soc_record_effect *record)
{
    struct soc_check_agent *agent = need_agent(check, record->agent);
    if (agent == NULL)
        return;
    /* A query that a crash has interrupted is repeated, and so is the last wait of a main that
     * raised. */
    bool is_anew = record->index + 1 == agent->effects &&
                   (agent->is_waiting ? agent->is_looking : agent->may_repeat);
    agent->may_repeat = false;
    if (!agent->is_active || ((agent->is_waiting || record->index != agent->effects) && !is_anew))
        soc_books_fail(check, "%.*s has effect %llu where effect %u is expected",
                       (int)agent->id.length, agent->id.data, (unsigned long long)record->index,
                       agent->effects);
    agent->effects = (uint32_t)record->index + 1;
    agent->is_waiting = record->answer.length == 0;
    agent->has_task_end = false;
    agent->deadline_ms = 0;
    agent->call = (struct soc_slice){0};
    if (!agent->is_waiting)
        return;
    if (record->wait.length == 0)
        soc_books_fail(check, "%.*s waits for nothing", (int)agent->id.length, agent->id.data);
    else
        soc_json_integer(soc_json_member(record->wait, "deadline_ms"), &agent->deadline_ms);
    struct soc_slice what = {0};
    if (record->wait.length > 0)
        what = soc_json_member(record->wait, "for");
    soc_check_waits_note(check, agent, record->wait);
    agent->is_looking = soc_slice_equal(what, SOC_SLICE("\"look\"")) ||
                        soc_slice_equal(what, SOC_SLICE("\"order\""));
    agent->is_tasking = soc_slice_equal(what, SOC_SLICE("\"task\""));
    if (soc_slice_equal(what, SOC_SLICE("\"call\"")))
        note_call(check, agent, soc_json_member(record->wait, "call"));
}

static bool is_timeout(struct soc_slice answer)
{
    struct soc_slice error = {0};
    if (answer.length > 0 && answer.data[0] == '{')
        error = soc_json_member(answer, "error");
    return soc_slice_equal(error, SOC_SLICE("\"timeout\""));
}

static void read_answer(struct soc_check *check, const struct soc_record_answer *record)
{
    struct soc_check_agent *agent = need_agent(check, record->agent);
    if (agent == NULL)
        return;
    if (!agent->is_active || !agent->is_waiting || record->index + 1 != agent->effects)
        soc_books_fail(check, "%.*s gets an answer to effect %llu, which it does not wait for",
                       (int)agent->id.length, agent->id.data, (unsigned long long)record->index);
    if (agent->wait == SOC_CHECK_WAIT_HUMAN)
        soc_check_promises_decided(check, agent, record->answer);
    if (agent->wait == SOC_CHECK_WAIT_ACK)
        soc_check_promises_acked(check, agent, record->answer);
    agent->is_waiting = false;
    agent->has_task_end = agent->is_tasking;
    /* The time of this batch comes at its end, where early timeouts are found. */
    if (is_timeout(record->answer) && agent->deadline_ms > check->timeout_ms)
        check->timeout_ms = agent->deadline_ms;
}

/* A turn raised. Its message was begun then at the latest. */
static void note_raised(struct soc_check *check, const struct soc_record_event *record)
{
    struct soc_check_agent *agent = soc_books_find(check, record->agent);
    if (agent != NULL && agent->raised_ms == 0)
        agent->raised_ms = (int64_t)record->time_ms;
}

bool soc_check_turns(struct soc_check *check, const struct soc_record *record)
{
    struct soc_check_agent *agent;
    switch (record->type) {
    case SOC_RECORD_ACTIVATION:
        read_activation(check, &record->activation);
        return true;
    case SOC_RECORD_META:
        read_main_failed(check, record->meta.value);
        return true;
    case SOC_RECORD_EFFECT:
        read_effect(check, &record->effect);
        return true;
    case SOC_RECORD_ANSWER:
        read_answer(check, &record->answer);
        return true;
    case SOC_RECORD_ACTIVATION_END:
        agent = need_agent(check, record->activation_end.agent);
        if (agent != NULL && !agent->is_active)
            soc_books_fail(check, "%.*s ended an activation that it never began",
                           (int)agent->id.length, agent->id.data);
        if (agent != NULL)
            agent->is_active = agent->is_waiting = agent->has_task_end = false;
        return true;
    case SOC_RECORD_STATE:
        agent = need_agent(check, record->state.agent);
        if (agent != NULL && record->state.state.length > 0 && record->state.state.data[0] == '{' &&
            !soc_json_integer(soc_json_member(record->state.state, "handled"),
                              &agent->says_handled))
            agent->says_handled = -1;
        if (agent != NULL)
            soc_books_touch(check, agent);
        return true;
    case SOC_RECORD_EVENT:
        if (soc_slice_equal(record->event.event, SOC_SLICE("unknown_role")))
            check->has_strange_role = true;
        else if (soc_slice_equal(record->event.event, SOC_SLICE("turn_failed")))
            note_raised(check, &record->event);
        else
            soc_check_doors_event(check, &record->event);
        return true;
    default:
        return false;
    }
}

void soc_check_states(struct soc_check *check)
{
    while (check->touched != NULL) {
        struct soc_check_agent *agent = check->touched;
        check->touched = agent->touched;
        agent->is_touched = false;
        if (agent->says_handled >= 0 && agent->says_handled != agent->handled)
            soc_books_fail(check, "%.*s has handled %lld messages, but its state says %lld",
                           (int)agent->id.length, agent->id.data, (long long)agent->handled,
                           (long long)agent->says_handled);
    }
}

void soc_check_turns_end(struct soc_check *check)
{
    size_t cursor = 0;
    const struct soc_check_agent *agent;
    while ((agent = soc_map_each(&check->agents, &cursor)) != NULL)
        if (agent->is_waiting && agent->deadline_ms != 0 && agent->deadline_ms <= check->now_ms)
            soc_books_fail(check, "at the end %.*s still waits, although its deadline has passed",
                           (int)agent->id.length, agent->id.data);
        else if (agent->is_active && !agent->is_waiting && !agent->is_held &&
                 !check->has_strange_role)
            soc_books_fail(check, "at the end %.*s has an answer, but does not continue",
                           (int)agent->id.length, agent->id.data);
}

void soc_check_called(struct soc_check *check, struct soc_slice agent, struct soc_slice id)
{
    const struct soc_check_agent *caller = soc_books_find(check, agent);
    if (caller == NULL || !caller->is_waiting || !soc_slice_equal(caller->call, id))
        soc_books_fail(check, "%.*s was made for %.*s before it was durable", (int)id.length,
                       id.data, (int)agent.length, agent.data);
}
