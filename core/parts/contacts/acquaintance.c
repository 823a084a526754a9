#include "parts/contacts/acquaintance.h"

#include <assert.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "parts/contacts/book.h"

void soc_acquaint_by_message(struct soc_host *host, const struct soc_message *message)
{
    struct soc_agent *from = message->from;
    struct soc_agent *to = message->to;
    if (from == NULL || from == to || to->is_ended || message->flags & SOC_MESSAGE_IS_FORMAL ||
        soc_contacts_find(&to->contacts, from) != NULL)
        return;
    soc_book_write(host, to, from, SOC_SOURCE_FIRST_MESSAGE, message->time_ms, NULL);
}

static void fill(char **place, struct soc_slice text)
{
    if (*place == NULL)
        soc_text_set(place, text);
}

void soc_acquaint_by_introduction(struct soc_host *host, struct soc_agent *owner,
                                  struct soc_agent *peer, const struct soc_acquaintance *how)
{
    if (owner == peer || owner->is_ended)
        return;
    const struct soc_contact *known = soc_contacts_find(&owner->contacts, peer);
    struct soc_contact_extra *extra = soc_contact_extra_copy(known == NULL ? NULL : known->extra);
    if (extra == NULL)
        extra = soc_alloc_zero(sizeof(*extra));
    fill(&extra->role, how->role);
    fill(&extra->interface_spec, how->interface_spec);
    fill(&extra->introduced_by, soc_agent_id(how->by));
    fill(&extra->via, how->via);
    fill(&extra->reason, how->reason);
    fill(&extra->usage_hint, how->usage_hint);
    bool has_written = known != NULL && known->source == SOC_SOURCE_FIRST_MESSAGE;
    extra->has_written |= has_written;
    enum soc_source source =
        known == NULL || has_written ? SOC_SOURCE_INTRODUCTION : (enum soc_source)known->source;
    int64_t added_ms = known == NULL ? soc_host_now(host) : known->added_ms;
    soc_book_write(host, owner, peer, source, added_ms, extra);
}

/* Has the current turn already written to `to`? */
static bool has_written(const struct soc_host *host, const struct soc_agent *to)
{
    const struct soc_message *message = host->turn.sent.first;
    while (message != NULL && message->to != to)
        message = message->next;
    return message != NULL;
}

/* Has `to` made itself known to `from` by a message? */
static bool was_written_to(const struct soc_agent *from, const struct soc_agent *to)
{
    const struct soc_contact *contact = soc_contacts_find(&from->contacts, to);
    return contact != NULL && (contact->source == SOC_SOURCE_FIRST_MESSAGE ||
                               (contact->extra != NULL && contact->extra->has_written));
}

bool soc_acquaint_is_first(const struct soc_host *host, const struct soc_agent *from,
                           const struct soc_agent *to, const struct soc_send *send)
{
    return from != NULL && !from->is_remote && from != to && !soc_registry_is_all(to) &&
           from != host->registry.user && to != host->registry.user && from->parent != to &&
           to->parent != from && send->answers == NULL && send->answers_key == 0 &&
           !send->is_formal && send->payload.data[0] == '{' &&
           soc_contacts_find(&to->contacts, from) == NULL && !was_written_to(from, to) &&
           !has_written(host, to);
}

/* Sets member `name` of the JSON in `object` to a text. */
static void set_text(struct soc_buf *object, const char *name, struct soc_slice text)
{
    struct soc_buf value = {0};
    struct soc_buf changed = {0};
    soc_json_put_string(&value, text);
    soc_json_put_changed(&changed, soc_buf_slice(object), name, soc_buf_slice(&value));
    object->length = 0;
    soc_buf_put_slice(object, soc_buf_slice(&changed));
    soc_buf_fini(&value);
    soc_buf_fini(&changed);
}

/* The same unless the member already exists. */
static void add_text(struct soc_buf *object, const char *name, struct soc_slice text)
{
    if (text.data != NULL && soc_json_member(soc_buf_slice(object), name).data == NULL)
        set_text(object, name, text);
}

/* Adds the sender's purpose: the objective of its brief, otherwise its role's services. */
static void add_duty(struct soc_buf *object, const struct soc_agent *from)
{
    struct soc_buf duty = {0};
    struct soc_slice text = {0};
    if (from->brief != NULL)
        text = soc_json_member(soc_slice(from->brief, from->brief_length), "objective");
    if (text.data == NULL && from->role->interface_spec != NULL)
        text = soc_json_member(soc_slice_text(from->role->interface_spec), "services");
    if (text.data != NULL && soc_json_string(text, &duty))
        add_text(object, "duty", soc_buf_slice(&duty));
    soc_buf_fini(&duty);
}

void soc_acquaint_correct_role(const struct soc_agent *from, struct soc_slice payload,
                               struct soc_buf *out)
{
    struct soc_buf object = {0};
    soc_buf_put_slice(&object, soc_json_member(payload, "self_introduction"));
    assert(object.length > 0 && object.data[0] == '{');
    set_text(&object, "role", soc_slice_text(from->role->name));
    soc_json_put_changed(out, payload, "self_introduction", soc_buf_slice(&object));
    soc_buf_fini(&object);
}

void soc_acquaint_introduce_self(const struct soc_agent *from, const struct soc_agent *to,
                                 struct soc_slice payload, struct soc_buf *out)
{
    assert(from != to && payload.length > 0 && payload.data[0] == '{');
    struct soc_slice given = soc_json_member(payload, "self_introduction");
    assert(given.data == NULL || given.data[0] == '{');
    struct soc_buf object = {0};
    soc_buf_put_slice(&object, given.data != NULL ? given : SOC_SLICE("{}"));
    set_text(&object, "role",
             soc_slice_text(from->role->name)); /* no agent may claim another role */
    add_duty(&object, from);
    const struct soc_contact *contact = soc_contacts_find(&from->contacts, to);
    if (contact != NULL && contact->extra != NULL)
        add_text(&object, "reason", soc_slice_text(contact->extra->reason));
    soc_json_put_changed(out, payload, "self_introduction", soc_buf_slice(&object));
    soc_buf_fini(&object);
}
