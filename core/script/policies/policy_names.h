/* Policy names: which policies of a kind there are to put in force.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_NAMES_H
#define SOC_SCRIPT_POLICIES_POLICY_NAMES_H

#include "base/buf.h"

/* Appends a JSON list of the names of the policies of that kind in the app's folder and in that
 * of the program, either of which may be NULL, in order of the alphabet, each once: of two with
 * one name the app's is meant. */
void soc_policy_names_put(const char *app_dir, const char *home, const char *kind,
                          struct soc_buf *out);

#endif
