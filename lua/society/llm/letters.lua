--- letters: reads JSON with surrogate pairs split across deltas.
--
-- Servers that split text by UTF-16 units send the two halves of an emoji in two pieces, each
-- an escape that is invalid alone. A half is held as a private character until the pieces are
-- joined. A half that stays alone becomes U+FFFD.

local json = require("society.json")

local M = {}

local Letters = {}
Letters.__index = Letters

--- Maximum values in one text, judged by its commas; short texts are not counted.
M.values_max = 100000
M.crowded_bytes_min = 2 * M.values_max

function M.new()
  return setmetatable({ has_halves = false }, Letters)
end

-- Where halves (U+D800 to U+DFFF) are held: in the last plane, for private use.
local PLANE = 0x100000
local FIRST, SECOND = "\xf4\x8d[\xa0-\xaf][\x80-\xbf]", "\xf4\x8d[\xb0-\xbf][\x80-\xbf]"
local EITHER = "\xf4\x8d[\xa0-\xbf][\x80-\xbf]"

local PAIR = "^\\u[dD][89abAB]%x%x\\u[dD][c-fC-F]%x%x"
local HALF = "^\\u([dD][89a-fA-F]%x%x)"

-- JSON in which each unpaired escape is replaced by its held character.
local function mend(text)
  local parts, from, at = {}, 1, text:find("\\", 1, true)
  while at do
    local half = not text:find(PAIR, at) and text:match(HALF, at)
    local after = at + (half and 6 or text:find(PAIR, at) and 12 or 2)
    if half then
      parts[#parts + 1] = text:sub(from, at - 1)
      parts[#parts + 1] = utf8.char(PLANE + tonumber(half, 16))
      from = after
    end
    at = text:find("\\", after, true)
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

-- Whether a text may hold more values than any answer: decoding them would take too long.
local function is_crowded(text)
  if #text <= M.crowded_bytes_min then
    return false
  end
  local count, at = 0, text:find(",", 1, true)
  while at and count <= M.values_max do
    count, at = count + 1, text:find(",", at + 1, true)
  end
  return count > M.values_max
end

--- Decodes as json.decode does.
function Letters:decode(text)
  if is_crowded(text) then
    return nil, "more values than an answer can have"
  end
  local value, err = json.decode(text)
  if value == nil and text:find("\\u[dD][89a-fA-F]") then
    value = json.decode(mend(text))
    self.has_halves = self.has_halves or value ~= nil
  end
  return value, value == nil and err or nil
end

--- A decoded text with its surrogate pairs rejoined.
function Letters:join(text)
  if not self.has_halves then
    return text
  end
  text = text:gsub(FIRST .. SECOND, function(both)
    local first, second = utf8.codepoint(both, 1, #both)
    return utf8.char(0x10000 + ((first - PLANE - 0xd800) << 10) + (second - PLANE - 0xdc00))
  end)
  return (text:gsub(EITHER, "\u{fffd}"))
end

--- The same for the arguments of calls.
function Letters:join_calls(calls)
  for _, call in ipairs(calls) do
    call.arguments = self:join(call.arguments)
  end
  return calls
end

return M
