--- society.brief: the common part of all briefs policies.
--
-- A policy decides what counts as missing and what it repairs; this module defines the
-- fields of a Task Brief and the form of a refusal.

local json = require("society.json")

local M = {}

--- The required fields, in the order in which they are reported.
M.REQUIRED = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }

--- The words a refusal uses; a policy's defaults.
M.WORDS = {
  not_an_object = "任务委托书必须是对象",
  missing = "缺少必填字段: %s",
  not_a_text = "%s 必须是文本",
  not_a_list = "constraints 必须是数组",
  not_texts = "%s 必须是文本数组，每项不能为空",
  bad_priority = "priority 必须是 urgent、high、normal、low 或 P0 至 P3",
  bad_collaborators = "collaborators 必须是数组，每项包含文本 agentId、role、description，interfaceSpec 可选，"
    .. "须是对象，包含文本 services、input_format、output_format，examples 可选，须是数组",
  message = "任务委托书无效：请看 details，改正后重试",
}

--- The same by language.
M.LANGUAGES = {
  zh = M.WORDS,
  en = {
    not_an_object = "the Task Brief must be an object",
    missing = "required field missing: %s",
    not_a_text = "%s must be a text",
    not_a_list = "constraints must be a list",
    not_texts = "%s must be a list of texts, none of them blank",
    bad_priority = "priority must be urgent, high, normal, low, or P0 to P3",
    bad_collaborators = "collaborators must be a list; each entry has the texts agentId, role and "
      .. "description, and may have interfaceSpec, an object with the texts services, "
      .. "input_format and output_format, and maybe examples, a list",
    message = "the Task Brief is not valid: see details, correct it and try again",
  },
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

local function is_absent(value)
  return value == nil or value == json.null
end

-- Spaces that Lua's %s does not know: no-break and ideographic.
local OTHER_SPACES = { "\u{A0}", "\u{3000}" }

--- Tells whether a text is empty or has nothing but spaces.
-- @tparam string text
function M.is_blank(text)
  if text:find("^[%w%p]") then
    return false
  end
  for _, space in ipairs(OTHER_SPACES) do
    text = text:gsub(space, " ")
  end
  return not text:find("%S")
end

local function is_text(value)
  return type(value) == "string" and not M.is_blank(value)
end

local function are_texts(list)
  if not M.is_list(list) then
    return false
  end
  for i = 1, #list do
    if not is_text(list[i]) then
      return false
    end
  end
  return true
end

local function is_spec(spec)
  return is_absent(spec) or (type(spec) == "table" and type(spec.services) == "string"
    and type(spec.input_format) == "string" and type(spec.output_format) == "string"
    and (is_absent(spec.examples) or M.is_list(spec.examples)))
end

--- Tells whether `list` is a list of { agentId, role, description, interfaceSpec? }.
function M.are_collaborators(list)
  if not M.is_list(list) then
    return false
  end
  for _, entry in ipairs(list) do
    if type(entry) ~= "table" or not is_text(entry.agentId) or not is_text(entry.role)
      or not is_text(entry.description) or not is_spec(entry.interfaceSpec) then
      return false
    end
  end
  return true
end

local PRIORITIES = {
  urgent = true, high = true, normal = true, low = true, P0 = true, P1 = true, P2 = true,
  P3 = true,
}

-- A quick check that accepts most valid briefs: every text is one, and there are no
-- optional fields.
local function is_plain(fields, is_missing)
  for i = 1, #M.REQUIRED do
    local name = M.REQUIRED[i]
    local value = fields[name]
    if is_missing(value) or (name ~= "constraints" and not is_text(value)) then
      return false
    end
  end
  return are_texts(fields.constraints)
    and fields.collaborators == nil and fields.references == nil and fields.priority == nil
end

-- Lists what is wrong with the kinds of the required fields that are present.
local function add_required(details, fields, is_missing, words)
  for _, name in ipairs(M.REQUIRED) do
    local value = fields[name]
    if is_missing(value) then
      goto continue
    elseif name ~= "constraints" then
      if type(value) ~= "string" then
        details[#details + 1] = (words.not_a_text or M.WORDS.not_a_text):format(name)
      end
    elseif not M.is_list(value) then
      details[#details + 1] = words.not_a_list
    elseif not are_texts(value) then
      details[#details + 1] = (words.not_texts or M.WORDS.not_texts):format(name)
    end
    ::continue::
  end
end

-- Lists what is wrong with the optional fields.
local function add_optional(details, fields, words)
  if not is_absent(fields.collaborators) and not M.are_collaborators(fields.collaborators) then
    details[#details + 1] = words.bad_collaborators
  end
  if not is_absent(fields.references) and not are_texts(fields.references) then
    details[#details + 1] = (words.not_texts or M.WORDS.not_texts):format("references")
  end
  local priority = fields.priority
  if not is_absent(priority) and priority ~= "" and not PRIORITIES[priority] then
    details[#details + 1] = words.bad_priority or M.WORDS.bad_priority
  end
end

--- Checks the fields of a brief and their kinds.
-- For anything but a table the error says so first, then lists every field as missing.
-- @param fields the brief, of any type
-- @tparam function is_missing tells whether a value counts as missing
-- @tparam table words as WORDS
-- @treturn[1] true
-- @treturn[2] false
-- @treturn[2] table the error object
function M.check(fields, is_missing, words)
  if type(fields) == "table" and is_plain(fields, is_missing) then
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
  add_required(details, fields, is_missing, words)
  add_optional(details, fields, words)
  if #details == 0 then
    return true
  end
  return false, {
    error = "invalid_task_brief",
    missing_fields = missing,
    details = details,
    message = words.message,
  }
end

return M
