/* Contacts: whom one agent knows, in the order it met them.
 *
 * Few contacts are searched one by one; many by a hash of their own, so that the
 * parent of a million children finds one as fast as anybody.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_CONTACTS_H
#define SOC_MODEL_CONTACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_agent;

/* How an agent came to know another. Stored: values are for ever. */
enum soc_source {
    SOC_SOURCE_SYSTEM,
    SOC_SOURCE_PARENT,
    SOC_SOURCE_CHILD,
    SOC_SOURCE_PRESET,
    SOC_SOURCE_INTRODUCTION,
    SOC_SOURCE_FIRST_MESSAGE,
    SOC_SOURCE_MANUAL,
    SOC_SOURCE_COUNT,
};

/* What an entry says beyond its source; most have none of it. Texts are owned,
 * NULL where absent. */
struct soc_contact_extra {
    char *role;           /* the role's name, where it was given by hand */
    char *interface_spec; /* JSON */
    char *introduced_by;  /* an id */
    char *via;            /* JSON list of ids */
    char *reason;         /* why it was sought, or what it was given for */
};

/* Somebody an agent knows. */
struct soc_contact {
    struct soc_agent *peer;          /* lent */
    struct soc_contact_extra *extra; /* owned, or NULL */
    int64_t added_ms;
    uint32_t verdict_generation; /* of the policy that gave `is_allowed`; 0: not asked */
    uint8_t source;
    bool is_allowed; /* cached answer of the contacts policy */
};

/* All-zero: nobody is known. */
struct soc_contacts {
    struct soc_contact *items; /* in order of acquaintance */
    uint32_t *slots;           /* hash of item numbers + 1; NULL while there are few */
    uint32_t count;
    uint32_t capacity;
    uint32_t slot_count;
    uint32_t recent; /* number of the entry that was written to last, if it is still there */
};

/* Frees everything. */
void soc_contacts_fini(struct soc_contacts *contacts);

/* Lends the entry for `peer`, or NULL. Valid until the next put or remove. */
struct soc_contact *soc_contacts_find(const struct soc_contacts *contacts,
                                      const struct soc_agent *peer);

/* Sets the entry for `peer`, taking `extra`; an older entry keeps its place. */
struct soc_contact *soc_contacts_put(struct soc_contacts *contacts, struct soc_agent *peer,
                                     enum soc_source source, int64_t added_ms,
                                     struct soc_contact_extra *extra);

/* Removes the entry for `peer`; false if there was none. It costs as much as there
 * are entries behind it: none for the last one. */
bool soc_contacts_remove(struct soc_contacts *contacts, const struct soc_agent *peer);

/* Gives the entry for `peer`, which must be there, the place `number` in the
 * order: for one whose removal is taken back. */
void soc_contacts_move(struct soc_contacts *contacts, const struct soc_agent *peer,
                       uint32_t number);

/* Returns a copy of `extra`, which may be NULL. */
struct soc_contact_extra *soc_contact_extra_copy(const struct soc_contact_extra *extra);

/* Frees an extra. NULL is allowed. */
void soc_contact_extra_free(struct soc_contact_extra *extra);

/* Lends the name of a source. */
const char *soc_source_name(enum soc_source source);

/* Reads a source's name; false if it is none. */
bool soc_source_parse(struct soc_slice text, enum soc_source *source);

#endif
