--- Briefs: like strict, but repairs what it can instead of refusing it.
--
-- Also accepts a brief that is a JSON text; "" as the value of a field; a single string as
-- the only constraint or reference ("" for none); completionCriteria for
-- completion_criteria, and agent_id and interface_spec in collaborators. Returns the
-- repaired brief, or false and the error object for what is still missing.

local json = require("society.json")
local brief_rules = require("society.brief")

local M = { kind = "briefs", version = 1, defaults = brief_rules.WORDS }

local BRIEF_NAMES = { completionCriteria = "completion_criteria" }
local COLLABORATOR_NAMES = { agent_id = "agentId", interface_spec = "interfaceSpec" }

local function is_missing(value)
  return value == nil or value == json.null
end

-- A copy with other names for some fields; a field that has its right name wins.
local function rename(fields, names)
  local copy = {}
  for name, value in pairs(fields) do
    copy[name] = value
  end
  for name, right in pairs(names) do
    if is_missing(copy[right]) then
      copy[right] = copy[name]
    end
    copy[name] = nil
  end
  return copy
end

local function list_of(value)
  if type(value) ~= "string" then
    return value
  end
  return json.array(value == "" and {} or { value })
end

local function collaborators_of(list)
  if not brief_rules.is_list(list) then
    return list
  end
  local repaired = json.array({})
  for i, entry in ipairs(list) do
    repaired[i] = type(entry) == "table" and rename(entry, COLLABORATOR_NAMES) or entry
  end
  return repaired
end

local function fields_of(brief)
  if type(brief) == "string" then
    brief = json.decode(brief)
  end
  return type(brief) == "table" and rename(brief, BRIEF_NAMES) or nil
end

function M.check(brief, settings)
  local fields = fields_of(brief)
  if not fields then
    return brief_rules.check(brief, is_missing, settings)
  end
  fields.constraints = list_of(fields.constraints)
  fields.references = list_of(fields.references)
  fields.collaborators = collaborators_of(fields.collaborators)
  local is_whole, err = brief_rules.check(fields, is_missing, settings)
  if not is_whole then
    return false, err
  end
  return fields
end

local WHOLE = {
  objective = "o", constraints = json.array({ "c" }), inputs = "", outputs = "o",
  completion_criteria = "done",
}

M.examples = {
  { ask = "check", given = { WHOLE }, expect = WHOLE },
  {
    ask = "check", expect = WHOLE,
    given = { { objective = "o", constraints = "c", inputs = "", outputs = "o",
      completionCriteria = "done" } },
  },
  { ask = "check", given = { json.encode(WHOLE) }, expect = WHOLE },
  { ask = "check", given = { "do it" }, expect = false },
  { ask = "check", given = { {} }, expect = false },
  {
    ask = "check", expect = false,
    given = { { objective = "o", constraints = { a = 1 }, inputs = "i", outputs = "o",
      completion_criteria = "c" } },
  },
}

return M
