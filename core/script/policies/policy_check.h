/* Policy check: what is wrong with a policy, for its author.
 *
 * The same checks decide whether a policy is let in, where the first error is
 * enough, and make the report of `society check`, which wants all of them and what
 * is only strange as well.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_CHECK_H
#define SOC_SCRIPT_POLICIES_POLICY_CHECK_H

#include <lua.h>

#include "base/err.h"
#include "script/policies/kinds.h"

/* Gets what is found, one by one. */
struct soc_policy_report {
    /* `line` is in the policy's file; 0: there is none. */
    void (*found)(struct soc_policy_report *report, int line, bool is_warning, const char *text);
    void *user;
    bool is_whole; /* goes on after an error, and warns */
    int errors;    /* found so far */
    int examples;  /* run so far */
};

/* Reports on the table at `index`: its shape and its examples. */
void soc_policy_check_table(lua_State *L, int index, const struct soc_policy_shape *shape,
                            struct soc_policy_report *report);

/* Checks the shape of the table at `index` and runs its examples. `detail` begins
 * with FILE:LINE if the shape has a path. */
int soc_policy_check(lua_State *L, int index, const struct soc_policy_shape *shape,
                     struct soc_detail *detail);

/* Counts and reports one finding. */
void soc_policy_found(struct soc_policy_report *report, int line, bool is_warning,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
