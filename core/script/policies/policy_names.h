/* Policy names: which policies of a kind there are to put in force.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_NAMES_H
#define SOC_SCRIPT_POLICIES_POLICY_NAMES_H

#include "base/buf.h"

struct soc_script;

/* Appends a JSON list of the names of the app's and the shipped policies of that kind, in
 * order of the alphabet, each once: of two with one name the app's is meant. */
void soc_policy_names_put(const struct soc_script *script, const char *kind, struct soc_buf *out);

#endif
