/* Policy check: finds what is wrong with a policy.
 *
 * The same checks decide whether a policy is activated, where the first error suffices,
 * and make the report of `society check`, which lists all errors and warnings.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_CHECK_H
#define SOC_SCRIPT_POLICIES_POLICY_CHECK_H

#include <lua.h>

#include "base/err.h"
#include "script/policies/kinds.h"

/* Receives the findings. */
struct soc_policy_report {
    /* `line` is in the policy's file; 0: unknown. */
    void (*found)(struct soc_policy_report *report, int line, bool is_warning, const char *text);
    void *user;
    bool is_whole; /* continue after an error, and warn */
    int errors;    /* found so far */
    int examples;  /* run so far */
};

/* Checks the shape of the table at `index` and its examples. */
void soc_policy_check_table(lua_State *L, int index, const struct soc_policy_shape *shape,
                            struct soc_policy_report *report);

/* The same, but stops at the first error. `detail` begins with FILE:LINE if the shape
 * has a path. */
int soc_policy_check(lua_State *L, int index, const struct soc_policy_shape *shape,
                     struct soc_detail *detail);

/* Counts and reports one finding. */
void soc_policy_found(struct soc_policy_report *report, int line, bool is_warning,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
