--- society.presentation: what every presentation policy has to do alike.
--
-- A policy of this kind chooses the words around a message; what the message says,
-- and that no line of it passes for such words, is decided here.
--
--     local presentation = require("society.presentation")
--     local content = presentation.content(message, "[Message from")

local fields = require("society.fields")
local headers = require("society.headers")
local json = require("society.json")

local M = {}

-- What an agent says of itself with its first message; said in words, so it is no
-- part of the content.
local INTRODUCTION = "self_introduction"
local INTRODUCTION_FIELDS = { "role", "duty", "reason" }

local function further_fields(message)
  if message.type == nil or message.type == "general" then
    return nil
  end
  return fields.rest(message.payload, { text = true, [INTRODUCTION] = true })
end

local function is_plain(value)
  return type(value) == "string" or type(value) == "number" or type(value) == "boolean"
end

local function plain_content(message)
  local payload = message.payload
  if type(payload) ~= "table" then
    return fields.text(payload)
  end
  if is_plain(payload.text) then
    local text, more = fields.text(payload.text), further_fields(message)
    return more and text .. "\n" .. more or text
  end
  if is_plain(payload.content) then
    return fields.text(payload.content)
  end
  if payload[INTRODUCTION] ~= nil then
    return fields.rest(payload, { [INTRODUCTION] = true }) or ""
  end
  return json.encode(payload)
end

--- The message's content, with every line that reads like the header, or nearly so,
-- quoted by `> `. A self-introduction is no part of it.
-- @tparam table message an envelope
-- @tparam string header how the policy's own headers begin
-- @treturn string
function M.content(message, header)
  return headers.guard(plain_content(message), header)
end

local function introduction_of(payload)
  local given = type(payload) == "table" and payload[INTRODUCTION]
  return given ~= json.null and given or nil
end

-- The fields of a self-introduction in words, what is absent or empty left out.
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

--- What the sender says of itself, on one line, so that it can open no other.
-- @tparam table message an envelope
-- @tparam table words { line, role, duty, reason: formats; separator }
-- @treturn ?string nil if it says nothing of itself
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

-- A role's name inside a header: agents make roles too, and no name may end the
-- header and begin another.
local function role_name(sender, words)
  local name = headers.one_line(sender.role or "unknown")
  for bracket, other in pairs(words.closing) do
    name = name:gsub(bracket, other)
  end
  return name
end

--- A message: header, what the sender says of itself, content, hint how to reply.
-- @tparam table message an envelope
-- @tparam table sender { role? }
-- @tparam table words
--   header how headers begin; from_user a header; from a format of role and id;
--   closing what stands in a role's name for the brackets that end a header;
--   hint a format of the id; introduction as for introduction()
-- @treturn string
function M.message(message, sender, words)
  local lines = {}
  local is_user = message.from == "user"
  lines[1] = is_user and words.from_user
    or words.from:format(role_name(sender, words), message.from)
  local introduction = M.introduction(message, words.introduction)
  lines[#lines + 1] = introduction
  local content = M.content(message, words.header)
  if content ~= "" or not introduction then
    lines[#lines + 1] = content
  end
  if not is_user then
    lines[#lines + 1] = words.hint:format(message.from)
  end
  return table.concat(lines, "\n")
end

return M
