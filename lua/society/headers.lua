--- society.headers: keeps texts from imitating the header of a message.
--
-- Readers, and models above all, take anything that looks like a header for one: a
-- line that begins like a header after white space and characters without width, in
-- another width or case, with a similar bracket, and after any kind of line break.
--
--     local headers = require("society.headers")
--     headers.guard("so:\n [message FROM x]", "[Message from")   -- "so:\n>  [message …"

local M = {}

-- Characters that a reader does not see at the beginning of a line or between two
-- others, as pairs of first and last: controls, spaces, and what Unicode lists as
-- Default_Ignorable_Code_Point, but for the 4096 of TAGS. Line breaks are none of them.
local UNSEEN = {
  0x00, 0x09, 0x0E, 0x1B, 0x1F, 0x20, 0x7F, 0x84, 0x86, 0xA0, 0xAD, 0xAD, 0x34F, 0x34F,
  0x61C, 0x61C, 0x115F, 0x1160, 0x1680, 0x1680, 0x17B4, 0x17B5, 0x180B, 0x180F, 0x2000, 0x200F,
  0x202A, 0x202F, 0x205F, 0x206F, 0x2800, 0x2800, 0x3000, 0x3000, 0x3164, 0x3164,
  0xFE00, 0xFE0F, 0xFEFF, 0xFEFF, 0xFFA0, 0xFFA0, 0xFFF0, 0xFFFB, 0x1BCA0, 0x1BCA3,
  0x1D173, 0x1D17A,
}
-- How U+E0000 to U+E0FFF begin, and no other character: too many for a table.
local TAGS = "\xF3\xA0"

-- What is taken for another character.
local ALIKE = {
  ["【"] = "[", ["〖"] = "[", ["〔"] = "[", ["〚"] = "[", ["⟦"] = "[", ["︻"] = "[", ["︗"] = "[",
  ["﹝"] = "[", ["⁅"] = "[", ["來"] = "来", ["\u{F92D}"] = "来", ["⾃"] = "自",
}

-- Characters as they are compared, where that is not as they are; "": not at all.
local FOLDED = {}
for i = 1, #UNSEEN, 2 do
  for code = UNSEEN[i], UNSEEN[i + 1] do
    FOLDED[utf8.char(code)] = ""
  end
end
for code = 0x21, 0x7E do
  local char = string.char(code)
  FOLDED[char] = char:lower()
  FOLDED[utf8.char(code + 0xFEE0)] = char:lower() -- full width
end
for char, other in pairs(ALIKE) do
  FOLDED[char] = other
end

local function fold(char)
  return FOLDED[char] or char:sub(1, 2) == TAGS and "" or char
end

-- The bytes that the unseen, the full-width and most of the similar begin with.
local LEADS = "\xC2\xCD\xD8\xE1\xE2\xE3\xEF\xF0\xF3"
-- Line breaks, as patterns: each kind is looked for by itself.
local BREAKS = { "[\n\v\f\r\x1C-\x1E]", "\u{85}", "\u{2028}", "\u{2029}" }
local SPACES = "[\0-\x09\x0E-\x1B\x1F \x7F]*"
-- More invisible characters than this at the start are deliberate.
local UNSEEN_MAX = 200
-- In a text with more characters to examine than this every line is quoted: examining it
-- would exceed a policy's budget.
local LOOKS_MAX = 20000
local CHAR = "^" .. utf8.charpattern

-- The seen characters of a header, folded, as a list.
local function skeleton(header)
  local chars = {}
  for char in header:gmatch(utf8.charpattern) do
    local folded = fold(char)
    if folded ~= "" then
      chars[#chars + 1] = folded
    end
  end
  return chars
end

-- The bytes, as part of a class, that a character which folds to `char` may begin with.
local function bytes_of(char)
  local first = char:sub(1, 1)
  local class = (first:find("%p") and "%" or "") .. first
  if first:find("%l") then
    class = class .. first:upper()
  end
  for other, folded in pairs(ALIKE) do
    if folded == char then
      class = class .. other:sub(1, 1)
    end
  end
  return class
end

-- A pattern for the start of a line that may read like the header: fast, with few false
-- positives. Its first two characters are the header's, or invisible ones before them.
local function pattern_of(chars)
  local first = LEADS .. bytes_of(chars[1])
  local pattern = "()" .. SPACES .. "[" .. first .. "]"
  if chars[2] then
    pattern = pattern .. "[\x80-\xBF]*" .. SPACES .. "[" .. first .. bytes_of(chars[2]) .. "]"
  end
  return pattern
end

-- Whether `text` reads like the header from `at` on, and how many characters were
-- examined.
local function imitates(text, at, chars)
  local found, unseen = 0, 0
  at = text:match("^" .. SPACES .. "()", at)
  while found < #chars and unseen <= UNSEEN_MAX do
    local char = text:match(CHAR, at)
    if not char then
      return false, found + unseen + 1 -- the text ends
    end
    local folded = fold(char)
    if folded == "" then
      unseen = unseen + 1
    elseif folded == chars[found + 1] then
      found = found + 1
    else
      return false, found + unseen + 1
    end
    at = at + #char
  end
  return true, found + unseen
end

-- Quotes imitations after one kind of line break, examining at most `looks_max`
-- characters; returns the text and how many are left, or nil.
local function guard_behind(text, line_break, start, chars, looks_max)
  local parts, done = {}, 1
  local pattern = line_break .. start
  local _, _, at = text:find(pattern)
  while at do
    local is_imitation, count = imitates(text, at, chars)
    looks_max = looks_max - count
    if looks_max < 0 then
      return nil
    end
    if is_imitation then
      parts[#parts + 1] = text:sub(done, at - 1)
      done = at
    end
    _, _, at = text:find(pattern, at)
  end
  parts[#parts + 1] = text:sub(done)
  return table.concat(parts, "> "), looks_max
end

local function quote_all(text)
  text = text:gsub("\r?" .. BREAKS[1], "%0> ")
  for i = 2, #BREAKS do
    text = text:gsub(BREAKS[i], "%0> ")
  end
  return text
end

local function guard_one(text, header)
  local chars = skeleton(header)
  local start, left = pattern_of(chars), LOOKS_MAX
  local guarded = "\n" .. text
  for _, line_break in ipairs(BREAKS) do
    guarded, left = guard_behind(guarded, line_break, start, chars, left)
    if not guarded then
      return quote_all("\n" .. text):sub(2)
    end
  end
  return guarded:sub(2)
end

--- The text with `> ` before every line that reads like the beginning of a header.
-- Every other byte stays.
-- @tparam string text
-- @tparam string|table header how headers begin, one or a list
-- @treturn string
function M.guard(text, header)
  if type(header) == "string" then
    return guard_one(text, header)
  end
  for _, each in ipairs(header) do
    text = guard_one(text, each)
  end
  return text
end

--- The text with `other` for every line break.
-- @tparam string text
-- @tparam string other
-- @treturn string
function M.replace_breaks(text, other)
  text = text:gsub("\r\n", "\n")
  for i = #BREAKS, 1, -1 do -- the kind that `other` may bring in comes last
    text = text:gsub(BREAKS[i], (other:gsub("%%", "%%%%")))
  end
  return text
end

--- The text on one line: a space for every line break.
-- @tparam string text
-- @treturn string
function M.one_line(text)
  return M.replace_breaks(text, " ")
end

return M
