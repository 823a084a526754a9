/* Shape: what a JSON value must look like, as data.
 *
 * A shape names the kinds a value may be of, the texts it may have, what the
 * elements of a list must be and which members an object has and needs. Members
 * it does not name are let pass: they belong to whoever reads them. A member that
 * is absent, null or "" counts as missing; one that is not needed may be null.
 *
 * Checking walks the JSON text once and allocates nothing unless there is a fault
 * to be told.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_SHAPE_H
#define SOC_MODEL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/*  K(tag, name, what is said of a value that is none) */
#define SOC_SHAPE_MAP(K)                                                                           \
    K(STRING, "string", "a string")                                                                \
    K(NUMBER, "number", "a number")                                                                \
    K(INTEGER, "integer", "an integer")                                                            \
    K(BOOLEAN, "boolean", "true or false")                                                         \
    K(OBJECT, "object", "an object")                                                               \
    K(LIST, "list", "a list")                                                                      \
    K(ID, "id", "an id (1 to 64 of A-Z a-z 0-9 _ . -, the first a letter or digit)")               \
    K(TIME, "time", "an RFC 3339 time")

/* What a value may be. */
enum soc_shape_kind {
#define K(tag, name, text) SOC_SHAPE_##tag,
    SOC_SHAPE_MAP(K) SOC_SHAPE_KIND_COUNT
#undef K
};

/* A set of kinds; 0 means any value. */
#define SOC_SHAPE_BIT(kind) (1u << (kind))

/* What is an id and what is a time is known to a higher layer. */
struct soc_shape_words {
    bool (*is_id)(struct soc_slice text);
    bool (*is_time)(struct soc_slice text);
};

struct soc_shape;

/* Why a value does not fit: the inside of two JSON lists of strings. An all-zero
 * struct is an empty report. After SOC_SHAPE_FAULTS_MAX faults no more are told. */
struct soc_shape_report {
    struct soc_buf missing; /* names of members, with their path: target_agent.id */
    struct soc_buf details; /* sentences */
    struct soc_buf path;    /* of the value being looked at */
    size_t faults;
};

/* Returns the kind of that name, -1 if there is none. */
int soc_shape_kind_find(struct soc_slice name);

/* Returns a shape for values of these kinds. `words` is lent for its lifetime.
 * Release with soc_shape_free(). */
struct soc_shape *soc_shape_new(uint32_t kinds, const struct soc_shape_words *words);

/* Frees it and the shapes inside. NULL is allowed. */
void soc_shape_free(struct soc_shape *shape);

/* Says anew of which kinds a value may be. */
void soc_shape_set_kinds(struct soc_shape *shape, uint32_t kinds);

/* Adds a text that a string may be; without any it may be all. */
void soc_shape_add_value(struct soc_shape *shape, struct soc_slice value);

/* Lends the shape that every element of a list must have, at first any value. */
struct soc_shape *soc_shape_items(struct soc_shape *shape);

/* Adds a member of an object and lends its shape, at first for any value; NULL
 * beyond SOC_SHAPE_FIELDS_MAX. Missing members are told in the order of these
 * calls. */
struct soc_shape *soc_shape_add_field(struct soc_shape *shape, struct soc_slice name,
                                      bool is_required);

/* Tells whether an object has that member and needs it. */
bool soc_shape_needs(const struct soc_shape *shape, struct soc_slice name);

/* Tells whether the JSON value fits; a string has no white space around. With `report` NULL it
 * stops at the first fault; else every one is told. */
bool soc_shape_fits(const struct soc_shape *shape, struct soc_slice value,
                    struct soc_shape_report *report);

/* Adds a fault: a sentence, and the name of what is missing unless absent. */
void soc_shape_report_add(struct soc_shape_report *report, struct soc_slice missing,
                          struct soc_slice detail);

/* Empties the report and keeps its memory. */
void soc_shape_report_clear(struct soc_shape_report *report);

/* Frees what the report holds and leaves an empty one. */
void soc_shape_report_fini(struct soc_shape_report *report);

#endif
