/* Policy audit: reports everything that is wrong with a policy's file.
 *
 * For `society check`, which reports all errors and warnings with their lines and
 * activates nothing.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_AUDIT_H
#define SOC_SCRIPT_POLICIES_POLICY_AUDIT_H

#include <stdbool.h>

#include "base/err.h"

struct soc_script;

/* Receives a finding; `line` is in the policy's file, from 1. */
typedef void soc_policy_audit_cb(void *user, int line, bool is_warning, const char *text);

/* Checks the policy in the file at `path` and calls `found` for each error and warning.
 * Returns the number of errors; `summary` gets a few words about a policy without any. */
int soc_policy_audit(struct soc_script *script, const char *path, soc_policy_audit_cb *found,
                     void *user, struct soc_detail *summary);

#endif
