#include "parts/contacts/book.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/turn.h"
#include "parts/contacts/contacts_state.h"

void soc_book_write(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                    enum soc_source source, int64_t added_ms, struct soc_contact_extra *extra)
{
    struct soc_record record = {.type = SOC_RECORD_CONTACT};
    record.contact = (struct soc_record_contact){
        .time_ms = (uint64_t)added_ms,
        .source = source,
        .owner = soc_agent_id(owner),
        .id = soc_agent_id(peer),
    };
    if (extra != NULL) {
        record.contact.role = soc_slice_text(extra->role);
        record.contact.interface_spec = soc_slice_text(extra->interface_spec);
        record.contact.introduced_by = soc_slice_text(extra->introduced_by);
        record.contact.via = soc_slice_text(extra->via);
        record.contact.reason = soc_slice_text(extra->reason);
        record.contact.usage_hint = soc_slice_text(extra->usage_hint);
        record.contact.has_written = extra->has_written;
    }
    soc_batch_put(host, &record);
    soc_contacts_put(&owner->contacts, peer, source, added_ms, extra);
}

void soc_book_erase(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer)
{
    struct soc_record record = {
        .type = SOC_RECORD_CONTACT_END,
        .contact_end = {.owner = soc_agent_id(owner),
                        .id = soc_agent_id(peer),
                        .time_ms = (uint64_t)soc_host_now(host)},
    };
    soc_batch_put(host, &record);
    soc_contacts_remove(&owner->contacts, peer);
}

/* An entry as it was before a change, with its position. */
struct old_entry {
    struct soc_contact contact;
    uint32_t place;
};

static void take_back(struct soc_host *host, struct soc_undo *undo)
{
    struct old_entry *old = undo->old;
    struct soc_contacts *contacts = &undo->agent->contacts;
    (void)host;
    if (old == NULL) {
        soc_contacts_remove(contacts, undo->peer);
        return;
    }
    soc_contacts_put(contacts, undo->peer, old->contact.source, old->contact.added_ms,
                     old->contact.extra);
    soc_contacts_move(contacts, undo->peer, old->place);
    free(old);
}

static void settle(struct soc_host *host, struct soc_undo *undo)
{
    struct old_entry *old = undo->old;
    (void)host;
    if (old != NULL)
        soc_contact_extra_free(old->contact.extra);
    free(old);
}

/* Notes the entry of `peer`, if there is one, before it changes. */
static void note(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer)
{
    static const struct soc_undo_ops ops = {.roll_back = take_back, .commit = settle};
    struct soc_undo undo = {.ops = &ops, .agent = owner, .peer = peer};
    const struct soc_contact *known = soc_contacts_find(&owner->contacts, peer);
    if (known != NULL) {
        struct old_entry *old = soc_alloc(sizeof(*old));
        old->contact = *known;
        old->contact.extra = soc_contact_extra_copy(known->extra);
        old->place = (uint32_t)(known - owner->contacts.items);
        undo.old = old;
    }
    soc_turn_note(host, undo);
}

static void put_noted(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                      enum soc_source source, int64_t added_ms, struct soc_contact_extra *extra)
{
    note(host, owner, peer);
    soc_book_write(host, owner, peer, source, added_ms, extra);
}

/* Copies the text of a JSON member. NULL if there is none. */
static char *copy_member(struct soc_slice json, const char *name, bool is_json)
{
    struct soc_slice value = soc_json_member(json, name);
    if (value.data == NULL)
        return NULL;
    if (is_json)
        return soc_copy_text(value.data, value.length);
    struct soc_buf text = {0};
    if (!soc_json_string(value, &text)) {
        soc_buf_fini(&text);
        return NULL;
    }
    soc_buf_text(&text);
    return text.data;
}

static struct soc_contact_extra *read_extra(struct soc_slice entry)
{
    struct soc_contact_extra *extra = soc_alloc_zero(sizeof(*extra));
    extra->interface_spec = copy_member(entry, "interfaceSpec", true);
    return extra;
}

/* Fills in the services from the contact's role if the entry has none. */
static void fill_spec(struct soc_contact_extra *extra, const struct soc_agent *peer)
{
    if (extra->interface_spec == NULL)
        soc_text_set(&extra->interface_spec, soc_slice_text(peer->role->interface_spec));
}

static int refuse_stranger(struct soc_buf *error, const struct soc_agent *to,
                           const struct soc_buf *said)
{
    soc_refusal_begin_said(error, SOC_ENOCONTACT, NULL, soc_agent_id(to), soc_buf_slice(said));
    if (said->length == 0)
        soc_json_put_text_member(error, "hint",
                                 SOC_SLICE("ask a contact with request_introduction, or let "
                                           "everybody write to everybody: "
                                           "society.policy(\"contacts\", \"open\")"));
    return soc_refusal_end(error, SOC_ENOCONTACT);
}

/* Asks the contacts policy; what it says of a refusal goes to `said`. */
static bool policy_allows(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                          const struct soc_contact *contact, struct soc_buf *said)
{
    return host->hooks.may_send(host->hooks.user, from, to, contact, said);
}

int soc_book_may_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                      struct soc_buf *error)
{
    if (soc_registry_is_all(to))
        return SOC_OK; /* that is a broadcast: the policy has another question for it */
    uint32_t generation = soc_contacts_state(host)->policy_generation;
    struct soc_contact *contact = soc_contacts_find(&from->contacts, to);
    if (contact != NULL)
        from->contacts.recent = (uint32_t)(contact - from->contacts.items);
    if (contact != NULL && contact->verdict_generation == generation && contact->is_allowed)
        return SOC_OK;
    struct soc_buf said = {0};
    bool is_allowed = policy_allows(host, from, to, contact, &said) ||
                      to == soc_registry_receiver(host, SOC_SLICE("orchestrator"));
    if (contact != NULL) {
        contact->verdict_generation = generation;
        contact->is_allowed = is_allowed;
    }
    int rc = is_allowed ? SOC_OK : refuse_stranger(error, to, &said);
    soc_buf_fini(&said);
    return rc;
}

/* May `agent` take `peer` into a list of contacts, its own or its child's? Mail to the
 * orchestrator is exempt from the policy; knowing it is not. */
static int may_name(struct soc_host *host, struct soc_agent *agent, struct soc_agent *peer,
                    struct soc_buf *error)
{
    struct soc_buf said = {0};
    int rc = soc_router_may_send(host, agent, peer, error);
    if (rc == SOC_OK && agent != peer &&
        peer == soc_registry_receiver(host, SOC_SLICE("orchestrator")) &&
        !policy_allows(host, agent, peer, soc_contacts_find(&agent->contacts, peer), &said))
        rc = refuse_stranger(error, peer, &said);
    soc_buf_fini(&said);
    return rc;
}

/* Makes the brief's collaborators contacts of the child; the parent must be allowed to
 * write to each of them. */
static int add_collaborators(struct soc_host *host, struct soc_agent *child, struct soc_buf *error)
{
    struct soc_json_walk walk;
    if (child->brief == NULL)
        return SOC_OK;
    soc_json_walk(&walk,
                  soc_json_member(soc_slice(child->brief, child->brief_length), "collaborators"));
    while (soc_json_next(&walk)) {
        struct soc_slice id = soc_json_plain_string(soc_json_member(walk.value, "agentId"));
        struct soc_agent *peer = id.data == NULL ? NULL : soc_registry_find(host, id);
        if (peer == NULL || peer == child) /* the child itself does not count as existing */
            return soc_refuse(error, SOC_ENOAGENT, "a collaborator does not exist", "agentId", id);
        if (!child->parent->is_remote) { /* its own host has checked that */
            int rc = may_name(host, child->parent, peer, error);
            if (rc < 0)
                return rc;
        }
        struct soc_contact_extra *extra = read_extra(walk.value);
        extra->role = copy_member(walk.value, "role", false);
        extra->reason = copy_member(walk.value, "description", false);
        fill_spec(extra, peer);
        put_noted(host, child, peer, SOC_SOURCE_PRESET, soc_host_now(host), extra);
    }
    return SOC_OK;
}

int soc_book_check_brief(struct soc_host *host, struct soc_agent *parent, struct soc_slice brief,
                         struct soc_buf *error)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_json_member(brief, "collaborators"));
    while (soc_json_next(&walk)) {
        struct soc_slice id = soc_json_plain_string(soc_json_member(walk.value, "agentId"));
        struct soc_agent *peer = id.data == NULL ? NULL : soc_registry_find(host, id);
        if (peer == NULL)
            return soc_refuse(error, SOC_ENOAGENT, "a collaborator does not exist", "agentId", id);
        int rc = may_name(host, parent, peer, error);
        if (rc < 0)
            return rc;
    }
    return SOC_OK;
}

static int read_contact_id(struct soc_host *host, struct soc_slice id, struct soc_agent **peer,
                           struct soc_buf *answer)
{
    *peer = soc_registry_find(host, id);
    if (*peer == NULL)
        return soc_refuse(answer, SOC_ENOAGENT, NULL, "agentId", id);
    return SOC_OK;
}

/* Keeps fields of the old entry that the new one does not set. */
static void keep_old(struct soc_contact_extra *extra, const struct soc_contact_extra *old)
{
    if (old == NULL)
        return;
    soc_text_set(&extra->role, soc_slice_text(old->role));
    if (extra->interface_spec == NULL)
        soc_text_set(&extra->interface_spec, soc_slice_text(old->interface_spec));
    soc_text_set(&extra->introduced_by, soc_slice_text(old->introduced_by));
    soc_text_set(&extra->via, soc_slice_text(old->via));
    soc_text_set(&extra->reason, soc_slice_text(old->reason));
    soc_text_set(&extra->usage_hint, soc_slice_text(old->usage_hint));
    extra->has_written = old->has_written;
}

int soc_book_add(struct soc_host *host, struct soc_slice entry, struct soc_agent **peer,
                 struct soc_buf *error)
{
    assert(host->turn.is_open && host->turn.agent != NULL);
    struct soc_agent *agent = host->turn.agent;
    struct soc_slice id = soc_json_plain_string(soc_json_member(entry, "id"));
    int rc = read_contact_id(host, id, peer, error);
    if (rc < 0)
        return rc;
    const struct soc_contact *known = soc_contacts_find(&agent->contacts, *peer);
    if (known == NULL && agent != host->registry.user && agent != host->registry.root) {
        rc = may_name(host, agent, *peer, error);
        if (rc < 0)
            return rc;
    }
    enum soc_source source = known == NULL ? SOC_SOURCE_MANUAL : known->source;
    int64_t added_ms = known == NULL ? soc_host_now(host) : known->added_ms;
    struct soc_contact_extra *extra = read_extra(entry);
    keep_old(extra, known == NULL ? NULL : known->extra);
    fill_spec(extra, *peer);
    put_noted(host, agent, *peer, source, added_ms, extra);
    return SOC_OK;
}

/* Whatever the entry says: a brief may name the parent as a collaborator. */
static bool is_permanent(const struct soc_host *host, const struct soc_agent *agent,
                         const struct soc_agent *peer)
{
    const struct soc_agent *user = host->registry.user;
    const struct soc_agent *root = host->registry.root;
    return agent->parent == peer || peer->parent == agent || (agent == user && peer == root) ||
           (agent == root && peer == user);
}

int soc_book_remove(struct soc_host *host, struct soc_slice id, struct soc_buf *answer)
{
    assert(host->turn.is_open && host->turn.agent != NULL);
    struct soc_agent *agent = host->turn.agent;
    struct soc_agent *peer = soc_registry_find_any(host, id);
    if (peer == NULL)
        return soc_refuse(answer, SOC_ENOAGENT, NULL, "agentId", id);
    const struct soc_contact *known = soc_contacts_find(&agent->contacts, peer);
    if (known == NULL)
        return soc_refuse(answer, SOC_ENOCONTACT, "no such contact", "to", id);
    bool is_child_elsewhere = peer->is_remote && known->source == SOC_SOURCE_CHILD;
    if ((is_permanent(host, agent, peer) || is_child_elsewhere) && !peer->is_ended)
        return soc_refuse(answer, SOC_EFORBIDDEN,
                          "a parent, a child, user and root cannot be removed", "to", id);
    note(host, agent, peer);
    soc_book_erase(host, agent, peer);
    return SOC_OK;
}

void soc_book_policy_changed(struct soc_host *host)
{
    soc_contacts_state(host)->policy_generation++;
}

/* Makes parent and child contacts of each other. The birth record implies it, so these
 * contacts need no records of their own. Live code and recovery both use this. */
static void put_family(struct soc_agent *child, struct soc_agent *parent)
{
    soc_contacts_put(&child->contacts, parent, SOC_SOURCE_PARENT, child->created_ms, NULL);
    if (!parent->is_ended)
        soc_contacts_put(&parent->contacts, child, SOC_SOURCE_CHILD, child->created_ms, NULL);
}

int soc_book_birth(struct soc_host *host, struct soc_agent *child, struct soc_buf *error)
{
    note(host, child->parent, child);
    put_family(child, child->parent);
    return add_collaborators(host, child, error);
}

/* Updates their contacts to parent and child of each other. */
static void relate(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                   enum soc_source source)
{
    const struct soc_contact *known = soc_contacts_find(&owner->contacts, peer);
    soc_book_write(host, owner, peer, source, known == NULL ? soc_host_now(host) : known->added_ms,
                   known == NULL ? NULL : soc_contact_extra_copy(known->extra));
}

void soc_book_adopt(struct soc_host *host, struct soc_agent *child, struct soc_agent *former)
{
    soc_book_erase(host, child, former);
    relate(host, child, child->parent, SOC_SOURCE_PARENT);
    relate(host, child->parent, child, SOC_SOURCE_CHILD);
}

static void restore_agent(struct soc_host *host, const struct soc_record_agent *r)
{
    struct soc_agent *agent = soc_registry_need(host, r->id);
    struct soc_agent *parent = agent->parent;
    struct soc_agent *user = host->registry.user;
    struct soc_agent *root = host->registry.root;
    int64_t time_ms = agent->created_ms;
    if (parent != NULL && r->is_adopted)
        return; /* its contacts have records of their own */
    if (parent != NULL) {
        put_family(agent, parent);
    } else if (user != NULL && root != NULL) {
        soc_contacts_put(&user->contacts, root, SOC_SOURCE_SYSTEM, time_ms, NULL);
        soc_contacts_put(&root->contacts, user, SOC_SOURCE_SYSTEM, time_ms, NULL);
    }
}

void soc_book_forget_agent(struct soc_host *host, struct soc_agent *agent)
{
    (void)host;
    if (agent->parent != NULL)
        soc_contacts_remove(&agent->parent->contacts, agent);
}

/* Live code has the texts in an entry, recovery in a record; soc_contacts_put does the rest
 * for both. */
static void restore_contact(struct soc_host *host, const struct soc_record_contact *r)
{
    struct soc_contact_extra *extra = NULL;
    if (r->role.data != NULL || r->interface_spec.data != NULL || r->introduced_by.data != NULL ||
        r->via.data != NULL || r->reason.data != NULL || r->usage_hint.data != NULL ||
        r->has_written != 0) {
        extra = soc_alloc_zero(sizeof(*extra));
        soc_text_set(&extra->role, r->role);
        soc_text_set(&extra->interface_spec, r->interface_spec);
        soc_text_set(&extra->introduced_by, r->introduced_by);
        soc_text_set(&extra->via, r->via);
        soc_text_set(&extra->reason, r->reason);
        soc_text_set(&extra->usage_hint, r->usage_hint);
        extra->has_written = r->has_written != 0;
    }
    soc_contacts_put(&soc_registry_need(host, r->owner)->contacts, soc_registry_need(host, r->id),
                     (enum soc_source)r->source, (int64_t)r->time_ms, extra);
}

void soc_book_restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_AGENT)
        restore_agent(host, &record->agent);
    else if (record->type == SOC_RECORD_AGENT_END)
        soc_book_forget_agent(host, soc_registry_need(host, record->agent_end.id));
    else if (record->type == SOC_RECORD_CONTACT)
        restore_contact(host, &record->contact);
    else if (record->type == SOC_RECORD_CONTACT_END)
        soc_contacts_remove(&soc_registry_need(host, record->contact_end.owner)->contacts,
                            soc_registry_need(host, record->contact_end.id));
}
