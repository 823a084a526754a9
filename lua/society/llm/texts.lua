--- texts: shortens texts that are too long for a model.

local json = require("society.json")
local usage = require("society.llm.usage")

local M = {}

--- Tokens of a text that are never cut.
M.tokens_min = 64

--- A text cut to at most so many bytes between two characters, with a note on what was
-- omitted.
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

-- Maximum tokens of the note on what was omitted, plus a last character.
local NOTE_TOKENS = 18

--- A text cut to about so many tokens, but never below the minimum. No script needs more
-- than one token for three bytes.
function M.fit(text, tokens_max)
  tokens_max = math.max(tokens_max, M.tokens_min)
  return usage.estimate(text) <= tokens_max and text or M.cut(text, 3 * (tokens_max - NOTE_TOKENS))
end

-- Arguments as a JSON object of at most so many tokens: cut JSON would be invalid.
local function fit_arguments(text, tokens_max)
  tokens_max = math.max(tokens_max, M.tokens_min)
  local short, bytes = text, 3 * tokens_max
  while usage.estimate(short) > tokens_max do
    bytes = bytes // 2 -- in JSON some letters take more
    short = json.encode({ cut = M.cut(text, bytes) })
  end
  return short
end

--- A model's message with tool calls, cut to about so many tokens.
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

--- A text in quotes on one line, for people who compare texts.
function M.quoted(text)
  return (("%q"):format(text):gsub("\\\n", "\\n"))
end

return M
