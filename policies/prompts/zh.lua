--- Prompts: the system prompt of an agent, in Chinese.
--
-- For root root.txt, for all base.txt; then the role's prompt and Interface Spec, the
-- Task Brief, the contacts and tools.txt.

local prompts = require("society.prompts")

local M = {
  kind = "prompts", version = 1, defaults = {},
  texts = { root = "zh/root.txt", base = "zh/base.txt", tools = "zh/tools.txt" },
}

local WORDS = {
  role = "# 岗位提示词", interface = "# 你的接口规格",
  contact_rules = {
    strict = "你只能给联系人写信。给陌生的智能体写信会被拒绝（unknown_contact）；不要编造智能体ID。",
    open = "你可以给任何智能体写信，不限于联系人；不要编造智能体ID。",
    other = "能给哪些智能体写信由本社会的规则决定，不允许时会得到 unknown_contact；不要编造智能体ID。",
  },
}

function M.system(request)
  return prompts.system(request, M.texts, WORDS), "zh"
end

local ROOT = {
  agent = { id = "root", role = "root" }, role = { id = "root", name = "root", prompt = "" },
  is_root = true, contacts_text = "# 联系人",
}
local CHILD = {
  agent = { id = "p1", role = "programmer", parent = "root" },
  role = { id = "programmer", name = "程序员", prompt = "写 {{name}} 程序" },
  is_root = false, brief_text = "# 任务委托书", contacts_text = "# 联系人",
  contacts_policy = "strict",
}

-- The texts may be an app's own: the examples speak only of what is put between them.
M.examples = {
  { ask = "system", given = { ROOT }, contains = { "# 联系人" } },
  { ask = "system", given = { CHILD }, contains = {
    "# 岗位提示词\n写 {{name}} 程序\n\n# 任务委托书\n\n# 联系人",
  } },
}

return M
