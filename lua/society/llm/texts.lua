--- texts: shortens texts that are too long for a model.

local json = require("society.json")
local usage = require("society.llm.usage")

local M = {}

--- Tokens that are always left of a text.
M.tokens_min = 64

--- A text of at most so many bytes, cut between two letters; it says what was left out.
function M.cut(text, bytes_max)
  if #text <= bytes_max then
    return text
  end
  local last = bytes_max
  while last > 0 and text:byte(last + 1) >= 0x80 and text:byte(last + 1) < 0xc0 do
    last = last - 1
  end
  return ("%s … (%d bytes in all; the rest is left out)"):format(text:sub(1, last), #text)
end

-- Tokens at most of the words that say what was left out, and of a last letter.
local NOTE_TOKENS = 18

--- A text of so many tokens at most, by estimate, but for those that are always left of it.
-- No script takes more than one for three bytes.
function M.fit(text, tokens_max)
  tokens_max = math.max(tokens_max, M.tokens_min)
  return usage.estimate(text) <= tokens_max and text or M.cut(text, 3 * (tokens_max - NOTE_TOKENS))
end

-- Arguments as a JSON object of so many tokens at most: cut, they are none any more.
local function fit_arguments(text, tokens_max)
  tokens_max = math.max(tokens_max, M.tokens_min)
  local short, bytes = text, 3 * tokens_max
  while usage.estimate(short) > tokens_max do
    bytes = bytes // 2 -- in JSON some letters take more
    short = json.encode({ cut = M.cut(text, bytes) })
  end
  return short
end

--- A model's message that calls tools, in so many tokens at most, by estimate.
function M.fit_calls(entry, tokens_max)
  if usage.of_message(entry) <= tokens_max then
    return entry
  end
  local share = tokens_max // (#entry.tool_calls + 1)
  local copy = { role = entry.role, content = M.fit(entry.content or "", share - usage.around),
    tool_calls = {} }
  for index, call in ipairs(entry.tool_calls) do
    copy.tool_calls[index] = { id = call.id, name = call.name, arguments = fit_arguments(
      call.arguments, share - usage.of_call({ name = call.name, arguments = "" })) }
  end
  return copy
end

--- A text in quotes on one line, for people who compare it with another.
function M.quoted(text)
  return (("%q"):format(text):gsub("\\\n", "\\n"))
end

return M
