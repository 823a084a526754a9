/* Policy texts: the files a policy names, read for it.
 *
 * A policy opens no files. One that needs long texts names them in its table,
 * `texts = { root = "zh/root.txt" }`; when its file is loaded, their contents take
 * the names' place.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_POLICY_TEXTS_H
#define SOC_SCRIPT_POLICIES_POLICY_TEXTS_H

#include "script/policies/policy.h"
#include "script/turns/box.h"

/* Reads the texts of the policy on top of the stack, which came from the file at
 * `path`. A text is looked for in the folder of the policy's kind beside the app,
 * then beside the policy's file; its name leads down from there, never up. SOC_OK
 * also if there are none; else `detail` names the text. The stack stays as it is.
 * `hash`, that of the policy's own file, becomes that of all of them. */
int soc_policy_texts(lua_State *L, const struct soc_script *script, const char *path,
                     char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail);

/* Calls `each` with the path of every text that was read for the policy at `index`,
 * in the order in which they count for its hash. */
void soc_policy_each_text(lua_State *L, int index, void (*each)(void *user, const char *path),
                          void *user);

#endif
