/* Contacts: the agents one agent knows, in the order it met them.
 *
 * Short lists are searched linearly, long ones through a hash, so the parent of a
 * million children finds each as fast as anybody else.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_CONTACTS_H
#define SOC_MODEL_CONTACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_agent;

/* How an agent came to know another. Stored: never change the values. */
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

/* Details of an entry beyond its source; most have none. Texts are owned, NULL if
 * absent. */
struct soc_contact_extra {
    char *role;           /* the role's name, if it was set explicitly */
    char *interface_spec; /* JSON */
    char *introduced_by;  /* an id */
    char *via;            /* JSON list of ids */
    char *reason;         /* why the contact was requested, or what it is for */
    char *usage_hint;     /* how to work with it, from whoever introduced it */
    bool has_written;     /* it was known by its first message before it was introduced */
};

/* One entry. */
struct soc_contact {
    struct soc_agent *peer;          /* lent */
    struct soc_contact_extra *extra; /* owned, or NULL */
    int64_t added_ms;
    uint32_t verdict_generation; /* of the policy that set `is_allowed`; 0: not asked */
    uint8_t source;
    bool is_allowed; /* cached answer of the contacts policy */
};

/* An all-zero struct is empty. */
struct soc_contacts {
    struct soc_contact *items; /* in order of acquaintance */
    uint32_t *slots;           /* hash of item numbers + 1; NULL while the list is short */
    uint32_t count;
    uint32_t capacity;
    uint32_t slot_count;
    uint32_t recent; /* number of the entry last written to, if it still exists */
};

/* Frees everything. */
void soc_contacts_fini(struct soc_contacts *contacts);

/* Lends the entry for `peer`, or NULL. Valid until the next put or remove. */
struct soc_contact *soc_contacts_find(const struct soc_contacts *contacts,
                                      const struct soc_agent *peer);

/* Sets the entry for `peer` and takes `extra`. An existing entry keeps its position. */
struct soc_contact *soc_contacts_put(struct soc_contacts *contacts, struct soc_agent *peer,
                                     enum soc_source source, int64_t added_ms,
                                     struct soc_contact_extra *extra);

/* Removes the entry for `peer`; false if there is none. The cost is linear in the
 * number of entries after it. */
bool soc_contacts_remove(struct soc_contacts *contacts, const struct soc_agent *peer);

/* Moves the entry for `peer`, which must exist, to position `number`. Used to undo a
 * removal. */
void soc_contacts_move(struct soc_contacts *contacts, const struct soc_agent *peer,
                       uint32_t number);

/* Copies `extra`. NULL is allowed. */
struct soc_contact_extra *soc_contact_extra_copy(const struct soc_contact_extra *extra);

/* Frees an extra. NULL is allowed. */
void soc_contact_extra_free(struct soc_contact_extra *extra);

/* Lends the name of a source. */
const char *soc_source_name(enum soc_source source);

/* Parses the name of a source; false if it is unknown. */
bool soc_source_parse(struct soc_slice text, enum soc_source *source);

#endif
