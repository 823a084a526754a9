--- Prompts: the system prompt of an agent, in Chinese.
--
-- For root root.txt, for all base.txt; then the role's prompt and Interface Spec, the
-- Task Brief, the contacts and tools.txt.

local prompts = require("society.prompts")

local M = {
  kind = "prompts", version = 1, defaults = {},
  texts = { root = "zh/root.txt", base = "zh/base.txt", tools = "zh/tools.txt" },
}

local WORDS = { role = "# 岗位提示词", interface = "# 你的接口规格" }

function M.system(request)
  return prompts.system(request, M.texts, WORDS)
end

--- Tells whether the prompt has a text in it, for the examples: the whole is too long.
function M.has(request, part)
  return M.system(request):find(part, 1, true) ~= nil
end

local ROOT = {
  agent = { id = "root", role = "root" }, role = { id = "root", name = "root", prompt = "" },
  is_root = true, contacts_text = "# 联系人",
}
local CHILD = {
  agent = { id = "p1", role = "programmer", parent = "root" },
  role = { id = "programmer", name = "程序员", prompt = "写 {{name}} 程序" },
  is_root = false, brief_text = "# 任务委托书", contacts_text = "# 联系人",
}

M.examples = {
  { ask = "has", given = { ROOT, "你是智能体社会的根智能体 root" }, expect = true },
  { ask = "has", given = { ROOT, "岗位 ID：root），你的上级是 user" }, expect = true },
  { ask = "has", given = { CHILD, "你是智能体社会的根智能体 root" }, expect = false },
  { ask = "has", given = { CHILD, "你的 ID 是 p1，岗位是 程序员" }, expect = true },
  { ask = "has", expect = true,
    given = { CHILD, "# 岗位提示词\n写 {{name}} 程序\n\n# 任务委托书\n\n# 联系人\n\n# 工具" } },
}

return M
