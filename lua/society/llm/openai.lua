--- openai: chat completions of OpenAI and compatible servers.
--
-- A provider is pure: it builds the request, without the key, which the host adds, and parses
-- the answer.

local answers = require("society.llm.answer")
local bodies = require("society.llm.body")
local failure = require("society.llm.failure")
local json = require("society.json")
local letters = require("society.llm.letters")
local pieces = require("society.llm.pieces")
local sse = require("society.llm.sse")
local wire = require("society.llm.wire")
local with_options = require("society.llm.options")

local M = {
  name = "openai",
  -- Environment variables the host reads; the key itself never gets here.
  environment = { base_url = "OPENAI_BASE_URL", model = "OPENAI_MODEL", key = "OPENAI_API_KEY" },
  defaults = { base_url = "https://api.openai.com/v1", model = "gpt-4o-mini" },
}

local function put_calls(message, calls)
  local list = {}
  for index, call in ipairs(calls) do
    list[index] = {
      id = call.id, type = "function",
      ["function"] = { name = wire.name(call.name), arguments = wire.arguments(call.arguments) },
    }
  end
  message.tool_calls = json.array(list)
end

local function messages_of(chat)
  local list = {}
  if chat.system then
    list[1] = { role = "system", content = chat.system }
  end
  for _, message in ipairs(chat.messages) do
    local copy = { role = message.role, content = message.content or "" }
    if message.tool_calls and #message.tool_calls > 0 then
      put_calls(copy, message.tool_calls)
    end
    copy.tool_call_id = message.tool_call_id
    list[#list + 1] = copy
  end
  return json.array(list)
end

local function tools_of(chat)
  local list = {}
  for index, tool in ipairs(chat.tools or {}) do
    list[index] = {
      type = "function",
      ["function"] = { name = tool.name, description = tool.description,
        parameters = tool.parameters },
    }
  end
  return #list > 0 and json.array(list) or nil
end

-- "auto", "none", "required", { name = … }, or the server's own form.
local function choice_of(choice)
  if type(choice) == "table" and choice.name and not choice.type then
    return { type = "function", ["function"] = { name = choice.name } }
  end
  return choice
end

--- Builds the request for a chat.
function M.request(chat, settings)
  local body = with_options({
    model = chat.model or settings.model, messages = messages_of(chat), tools = tools_of(chat),
    temperature = chat.temperature, max_tokens = chat.max_tokens or settings.max_tokens,
    tool_choice = choice_of(chat.tool_choice), response_format = chat.response_format,
    stream = true, stream_options = { include_usage = true },
  }, chat.options, settings.options)
  return {
    method = "POST", url = wire.url(settings.base_url, "/chat/completions"),
    headers = { ["Content-Type"] = "application/json", Accept = "text/event-stream" },
    body = json.encode(body),
    secret = { env = settings.key_env, header = "Authorization", prefix = "Bearer " },
  }
end

local Reader = {}
Reader.__index = Reader

--- Reads one answer: head, then bytes, then finish.
function M.reader(chat, settings)
  return setmetatable({
    model = chat.model or settings.model, status = 0, headers = {}, body = bodies.new(),
    pieces = pieces.new(), stream = sse.new(), letters = letters.new(),
  }, Reader)
end

function Reader:head(status, headers)
  self.status, self.headers = status, headers
  self.body:head(status, headers)
end

-- Impossible token counts are ignored.
local function take_usage(self, usage)
  if type(usage) == "table" and usage ~= json.null then
    local output = usage.completion_tokens
    self.usage = answers.usage(usage.prompt_tokens,
      (output == nil or output == json.null) and 0 or output) or self.usage
  end
end

-- Whether a choice has only a finish reason, as the last one of a stream may.
local function is_end(self, choice)
  return type(choice.finish_reason) == "string" and (choice.delta == json.null
    or self.body.is_stream and choice.delta == nil and choice.message == nil and choice.text == nil)
end

-- Takes a piece of a choice, or a whole one.
local function take_choice(self, choice)
  if not pieces.is_object(choice) then
    return
  end
  local delta = pieces.is_object(choice.delta) and choice.delta or choice.message
  if not pieces.is_object(delta) and not is_end(self, choice) then
    return
  end
  self.has_choice = true
  self.finish_reason = type(choice.finish_reason) == "string" and choice.finish_reason
    or self.finish_reason
  if pieces.is_object(delta) then
    self.fault = self.pieces:put(delta) or self.fault
  end
end

local function take_value(self, value)
  if type(value) ~= "table" then
    self.fault = "no object where one belongs"
  elseif value.error and value.error ~= json.null then
    self.error_body = json.encode(value)
  else
    take_usage(self, value.usage)
    if type(value.model) == "string" then
      self.model = value.model
    end
    take_choice(self, pieces.is_object(value.choices) and value.choices[1])
  end
end

local function take_events(self, events)
  for _, event in ipairs(events) do
    if event.data:match("^%s*%[DONE%]%s*$") then
      self.is_done = true
    elseif event.data:find("%S") then -- else it only says that the server is alive
      local value, err = self.letters:decode(event.data)
      if value == nil then
        self.fault = tostring(type(err) == "table" and err.message or err)
        return
      end
      take_value(self, value)
    end
  end
end

--- Takes bytes of the body and returns the text in them, for live display.
function Reader:put(bytes)
  bytes = self.body:put(bytes)
  if not bytes then
    return ""
  end
  local texts = self.pieces.texts
  local before = #texts
  local events, fault = self.stream:put(bytes)
  if not events then
    self.fault = fault
    return ""
  end
  take_events(self, events)
  return self.letters:join(table.concat(texts, "", before + 1))
end

local FINISH = { stop = "stop", tool_calls = "tool_calls", function_call = "tool_calls",
  length = "length", content_filter = "content_filter" }

local function message_of(self)
  local content, calls = self.pieces:read()
  if not content then
    return nil, failure.bad_answer(calls)
  end
  return {
    role = "assistant", content = self.letters:join(content),
    tool_calls = #calls > 0 and json.array(self.letters:join_calls(calls)) or nil,
    finish_reason = #calls > 0 and "tool_calls" or FINISH[self.finish_reason] or "stop",
    model = self.model, usage = self.usage,
  }
end

local function read_whole(self)
  local value, err = self.letters:decode(self.body:text())
  if value == nil then
    self.fault = tostring(type(err) == "table" and err.message or err)
  else
    take_value(self, value)
    self.is_done = true
  end
end

--- The answer is complete.
-- @treturn[1] table the model's message
-- @treturn[2] nil
-- @treturn[2] table the error
function Reader:finish(now_ms)
  if not bodies.is_success(self.status) then
    return nil, failure.of_answer(self.status, self.headers, self.body:text(), now_ms)
  end
  if self.body.is_too_large then
    return nil, failure.too_large(self.body.bytes, bodies.bytes_max)
  elseif self.body:close() then
    take_events(self, self.stream:finish())
  else
    read_whole(self)
  end
  if self.error_body then
    return nil, failure.of_stream(self.headers, self.error_body, now_ms)
  elseif self.fault then
    return nil, failure.bad_answer(self.fault)
  elseif not self.is_done and not self.finish_reason then
    return nil, failure.of_transfer("connection_cut", "the stream ended before the answer did")
  elseif not self.has_choice then
    return nil, failure.bad_answer("there is no choice in its answer")
  end
  return message_of(self)
end

return M
