--- society.prompts: the common part of all prompts policies.
--
-- An agent's system prompt is made of texts that the policy names, filled in as
-- templates, and of parts that are put in as they stand: the role's prompt, the Task
-- Brief, the contacts. Nothing is shortened.
--
--     local prompts = require("society.prompts")
--     local text = prompts.system(request, M.texts, words)

local headers = require("society.headers")
local json = require("society.json")
local template = require("society.template")
local verbs = require("society.llm.verbs")

local M = {}

-- The rules for writing to strangers: by the name of the active contacts policy, else
-- `other`.
local function contact_rules(request, words)
  local rules = words.contact_rules
  return rules and (rules[request.contacts_policy] or rules.other) or ""
end

-- The values of a text's placeholders. Root reports to the person.
local function values_of(request, words)
  return {
    contact_rules = contact_rules(request, words),
    agent_id = request.agent.id,
    role_id = request.role.id,
    role_name = headers.one_line(request.role.name),
    parent_id = request.agent.parent or "user",
  }
end

-- A text from a file, filled in, without trailing line ends.
local function filled(text, values)
  local last = #text
  while text:byte(last) == 10 do
    last = last - 1
  end
  return template.fill(text:sub(1, last), values)
end

-- The text without the sections `### NAME` of verbs that models do not have.
-- @tparam table? chosen the names of the active verbs; nil: all but the extra ones
local function in_force(text, chosen)
  local is_left_out, kept, is_kept = {}, {}, true
  for _, verb in ipairs(verbs.list) do
    is_left_out[verb.name] = chosen ~= nil or verb.is_extra
  end
  for _, name in ipairs(chosen or {}) do
    is_left_out[name] = nil
  end
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local heading = line:match("^#+ (.*)$")
    if heading then
      is_kept = not is_left_out[line:match("^### ([%w_]+)$")]
    end
    kept[#kept + 1] = is_kept and line or nil
  end
  return table.concat(kept, "\n")
end

local function add(parts, text, title)
  if text ~= nil and text ~= "" then
    parts[#parts + 1] = title and title .. "\n" .. text or text
  end
end

--- The whole context of an agent: for root the text `root`, then `base`, the role's
-- prompt and Interface Spec, the brief, the contacts, the text `tools` with the sections
-- of the verbs that are in force (request.verbs).
-- @tparam table request as the question `system` has it
-- @tparam table texts { root, base, tools }: templates with the places agent_id,
--   role_id, role_name, parent_id and contact_rules
-- @tparam table words { role, interface: titles; contact_rules: { strict, open, other } }
-- @treturn string
function M.system(request, texts, words)
  local values, parts, role = values_of(request, words), {}, request.role
  if request.is_root then
    add(parts, filled(texts.root, values))
  end
  add(parts, filled(texts.base, values))
  add(parts, role.prompt, words.role)
  add(parts, role.interface_spec and json.encode(role.interface_spec), words.interface)
  add(parts, request.brief_text)
  add(parts, request.contacts_text)
  add(parts, filled(in_force(texts.tools, request.verbs), values))
  return table.concat(parts, "\n\n")
end

return M
