--- talk: an agent's conversation with its model, while a message is handled.
--
-- What is said lies in the agent's memory, which lasts; here is what this activation
-- must know of it: the entries, in units that are never parted, and which of the
-- messages at hand still want an answer.

local texts = require("society.llm.texts")
local usage = require("society.llm.usage")

local M = {}

--- Bytes of a message that a model is shown.
M.message_bytes_max = 131072

local Talk = {}
Talk.__index = Talk

local TASK_TYPES = { task = true, task_assign = true, task_assignment = true }

--- Opens the conversation of an agent that begins to handle a message.
function M.open(agent, message)
  local entries, first = agent:recall()
  local self = setmetatable({ agent = agent, entries = entries, gone = (first or 1) - 1,
    messages = {}, answered = {} }, Talk)
  self:hear(message)
  return self
end

--- Adds an entry that lasts.
function Talk:say(entry)
  local _, err = self.agent:remember(entry)
  if err then
    error(err.message, 0)
  end
  self.entries[#self.entries + 1] = entry
end

--- A message is at hand: its text goes to the model.
function Talk:hear(message)
  self.messages[#self.messages + 1] = message
  self:say({ role = "user", content = texts.cut(message.text, M.message_bytes_max) })
end

--- The message from `id` that was not answered yet; the latest.
function Talk:open_question(id)
  for index = #self.messages, 1, -1 do
    local message = self.messages[index]
    if message.from == id and not self.answered[message.id] and not TASK_TYPES[message.type]
      and message.type ~= "introduction_request" then
      return message
    end
  end
  return nil
end

--- Whether somebody waits for what comes of the messages at hand: the person, one who
-- waits for a reply, or one who gave a task.
function Talk:is_awaited()
  for _, message in ipairs(self.messages) do
    local is_asked = message.wants_reply or message.from == "user" and not message.reply_to
    if (is_asked or TASK_TYPES[message.type]) and not self.answered[message.id] then
      return true
    end
  end
  return false
end

function Talk:close_question(message)
  self.answered[message.id] = true
end

--- The latest message of a type.
function Talk:find(type)
  for index = #self.messages, 1, -1 do
    if self.messages[index].type == type and not self.answered[self.messages[index].id] then
      return self.messages[index]
    end
  end
  return nil
end

--- The latest task at hand.
function Talk:find_task()
  for index = #self.messages, 1, -1 do
    if TASK_TYPES[self.messages[index].type] then
      return self.messages[index]
    end
  end
  return nil
end

-- The answers that follow entry `index`, by call; false if one is missing.
local function last_answer(entries, index)
  local open = {}
  for _, call in ipairs(entries[index].tool_calls) do
    open[call.id] = true
  end
  local last = index
  while entries[last + 1] and entries[last + 1].role == "tool" do
    last = last + 1
    open[entries[last].tool_call_id] = nil
  end
  return next(open) == nil and last or nil, last
end

--- The conversation in units: an entry alone, or a call of tools with its answers. One
-- whose answers never came, because the activation was given up, is left out.
-- @treturn table list of { first, last, tokens, role }
function Talk:units()
  local units, index, entries = {}, 1, self.entries
  while index <= #entries do
    local entry, last, is_whole = entries[index], index, true
    if entry.tool_calls and #entry.tool_calls > 0 then
      local whole, seen = last_answer(entries, index)
      last, is_whole = seen, whole ~= nil
    elseif entry.role == "tool" then
      is_whole = false
    end
    if is_whole then
      local tokens = 0
      for number = index, last do
        tokens = tokens + usage.of_message(entries[number])
      end
      units[#units + 1] = { first = self.gone + index, last = self.gone + last, tokens = tokens,
        role = entry.role }
    end
    index = last + 1
  end
  return units
end

return M
