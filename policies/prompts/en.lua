--- Prompts: the system prompt of an agent, in English.
--
-- For root root.txt, for all base.txt; then the role's prompt and Interface Spec, the
-- Task Brief, the contacts and tools.txt.

local prompts = require("society.prompts")

local M = {
  kind = "prompts", version = 1, defaults = {},
  texts = { root = "en/root.txt", base = "en/base.txt", tools = "en/tools.txt" },
}

local WORDS = { role = "# Your role", interface = "# Your Interface Spec" }

function M.system(request)
  return prompts.system(request, M.texts, WORDS)
end

--- Tells whether the prompt has a text in it, for the examples: the whole is too long.
function M.has(request, part)
  return M.system(request):find(part, 1, true) ~= nil
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

M.examples = {
  { ask = "has", given = { ROOT, "You are root, the first agent" }, expect = true },
  { ask = "has", given = { ROOT, "(role id: root), and your superior is user." }, expect = true },
  { ask = "has", given = { CHILD, "You are root, the first agent" }, expect = false },
  { ask = "has", given = { CHILD, "Your id is p1, your role is Coder" }, expect = true },
  { ask = "has", expect = true, given = {
    CHILD, "# Your role\nWrite {{name}} programs.\n\n# Task Brief\n\n# Contacts\n\n# Tools",
  } },
}

return M
