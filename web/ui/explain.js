// What an error means, in a sentence of the reader's language.

import { has, lang, t } from "./words.js";

// Where the sentence of the host says what exactly was wrong.
const EXACT = new Set([
  "forbidden",
  "invalid_brief",
  "invalid_message_format",
  "no_permission",
  "no_such_file",
  "nondeterministic",
  "not_possible",
  "policy_refused",
  "refused",
  "script_error",
  "storage_failed",
  "too_large",
]);

/** The sentence of its code, else of its status. */
export function explain(error) {
  for (const key of [`failed.${error.code}`, `error.${error.status}`]) if (has(key)) return t(key);
  return t("failed.other", { code: error.code ?? "" });
}

/** What the host says about it. Its sentences are English: to those who read another language it
 *  is shown only where it says more than ours. */
export function exactly(error) {
  const isSaid = lang !== "en" && has(`failed.${error.code}`) && !EXACT.has(error.code);
  return isSaid ? "" : error.message;
}
