--- society.brief: what every briefs policy has to do alike.
--
-- A policy of this kind decides what counts as missing and what it repairs; which
-- fields a Task Brief needs and how a refusal looks is said here.

local json = require("society.json")

local M = {}

--- The required fields, in the order in which they are reported.
M.REQUIRED = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }

--- The words a refusal uses; a policy's defaults.
M.WORDS = {
  not_an_object = "任务委托书必须是对象",
  missing = "缺少必填字段: %s",
  not_a_list = "constraints 必须是数组",
  bad_collaborators = "collaborators 必须是数组，每项包含 agentId、role、description，interfaceSpec 可选，须是对象",
  message = "the Task Brief is not in order: see details, mend it and try again",
}

--- Tells whether `value` is a table with the keys 1..n and no others.
function M.is_list(value)
  if type(value) ~= "table" then
    return false
  end
  local count = #value
  for _ in pairs(value) do
    count = count - 1
  end
  return count == 0
end

local function is_spec(value)
  return value == nil or value == json.null or (type(value) == "table" and #value == 0)
end

--- Tells whether `list` is a list of { agentId, role, description, interfaceSpec? }.
function M.are_collaborators(list)
  if not M.is_list(list) then
    return false
  end
  for _, entry in ipairs(list) do
    if type(entry) ~= "table" or type(entry.agentId) ~= "string" or type(entry.role) ~= "string"
      or type(entry.description) ~= "string" or not is_spec(entry.interfaceSpec) then
      return false
    end
  end
  return true
end

-- Tells whether nothing is to be said of a brief, as nearly always.
local function is_whole(fields, is_missing)
  local required = M.REQUIRED
  for i = 1, #required do
    if is_missing(fields[required[i]]) then
      return false
    end
  end
  local others = fields.collaborators
  return M.is_list(fields.constraints)
    and (others == nil or others == json.null or M.are_collaborators(others))
end

--- Checks the fields of a brief.
-- What is no table says so first, then misses every field.
-- @param fields the brief, of any type
-- @tparam function is_missing tells whether a value counts as missing
-- @tparam table words as WORDS
-- @treturn[1] true
-- @treturn[2] false
-- @treturn[2] table the error object
function M.check(fields, is_missing, words)
  if type(fields) == "table" and is_whole(fields, is_missing) then
    return true
  end
  local missing, details = json.array({}), json.array({})
  if type(fields) ~= "table" then
    fields, details[1] = {}, words.not_an_object or M.WORDS.not_an_object
  end
  for _, name in ipairs(M.REQUIRED) do
    if is_missing(fields[name]) then
      missing[#missing + 1] = name
      details[#details + 1] = words.missing:format(name)
    end
  end
  if not is_missing(fields.constraints) and not M.is_list(fields.constraints) then
    details[#details + 1] = words.not_a_list
  end
  local others = fields.collaborators
  if others ~= nil and others ~= json.null and not M.are_collaborators(others) then
    details[#details + 1] = words.bad_collaborators
  end
  return false, {
    error = "invalid_task_brief",
    missing_fields = missing,
    details = details,
    message = words.message,
  }
end

return M
