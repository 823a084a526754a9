--- Prompts: the system prompt of an agent, in English.
--
-- For root root.txt, for all base.txt; then the role's prompt and Interface Spec, the
-- Task Brief, the contacts and tools.txt.

local prompts = require("society.prompts")

local M = {
  kind = "prompts", version = 1, defaults = {},
  texts = { root = "en/root.txt", base = "en/base.txt", tools = "en/tools.txt" },
}

local WORDS = {
  role = "# Your role", interface = "# Your Interface Spec",
  contact_rules = {
    strict = "You can write only to your contacts. A message to a stranger is refused "
      .. "(`unknown_contact`). Do not make up ids.",
    open = "You can write to any agent, not only to your contacts. Do not make up ids.",
    other = "The society decides which agents you can write to; a message to any other is refused "
      .. "(`unknown_contact`). Do not make up ids.",
  },
}

function M.system(request)
  return prompts.system(request, M.texts, WORDS), "en"
end

local ROOT = {
  agent = { id = "root", role = "root" }, role = { id = "root", name = "root", prompt = "" },
  is_root = true, contacts_text = "# Contacts",
}
local CHILD = {
  agent = { id = "p1", role = "programmer", parent = "root" },
  role = { id = "programmer", name = "Coder", prompt = "Write {{name}} programs." },
  is_root = false, brief_text = "# Task Brief", contacts_text = "# Contacts",
}

-- The texts may be an app's own: the examples speak only of what is put between them.
M.examples = {
  { ask = "system", given = { ROOT }, contains = { "# Contacts" } },
  { ask = "system", given = { CHILD }, contains = {
    "# Your role\nWrite {{name}} programs.\n\n# Task Brief\n\n# Contacts",
  } },
}

return M
