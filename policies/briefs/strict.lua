--- Briefs: the five required fields must be there and constraints must be a list.
--
-- A field that is nil, JSON null or "" is missing; an empty list of constraints is
-- fine. Answers true, or false and the error object.

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

local function is_missing(value)
  return value == nil or value == json.null or value == ""
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

local function are_collaborators(list)
  if list == nil or list == json.null then
    return true
  end
  if not is_list(list) then
    return false
  end
  for _, entry in ipairs(list) do
    if type(entry) ~= "table" or type(entry.agentId) ~= "string" or type(entry.role) ~= "string"
      or type(entry.description) ~= "string" then
      return false
    end
  end
  return true
end

function M.check(brief, settings)
  local fields = type(brief) == "table" and brief or {}
  local missing, details = json.array({}), json.array({})
  for _, field in ipairs(REQUIRED) do
    if is_missing(fields[field]) then
      missing[#missing + 1] = field
      details[#details + 1] = settings.missing:format(field)
    end
  end
  if not is_missing(fields.constraints) and not is_list(fields.constraints) then
    details[#details + 1] = settings.not_a_list
  end
  if not are_collaborators(fields.collaborators) then
    details[#details + 1] = settings.bad_collaborators
  end
  if #details == 0 then
    return true
  end
  return false, {
    error = "invalid_task_brief",
    missing_fields = missing,
    details = details,
    message = settings.message,
  }
end

local WHOLE = {
  objective = "o", constraints = {}, inputs = "i", outputs = "o", completion_criteria = "c",
}

M.examples = {
  { ask = "check", given = { WHOLE }, expect = true },
  { ask = "check", given = { {} }, expect = false },
  { ask = "check", given = { "text" }, expect = false },
}

return M
