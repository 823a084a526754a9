#include "model/activation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

/* Buffer size a pooled activation may keep; larger buffers are freed. */
#define ANSWERS_BYTES_KEPT 4096

static const char *const effect_names[SOC_EFFECT_COUNT] = {
#define X(tag, name) name,
    SOC_EFFECT_MAP(X)
#undef X
};

struct soc_activation *soc_activation_new(void)
{
    return soc_alloc_zero(sizeof(struct soc_activation));
}

void soc_activation_reset(struct soc_activation *activation)
{
    assert(activation->message == NULL && activation->taken.count == 0);
    assert(!soc_heap_has(&activation->timer) && activation->script == NULL);
    free(activation->wait.correlation_id);
    free(activation->wait.call);
    struct soc_effect *effects = activation->effects;
    uint32_t capacity = activation->effects_capacity;
    struct soc_buf answers = activation->answers;
    if (answers.capacity > ANSWERS_BYTES_KEPT)
        soc_buf_fini(&answers);
    answers.length = 0;
    soc_buf_fini(&activation->arguments);
    soc_buf_fini(&activation->passed);
    *activation = (struct soc_activation){
        .effects = effects, .effects_capacity = capacity, .answers = answers};
}

void soc_activation_free(struct soc_activation *activation)
{
    if (activation == NULL)
        return;
    free(activation->wait.correlation_id);
    free(activation->wait.call);
    free(activation->effects);
    soc_buf_fini(&activation->answers);
    soc_buf_fini(&activation->arguments);
    soc_buf_fini(&activation->passed);
    free(activation);
}

bool soc_effect_fits(const struct soc_effect *effect, enum soc_effect_kind kind,
                     struct soc_effect_hash hash)
{
    return effect->kind == kind && (effect->hash == hash.now || effect->hash == hash.older);
}

/* Passes a recorded line; there may be more or fewer of them than the script has now. */
static enum soc_aside pass_line(struct soc_activation *activation, struct soc_slice *answer)
{
    uint32_t next = soc_activation_next(activation);
    for (uint32_t i = activation->cursor; i < next; i++) {
        if (activation->effects[i].kind == SOC_EFFECT_VERSION)
            continue;
        activation->cursor = i + 1;
        *answer = soc_activation_answer_of(activation, i);
        return SOC_ASIDE_RECORDED;
    }
    return next < activation->effects_count ? SOC_ASIDE_PASSED : SOC_ASIDE_NEW;
}

static bool was_passed(const struct soc_activation *activation, uint64_t hash)
{
    uint64_t other;
    for (size_t at = 0; at < activation->passed.length; at += sizeof(other)) {
        memcpy(&other, activation->passed.data + at, sizeof(other));
        if (other == hash)
            return true;
    }
    return false;
}

static enum soc_aside pass_version(struct soc_activation *activation, uint64_t hash,
                                   struct soc_slice *answer)
{
    for (uint32_t i = 0; i < activation->effects_count; i++) {
        const struct soc_effect *effect = &activation->effects[i];
        if (effect->kind != SOC_EFFECT_VERSION || effect->hash != hash)
            continue;
        *answer = soc_activation_answer_of(activation, i);
        return SOC_ASIDE_RECORDED;
    }
    if (was_passed(activation, hash))
        return SOC_ASIDE_PASSED;
    if (soc_activation_next(activation) >= activation->effects_count)
        return SOC_ASIDE_NEW;
    soc_buf_put(&activation->passed, (const char *)&hash, sizeof(hash));
    return SOC_ASIDE_PASSED;
}

enum soc_aside soc_activation_pass_aside(struct soc_activation *activation,
                                         enum soc_effect_kind kind, uint64_t hash,
                                         struct soc_slice *answer)
{
    assert(soc_effect_is_aside(kind));
    enum soc_aside aside = kind == SOC_EFFECT_VERSION ? pass_version(activation, hash, answer)
                                                      : pass_line(activation, answer);
    if (aside == SOC_ASIDE_NEW)
        activation->cursor = activation->effects_count;
    return aside;
}

uint32_t soc_activation_next(const struct soc_activation *activation)
{
    uint32_t index = activation->cursor;
    while (index < activation->effects_count &&
           soc_effect_is_aside((enum soc_effect_kind)activation->effects[index].kind))
        index++;
    return index;
}

void soc_activation_restart(struct soc_activation *activation)
{
    activation->cursor = 0;
    activation->has_replied = false;
    activation->passed.length = 0;
}

uint32_t soc_activation_add(struct soc_activation *activation, enum soc_effect_kind kind,
                            uint64_t hash)
{
    if (activation->effects_count == activation->effects_capacity) {
        uint32_t capacity =
            activation->effects_capacity == 0 ? 4 : activation->effects_capacity * 2;
        activation->effects =
            soc_realloc(activation->effects, capacity * sizeof(*activation->effects));
        activation->effects_capacity = capacity;
    }
    activation->effects[activation->effects_count] =
        (struct soc_effect){.hash = hash, .kind = (uint8_t)kind};
    return activation->effects_count++;
}

void soc_activation_answer(struct soc_activation *activation, uint32_t index,
                           struct soc_slice answer)
{
    assert(index < activation->effects_count && answer.length > 0);
    struct soc_effect *effect = &activation->effects[index];
    assert(effect->answer_length == 0);
    effect->answer_start = (uint32_t)activation->answers.length;
    effect->answer_length = (uint32_t)answer.length;
    soc_buf_put_slice(&activation->answers, answer);
}

void soc_activation_answer_sent(struct soc_activation *activation, uint32_t index, uint64_t key,
                                int64_t time_ms)
{
    assert(index < activation->effects_count && key != 0);
    activation->effects[index].sent_key = key;
    activation->effects[index].sent_ms = time_ms;
}

bool soc_activation_is_answered(const struct soc_activation *activation, uint32_t index)
{
    assert(index < activation->effects_count);
    const struct soc_effect *effect = &activation->effects[index];
    return effect->answer_length > 0 || effect->sent_key != 0;
}

struct soc_slice soc_activation_answer_of(const struct soc_activation *activation, uint32_t index)
{
    assert(index < activation->effects_count);
    const struct soc_effect *effect = &activation->effects[index];
    if (effect->answer_length == 0)
        return (struct soc_slice){0};
    return soc_slice(activation->answers.data + effect->answer_start, effect->answer_length);
}

void soc_activation_note(struct soc_activation *activation, uint32_t index,
                         struct soc_slice arguments)
{
    assert(index < activation->effects_count);
    if (arguments.data == NULL)
        return;
    activation->effects[index].noted = (uint32_t)activation->arguments.length + 1;
    soc_buf_put_slice(&activation->arguments, arguments);
    soc_buf_put_byte(&activation->arguments, '\0');
}

struct soc_slice soc_activation_noted(const struct soc_activation *activation, uint32_t index)
{
    assert(index < activation->effects_count);
    uint32_t noted = activation->effects[index].noted;
    if (noted == 0)
        return (struct soc_slice){0};
    return soc_slice_text(activation->arguments.data + noted - 1);
}

void soc_activation_keep(struct soc_activation *activation)
{
    activation->effects_kept = activation->effects_count;
    activation->taken_kept = activation->taken.count;
    activation->answers_kept = (uint32_t)activation->answers.length;
    activation->arguments_kept = (uint32_t)activation->arguments.length;
}

void soc_activation_rewind(struct soc_activation *activation)
{
    assert(activation->taken.count == activation->taken_kept);
    activation->effects_count = activation->effects_kept;
    activation->answers.length = activation->answers_kept;
    activation->arguments.length = activation->arguments_kept;
    soc_activation_restart(activation);
    free(activation->wait.correlation_id);
    free(activation->wait.call);
    activation->wait = (struct soc_wait){0};
    activation->span = 0;
}

const char *soc_effect_name(enum soc_effect_kind kind)
{
    assert(kind < SOC_EFFECT_COUNT);
    return effect_names[kind];
}

bool soc_effect_is_aside(enum soc_effect_kind kind)
{
    return kind == SOC_EFFECT_PRINT || kind == SOC_EFFECT_LOG || kind == SOC_EFFECT_VERSION;
}

bool soc_effect_parse(struct soc_slice name, enum soc_effect_kind *kind)
{
    for (int i = 0; i < SOC_EFFECT_COUNT; i++) {
        if (soc_slice_equal(name, soc_slice_text(effect_names[i]))) {
            *kind = (enum soc_effect_kind)i;
            return true;
        }
    }
    return false;
}
