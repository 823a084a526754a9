--- usage: how many tokens a call takes, and what they cost.

local prices = require("society.llm.prices")

local M = {}

--- Tokens of a text, about: four bytes of Latin script each, one or two for each sign of
-- others. Only for texts nobody has counted better.
function M.estimate(text)
  local wide = 0
  for _ in text:gmatch("[\xe2-\xf4]") do
    wide = wide + 1
  end
  return (#text - 3 * wide) // 4 + wide + 1
end

--- Tokens of one message, what stands around it included.
function M.of_message(message)
  local sum = 4 + M.estimate(message.content or "")
  for _, call in ipairs(message.tool_calls or {}) do
    sum = sum + 8 + M.estimate(call.name) + M.estimate(call.arguments)
  end
  return sum
end

--- Tokens that go in with a chat, about. `tools_text` is the tools as they are sent.
function M.of_chat(chat, tools_text)
  local sum = M.estimate(chat.system or "") + M.estimate(tools_text or "")
  for _, message in ipairs(chat.messages) do
    sum = sum + M.of_message(message)
  end
  return sum
end

local function price_of(model, own)
  local found, length = nil, -1
  for _, list in ipairs({ prices, own or {} }) do
    for name, price in pairs(list) do
      if #name >= length and model:sub(1, #name) == name then
        found, length = price, #name
      end
    end
  end
  return found
end

--- What so many tokens cost, in millionths of a dollar; 0 for a model without a price.
function M.cost_micros(model, used, own)
  local price = price_of(model, own)
  if not price then
    return 0
  end
  return math.ceil(used.input_tokens * price.input + used.output_tokens * price.output)
end

return M
