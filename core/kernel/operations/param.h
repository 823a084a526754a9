/* Param: a parameter of an operation or a member of its answer, declared as data, and
 * whether a value fits it.
 *
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_PARAM_H
#define SOC_KERNEL_OPERATIONS_PARAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/*  K(tag, name): kinds of parameters and of members of answers. */
#define SOC_PARAM_MAP(K)                                                                           \
    K(TEXT, "text")         /* `least` to `most` bytes, without NUL */                             \
    K(ID, "message id")     /* the id of a message */                                              \
    K(INTEGER, "integer")   /* `least` to `most` */                                                \
    K(NUMBER, "number")     /* `least` to `most` */                                                \
    K(FLAG, "flag")         /* true or false */                                                    \
    K(TIME, "time")         /* RFC 3339; a parameter may also be ms since 1970 */                  \
    K(CHOICE, "choice")     /* one of `choices` */                                                 \
    K(JSON, "json")         /* any value but null */                                               \
    K(OBJECT, "object")     /* an object */                                                        \
    K(LIST, "list")         /* a list */                                                           \
    K(RECEIVER, "receiver") /* an id, All, or a list of ids */

/* The kinds. */
enum soc_param_kind {
#define K(tag, name) SOC_PARAM_##tag,
    SOC_PARAM_MAP(K) SOC_PARAM_KIND_COUNT
#undef K
};

/* A parameter, or a member of an answer. A parameter that is null is absent. */
struct soc_param {
    const char *name;
    enum soc_param_kind kind;
    bool is_needed;
    int64_t least;              /* bounds of numbers, in bytes of texts */
    int64_t most;               /* 0 with a `least` of 0: no bounds */
    const char *const *choices; /* ends with NULL; of a text, `run` checks them */
    const char *alias;          /* another name for it; NULL: none */
    const char *summary;
};

/* Lends the name of a kind. */
const char *soc_param_kind_name(enum soc_param_kind kind);

/* Tells whether a value is missing or null. */
bool soc_param_is_absent(struct soc_slice value);

/* Tells whether a value is a time, and which: RFC 3339, or ms since 1970. */
bool soc_param_time(struct soc_slice value, struct soc_buf *scratch, int64_t *time_ms);

/* Lends the text of a value, unescaped into `texts`; absent if it is none. */
struct soc_slice soc_param_text(struct soc_slice value, struct soc_buf *texts);

#define SOC_PARAMS_MAX 24 /* members of an object that are found once */

/* An object of parameters and its members, found once: an operation looks for each of its
 * parameters several times. */
struct soc_params {
    struct soc_slice object; /* lent */
    size_t count;            /* SOC_PARAMS_MAX + 1: there are more; they are looked for */
    struct soc_slice names[SOC_PARAMS_MAX]; /* as in JSON, still escaped */
    struct soc_slice values[SOC_PARAMS_MAX];
};

/* Finds the members of an object that was checked. */
void soc_params_read(struct soc_params *params, struct soc_slice object);

/* Lends the value of a parameter, under its name or its alias. */
struct soc_slice soc_param_value(const struct soc_param *param, const struct soc_params *params);

/* Lends the name of the parameter if it is missing or does not fit, its alias if it is given
 * twice; NULL: it is in order. */
const char *soc_param_find_fault(const struct soc_param *param, const struct soc_params *params,
                                 struct soc_buf *scratch);

/* Writes the sentence about a parameter at fault, whose name soc_param_find_fault has lent:
 * what it must be, that it is missing, or that it is given twice. */
void soc_param_put_fault(const struct soc_param *param, const struct soc_params *params,
                         const char *fault, struct soc_buf *out);

/* Tells whether a name (as in JSON, still escaped) is that of the parameter. */
bool soc_param_is_named(const struct soc_param *param, struct soc_slice name);

#endif
