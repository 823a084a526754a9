--- society.capability: how well an offer matches a need.
--
-- Words are compared, not meanings. English words lose their endings; Chinese text,
-- which has no spaces, is cut into overlapping pairs of characters. The score is the
-- share of the needed words that are offered.
--
--     local capability = require("society.capability")
--     capability.score("界面设计", "UI 界面设计服务") --> 1.0

local M = {}

-- Stop words.
local STOP = {}
for word in ([[a an and any are as at be by can do for from has have help in into is it need needed
needs of on or our please provide provides service services someone somebody support that the their
this to us want who will with you your]]):gmatch("%S+") do
  STOP[word] = true
end

local CHINESE_STOP = {
  "需要", "可以", "能够", "支持", "提供", "服务", "帮助", "一个", "进行", "相关", "智能体",
  "的", "了", "和", "与", "或", "及", "能", "会", "请", "对", "在", "是", "我", "你", "人",
}

local ENDINGS = { "ing", "ers", "er", "ed", "es", "s" }

local function stem(word)
  for _, ending in ipairs(ENDINGS) do
    if #word - #ending >= 4 and word:sub(-#ending) == ending then
      local root = word:sub(1, -#ending - 1)
      local last = root:sub(-1)
      return root:sub(-2) == last .. last and root:sub(1, -2) or root
    end
  end
  return word
end

local function add(words, word)
  if not words[word] then
    words[word] = true
    words[#words + 1] = word
  end
end

local function add_english(words, text)
  for word in text:lower():gmatch("[%w+#]+") do
    if not STOP[word] then
      add(words, stem(word))
    end
  end
end

-- A run of characters beyond ASCII: each pair that stands together, or the lone one.
local function add_run(words, run)
  local characters = {}
  for character in run:gmatch("[\xC2-\xF4][\x80-\xBF]*") do
    characters[#characters + 1] = character
  end
  for i = 1, math.max(#characters - 1, math.min(#characters, 1)) do
    add(words, characters[i] .. (characters[i + 1] or ""))
  end
end

local function add_chinese(words, text)
  for _, word in ipairs(CHINESE_STOP) do
    text = text:gsub(word, " ")
  end
  text = text:gsub("\xE3\x80[\x80-\xBF]", " "):gsub("\xEF\xBC[\x80-\xBF]", " ") -- punctuation
  for run in text:gmatch("[\x80-\xFF]+") do
    add_run(words, run)
  end
end

-- Texts beyond this are cut: what is needed is said in a sentence or two.
local BYTES_MAX = 1000

--- The words of a text, each once, in order; also as keys.
-- @tparam string text
-- @treturn table
function M.words(text)
  text = text:sub(1, BYTES_MAX)
  local words = {}
  add_english(words, text)
  add_chinese(words, text)
  return words
end

--- The share of the need that is offered, from 0 to 1.
-- @tparam string|table needed a text, or its words
-- @tparam string offered
-- @treturn number
function M.score(needed, offered)
  local wanted = type(needed) == "table" and needed or M.words(needed)
  local there = M.words(offered)
  if #wanted == 0 then
    return 0.0
  end
  local found = 0
  for _, word in ipairs(wanted) do
    if there[word] then
      found = found + 1
    end
  end
  return found / #wanted
end

--- What an agent's contact offers, as one text: its role and its Interface Spec.
-- @tparam table contact as `contacts` of a request to the policy `introductions`
-- @treturn string
function M.offer(contact)
  local spec = contact.interfaceSpec or {}
  local services = type(spec.services) == "string" and spec.services or ""
  return table.concat({ contact.role, contact.role_id, services }, " ")
end

return M
