#include "model/contacts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* Up to this count a linear search is as fast as a hash. */
#define FEW_MAX 8

static const char *const source_names[SOC_SOURCE_COUNT] = {
    "system", "parent", "child", "preset", "introduction", "first_message", "manual",
};

struct soc_contact_extra *soc_contact_extra_copy(const struct soc_contact_extra *extra)
{
    if (extra == NULL)
        return NULL;
    struct soc_contact_extra *copy = soc_alloc_zero(sizeof(*copy));
    if (extra->role != NULL)
        copy->role = soc_copy_text(extra->role, strlen(extra->role));
    if (extra->interface_spec != NULL)
        copy->interface_spec = soc_copy_text(extra->interface_spec, strlen(extra->interface_spec));
    if (extra->introduced_by != NULL)
        copy->introduced_by = soc_copy_text(extra->introduced_by, strlen(extra->introduced_by));
    if (extra->via != NULL)
        copy->via = soc_copy_text(extra->via, strlen(extra->via));
    if (extra->reason != NULL)
        copy->reason = soc_copy_text(extra->reason, strlen(extra->reason));
    if (extra->usage_hint != NULL)
        copy->usage_hint = soc_copy_text(extra->usage_hint, strlen(extra->usage_hint));
    copy->has_written = extra->has_written;
    return copy;
}

void soc_contact_extra_free(struct soc_contact_extra *extra)
{
    if (extra == NULL)
        return;
    free(extra->role);
    free(extra->interface_spec);
    free(extra->introduced_by);
    free(extra->via);
    free(extra->reason);
    free(extra->usage_hint);
    free(extra);
}

void soc_contacts_fini(struct soc_contacts *contacts)
{
    for (uint32_t i = 0; i < contacts->count; i++)
        soc_contact_extra_free(contacts->items[i].extra);
    free(contacts->items);
    free(contacts->slots);
    *contacts = (struct soc_contacts){0};
}

static uint32_t slot_of(const struct soc_contacts *contacts, const struct soc_agent *peer)
{
    return (uint32_t)soc_hash_number((uint64_t)(uintptr_t)peer) & (contacts->slot_count - 1);
}

static void index_item(struct soc_contacts *contacts, uint32_t number)
{
    uint32_t slot = slot_of(contacts, contacts->items[number].peer);
    while (contacts->slots[slot] != 0)
        slot = (slot + 1) & (contacts->slot_count - 1);
    contacts->slots[slot] = number + 1;
}

static void rebuild_index(struct soc_contacts *contacts)
{
    free(contacts->slots);
    contacts->slots = NULL;
    contacts->slot_count = 0;
    if (contacts->capacity <= FEW_MAX)
        return;
    contacts->slot_count = 32;
    while (contacts->slot_count < contacts->capacity * 2)
        contacts->slot_count *= 2;
    contacts->slots = soc_alloc_zero(contacts->slot_count * sizeof(*contacts->slots));
    for (uint32_t i = 0; i < contacts->count; i++)
        index_item(contacts, i);
}

/* Returns the slot that holds `value`, the item number of `peer` plus 1. */
static uint32_t find_slot(const struct soc_contacts *contacts, const struct soc_agent *peer,
                          uint32_t value)
{
    uint32_t slot = slot_of(contacts, peer);
    while (contacts->slots[slot] != value)
        slot = (slot + 1) & (contacts->slot_count - 1);
    return slot;
}

/* Removes item `number` from the hash and closes the gap in its probe sequence. */
static void unindex_item(struct soc_contacts *contacts, uint32_t number)
{
    uint32_t mask = contacts->slot_count - 1;
    uint32_t hole = find_slot(contacts, contacts->items[number].peer, number + 1);
    for (uint32_t at = (hole + 1) & mask; contacts->slots[at] != 0; at = (at + 1) & mask) {
        uint32_t home = slot_of(contacts, contacts->items[contacts->slots[at] - 1].peer);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        contacts->slots[hole] = contacts->slots[at];
        hole = at;
    }
    contacts->slots[hole] = 0;
}

struct soc_contact *soc_contacts_find(const struct soc_contacts *contacts,
                                      const struct soc_agent *peer)
{
    if (contacts->slots == NULL) {
        for (uint32_t i = 0; i < contacts->count; i++)
            if (contacts->items[i].peer == peer)
                return &contacts->items[i];
        return NULL;
    }
    uint32_t slot = slot_of(contacts, peer);
    while (contacts->slots[slot] != 0) {
        struct soc_contact *contact = &contacts->items[contacts->slots[slot] - 1];
        if (contact->peer == peer)
            return contact;
        slot = (slot + 1) & (contacts->slot_count - 1);
    }
    return NULL;
}

/* Most agents have one contact, so the first allocation is for one. */
static void grow(struct soc_contacts *contacts)
{
    contacts->capacity = contacts->capacity == 0 ? 1 : contacts->capacity * 2;
    contacts->items = soc_realloc(contacts->items, contacts->capacity * sizeof(*contacts->items));
    rebuild_index(contacts);
}

struct soc_contact *soc_contacts_put(struct soc_contacts *contacts, struct soc_agent *peer,
                                     enum soc_source source, int64_t added_ms,
                                     struct soc_contact_extra *extra)
{
    assert(peer != NULL);
    struct soc_contact *contact = soc_contacts_find(contacts, peer);
    if (contact == NULL) {
        if (contacts->count == contacts->capacity)
            grow(contacts);
        contact = &contacts->items[contacts->count++];
        *contact = (struct soc_contact){.peer = peer};
        if (contacts->slots != NULL)
            index_item(contacts, contacts->count - 1);
    }
    if (contact->extra != extra)
        soc_contact_extra_free(contact->extra);
    contact->extra = extra;
    contact->added_ms = added_ms;
    contact->source = (uint8_t)source;
    contact->verdict_generation = 0;
    return contact;
}

bool soc_contacts_remove(struct soc_contacts *contacts, const struct soc_agent *peer)
{
    struct soc_contact *contact = soc_contacts_find(contacts, peer);
    if (contact == NULL)
        return false;
    soc_contact_extra_free(contact->extra);
    uint32_t number = (uint32_t)(contact - contacts->items);
    if (contacts->slots != NULL)
        unindex_item(contacts, number);
    memmove(contact, contact + 1, (contacts->count - number - 1) * sizeof(*contact));
    contacts->count--;
    for (uint32_t i = number; contacts->slots != NULL && i < contacts->count; i++)
        contacts->slots[find_slot(contacts, contacts->items[i].peer, i + 2)] = i + 1;
    return true;
}

void soc_contacts_move(struct soc_contacts *contacts, const struct soc_agent *peer, uint32_t number)
{
    struct soc_contact *contact = soc_contacts_find(contacts, peer);
    assert(contact != NULL && number < contacts->count);
    uint32_t old = (uint32_t)(contact - contacts->items);
    if (old == number)
        return;
    struct soc_contact moved = *contact;
    if (old > number)
        memmove(contacts->items + number + 1, contacts->items + number,
                (old - number) * sizeof(moved));
    else
        memmove(contacts->items + old, contacts->items + old + 1, (number - old) * sizeof(moved));
    contacts->items[number] = moved;
    rebuild_index(contacts);
}

const char *soc_source_name(enum soc_source source)
{
    assert(source < SOC_SOURCE_COUNT);
    return source_names[source];
}

bool soc_source_parse(struct soc_slice text, enum soc_source *source)
{
    for (int i = 0; i < SOC_SOURCE_COUNT; i++) {
        if (soc_slice_equal(text, soc_slice_text(source_names[i]))) {
            *source = (enum soc_source)i;
            return true;
        }
    }
    return false;
}
