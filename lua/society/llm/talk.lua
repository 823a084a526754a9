--- talk: an agent's conversation with its model while a message is handled.
--
-- The conversation is in the agent's durable memory. This module keeps what the activation
-- needs of it: the entries, in units that stay together, and which messages still need an
-- answer.

local texts = require("society.llm.texts")
local usage = require("society.llm.usage")

local M = {}

--- Maximum bytes of a message that a model is shown.
M.message_bytes_max = 131072

local Talk = {}
Talk.__index = Talk

local TASK_TYPES = { task = true, task_assign = true, task_assignment = true }

--- Whether a message assigns a task.
function Talk.is_task(message)
  local payload = message.payload
  return TASK_TYPES[message.type] == true
    and not (type(payload) == "table" and payload.action == "cancel")
end

--- Opens the conversation of an agent that begins to handle a message.
-- @tparam integer tokens_max limit of what goes to the model at a time
-- @tparam string? id_line format that shows a model the id of a request; nil: not shown
function M.open(agent, message, tokens_max, id_line)
  local entries, first = agent:recall()
  local self = setmetatable({ agent = agent, entries = entries, gone = (first or 1) - 1,
    messages = {}, answered = {}, at_hand = {}, room = tokens_max, share = tokens_max,
    id_line = id_line }, Talk)
  self:hear(message)
  return self
end

--- Adds a durable entry. When the conversation is full, sets `full` to the guard's error.
function Talk:say(entry)
  local _, err = self.agent:remember(entry)
  if err then
    self.full = { error = "guard", guard = "conversation_full", message = err.message }
    return
  end
  self.entries[#self.entries + 1] = entry
end

-- The suffix of a message's text: the id by which a request can be answered later.
function Talk:id_of(message)
  return self.id_line and message.wants_reply and "\n" .. self.id_line:format(message.id) or ""
end

--- Adds a message that a call took from the mailbox; its text is the answer of the call.
-- @treturn string
function Talk:take(message)
  self.messages[#self.messages + 1] = message
  return texts.cut(message.text, M.message_bytes_max) .. self:id_of(message)
end

--- Adds a message at hand, whose text goes to the model. The first takes at most half the
-- window; later ones share a quarter, each half of what is left, so that all of them and the
-- work on them fit.
function Talk:hear(message)
  self.messages[#self.messages + 1] = message
  self.share = self.share // 2
  local id = self:id_of(message)
  local text = texts.fit(texts.cut(message.text, M.message_bytes_max),
    self.share - usage.around - usage.estimate(id))
  local entry = { role = "user", content = text .. id }
  self:say(entry)
  self.room = self.room - usage.of_message(entry)
  self.at_hand[#self.entries] = not self.full or nil
  if #self.messages == 1 then
    self.share = self.share // 2
  end
end

--- Whether there is room for one more message at hand.
function Talk:can_hear()
  return not self.full and self.share // 2 > texts.tokens_min + usage.around
end

--- Adds a model's answer with its calls. Calls go back to it with their answers and the
-- messages at hand, so calls that leave no room for answers are stored cut.
-- @treturn integer the tokens left for the answers
function Talk:say_answer(answer)
  local entry = { role = "assistant", content = answer.content, tool_calls = answer.tool_calls }
  entry = entry.tool_calls and texts.fit_calls(entry, self.room * 3 // 4) or entry
  self:say(entry)
  return self.room - usage.of_message(entry)
end

--- The effects needed to answer everybody at the end, with a margin.
function Talk:effects_needed()
  return #self.messages + 8
end

--- The unanswered messages at hand.
function Talk:open()
  local list = {}
  for _, message in ipairs(self.messages) do
    if not self.answered[message.id] then
      list[#list + 1] = message
    end
  end
  return list
end

-- The latest one that matches.
local function latest(self, fits)
  local list = self:open()
  for index = #list, 1, -1 do
    if fits(list[index]) then
      return list[index]
    end
  end
  return nil
end

--- The latest message from `id` that a message to it would answer. Tasks and introduction
-- requests have verbs of their own.
function Talk:open_question(id)
  return latest(self, function(message)
    return message.from == id and not TASK_TYPES[message.type]
      and message.type ~= "introduction_request"
  end)
end

--- Whether somebody waits for a result: the person, a sender that waits for a reply, or the
-- assigner of a task.
function Talk:is_awaited()
  return latest(self, function(message)
    return message.wants_reply or message.from == "user" and not message.reply_to
      or self.is_task(message)
  end) ~= nil
end

function Talk:close_question(message)
  self.answered[message.id] = true
end

--- A tool has ended the task, or answered the message, with that id.
function Talk:close_by_id(id)
  for _, message in ipairs(self.messages) do
    if message.id == id or message.task_id == id and self.is_task(message) then
      self:close_question(message)
    end
  end
end

--- The latest unanswered message of a type.
function Talk:find(type)
  return latest(self, function(message) return message.type == type end)
end

--- The latest open task.
function Talk:open_task()
  return latest(self, self.is_task)
end

--- The latest task at hand, preferably an open one.
function Talk:find_task()
  local task = self:open_task()
  for index = #self.messages, 1, -1 do
    task = task or (self.is_task(self.messages[index]) and self.messages[index]) or nil
  end
  return task
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

--- The conversation in units: a single entry, or tool calls with their answers. Calls whose
-- answers never came, because the activation was abandoned, are left out.
-- @treturn table list of { first, last, tokens, role, is_at_hand? }
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
        role = entry.role, is_at_hand = self.at_hand[index] }
    end
    index = last + 1
  end
  return units
end

return M
