/* Shape: what a JSON value must look like, as data.
 *
 * A shape lists the kinds a value may have, the texts it may be, the shape of list
 * elements, and the members of an object. Unlisted members are allowed; whoever reads
 * them checks them. A required member that is absent, null or "" is missing; an
 * optional one may be null.
 *
 * A check walks the JSON text once and allocates only to report a fault.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_SHAPE_H
#define SOC_MODEL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* K(tag, name, text for «must be …») */
#define SOC_SHAPE_MAP(K)                                                                           \
    K(STRING, "string", "a string")                                                                \
    K(NUMBER, "number", "a number")                                                                \
    K(INTEGER, "integer", "an integer")                                                            \
    K(BOOLEAN, "boolean", "true or false")                                                         \
    K(OBJECT, "object", "an object")                                                               \
    K(LIST, "list", "a list")                                                                      \
    K(ID, "id", "an id (1 to 64 of A-Z a-z 0-9 _ . -, the first a letter or digit)")               \
    K(TIME, "time", "an RFC 3339 time")

/* The kinds of values. */
enum soc_shape_kind {
#define K(tag, name, text) SOC_SHAPE_##tag,
    SOC_SHAPE_MAP(K) SOC_SHAPE_KIND_COUNT
#undef K
};

/* A set of kinds; 0: any value. */
#define SOC_SHAPE_BIT(kind) (1u << (kind))

/* Tests for ids and times, supplied by a higher layer. */
struct soc_shape_words {
    bool (*is_id)(struct soc_slice text);
    bool (*is_time)(struct soc_slice text);
};

struct soc_shape;

/* Why a value does not fit: the contents of two JSON lists of strings. An all-zero
 * struct is empty. Faults beyond SOC_SHAPE_FAULTS_MAX are not reported. */
struct soc_shape_report {
    struct soc_buf missing; /* names of missing members with their path: target_agent.id */
    struct soc_buf details; /* sentences */
    struct soc_buf path;    /* of the current value */
    size_t faults;
};

/* Returns the kind with that name; -1 if there is none. */
int soc_shape_kind_find(struct soc_slice name);

/* Returns a shape for values of these kinds. `words` must outlive it. Release with
 * soc_shape_free(). */
struct soc_shape *soc_shape_new(uint32_t kinds, const struct soc_shape_words *words);

/* Frees it and the shapes inside. NULL is allowed. */
void soc_shape_free(struct soc_shape *shape);

/* Replaces the set of kinds. */
void soc_shape_set_kinds(struct soc_shape *shape, uint32_t kinds);

/* Adds a text that a string may be; without any, all strings fit. */
void soc_shape_add_value(struct soc_shape *shape, struct soc_slice value);

/* Lends the shape of list elements, which initially accepts any value. */
struct soc_shape *soc_shape_items(struct soc_shape *shape);

/* Adds a member of an object and lends its shape, which initially accepts any value;
 * NULL beyond SOC_SHAPE_FIELDS_MAX. Missing members are reported in the order of these
 * calls. */
struct soc_shape *soc_shape_add_field(struct soc_shape *shape, struct soc_slice name,
                                      bool is_required);

/* Returns true if an object must have that member. */
bool soc_shape_needs(const struct soc_shape *shape, struct soc_slice name);

/* Returns true if the JSON value, without surrounding white space, fits. With `report`
 * NULL it stops at the first fault; otherwise it reports each. */
bool soc_shape_fits(const struct soc_shape *shape, struct soc_slice value,
                    struct soc_shape_report *report);

/* Adds a fault: a sentence, and the name of the missing member unless absent. */
void soc_shape_report_add(struct soc_shape_report *report, struct soc_slice missing,
                          struct soc_slice detail);

/* Empties the report but keeps its memory. */
void soc_shape_report_clear(struct soc_shape_report *report);

/* Frees the report's memory and empties it. */
void soc_shape_report_fini(struct soc_shape_report *report);

#endif
