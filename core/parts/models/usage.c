#include "parts/models/usage.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "parts/models/models_state.h"

struct row {
    char *key; /* agent, task and model with NUL between */
    size_t key_length;
    struct soc_slice agent;
    struct soc_slice task; /* absent: none */
    struct soc_slice model;
    struct soc_usage used;
};

struct sum {
    char *id;
    struct soc_usage used;
};

static struct row *find_row(struct soc_usages *usages, struct soc_slice agent,
                            struct soc_slice task, struct soc_slice model)
{
    struct soc_buf key = {0};
    soc_buf_put_slice(&key, agent);
    soc_buf_put_byte(&key, '\0');
    soc_buf_put_slice(&key, task);
    soc_buf_put_byte(&key, '\0');
    soc_buf_put_slice(&key, model);
    struct row *row = soc_map_find(&usages->rows, soc_buf_slice(&key));
    if (row != NULL) {
        soc_buf_fini(&key);
        return row;
    }
    row = soc_alloc_zero(sizeof(*row));
    row->key = key.data;
    row->key_length = key.length;
    row->agent = soc_slice(key.data, agent.length);
    if (task.length > 0)
        row->task = soc_slice(key.data + agent.length + 1, task.length);
    row->model = soc_slice(key.data + key.length - model.length, model.length);
    soc_map_put(&usages->rows, soc_slice(row->key, row->key_length), row);
    return row;
}

static struct soc_usage *sum_of(struct soc_map *sums, struct soc_slice id)
{
    struct sum *sum = soc_map_find(sums, id);
    if (sum == NULL) {
        sum = soc_alloc_zero(sizeof(*sum));
        sum->id = soc_copy_text(id.data, id.length);
        soc_map_put(sums, soc_slice_text(sum->id), sum);
    }
    return &sum->used;
}

static void add(struct soc_usage *to, struct soc_usage used)
{
    to->calls += used.calls;
    to->input_tokens += used.input_tokens;
    to->output_tokens += used.output_tokens;
    to->cost_micros += used.cost_micros;
}

static void add_everywhere(struct soc_usages *usages, struct row *row, struct soc_usage used)
{
    add(&row->used, used);
    add(&usages->total, used);
    add(sum_of(&usages->agents, row->agent), used);
    if (row->task.data != NULL)
        add(sum_of(&usages->tasks, row->task), used);
}

void soc_usage_add(struct soc_host *host, const struct soc_agent *agent, struct soc_slice task,
                   struct soc_slice model, struct soc_usage used)
{
    struct row *row = find_row(&soc_models_state(host)->usages, soc_agent_id(agent), task, model);
    add_everywhere(&soc_models_state(host)->usages, row, used);
    struct soc_record record = {.type = SOC_RECORD_USAGE};
    record.usage = (struct soc_record_usage){
        .calls = row->used.calls,
        .input_tokens = row->used.input_tokens,
        .output_tokens = row->used.output_tokens,
        .cost_micros = row->used.cost_micros,
        .agent = row->agent,
        .task_id = row->task,
        .model = row->model,
        .time_ms = (uint64_t)soc_host_now(host),
    };
    soc_batch_put(host, &record);
}

void soc_usage_put_words(struct soc_buf *out, const struct soc_usage *used)
{
    soc_buf_printf(out, "%llu %s, %llu tokens, $%.4f", (unsigned long long)used->calls,
                   used->calls == 1 ? "call" : "calls",
                   (unsigned long long)(used->input_tokens + used->output_tokens),
                   (double)used->cost_micros / 1e6);
}

/* A record holds the total so far, so only the difference is added. */
void soc_usage_restore(struct soc_host *host, const struct soc_record_usage *record)
{
    struct row *row =
        find_row(&soc_models_state(host)->usages, record->agent, record->task_id, record->model);
    add_everywhere(&soc_models_state(host)->usages, row,
                   (struct soc_usage){
                       .calls = record->calls - row->used.calls,
                       .input_tokens = record->input_tokens - row->used.input_tokens,
                       .output_tokens = record->output_tokens - row->used.output_tokens,
                       .cost_micros = record->cost_micros - row->used.cost_micros,
                   });
}

static int refuse(struct soc_buf *error, const char *whose, const char *what, uint64_t used,
                  uint64_t bound)
{
    char text[160];
    bool is_tokens = strcmp(what, "tokens") == 0;
    if (is_tokens)
        snprintf(text, sizeof(text),
                 "the %s has reached its limit: %llu tokens of %llu tokens; raise "
                 "llm.limits.%s_tokens to continue",
                 whose, (unsigned long long)used, (unsigned long long)bound, whose);
    else
        snprintf(text, sizeof(text),
                 "the %s has reached its limit: $%.6f of $%.6f; raise llm.limits.%s_cost to "
                 "continue",
                 whose, (double)used / 1e6, (double)bound / 1e6, whose);
    soc_refusal_begin(error, SOC_EBUDGET, text);
    soc_json_put_name(error, "limit");
    soc_json_put_integer(error, (int64_t)bound);
    soc_json_put_text_member(error, "of", soc_slice_text(whose));
    soc_json_put_name(error, "used");
    soc_json_put_integer(error, (int64_t)used);
    soc_json_put_text_member(error, "what", soc_slice_text(what));
    return soc_refusal_end(error, SOC_EBUDGET);
}

static int check(const char *whose, struct soc_usage used, struct soc_usage_bound bound,
                 struct soc_buf *error)
{
    uint64_t tokens = used.input_tokens + used.output_tokens;
    if (bound.tokens != 0 && tokens >= bound.tokens)
        return refuse(error, whose, "tokens", tokens, bound.tokens);
    if (bound.cost_micros != 0 && used.cost_micros >= bound.cost_micros)
        return refuse(error, whose, "cost_micros", used.cost_micros, bound.cost_micros);
    return SOC_OK;
}

static struct soc_usage look_up(const struct soc_map *sums, struct soc_slice id)
{
    const struct sum *sum = soc_map_find(sums, id);
    return sum == NULL ? (struct soc_usage){0} : sum->used;
}

int soc_usage_check(struct soc_host *host, const struct soc_agent *agent, struct soc_slice task,
                    struct soc_buf *error)
{
    const struct soc_usages *usages = &soc_models_state(host)->usages;
    int rc = check("agent", soc_usage_of(host, agent), usages->bounds.agent, error);
    if (rc == SOC_OK && task.length > 0)
        rc = check("task", look_up(&usages->tasks, task), usages->bounds.task, error);
    if (rc == SOC_OK)
        rc = check("society", usages->total, usages->bounds.society, error);
    return rc;
}

void soc_usage_set_bounds(struct soc_host *host, const struct soc_usage_bounds *bounds)
{
    soc_models_state(host)->usages.bounds = *bounds;
}

struct soc_usage soc_usage_of(const struct soc_host *host, const struct soc_agent *agent)
{
    return look_up(&soc_models_state(host)->usages.agents, soc_agent_id(agent));
}

struct soc_usage soc_usage_total(const struct soc_host *host)
{
    return soc_models_state(host)->usages.total;
}

static void put_number(struct soc_buf *out, const char *name, uint64_t number)
{
    soc_json_put_name(out, name);
    soc_json_put_integer(out, (int64_t)number);
}

static void put_room(struct soc_buf *out, const char *of, struct soc_slice id,
                     struct soc_usage used, struct soc_usage_bound bound)
{
    assert(out->length > 0);
    soc_buf_put_text(out, out->data[out->length - 1] == '[' ? "{" : ",{");
    put_number(out, "cost_micros", used.cost_micros);
    put_number(out, "cost_micros_max", bound.cost_micros);
    soc_json_put_text_member(out, "id", id);
    soc_json_put_text_member(out, "of", soc_slice_text(of));
    put_number(out, "tokens", used.input_tokens + used.output_tokens);
    put_number(out, "tokens_max", bound.tokens);
    soc_buf_put_byte(out, '}');
}

void soc_usage_look_room(const struct soc_host *host, const struct soc_agent *agent,
                         struct soc_slice task, struct soc_buf *out)
{
    const struct soc_usages *usages = &soc_models_state(host)->usages;
    soc_buf_put_byte(out, '[');
    put_room(out, "agent", soc_agent_id(agent), soc_usage_of(host, agent), usages->bounds.agent);
    if (task.length > 0)
        put_room(out, "task", task, look_up(&usages->tasks, task), usages->bounds.task);
    put_room(out, "society", (struct soc_slice){0}, usages->total, usages->bounds.society);
    soc_buf_put_byte(out, ']');
}

void soc_usage_look(const struct soc_host *host, struct soc_slice agent, struct soc_slice task,
                    struct soc_buf *out)
{
    size_t cursor = 0;
    const struct row *row;
    soc_buf_put_byte(out, '[');
    while ((row = soc_map_each(&soc_models_state(host)->usages.rows, &cursor)) != NULL) {
        if ((agent.data != NULL && !soc_slice_equal(agent, row->agent)) ||
            (task.data != NULL && !soc_slice_equal(task, row->task)))
            continue;
        soc_buf_put_text(out, out->data[out->length - 1] == '[' ? "{" : ",{");
        soc_json_put_text_member(out, "agent", row->agent);
        put_number(out, "calls", row->used.calls);
        soc_json_put_name(out, "cost");
        soc_json_put_number(out, (double)row->used.cost_micros / 1e6);
        put_number(out, "input_tokens", row->used.input_tokens);
        soc_json_put_text_member(out, "model", row->model);
        put_number(out, "output_tokens", row->used.output_tokens);
        soc_json_put_text_member(out, "task_id", row->task);
        soc_buf_put_byte(out, '}');
    }
    soc_buf_put_byte(out, ']');
}

static void put_budget(struct soc_buf *out, const char *of, const char *id, const char *what,
                       uint64_t used, uint64_t limit)
{
    if (limit == 0)
        return;
    soc_buf_put_text(out, out->data[out->length - 1] == '[' ? "{" : ",{");
    soc_json_put_text_member(out, "id", soc_slice_text(id));
    put_number(out, "left", used < limit ? limit - used : 0);
    put_number(out, "limit", limit);
    soc_json_put_text_member(out, "of", soc_slice_text(of));
    put_number(out, "used", used);
    soc_json_put_text_member(out, "what", soc_slice_text(what));
    soc_buf_put_byte(out, '}');
}

static void put_budgets(struct soc_buf *out, const char *of, const char *id, struct soc_usage used,
                        struct soc_usage_bound bound)
{
    put_budget(out, of, id, "cost_micros", used.cost_micros, bound.cost_micros);
    put_budget(out, of, id, "tokens", used.input_tokens + used.output_tokens, bound.tokens);
}

void soc_usage_look_budgets(const struct soc_host *host, struct soc_buf *out)
{
    const struct soc_usages *usages = &soc_models_state(host)->usages;
    const struct sum *sum;
    soc_buf_put_byte(out, '[');
    put_budgets(out, "society", NULL, usages->total, usages->bounds.society);
    for (size_t cursor = 0; (sum = soc_map_each(&usages->tasks, &cursor)) != NULL;)
        put_budgets(out, "task", sum->id, sum->used, usages->bounds.task);
    for (size_t cursor = 0; (sum = soc_map_each(&usages->agents, &cursor)) != NULL;)
        put_budgets(out, "agent", sum->id, sum->used, usages->bounds.agent);
    soc_buf_put_byte(out, ']');
}

static void free_sums(struct soc_map *sums)
{
    size_t cursor = 0;
    struct sum *sum;
    while ((sum = soc_map_each(sums, &cursor)) != NULL) {
        free(sum->id);
        free(sum);
    }
    soc_map_fini(sums);
}

void soc_usage_free(struct soc_host *host)
{
    size_t cursor = 0;
    struct row *row;
    while ((row = soc_map_each(&soc_models_state(host)->usages.rows, &cursor)) != NULL) {
        free(row->key);
        free(row);
    }
    soc_map_fini(&soc_models_state(host)->usages.rows);
    free_sums(&soc_models_state(host)->usages.agents);
    free_sums(&soc_models_state(host)->usages.tasks);
}
