#include "kernel/turns/main.h"

#include <assert.h>

#include "base/json.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/halt.h"
#include "kernel/turns/handling.h"
#include "kernel/turns/ready.h"

/* The name of what soc_main_fail stores. */
#define MARK "main_failed"

static void clear_mark(struct soc_host *host)
{
    struct soc_main_state *state = &host->main;
    if (!state->is_marked)
        return;
    state->is_marked = false;
    state->forgotten = (struct soc_effect){0};
    state->asked = 0;
    soc_batch_put_meta(host, MARK, (struct soc_slice){"", 0});
}

/* `main` is run again although it ended an earlier run. */
static void forget_halt(struct soc_host *host)
{
    if (host->halted.error.length == 0 || host->halted.key != 0)
        return;
    struct soc_buf error = soc_halt_take(host);
    soc_buf_fini(&error);
}

void soc_main_begin(struct soc_host *host)
{
    struct soc_agent *user = host->registry.user;
    if (host->options.retries_main) {
        clear_mark(host); /* nothing that an earlier run sent is taken up */
        forget_halt(host);
        if (user->activation != NULL)
            soc_handling_abandon(host, user->activation, SOC_OUTCOME_PROCESSED,
                                 (struct soc_slice){0});
    }
    if (user->activation == NULL)
        soc_handling_new(host, user);
    if (user->activation->state == SOC_ACTIVATION_READY)
        soc_ready_add(host, user);
}

void soc_main_wait(struct soc_host *host)
{
    clear_mark(host);
}

void soc_main_end(struct soc_host *host)
{
    clear_mark(host);
    soc_batch_put_meta(host, "main", SOC_SLICE("done"));
    host->main.is_done = true;
}

/* Tells whether asking once more may give another answer than this effect got. */
static bool is_worth_asking(const struct soc_effect *effect, struct soc_slice answer)
{
    bool is_error = answer.length > 0 && answer.data[0] == '{';
    switch ((enum soc_effect_kind)effect->kind) {
    case SOC_EFFECT_REQUEST:
    case SOC_EFFECT_REQUEST_INTRODUCTION:
    case SOC_EFFECT_ESCALATE:
    case SOC_EFFECT_CHECKPOINT:
    case SOC_EFFECT_SLEEP:
        return true;
    case SOC_EFFECT_SEND: /* which waited for the ack */
    case SOC_EFFECT_RECEIVE:
    case SOC_EFFECT_CHAT:
    case SOC_EFFECT_HTTP:
    case SOC_EFFECT_RUN_LUA:
        return is_error;
    default:
        return false;
    }
}

/* The mark has the index of the effect and, of a request, the key of its message. */
static void put_mark(struct soc_host *host, uint32_t index)
{
    struct soc_buf value = {0};
    soc_buf_put_text(&value, "{\"effect\":");
    soc_json_put_integer(&value, index);
    soc_buf_put_text(&value, ",\"asked\":");
    soc_json_put_integer(&value, (int64_t)host->main.asked);
    soc_buf_put_byte(&value, '}');
    soc_batch_put_meta(host, MARK, soc_buf_slice(&value));
    soc_buf_fini(&value);
}

void soc_main_fail(struct soc_host *host, const struct soc_activation *activation, bool is_final,
                   struct soc_slice error)
{
    uint32_t count = activation->effects_count;
    assert(activation->message == NULL && count == activation->effects_kept);
    host->main.has_failed = true;
    host->main.error.length = 0;
    soc_buf_put_slice(&host->main.error, error);
    if (!is_final && count > 0 &&
        is_worth_asking(&activation->effects[count - 1],
                        soc_activation_answer_of(activation, count - 1)))
        put_mark(host, count - 1);
}

void soc_main_restore(struct soc_host *host, struct soc_slice value)
{
    int64_t effect = 0;
    int64_t asked = 0;
    host->main.is_marked = value.length > 0 &&
                           soc_json_integer(soc_json_member(value, "effect"), &effect) &&
                           soc_json_integer(soc_json_member(value, "asked"), &asked);
    host->main.marked = (uint32_t)effect;
    host->main.asked = (uint64_t)asked;
}

void soc_main_forget(struct soc_host *host, struct soc_activation *activation)
{
    struct soc_main_state *state = &host->main;
    uint32_t count = activation->effects_count;
    if (!state->is_marked || count != state->marked + 1 || activation->wait.kind != SOC_WAIT_NONE)
        return;
    state->forgotten = activation->effects[count - 1];
    activation->effects_count--;
}

static const struct soc_message *find_key(const struct soc_message *message, uint64_t key)
{
    while (message != NULL && message->key != key)
        message = message->next;
    return message;
}

/* Lends the message if `agent` has it: in hand, received or queued. */
static const struct soc_message *find_held(const struct soc_agent *agent, uint64_t key)
{
    const struct soc_activation *activation = agent->activation;
    const struct soc_message *found = NULL;
    if (activation != NULL && activation->message != NULL && activation->message->key == key)
        return activation->message;
    if (activation != NULL)
        found = find_key(activation->taken.first, key);
    for (int i = 0; found == NULL && i < SOC_PRIORITY_COUNT; i++)
        found = find_key(agent->mailbox.classes[i].first, key);
    return found;
}

const struct soc_message *soc_main_asked(const struct soc_host *host, const struct soc_agent *to)
{
    const struct soc_activation *activation = host->turn.activation;
    const struct soc_main_state *state = &host->main;
    if (!state->is_marked || state->asked == 0 || to == NULL || activation->message != NULL ||
        activation->effects_count != state->marked + 1)
        return NULL;
    const struct soc_effect *now = &activation->effects[state->marked];
    bool is_same = (now->kind == SOC_EFFECT_REQUEST || now->kind == SOC_EFFECT_SEND) &&
                   now->kind == state->forgotten.kind && now->hash == state->forgotten.hash;
    return is_same ? find_held(to, state->asked) : NULL;
}
