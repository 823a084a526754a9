/* People: agents and their contacts. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "check/readers.h"

/* As stored. */
enum source { BY_SYSTEM, BY_PARENT, BY_CHILD, BY_BRIEF, BY_INTRODUCTION, BY_MESSAGE, BY_HAND };

static bool is_head(struct soc_slice id)
{
    return soc_slice_equal(id, SOC_SLICE("user")) || soc_slice_equal(id, SOC_SLICE("root"));
}

static void read_agent(struct soc_check *check, const struct soc_record_agent *record)
{
    struct soc_check_agent *agent = soc_books_find(check, record->id);
    if (agent != NULL)
        soc_books_fail(check, "%.*s was born twice", (int)record->id.length, record->id.data);
    agent = soc_books_room(check, sizeof(*agent));
    agent->id = soc_books_copy(check, record->id);
    agent->parent = soc_books_copy(check, record->parent);
    agent->brief = soc_books_copy(check, record->brief);
    agent->born = check->place;
    agent->says_handled = -1;
    agent->is_outside = record->is_external != 0;
    soc_map_put(&check->agents, agent->id, agent);
    agent->number = (uint32_t)++check->births;
    assert(agent->number == check->births);
    struct soc_check_agent *parent = soc_books_find(check, agent->parent);
    if (parent != NULL)
        parent->births++;
    if (check->births == 2) /* user and root */
        parent = soc_books_find(check, SOC_SLICE("user"));
    if (parent == NULL)
        return;
    soc_books_note_pair(check, SOC_PAIR_KNOWS, agent, parent->number);
    soc_books_note_pair(check, SOC_PAIR_KNOWS, parent, agent->number);
}

/* Tells whether `id` is among the collaborators of the brief. */
static bool names(struct soc_slice brief, struct soc_slice id)
{
    struct soc_json_walk walk;
    if (brief.length == 0 || brief.data[0] != '{')
        return false;
    struct soc_slice list = soc_json_member(brief, "collaborators");
    if (list.length == 0 || list.data[0] != '[')
        return false;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk))
        if (walk.value.data[0] == '{' &&
            soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "agentId")), id))
            return true;
    return false;
}

/* Tells whether the history has a reason for this new entry. */
static bool has_reason(const struct soc_check *check, const struct soc_check_agent *owner,
                       const struct soc_check_agent *peer, const struct soc_record_contact *record)
{
    const struct soc_check_agent *by = soc_books_find(check, record->introduced_by);
    switch ((enum source)record->source) {
    case BY_SYSTEM:
        return is_head(record->owner) && is_head(record->id);
    case BY_PARENT:
        return soc_slice_equal(owner->parent, record->id);
    case BY_CHILD:
        return soc_slice_equal(peer->parent, record->owner);
    case BY_BRIEF:
        return names(owner->brief, record->id);
    case BY_INTRODUCTION:
        return soc_books_has_pair(check, SOC_PAIR_MEETS, owner, peer->number) &&
               (by == NULL || by == peer ||
                soc_books_has_pair(check, SOC_PAIR_KNOWS, by, peer->number));
    case BY_MESSAGE:
        return soc_books_has_pair(check, SOC_PAIR_WROTE, peer, owner->number);
    case BY_HAND:
        return !check->is_strict || is_head(record->owner);
    }
    return false;
}

static void read_contact(struct soc_check *check, const struct soc_record_contact *record)
{
    const struct soc_check_agent *owner = soc_books_find(check, record->owner);
    const struct soc_check_agent *peer = soc_books_find(check, record->id);
    if (owner == NULL || peer == NULL) {
        soc_books_fail(check, "%.*s knows %.*s, but one of them was never born",
                       (int)record->owner.length, record->owner.data, (int)record->id.length,
                       record->id.data);
        return;
    }
    if (soc_books_has_pair(check, SOC_PAIR_KNOWS, owner, peer->number))
        return;
    if (!has_reason(check, owner, peer, record))
        soc_books_fail(check, "%.*s got to know %.*s without a reason (source %llu)",
                       (int)record->owner.length, record->owner.data, (int)record->id.length,
                       record->id.data, (unsigned long long)record->source);
    soc_books_note_pair(check, SOC_PAIR_KNOWS, owner, peer->number);
    soc_books_drop_pair(check, SOC_PAIR_MEETS, owner, peer->number);
}

static void read_contact_end(struct soc_check *check, const struct soc_record_contact_end *record)
{
    const struct soc_check_agent *owner = soc_books_find(check, record->owner);
    const struct soc_check_agent *peer = soc_books_find(check, record->id);
    if (owner != NULL && peer != NULL)
        soc_books_drop_pair(check, SOC_PAIR_KNOWS, owner, peer->number);
}

static void read_end(struct soc_check *check, struct soc_slice id)
{
    struct soc_check_agent *agent = soc_books_find(check, id);
    if (agent == NULL || agent->ended != 0)
        soc_books_fail(check, "%.*s ended twice, or was never born", (int)id.length, id.data);
    else
        agent->ended = check->place;
}

static void read_ending(struct soc_check *check, struct soc_slice id)
{
    struct soc_check_agent *agent = soc_books_find(check, id);
    if (agent != NULL)
        agent->is_ending = true;
}

static void read_parent(struct soc_check *check, const struct soc_record_agent_parent *record)
{
    struct soc_check_agent *agent = soc_books_find(check, record->id);
    if (agent != NULL)
        agent->parent = soc_books_copy(check, record->parent);
}

/* A held agent keeps its mail and its activation until it is resumed. */
static void read_standing(struct soc_check *check, const struct soc_record_standing *record)
{
    struct soc_check_agent *agent = soc_books_find(check, record->id);
    if (agent == NULL)
        soc_books_fail(check, "%.*s was held or released, but never born", (int)record->id.length,
                       record->id.data);
    else
        agent->is_held = record->hold != 0;
}

/* Tells whether the policy is one that comes with the program. Records name its file the
 * same wherever it is installed; an app may name its own as it likes. */
static bool is_shipped(struct soc_slice policy, const char *beginning)
{
    struct soc_slice path = soc_json_plain_string(soc_json_member(policy, "path"));
    size_t length = strlen(beginning);
    return path.length >= length && memcmp(path.data, beginning, length) == 0;
}

/* Reads which policies are in force: only the shipped `strict` refuses strangers, and no
 * shipped one introduces an agent that has not asked. */
static void read_policies(struct soc_check *check, struct soc_slice list)
{
    struct soc_json_walk walk;
    check->is_strict = check->is_asked = false;
    if (list.length == 0 || list.data[0] != '[')
        return;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        if (walk.value.data[0] != '{')
            continue;
        struct soc_slice kind = soc_json_member(walk.value, "kind");
        if (soc_slice_equal(kind, SOC_SLICE("\"contacts\"")))
            check->is_strict = is_shipped(walk.value, "[society]/policies/contacts/strict.lua");
        else if (soc_slice_equal(kind, SOC_SLICE("\"introductions\"")))
            check->is_asked = is_shipped(walk.value, "[society]/policies/introductions/");
    }
}

bool soc_check_people(struct soc_check *check, const struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_AGENT:
        read_agent(check, &record->agent);
        return true;
    case SOC_RECORD_AGENT_ENDING:
        read_ending(check, record->agent_ending.id);
        return true;
    case SOC_RECORD_AGENT_END:
        read_end(check, record->agent_end.id);
        return true;
    case SOC_RECORD_AGENT_PARENT:
        read_parent(check, &record->agent_parent);
        return true;
    case SOC_RECORD_CONTACT:
        read_contact(check, &record->contact);
        return true;
    case SOC_RECORD_CONTACT_END:
        read_contact_end(check, &record->contact_end);
        return true;
    case SOC_RECORD_STANDING:
        read_standing(check, &record->standing);
        return true;
    case SOC_RECORD_ROLE:
        check->roles += record->role.behaviour.length > 0; /* those of the script have none */
        return true;
    case SOC_RECORD_META:
        read_policies(check, record->meta.value);
        return true;
    default:
        return false;
    }
}
