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

-- Which verbs models have.
-- @tparam table? chosen the names of the active verbs; nil: all but the extra ones
-- @treturn table name -> true or false, for every verb
local function active(chosen)
  local is_active = {}
  for _, verb in ipairs(verbs.list) do
    is_active[verb.name] = chosen == nil and not verb.is_extra
  end
  for _, name in ipairs(chosen or {}) do
    is_active[name] = true
  end
  return is_active
end

-- A line without its mark `<!-- VERB… -->`, and whether one of these verbs is active; nil: it
-- has no mark. Other comments are text.
local function read_mark(line, is_active)
  local rest, names = line:match("^(.-) *<!%-%- ([%w_ ]+) %-%->$")
  local is_kept = false
  for name in (names or ""):gmatch("[%w_]+") do
    if is_active[name] == nil then
      return line, nil
    end
    is_kept = is_kept or is_active[name]
  end
  if not names then
    return line, nil
  end
  return rest, is_kept
end

-- The text without what is only about verbs that models do not have: lines with a mark, and
-- sections whose heading has one or is `### VERB`. A section ends at the next heading that is
-- not below its own.
local function in_force(text, is_active)
  local kept, level_left_out, is_shorter = {}, nil, false
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local rest, is_kept = read_mark(line, is_active)
    local level = #(rest:match("^(#+) ") or "")
    if level > 0 and not (level_left_out and level > level_left_out) then
      level_left_out = nil
      if is_kept == false or is_active[rest:match("^### ([%w_]+)$")] == false then
        level_left_out = level
      end
    end
    if level_left_out or is_kept == false then
      is_shorter = true
    else
      kept[#kept + 1] = rest
    end
  end
  local result = table.concat(kept, "\n")
  return is_shorter and result:gsub("\n\n\n+", "\n\n") or result
end

local function add(parts, text, title)
  if text ~= nil and text ~= "" then
    parts[#parts + 1] = title and title .. "\n" .. text or text
  end
end

--- The whole context of an agent: for root the text `root`, then `base`, the role's
-- prompt and Interface Spec, the brief, the contacts, the text `tools`. What is only about
-- verbs that are not in force (request.verbs) is left out of the texts.
-- @tparam table request as the question `system` has it
-- @tparam table texts { root, base, tools }: templates with the places agent_id,
--   role_id, role_name, parent_id and contact_rules
-- @tparam table words { role, interface: titles; contact_rules: { strict, open, other } }
-- @treturn string
function M.system(request, texts, words)
  local values, parts, role = values_of(request, words), {}, request.role
  local is_active = active(request.verbs)
  if request.is_root then
    add(parts, filled(in_force(texts.root, is_active), values))
  end
  add(parts, filled(in_force(texts.base, is_active), values))
  add(parts, role.prompt, words.role)
  add(parts, role.interface_spec and json.encode(role.interface_spec), words.interface)
  add(parts, request.brief_text)
  add(parts, request.contacts_text)
  add(parts, filled(in_force(texts.tools, is_active), values))
  return table.concat(parts, "\n\n")
end

return M
