--- anthropic: Anthropic's messages API.
--
-- society.llm.openai explains what a provider is.

local answers = require("society.llm.answer")
local blocks = require("society.llm.blocks")
local bodies = require("society.llm.body")
local failure = require("society.llm.failure")
local json = require("society.json")
local letters = require("society.llm.letters")
local pieces = require("society.llm.pieces")
local sse = require("society.llm.sse")
local wire = require("society.llm.wire")
local with_options = require("society.llm.options")

local M = {
  name = "anthropic",
  environment = { base_url = "ANTHROPIC_BASE_URL", model = "ANTHROPIC_MODEL",
    key = "ANTHROPIC_API_KEY" },
  defaults = { base_url = "https://api.anthropic.com", model = "claude-3-5-haiku-latest",
    max_tokens = 4096 },
}

local function blocks_of(message, ids)
  local parts = {}
  if message.role == "tool" then
    return "user", { { type = "tool_result", tool_use_id = ids:result(message.tool_call_id),
      content = message.content or "" } }
  end
  if message.content and message.content:find("%S") then -- it refuses what is blank
    parts[1] = { type = "text", text = message.content }
  end
  for _, call in ipairs(message.tool_calls or {}) do
    parts[#parts + 1] = { type = "tool_use", id = ids:call(call.id), name = wire.name(call.name),
      input = wire.input(call.arguments) }
  end
  return message.role == "assistant" and "assistant" or "user", parts
end

-- Roles must alternate, so consecutive messages of one role are merged.
local function messages_of(chat)
  local list, ids = {}, wire.ids()
  for _, message in ipairs(chat.messages) do
    local role, parts = blocks_of(message, ids)
    local last = list[#list]
    if message.role ~= "system" and #parts > 0 then
      if not last or last.role ~= role then
        last = { role = role, content = json.array({}) }
        list[#list + 1] = last
      end
      for _, block in ipairs(parts) do
        last.content[#last.content + 1] = block
      end
    end
  end
  return json.array(list)
end

local function system_of(chat)
  local parts = { chat.system }
  for _, message in ipairs(chat.messages) do
    if message.role == "system" then
      parts[#parts + 1] = message.content
    end
  end
  return #parts > 0 and table.concat(parts, "\n\n") or nil
end

local function tools_of(chat)
  local list = {}
  for index, tool in ipairs(chat.tools or {}) do
    list[index] = { name = tool.name, description = tool.description,
      input_schema = tool.parameters or { type = "object" } }
  end
  return #list > 0 and json.array(list) or nil
end

local CHOICES = { auto = { type = "auto" }, none = { type = "none" }, required = { type = "any" } }

-- Translates tool_choice from OpenAI's form to Anthropic's; Anthropic's own form passes.
local function choice_of(choice)
  if type(choice) ~= "table" then
    return CHOICES[choice]
  end
  local named = type(choice["function"]) == "table" and choice["function"].name or choice.name
  if type(named) == "string" then
    return { type = "tool", name = named }
  end
  return type(choice.type) == "string" and choice.type ~= "function" and choice or nil
end

local function refuse(text)
  return nil, { error = "bad_request", retryable = false, message = text }
end

function M.request(chat, settings)
  local choice = choice_of(chat.tool_choice)
  if chat.tool_choice ~= nil and not choice then
    return refuse("tool_choice is \"auto\", \"none\", \"required\" or { name = a tool }")
  elseif chat.response_format ~= nil then
    return refuse("anthropic has no response_format; say in the prompt what form the answer has, "
      .. "or give a tool with that schema and name it in tool_choice")
  end
  local body = with_options({
    model = chat.model or settings.model, system = system_of(chat), messages = messages_of(chat),
    tools = tools_of(chat), temperature = chat.temperature, tool_choice = choice,
    max_tokens = chat.max_tokens or settings.max_tokens, stream = true,
  }, chat.options, settings.options)
  return {
    method = "POST", url = wire.url(settings.base_url, "/v1/messages", "/v1"),
    headers = { ["Content-Type"] = "application/json", ["anthropic-version"] = "2023-06-01" },
    body = json.encode(body),
    secret = { env = settings.key_env, header = "x-api-key", prefix = "" },
  }
end

local Reader = {}
Reader.__index = Reader

function M.reader(chat, settings)
  return setmetatable({
    model = chat.model or settings.model, status = 0, headers = {}, body = bodies.new(),
    blocks = blocks.new(), usage = nil, stream = sse.new(), said = {}, letters = letters.new(),
  }, Reader)
end

function Reader:head(status, headers)
  self.status, self.headers = status, headers
  self.body:head(status, headers)
end

local function text_or_nil(value)
  return type(value) == "string" and value or nil
end

-- The given token count, or else the previous one; impossible numbers are ignored.
local function take_usage(self, usage)
  if type(usage) ~= "table" then
    return
  end
  local before = self.usage or { input_tokens = 0, output_tokens = 0 }
  local function said(name)
    local value = usage[name]
    return (value == nil or value == json.null) and before[name] or value
  end
  self.usage = answers.usage(said("input_tokens"), said("output_tokens")) or self.usage
end

local HANDLERS = {
  message_start = function(self, value)
    local message = blocks.is_object(value.message) and value.message or {}
    self.blocks.is_begun = true
    self.model = text_or_nil(message.model) or self.model
    take_usage(self, message.usage)
  end,
  content_block_start = function(self, value)
    self.fault = self.blocks:add(value.content_block, value.index) or self.fault
  end,
  content_block_delta = function(self, value)
    local said, fault = self.blocks:go_on(value.delta, value.index)
    self.said[#self.said + 1] = said
    self.fault = fault or self.fault
  end,
  message_delta = function(self, value)
    local delta = blocks.is_object(value.delta) and value.delta or {}
    self.stop_reason = text_or_nil(delta.stop_reason) or self.stop_reason
    take_usage(self, value.usage)
  end,
  message_stop = function(self) self.is_done = true end,
  error = function(self, value) self.error_body = json.encode(value) end,
}

local function take_event(self, value)
  if type(value) ~= "table" then
    self.fault = "an event that is not an object"
    return
  end
  local handle = HANDLERS[value.type]
  if handle then
    handle(self, value)
  end
end

local function take_events(self, events)
  for _, event in ipairs(events) do
    if event.data:find("%S") then -- else it only says that the server is alive
      take_event(self, self.letters:decode(event.data))
    end
  end
end

--- Takes bytes of the body and returns the text in them.
function Reader:put(bytes)
  bytes = self.body:put(bytes)
  if not bytes then
    return ""
  end
  local events, fault = self.stream:put(bytes)
  if not events then
    self.fault = fault
    return ""
  end
  self.said = {}
  take_events(self, events)
  return self.letters:join(table.concat(self.said))
end

local FINISH = { end_turn = "stop", stop_sequence = "stop", tool_use = "tool_calls",
  max_tokens = "length", refusal = "content_filter" }

local function message_of(self)
  local content, calls = self.blocks:read()
  return {
    role = "assistant", content = self.letters:join(content),
    tool_calls = #calls > 0 and json.array(self.letters:join_calls(calls)) or nil,
    finish_reason = FINISH[self.stop_reason] or "stop", model = self.model, usage = self.usage,
  }
end

local function read_whole(self)
  local value = self.letters:decode(self.body:text())
  if type(value) ~= "table" or not pieces.is_list(value.content) then
    self.fault = "no message"
    return
  end
  HANDLERS.message_start(self, { message = value })
  for _, block in ipairs(value.content) do
    self.fault = self.blocks:add(block) or self.fault
  end
  self.stop_reason, self.is_done = text_or_nil(value.stop_reason), true
end

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
  elseif not self.is_done then
    return nil, failure.of_transfer("connection_cut", "the stream ended before the answer did")
  elseif not self.blocks.is_begun then
    return nil, failure.bad_answer("there is no message in its answer")
  end
  return message_of(self)
end

return M
