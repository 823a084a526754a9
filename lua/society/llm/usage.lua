--- usage: tokens and cost of a call.

local bodies = require("society.llm.body")
local prices = require("society.llm.prices")

local M = {}

--- Estimates the tokens of a text: one per four bytes of Latin script, one or two per
-- character of others. For texts without an exact count.
function M.estimate(text)
  local wide = 0
  for _ in text:gmatch("[\xe2-\xf4]") do
    wide = wide + 1
  end
  return (#text - 3 * wide) // 4 + wide + 1
end

--- Tokens of overhead per message.
M.around = 4

--- Tokens of one tool call.
function M.of_call(call)
  return 8 + M.estimate(call.name) + M.estimate(call.arguments)
end

--- Tokens of one message, including overhead.
function M.of_message(message)
  local sum = M.around + M.estimate(message.content or "")
  for _, call in ipairs(message.tool_calls or {}) do
    sum = sum + M.of_call(call)
  end
  return sum
end

--- Estimates the input tokens of a chat. `tools_text` is the tools as they are sent.
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

--- The cost in millionths of a dollar; 0 for a model without a price.
function M.cost_micros(model, used, own)
  local price = price_of(model, own)
  if not price then
    return 0
  end
  return math.ceil(used.input_tokens * price.input + used.output_tokens * price.output)
end

--- Tokens a server may report beyond what was sent: overhead of messages and tools.
M.input_around = 10000

--- Maximum tokens of an answer without max_tokens.
M.output_tokens_max = 1000000

--- Caps the usage a server reports, in place: input at about the bytes sent, output at
-- max_tokens. So nobody pays for a server's nonsense.
function M.bound(call, used)
  local asked = call.chat.max_tokens or call.found.settings.max_tokens or M.output_tokens_max
  used.input_tokens = math.min(used.input_tokens, 4 * call.tokens + M.input_around)
  used.output_tokens = math.min(used.output_tokens, asked)
  return used
end

-- Transfer failures after which the usage is unknown.
local LATE = { first_byte_timeout = true, idle_timeout = true, timeout = true }

--- Adds the usage of an attempt without an answer to `call.spent`: as reported, else by
-- estimate. An attempt that never reached a model costs nothing. `name` is how its transfer
-- ended; nil if it was complete.
function M.lose(call, name, own)
  if not bodies.is_success(call.status) and not LATE[name] then
    return
  end
  local used = call.reader and call.reader.usage
  if type(used) ~= "table" or math.type(used.input_tokens) ~= "integer"
    or math.type(used.output_tokens) ~= "integer" then
    used = { input_tokens = call.tokens, output_tokens = (call.heard or 0) // 4 }
  end
  used = M.bound(call, { input_tokens = used.input_tokens, output_tokens = used.output_tokens })
  local spent = call.spent or { input_tokens = 0, output_tokens = 0, cost_micros = 0,
    model = call.chat.model or call.found.settings.model or "none" }
  spent.input_tokens = spent.input_tokens + used.input_tokens
  spent.output_tokens = spent.output_tokens + used.output_tokens
  spent.cost_micros = spent.cost_micros + M.cost_micros(spent.model, used, own)
  call.spent = spent
end

return M
