#include "store/tables/past.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"

struct soc_past *soc_past_new(void)
{
    return soc_alloc_zero(sizeof(struct soc_past));
}

static char *copy(struct soc_slice text)
{
    return text.data == NULL ? NULL : soc_copy_text(text.data, text.length);
}

static void replace(char **text, struct soc_slice other)
{
    free(*text);
    *text = copy(other);
}

/* Notes that a thing came or changed, or (NULL) that it has gone. */
static void note(struct soc_past *past, enum soc_past_kind kind, uint64_t number, const void *thing)
{
    if (!past->is_tracked)
        return;
    struct soc_past_change *change = soc_map_find_number(&past->changes, number);
    if (change == NULL) {
        change = soc_alloc_zero(sizeof(*change));
        soc_map_put_number(&past->changes, number, change);
    }
    *change = (struct soc_past_change){number, kind, thing};
}

static void free_tie(struct soc_past *past, struct soc_past_tie *tie)
{
    if (tie == NULL)
        return;
    note(past, SOC_PAST_TIE, tie->number, NULL);
    free(tie->id);
    free(tie->role);
    free(tie->source);
    free(tie);
}

static void free_agent(struct soc_past *past, struct soc_past_agent *agent)
{
    struct soc_past_tie *tie;
    for (size_t cursor = 0; (tie = soc_map_each(&agent->ties, &cursor)) != NULL;)
        free_tie(past, tie);
    note(past, SOC_PAST_AGENT, agent->number, NULL);
    soc_map_fini(&agent->ties);
    free(agent->id);
    free(agent->role);
    free(agent->parent);
    free(agent->wait);
    free(agent->correlation_id);
    free(agent);
}

static void free_task(struct soc_past *past, struct soc_past_task *task)
{
    note(past, SOC_PAST_TASK, task->number, NULL);
    free(task->name);
    free(task->owner);
    free(task->id);
    free(task->assigner);
    free(task->correlation_id);
    free(task->reason);
    free(task);
}

static void free_offer(struct soc_past *past, struct soc_past_offer *offer)
{
    if (offer == NULL)
        return;
    note(past, SOC_PAST_OFFER, offer->number, NULL);
    soc_map_take_number(&past->offers_by_key, offer->key);
    free(offer->name);
    free(offer);
}

void soc_past_clear_changes(struct soc_past *past)
{
    void *each;
    for (size_t cursor = 0; (each = soc_map_each(&past->changes, &cursor)) != NULL;)
        free(each);
    soc_map_fini(&past->changes);
}

void soc_past_empty(struct soc_past *past)
{
    void *each;
    past->is_tracked = false;
    soc_past_clear_changes(past);
    for (size_t cursor = 0; (each = soc_map_each(&past->agents, &cursor)) != NULL;)
        free_agent(past, each);
    for (size_t cursor = 0; (each = soc_map_each(&past->tasks, &cursor)) != NULL;)
        free_task(past, each);
    for (size_t cursor = 0; (each = soc_map_each(&past->items, &cursor)) != NULL;)
        free(each);
    for (size_t cursor = 0; (each = soc_map_each(&past->offers, &cursor)) != NULL;)
        free_offer(past, each);
    soc_map_fini(&past->agents);
    soc_map_fini(&past->tasks);
    soc_map_fini(&past->items);
    soc_map_fini(&past->dead);
    soc_map_fini(&past->offers);
    soc_map_fini(&past->offers_by_key);
    *past = (struct soc_past){0};
}

void soc_past_free(struct soc_past *past)
{
    if (past != NULL)
        soc_past_empty(past);
    free(past);
}

static struct soc_past_agent *find_agent(const struct soc_past *past, struct soc_slice id)
{
    return id.data == NULL ? NULL : soc_map_find(&past->agents, id);
}

/* ---- what was stored ---- */

void soc_past_add_agent(struct soc_past *past, struct soc_past_agent *agent)
{
    struct soc_past_agent *former = soc_map_take(&past->agents, soc_slice_text(agent->id));
    if (former != NULL)
        free_agent(past, former);
    soc_map_put(&past->agents, soc_slice_text(agent->id), agent);
}

bool soc_past_add_tie(struct soc_past *past, struct soc_slice owner, struct soc_past_tie *tie)
{
    struct soc_past_agent *agent = find_agent(past, owner);
    if (agent == NULL) {
        free_tie(past, tie);
        return false;
    }
    tie->owner = agent;
    free_tie(past, soc_map_take(&agent->ties, soc_slice_text(tie->id)));
    soc_map_put(&agent->ties, soc_slice_text(tie->id), tie);
    return true;
}

void soc_past_add_task(struct soc_past *past, struct soc_past_task *task)
{
    struct soc_past_task *former = soc_map_take(&past->tasks, soc_slice_text(task->name));
    if (former != NULL) {
        past->tasks_over -= former->ended_ms != 0;
        free_task(past, former);
    }
    past->tasks_over += task->ended_ms != 0;
    soc_map_put(&past->tasks, soc_slice_text(task->name), task);
}

void soc_past_add_item(struct soc_past *past, struct soc_past_item *item)
{
    struct soc_past_item *former = soc_map_take_number(&past->items, item->key);
    past->items_over -= former != NULL && strcmp(former->state, "open") != 0;
    past->items_over += strcmp(item->state, "open") != 0;
    free(former);
    soc_map_put_number(&past->items, item->key, item);
}

void soc_past_add_offer(struct soc_past *past, struct soc_past_offer *offer)
{
    free_offer(past, soc_map_take(&past->offers, soc_slice_text(offer->name)));
    soc_map_put(&past->offers, soc_slice_text(offer->name), offer);
    soc_map_put_number(&past->offers_by_key, offer->key, offer);
}

/* ---- agents and contacts ---- */

static void know(struct soc_past *past, struct soc_past_agent *owner, struct soc_slice id,
                 struct soc_slice source, int64_t time_ms)
{
    const struct soc_past_agent *other = find_agent(past, id);
    struct soc_past_tie *tie = soc_map_find(&owner->ties, id);
    if (tie == NULL) {
        tie = soc_alloc_zero(sizeof(*tie));
        tie->number = ++past->number;
        tie->owner = owner;
        tie->id = copy(id);
        soc_map_put(&owner->ties, soc_slice_text(tie->id), tie);
    }
    replace(&tie->source, source);
    if (other != NULL)
        replace(&tie->role, soc_slice_text(other->role));
    tie->added_ms = time_ms;
    note(past, SOC_PAST_TIE, tie->number, tie);
}

/* Two that know each other without a line about it. */
static void acquaint(struct soc_past *past, struct soc_past_agent *first, const char *first_source,
                     struct soc_past_agent *second, const char *second_source, int64_t time_ms)
{
    know(past, first, soc_slice_text(second->id), soc_slice_text(first_source), time_ms);
    know(past, second, soc_slice_text(first->id), soc_slice_text(second_source), time_ms);
}

static void take_birth(struct soc_past *past, const struct soc_line *line)
{
    struct soc_past_agent *former = soc_map_take(&past->agents, line->agent);
    struct soc_past_agent *agent = soc_alloc_zero(sizeof(*agent));
    struct soc_past_agent *parent = find_agent(past, line->other);
    if (former != NULL)
        free_agent(past, former);
    agent->number = ++past->number;
    agent->id = copy(line->agent);
    agent->role = copy(line->detail);
    agent->parent = copy(line->other);
    agent->birth = ++past->births;
    agent->created_ms = line->time_ms;
    soc_map_put(&past->agents, soc_slice_text(agent->id), agent);
    note(past, SOC_PAST_AGENT, agent->number, agent);
    if (parent != NULL)
        acquaint(past, agent, "parent", parent, "child", line->time_ms);
    struct soc_past_agent *root = find_agent(past, SOC_SLICE("root"));
    struct soc_past_agent *user = find_agent(past, SOC_SLICE("user"));
    if ((agent == root || agent == user) && root != NULL && user != NULL)
        acquaint(past, root, "system", user, "system", line->time_ms);
}

/* Only its parent forgets it. All that it was sent has ended before; what seems pending is of
 * broadcasts that it did not get, such as those of the turn that has terminated it. */
static void take_death(struct soc_past *past, struct soc_past_agent *agent)
{
    struct soc_past_agent *parent =
        agent->parent == NULL ? NULL : find_agent(past, soc_slice_text(agent->parent));
    if (parent != NULL)
        free_tie(past, soc_map_take(&parent->ties, soc_slice_text(agent->id)));
    past->totals[SOC_OUTCOME_PENDING] -= agent->pending;
    soc_map_take(&past->agents, soc_slice_text(agent->id));
    free_agent(past, agent);
}

static void take_adoption(struct soc_past_agent *agent, const struct soc_line *line)
{
    struct soc_slice by = soc_json_plain_string(soc_json_member(line->detail, "by"));
    if (by.data != NULL)
        replace(&agent->parent, by);
}

/* The source stands in parentheses behind the id. */
static struct soc_slice source_of(const struct soc_line *line)
{
    struct soc_slice text = line->detail;
    size_t start = line->other.length + 2;
    if (text.data == NULL || text.length <= start)
        return SOC_SLICE("manual");
    return soc_slice(text.data + start, text.length - start - 1);
}

static void stop_waiting(struct soc_past_agent *agent)
{
    replace(&agent->wait, (struct soc_slice){0});
    replace(&agent->correlation_id, (struct soc_slice){0});
}

static void take_wait(struct soc_past_agent *agent, const struct soc_line *line)
{
    replace(&agent->wait, line->detail);
    replace(&agent->correlation_id, line->correlation_id);
    agent->since_ms = line->time_ms;
}

/* ---- messages ---- */

static void add_pending(struct soc_past *past, struct soc_slice id, int change)
{
    struct soc_past_agent *agent = find_agent(past, id);
    if (agent == NULL || (change < 0 && agent->pending == 0))
        return;
    agent->pending += (uint64_t)(int64_t)change;
    note(past, SOC_PAST_AGENT, agent->number, agent);
}

static char *name_task(struct soc_slice owner, struct soc_slice id)
{
    struct soc_buf name = {0};
    soc_buf_put_slice(&name, owner);
    soc_buf_put_byte(&name, '\n');
    soc_buf_put_slice(&name, id);
    char *text = soc_copy_text(name.data, name.length);
    soc_buf_fini(&name);
    return text;
}

static bool opens_task(struct soc_slice type)
{
    return soc_slice_equal(type, SOC_SLICE("task")) ||
           soc_slice_equal(type, SOC_SLICE("task_assign")) ||
           soc_slice_equal(type, SOC_SLICE("task_assignment"));
}

static void take_offer(struct soc_past *past, const struct soc_line *line)
{
    struct soc_past_offer *offer = soc_alloc_zero(sizeof(*offer));
    offer->number = ++past->number;
    offer->name = name_task(line->other, line->task_id);
    offer->key = line->key;
    offer->time_ms = line->time_ms;
    soc_past_add_offer(past, offer);
    note(past, SOC_PAST_OFFER, offer->number, offer);
}

static void take_sent(struct soc_past *past, const struct soc_line *line)
{
    struct soc_past_agent *agent;
    if (line->task_id.data != NULL && opens_task(line->type))
        take_offer(past, line);
    if (!soc_slice_equal(line->other, SOC_SLICE("All"))) {
        ++*(line->foreign_id.data != NULL ? &past->taken : &past->totals[SOC_OUTCOME_PENDING]);
        add_pending(past, line->other, 1);
        return;
    }
    for (size_t cursor = 0; (agent = soc_map_each(&past->agents, &cursor)) != NULL;) {
        if (agent->is_ending || soc_slice_equal(soc_slice_text(agent->id), line->agent))
            continue;
        past->totals[SOC_OUTCOME_PENDING]++;
        agent->pending++;
        note(past, SOC_PAST_AGENT, agent->number, agent);
    }
}

/* Returns the outcome that a letter had, and forgets it; `pending`: it was none. */
static uint64_t take_letter(struct soc_past *past, uint64_t key)
{
    void *value = soc_map_take_number(&past->dead, key);
    uint64_t outcome = value == NULL ? SOC_OUTCOME_PENDING : (uint64_t)(uintptr_t)value - 1;
    if (outcome != SOC_OUTCOME_PENDING) {
        past->totals[outcome]--;
        note(past, SOC_PAST_LETTER, SOC_PAST_LETTER_NUMBER(key), NULL);
    }
    return outcome;
}

/* What is offered by a message that has ended for good is never opened. */
static void end_offer(struct soc_past *past, const struct soc_line *line)
{
    if (line->task_id.data == NULL || !opens_task(line->type) || past->offers.count == 0)
        return;
    char *name = name_task(line->agent, line->task_id);
    struct soc_past_offer *offer = soc_map_find(&past->offers, soc_slice_text(name));
    free(name);
    if (offer != NULL && offer->key == line->key)
        free_offer(past, soc_map_take(&past->offers, soc_slice_text(offer->name)));
}

static void take_end(struct soc_past *past, const struct soc_line *line, uint64_t outcome)
{
    if (soc_slice_equal(line->agent, SOC_SLICE("All")))
        return; /* every reader of a broadcast has a line of its own */
    if (take_letter(past, line->key) == SOC_OUTCOME_PENDING)
        add_pending(past, line->agent, -1);
    past->totals[outcome]++;
    if (outcome == SOC_OUTCOME_DEAD || outcome == SOC_OUTCOME_EXPIRED) {
        void *value = (void *)(uintptr_t)(outcome + 1);
        soc_map_put_number(&past->dead, line->key, value);
        note(past, SOC_PAST_LETTER, SOC_PAST_LETTER_NUMBER(line->key), value);
        return;
    }
    end_offer(past, line);
}

static void take_again(struct soc_past *past, const struct soc_line *line)
{
    if (take_letter(past, line->key) != SOC_OUTCOME_PENDING)
        add_pending(past, line->agent, 1);
}

/* ---- tasks and items ---- */

/* Forgets the first of those that are over. */
static void forget_task(struct soc_past *past)
{
    struct soc_past_task *task;
    for (size_t cursor = 0; (task = soc_map_each(&past->tasks, &cursor)) != NULL;) {
        if (task->ended_ms == 0)
            continue;
        soc_map_take(&past->tasks, soc_slice_text(task->name));
        free_task(past, task);
        past->tasks_over--;
        return;
    }
}

static struct soc_past_task *open_task(struct soc_past *past, const struct soc_line *line)
{
    char *name = name_task(line->agent, line->task_id);
    struct soc_past_task *task = soc_map_find(&past->tasks, soc_slice_text(name));
    if (task != NULL) {
        free(name);
        return task;
    }
    struct soc_past_offer *offer = soc_map_take(&past->offers, soc_slice_text(name));
    task = soc_alloc_zero(sizeof(*task));
    task->number = ++past->number;
    task->name = name;
    task->owner = copy(line->agent);
    task->id = copy(line->task_id);
    task->state = "pending";
    task->key = offer == NULL ? 0 : offer->key;
    task->opened_ms = offer == NULL ? line->time_ms : offer->time_ms;
    free_offer(past, offer);
    soc_map_put(&past->tasks, soc_slice_text(task->name), task);
    return task;
}

static const char *end_state(struct soc_slice detail)
{
    struct soc_slice state = soc_json_plain_string(soc_json_member(detail, "state"));
    if (state.data != NULL && soc_slice_equal(state, SOC_SLICE("failed")))
        return "failed";
    if (state.data != NULL && soc_slice_equal(state, SOC_SLICE("cancelled")))
        return "cancelled";
    return "completed";
}

static void take_task(struct soc_past *past, const struct soc_line *line, struct soc_slice event)
{
    struct soc_past_task *task = open_task(past, line);
    struct soc_slice assigner = soc_json_plain_string(soc_json_member(line->detail, "assigner"));
    bool was_over = task->ended_ms != 0;
    if (assigner.data != NULL)
        replace(&task->assigner, assigner);
    if (line->correlation_id.data != NULL)
        replace(&task->correlation_id, line->correlation_id);
    replace(&task->reason, soc_json_member(line->detail, "reason"));
    task->ended_ms = 0;
    if (was_over && soc_slice_equal(event, SOC_SLICE("task_opened"))) {
        task->tries = 0;
        task->started_ms = 0;
    }
    if (soc_slice_equal(event, SOC_SLICE("task_start"))) {
        task->state = "processing";
        task->tries++;
        if (task->started_ms == 0)
            task->started_ms = line->time_ms;
    } else if (soc_slice_equal(event, SOC_SLICE("task_end"))) {
        task->state = end_state(line->detail);
        task->ended_ms = line->time_ms;
    } else {
        task->state = "pending";
    }
    note(past, SOC_PAST_TASK, task->number, task);
    past->tasks_over += (task->ended_ms != 0) - (uint64_t)was_over;
    if (past->tasks_over > SOC_PAST_OVER_MAX)
        forget_task(past);
}

/* The key of the item that a line is about; 0: it names none. */
static uint64_t item_key(struct soc_slice detail)
{
    struct soc_slice id = soc_json_plain_string(soc_json_member(detail, "item_id"));
    char text[SOC_MESSAGE_ID_BYTES] = "msg_";
    uint64_t key = 0;
    if (id.data == NULL || id.length != sizeof(text) + 1)
        return 0;
    memcpy(text + 4, id.data + 5, sizeof(text) - 4);
    return soc_message_id_parse(soc_slice(text, sizeof(text)), &key) ? key : 0;
}

static void forget_item(struct soc_past *past)
{
    struct soc_past_item *item;
    for (size_t cursor = 0; (item = soc_map_each(&past->items, &cursor)) != NULL;) {
        if (strcmp(item->state, "open") == 0)
            continue;
        note(past, SOC_PAST_ITEM, item->number, NULL);
        free(soc_map_take_number(&past->items, item->key));
        past->items_over--;
        return;
    }
}

static void take_item(struct soc_past *past, const struct soc_line *line, const char *state)
{
    uint64_t key = item_key(line->detail);
    struct soc_past_item *item = soc_map_find_number(&past->items, key);
    if (key == 0)
        return;
    if (item == NULL) {
        item = soc_alloc_zero(sizeof(*item));
        item->number = ++past->number;
        item->key = key;
        soc_map_put_number(&past->items, key, item);
    }
    past->items_over -= item->state != NULL && strcmp(item->state, "open") != 0;
    past->items_over += strcmp(state, "open") != 0;
    item->state = state;
    note(past, SOC_PAST_ITEM, item->number, item);
    if (past->items_over > SOC_PAST_OVER_MAX)
        forget_item(past);
}

/* ---- lines ---- */

/* What a line changes of a living agent. */
static void take_change(struct soc_past *past, struct soc_past_agent *agent,
                        const struct soc_line *line, struct soc_slice event)
{
#define IS(name) soc_slice_equal(event, SOC_SLICE(name))
    if (IS("contact_added"))
        know(past, agent, line->other, source_of(line), line->time_ms);
    else if (IS("contact_removed"))
        free_tie(past, soc_map_take(&agent->ties, line->other));
    else if (IS("blocked"))
        take_wait(agent, line);
    else if (IS("unblocked"))
        stop_waiting(agent);
    else if (IS("failed"))
        agent->is_failed = true;
    else if (IS("paused"))
        agent->is_paused = true;
    else if (IS("resumed"))
        agent->is_paused = agent->is_failed = false;
    else if (IS("unresponsive"))
        agent->is_unresponsive = true;
    else if (IS("responsive"))
        agent->is_unresponsive = false;
    else if (IS("stop") || IS("terminate"))
        agent->is_ending = true;
    else if (IS("moved_outside"))
        agent->is_outside = true;
    else if (IS("adopted"))
        take_adoption(agent, line);
    else
        return;
    note(past, SOC_PAST_AGENT, agent->number, agent);
}

void soc_past_feed(struct soc_past *past, const struct soc_line *line)
{
    struct soc_slice event = line->event == NULL ? line->name : soc_slice_text(line->event);
    struct soc_past_agent *agent = find_agent(past, line->agent);
    assert(line->number > past->last);
    past->last = line->number;
    past->fed++;
    past->time_ms = line->time_ms > past->time_ms ? line->time_ms : past->time_ms;
    for (uint64_t i = SOC_OUTCOME_PROCESSED; line->key != 0 && i < SOC_OUTCOME_COUNT; i++)
        if (soc_slice_equal(event, soc_slice_text(soc_line_outcome(i))))
            return take_end(past, line, i);
    if (IS("sent"))
        return take_sent(past, line);
    if (IS("sent_again"))
        return take_again(past, line);
    if (IS("spawned"))
        return take_birth(past, line);
    if (IS("stopped") && agent != NULL)
        return take_death(past, agent);
    if (IS("task_opened") || IS("task_start") || IS("task_retried") || IS("task_end"))
        return take_task(past, line, event);
    if (IS("escalation"))
        return take_item(past, line, "open");
    if (IS("decision"))
        return take_item(past, line, "decided");
    if (IS("withdrawn"))
        return take_item(past, line, "withdrawn");
    if (agent != NULL)
        take_change(past, agent, line, event);
#undef IS
}

void soc_past_forget_letter(struct soc_past *past, uint64_t key)
{
    if (soc_map_take_number(&past->dead, key) == NULL)
        return;
    note(past, SOC_PAST_LETTER, SOC_PAST_LETTER_NUMBER(key), NULL);
    struct soc_past_offer *offer = soc_map_find_number(&past->offers_by_key, key);
    if (offer != NULL)
        free_offer(past, soc_map_take(&past->offers, soc_slice_text(offer->name)));
}

const char *soc_past_status(const struct soc_past_agent *agent)
{
    if (agent->is_failed)
        return "failed";
    if (agent->is_paused)
        return "paused";
    if (agent->is_unresponsive)
        return "unresponsive";
    if (agent->is_ending)
        return "ending";
    if (agent->wait != NULL) {
        struct soc_slice to =
            soc_json_plain_string(soc_json_member(soc_slice_text(agent->wait), "to"));
        bool is_of_user = to.data != NULL && soc_slice_equal(to, SOC_SLICE("blocked_user"));
        return is_of_user ? "blocked_user" : "blocked_internal";
    }
    return agent->pending > 0 ? "working" : "idle";
}
