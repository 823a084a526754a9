--- Briefs: as strict, but what is meant is repaired instead of refused.
--
-- Taken as well: a brief that is a JSON text; "" as a field's value; a lone string
-- as the one constraint ("" as none); completionCriteria for completion_criteria,
-- and agent_id and interface_spec in collaborators. Answers the repaired brief, or
-- false and the error object for what is missing all the same.

local json = require("society.json")

local M = {
  kind = "briefs",
  version = 1,
  defaults = {
    missing = "缺少必填字段: %s",
    not_a_list = "constraints 必须是数组",
    bad_collaborators = "collaborators 必须是数组，每项包含 agentId、role、description",
    message = "the Task Brief is incomplete: fill in the missing fields and spawn again",
  },
}

local REQUIRED = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }

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

local function is_list(value)
  if type(value) ~= "table" then
    return false
  end
  local count = 0
  for _ in pairs(value) do
    count = count + 1
  end
  return count == #value
end

local function list_of(value)
  if type(value) ~= "string" then
    return value
  end
  return json.array(value == "" and {} or { value })
end

-- The repaired list, or nil and false if it cannot be one.
local function collaborators_of(list)
  if is_missing(list) then
    return nil, true
  end
  if not is_list(list) then
    return nil, false
  end
  local repaired = json.array({})
  for i, entry in ipairs(list) do
    repaired[i] = type(entry) == "table" and rename(entry, COLLABORATOR_NAMES) or {}
    for _, name in ipairs({ "agentId", "role", "description" }) do
      if type(repaired[i][name]) ~= "string" then
        return nil, false
      end
    end
  end
  return repaired, true
end

local function fields_of(brief)
  if type(brief) == "string" then
    brief = json.decode(brief)
  end
  return type(brief) == "table" and brief ~= json.null and rename(brief, BRIEF_NAMES) or {}
end

function M.check(brief, settings)
  local fields = fields_of(brief)
  local missing, details = json.array({}), json.array({})
  for _, name in ipairs(REQUIRED) do
    if is_missing(fields[name]) then
      missing[#missing + 1] = name
      details[#details + 1] = settings.missing:format(name)
    end
  end
  fields.constraints = list_of(fields.constraints)
  if not is_missing(fields.constraints) and not is_list(fields.constraints) then
    details[#details + 1] = settings.not_a_list
  end
  local collaborators, are_fine = collaborators_of(fields.collaborators)
  fields.collaborators = collaborators
  if not are_fine then
    details[#details + 1] = settings.bad_collaborators
  end
  if #details == 0 then
    return fields
  end
  return false, {
    error = "invalid_task_brief",
    missing_fields = missing,
    details = details,
    message = settings.message,
  }
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
