/* Census: the live society against its history. */
#include <assert.h>

#include "check/check.h"
#include "check/readers.h"

/* Beyond so many agents, missing contacts are not looked for: every pair would be. */
#define AGENTS_MAX 100

static void compare(struct soc_check *check, const char *what, uint64_t live, uint64_t recorded)
{
    if (live != recorded)
        soc_books_fail(check, "there are %llu %s, but %llu according to the history",
                       (unsigned long long)live, what, (unsigned long long)recorded);
}

void soc_check_census_begin(struct soc_check *check, uint64_t roles, uint64_t checkpoints)
{
    check->census++;
    check->alive = 0;
    compare(check, "roles", roles, check->roles);
    compare(check, "open checkpoints", checkpoints, check->barriers.count);
}

void soc_check_census_agent(struct soc_check *check, struct soc_slice id, struct soc_slice parent)
{
    assert(check->census > 0);
    struct soc_check_agent *agent = soc_books_find(check, id);
    if (agent == NULL || agent->ended != 0) {
        soc_books_fail(check, "%.*s is there, but %s", (int)id.length, id.data,
                       agent == NULL ? "was never born" : "has ended");
        return;
    }
    agent->census = check->census;
    agent->contacts = 0;
    check->alive++;
    if (agent->parent.length > 0 && !soc_slice_equal(agent->parent, parent))
        soc_books_fail(check, "the parent of %.*s is %.*s, not %.*s", (int)id.length, id.data,
                       (int)agent->parent.length, agent->parent.data, (int)parent.length,
                       parent.data);
}

void soc_check_census_standing(struct soc_check *check, struct soc_slice id, uint64_t births,
                               bool is_held, bool is_ending)
{
    const struct soc_check_agent *agent = soc_books_find(check, id);
    if (agent == NULL)
        return;
    if (births != agent->births)
        soc_books_fail(check, "%.*s has spawned %llu agents, but %llu according to the history",
                       (int)id.length, id.data, (unsigned long long)births,
                       (unsigned long long)agent->births);
    if (is_held != agent->is_held)
        soc_books_fail(check, "%.*s is %s, which the history does not say", (int)id.length, id.data,
                       is_held ? "held" : "not held");
    if (is_ending != agent->is_ending)
        soc_books_fail(check, "%.*s is %s, which the history does not say", (int)id.length, id.data,
                       is_ending ? "ending" : "not ending");
}

void soc_check_census_contact(struct soc_check *check, struct soc_slice owner,
                              struct soc_slice peer)
{
    struct soc_check_agent *agent = soc_books_find(check, owner);
    const struct soc_check_agent *other = soc_books_find(check, peer);
    if (agent == NULL)
        return;
    if (other == NULL || !soc_books_has_pair(check, SOC_PAIR_KNOWS, agent, other->number))
        soc_books_fail(check, "%.*s has %.*s as a contact, which the history does not say",
                       (int)owner.length, owner.data, (int)peer.length, peer.data);
    else if (other->ended == 0)
        agent->contacts++;
}

void soc_check_census_mail(struct soc_check *check, struct soc_slice to, uint64_t key,
                           int64_t now_ms)
{
    const struct soc_check_message *message =
        key < check->messages_count ? check->messages[key] : NULL;
    if (message == NULL || message->outcome != SOC_OUTCOME_PENDING)
        soc_books_fail(check, "message %llu is in the mailbox of %.*s, but %s",
                       (unsigned long long)key, (int)to.length, to.data,
                       message == NULL ? "was never sent" : "has ended");
    else if (soc_check_times_from(check, message) > now_ms)
        soc_books_fail(check, "message %llu is in the mailbox of %.*s %lld ms before its time",
                       (unsigned long long)key, (int)to.length, to.data,
                       (long long)(soc_check_times_from(check, message) - now_ms));
}

static void check_contacts(struct soc_check *check, const struct soc_check_agent *agent)
{
    size_t cursor = 0;
    uint32_t known = 0;
    const struct soc_check_agent *other;
    const struct soc_check_agent *lost = NULL;
    while ((other = soc_map_each(&check->agents, &cursor)) != NULL)
        if (other->ended == 0 && soc_books_has_pair(check, SOC_PAIR_KNOWS, agent, other->number)) {
            known++;
            lost = other;
        }
    if (known != agent->contacts)
        soc_books_fail(check, "%.*s has %u contacts, but %u according to the history (%.*s is one)",
                       (int)agent->id.length, agent->id.data, agent->contacts, known,
                       lost == NULL ? 0 : (int)lost->id.length, lost == NULL ? "" : lost->id.data);
}

/* An agent ends its children, or they get another parent. */
static void check_parent(struct soc_check *check, const struct soc_check_agent *agent)
{
    const struct soc_check_agent *parent = soc_books_find(check, agent->parent);
    if (parent != NULL && parent->ended != 0 && !agent->is_ending)
        soc_books_fail(check, "%.*s outlives its parent %.*s", (int)agent->id.length,
                       agent->id.data, (int)parent->id.length, parent->id.data);
}

void soc_check_census_end(struct soc_check *check)
{
    size_t cursor = 0;
    const struct soc_check_agent *agent;
    while ((agent = soc_map_each(&check->agents, &cursor)) != NULL) {
        if (agent->ended != 0)
            continue;
        check_parent(check, agent);
        if (agent->census != check->census)
            soc_books_fail(check, "%.*s was born, but is not there", (int)agent->id.length,
                           agent->id.data);
        else if (check->alive <= AGENTS_MAX)
            check_contacts(check, agent);
    }
}
