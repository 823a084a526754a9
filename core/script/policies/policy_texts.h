/* Policy texts: reads the text files that a policy names.
 *
 * A policy opens no files. One that needs long texts names them in its table, `texts =
 * { root = "zh/root.txt" }`; when its file is loaded, the contents replace the names.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_TEXTS_H
#define SOC_SCRIPT_POLICIES_POLICY_TEXTS_H

#include "script/policies/policy.h"
#include "script/turns/box.h"

/* Reads the texts of the policy on top of the stack, which came from the file at
 * `path`. A text is searched in the folder of the policy's kind next to the app, then
 * next to the policy's file; its name leads down from there, never up. SOC_OK even if
 * there are none; on an error `detail` names the text. The stack is unchanged. `hash`,
 * that of the policy's own file, is extended by the texts. */
int soc_policy_texts(lua_State *L, const struct soc_script *script, const char *path,
                     char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail);

/* Calls `each` with the path of every text read for the policy at `index`, in the order
 * of the hash. */
void soc_policy_each_text(lua_State *L, int index, void (*each)(void *user, const char *path),
                          void *user);

#endif
