--- texts: what a model is shown of texts that are too long for it.

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

--- A text of about so many tokens at most, by estimate. No script takes more than one for
-- three bytes.
function M.fit(text, tokens_max)
  tokens_max = math.max(tokens_max, M.tokens_min)
  return usage.estimate(text) <= tokens_max and text or M.cut(text, 3 * tokens_max)
end

--- A text in quotes on one line, for people who compare it with another.
function M.quoted(text)
  return (("%q"):format(text):gsub("\\\n", "\\n"))
end

return M
