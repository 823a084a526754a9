/* Waits: no cycle of agents that wait for each other outlives its step.
 *
 * The edges come from the records of waits, questions and seats alone, and all of them are
 * searched after every batch with a new wait. */
#include <assert.h>

#include "base/json.h"
#include "check/check.h"
#include "check/readers.h"

#define USER_NUMBER 1 /* the person is never part of a cycle */

static struct soc_check_message *find(const struct soc_check *check, uint64_t key)
{
    return key < check->messages_count ? check->messages[key] : NULL;
}

static enum soc_check_wait kind_of(struct soc_slice what)
{
    static const char *const names[] = {
        [SOC_CHECK_WAIT_OTHER] = "",
        [SOC_CHECK_WAIT_REPLY] = "\"reply\"",
        [SOC_CHECK_WAIT_RECEIVE] = "\"receive\"",
        [SOC_CHECK_WAIT_TASK] = "\"task\"",
        [SOC_CHECK_WAIT_BARRIER] = "\"checkpoint\"",
        [SOC_CHECK_WAIT_HUMAN] = "\"human\"",
        [SOC_CHECK_WAIT_ACK] = "\"ack\"",
    };
    for (int i = SOC_CHECK_WAIT_REPLY; i <= SOC_CHECK_WAIT_ACK; i++)
        if (soc_slice_equal(what, soc_slice_text(names[i])))
            return (enum soc_check_wait)i;
    return SOC_CHECK_WAIT_OTHER;
}

void soc_check_waits_note(struct soc_check *check, struct soc_check_agent *agent,
                          struct soc_slice wait)
{
    int64_t key = 0;
    agent->wait = SOC_CHECK_WAIT_OTHER;
    agent->on = NULL;
    agent->wait_key = 0;
    if (wait.length == 0 || wait.data[0] != '{')
        return;
    agent->wait = kind_of(soc_json_member(wait, "for"));
    if (agent->wait == SOC_CHECK_WAIT_ACK &&
        !soc_slice_equal(soc_json_member(wait, "ack"), SOC_SLICE("\"processed\"")))
        agent->wait = SOC_CHECK_WAIT_OTHER; /* a mailbox receives by itself */
    agent->on = soc_books_find(check, soc_json_plain_string(soc_json_member(wait, "from")));
    if (soc_json_integer(soc_json_member(wait, "request"), &key))
        agent->wait_key = (uint64_t)key;
    check->has_new_wait = true;
}

static void read_seat(struct soc_check *check, const struct soc_record_seat *record)
{
    struct soc_check_seat *seat = soc_map_find_number(&check->barriers, record->key);
    struct soc_check_seat *first = seat;
    struct soc_check_agent *agent = soc_books_find(check, record->agent);
    while (seat != NULL && seat->agent != agent)
        seat = seat->next;
    if (seat == NULL) {
        seat = soc_books_room(check, sizeof(*seat));
        seat->agent = agent;
        seat->next = first;
        soc_map_put_number(&check->barriers, record->key, seat);
    }
    seat->question = record->question;
    seat->is_open = record->state == 0; /* asked */
    check->has_new_wait = true;
}

bool soc_check_waits(struct soc_check *check, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_SEAT)
        read_seat(check, &record->seat);
    else if (record->type == SOC_RECORD_BARRIER_END)
        soc_map_take_number(&check->barriers, record->barrier_end.key);
    else
        return record->type == SOC_RECORD_BARRIER;
    return true;
}

/* Tells whether a message from `from` to `to` is on its way. */
static bool is_coming(const struct soc_check *check, const struct soc_check_agent *from,
                      const struct soc_check_agent *to)
{
    for (size_t i = 0; i < check->messages_count; i++) {
        const struct soc_check_message *message = check->messages[i];
        if (message != NULL && message->from == from && message->to == to &&
            message->outcome == SOC_OUTCOME_PENDING && !message->is_taken)
            return true;
    }
    return false;
}

/* The search goes from agent to agent, each with the one that led there. `is_exact` leaves
 * out those whose answer is on its way, which costs a look at all messages. */
struct search {
    struct soc_check *check;
    struct soc_check_agent **queue;
    size_t count;
    const struct soc_check_agent *start;
    struct soc_check_agent *last; /* of a cycle; NULL: none was found */
    bool is_exact;
};

static bool waits(const struct soc_check_agent *agent)
{
    return agent->is_active && agent->is_waiting && agent->ended == 0 &&
           agent->number != USER_NUMBER && agent->wait != SOC_CHECK_WAIT_OTHER &&
           agent->wait != SOC_CHECK_WAIT_HUMAN;
}

static void reach(struct search *search, struct soc_check_agent *from, struct soc_check_agent *to)
{
    if (to == NULL || search->last != NULL || !waits(to))
        return;
    if (to == search->start) {
        search->last = from;
        return;
    }
    if (to->visit == search->check->visits)
        return;
    to->visit = search->check->visits;
    to->reached_from = from;
    search->queue[search->count++] = to;
}

/* An introduction is often in the hands of the host, which waits for nobody. */
static void reach_asked(struct search *search, struct soc_check_agent *agent, uint64_t key)
{
    const struct soc_check_message *question = find(search->check, key);
    if (question == NULL || question->to == NULL || question->asks || question->is_from_host ||
        (search->is_exact && question->answers > 0))
        return;
    reach(search, agent, question->to);
}

static void reach_all(struct search *search, struct soc_check_agent *agent)
{
    const struct soc_check_seat *seat;
    switch (agent->wait) {
    case SOC_CHECK_WAIT_REPLY:
        reach_asked(search, agent, agent->wait_key);
        break;
    case SOC_CHECK_WAIT_RECEIVE:
        if (agent->on != NULL && !(search->is_exact && is_coming(search->check, agent->on, agent)))
            reach(search, agent, agent->on);
        break;
    case SOC_CHECK_WAIT_TASK:
    case SOC_CHECK_WAIT_ACK:
        reach(search, agent, agent->on);
        break;
    case SOC_CHECK_WAIT_BARRIER:
        seat = soc_map_find_number(&search->check->barriers, agent->wait_key);
        for (; seat != NULL; seat = seat->next)
            if (seat->is_open)
                reach_asked(search, agent, seat->question);
        break;
    default:
        break;
    }
}

/* Returns the last agent of a cycle through `start`, from where reached_from leads back. */
static struct soc_check_agent *find_cycle(struct soc_check *check, struct soc_check_agent *start,
                                          struct soc_check_agent **queue, bool is_exact)
{
    struct search search = {check, queue, 0, start, NULL, is_exact};
    assert(waits(start));
    check->visits++;
    start->visit = check->visits;
    start->reached_from = NULL;
    reach_all(&search, start);
    for (size_t i = 0; i < search.count && search.last == NULL; i++)
        reach_all(&search, search.queue[i]);
    return search.last;
}

static void fail_cycle(struct soc_check *check, const struct soc_check_agent *last)
{
    struct soc_buf names = {0};
    for (; last != NULL; last = last->reached_from) {
        if (names.length > 0)
            soc_buf_put_text(&names, ", ");
        soc_buf_put_slice(&names, last->id);
    }
    soc_books_fail(check, "these agents wait for each other, and nobody ended it: %s",
                   soc_buf_text(&names));
    soc_buf_fini(&names);
}

void soc_check_cycles(struct soc_check *check)
{
    size_t cursor = 0;
    struct soc_check_agent *agent;
    struct soc_check_agent *last = NULL;
    if (!check->has_new_wait)
        return;
    check->has_new_wait = false;
    check->scratch.length = 0;
    struct soc_check_agent **queue = (void *)soc_buf_reserve(
        &check->scratch, (size_t)check->births * sizeof(struct soc_check_agent *));
    while (last == NULL && (agent = soc_map_each(&check->agents, &cursor)) != NULL)
        if (waits(agent) && find_cycle(check, agent, queue, false) != NULL)
            last = find_cycle(check, agent, queue, true);
    if (last != NULL)
        fail_cycle(check, last);
}
