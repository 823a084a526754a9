// What an error means, in a sentence of the reader's language.

import { has, t } from "./words.js";

/** The sentence of its code, else of its status. */
export function explain(error) {
  for (const key of [`failed.${error.code}`, `error.${error.status}`]) if (has(key)) return t(key);
  return t("failed.other", { code: error.code ?? "" });
}
