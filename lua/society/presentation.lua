--- society.presentation: the common part of all presentation policies.
--
-- A policy chooses the words around a message; this module produces the content and makes
-- sure that no line of it can pass for those words.
--
--     local presentation = require("society.presentation")
--     local content = presentation.content(message, "[Message from")

local fields = require("society.fields")
local headers = require("society.headers")
local json = require("society.json")

local M = {}

-- The self-introduction of a first message. It is shown in words and not part of the
-- content.
local INTRODUCTION = "self_introduction"
local INTRODUCTION_FIELDS = { "role", "duty", "reason" }

local function is_plain(value)
  return type(value) == "string" or type(value) == "number" or type(value) == "boolean"
end

-- The first of these with a plain value is the content; all other fields follow as JSON.
local CONTENT_FIELDS = { "text", "content" }

-- The fields besides the content; empty candidates for it are left out.
local function further_fields(payload, shown)
  local known = { [shown] = true, [INTRODUCTION] = true }
  for _, name in ipairs(CONTENT_FIELDS) do
    known[name] = known[name] or payload[name] == json.null
  end
  return fields.rest(payload, known)
end

local function plain_content(message)
  local payload = message.payload
  if type(payload) ~= "table" then
    return fields.text(payload)
  end
  for _, name in ipairs(CONTENT_FIELDS) do
    if is_plain(payload[name]) then
      local text = fields.text(payload[name])
      local more = further_fields(payload, name)
      return more and text .. "\n" .. more or text
    end
  end
  if payload[INTRODUCTION] ~= nil then
    return fields.rest(payload, { [INTRODUCTION] = true }) or ""
  end
  return json.encode(payload)
end

--- The message's content, with every line that reads like the header, or nearly so,
-- quoted by `> `. A self-introduction is no part of it.
-- @tparam table message an envelope
-- @tparam string|table header how the policy's own headers begin, one or a list
-- @treturn string
function M.content(message, header)
  return headers.guard(plain_content(message), header)
end

local function introduction_of(payload)
  local given = type(payload) == "table" and payload[INTRODUCTION]
  return given ~= json.null and given or nil
end

-- The fields of a self-introduction in words, without absent and empty ones.
local function introduction_parts(given, words)
  local parts, said = {}, {}
  for _, name in ipairs(INTRODUCTION_FIELDS) do
    local value = given[name]
    said[name] = true
    if value ~= nil and value ~= json.null and value ~= "" then
      parts[#parts + 1] = words[name]:format(headers.one_line(fields.text(value)))
    end
  end
  local rest = fields.rest(given, said)
  if rest then
    parts[#parts + 1] = headers.one_line(rest)
  end
  return parts
end

--- The sender's self-introduction on one line, so that it cannot start another.
-- @tparam table message an envelope
-- @tparam table words { line, role, duty, reason: formats; separator }
-- @treturn ?string nil without a self-introduction
function M.introduction(message, words)
  local given = introduction_of(message.payload)
  if given == nil then
    return nil
  end
  if type(given) ~= "table" or #given > 0 then
    return words.line:format(headers.one_line(fields.text(given)))
  end
  local parts = introduction_parts(given, words)
  return parts[1] and words.line:format(table.concat(parts, words.separator)) or nil
end

-- A role's name inside a header. Agents can create roles, and no name may end the header
-- and begin another.
local function role_name(sender, words)
  local name = headers.one_line(sender.role or "unknown")
  for bracket, other in pairs(words.closing) do
    name = name:gsub(bracket, other)
  end
  return name
end

-- The header for a message of that sender, and a hint how to reply unless it is the person
-- or the host, who are not answered by send_message.
local function frame(message, sender, words)
  if message.from == "user" then
    return words.from_user, nil
  elseif message.from == "system" then
    return words.from_system or words.from_user, nil
  end
  return words.from:format(role_name(sender, words), message.from),
    words.hint:format(message.from)
end

--- A message: header, self-introduction, content, hint how to reply.
-- @tparam table message an envelope
-- @tparam table sender { role? }
-- @tparam table words
--   header how headers begin; from_user and from_system headers; from a format of role
--   and id;
--   closing what stands in a role's name for the brackets that end a header;
--   hint a format of the id; introduction as for introduction()
-- @treturn string
function M.message(message, sender, words)
  local header, hint = frame(message, sender, words)
  local lines = { header }
  local introduction = M.introduction(message, words.introduction)
  lines[#lines + 1] = introduction
  local content = M.content(message, words.header)
  if content ~= "" or not introduction then
    lines[#lines + 1] = content
  end
  lines[#lines + 1] = hint
  return table.concat(lines, "\n")
end

return M
