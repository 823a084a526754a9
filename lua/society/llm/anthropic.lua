--- anthropic: the messages API of Anthropic.
--
-- As society.llm.openai says what a provider is.

local failure = require("society.llm.failure")
local json = require("society.json")
local sse = require("society.llm.sse")
local with_options = require("society.llm.options")

local M = {
  name = "anthropic",
  environment = { base_url = "ANTHROPIC_BASE_URL", model = "ANTHROPIC_MODEL",
    key = "ANTHROPIC_API_KEY" },
  defaults = { base_url = "https://api.anthropic.com", model = "claude-3-5-haiku-latest",
    max_tokens = 4096 },
}

-- Arguments that are not an object cannot be sent back as one.
local function input_of(arguments)
  local value = json.decode(arguments)
  if type(value) == "table" and value ~= json.null and arguments:match("^%s*{") then
    return value
  end
  return { raw = arguments }
end

local function blocks_of(message)
  local blocks = {}
  if message.role == "tool" then
    return "user", { { type = "tool_result", tool_use_id = message.tool_call_id,
      content = message.content or "" } }
  end
  if message.content and message.content ~= "" then
    blocks[1] = { type = "text", text = message.content }
  end
  for _, call in ipairs(message.tool_calls or {}) do
    blocks[#blocks + 1] = { type = "tool_use", id = call.id, name = call.name,
      input = input_of(call.arguments) }
  end
  return message.role == "assistant" and "assistant" or "user", blocks
end

-- Turns alternate: what follows in the same role belongs to the same turn.
local function messages_of(chat)
  local list = {}
  for _, message in ipairs(chat.messages) do
    local role, blocks = blocks_of(message)
    local last = list[#list]
    if message.role ~= "system" and #blocks > 0 then
      if not last or last.role ~= role then
        last = { role = role, content = json.array({}) }
        list[#list + 1] = last
      end
      for _, block in ipairs(blocks) do
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

-- tool_choice as openai has it, said as Anthropic does; what is Anthropic's own stays.
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
    method = "POST", url = settings.base_url:gsub("/+$", "") .. "/v1/messages",
    headers = { ["Content-Type"] = "application/json", ["anthropic-version"] = "2023-06-01" },
    body = json.encode(body),
    secret = { env = settings.key_env, header = "x-api-key", prefix = "" },
  }
end

local Reader = {}
Reader.__index = Reader

function M.reader(chat, settings)
  return setmetatable({
    model = chat.model or settings.model, status = 0, headers = {}, raw = {}, blocks = {},
    usage = nil, stream = sse.new(), said = {},
  }, Reader)
end

function Reader:head(status, headers)
  self.status, self.headers = status, headers
  self.is_stream = status == 200
    and (headers["content-type"] or ""):find("text/event-stream", 1, true) ~= nil
end

local function take_usage(self, usage)
  if type(usage) ~= "table" then
    return
  end
  local used = self.usage or { input_tokens = 0, output_tokens = 0 }
  used.input_tokens = math.tointeger(usage.input_tokens) or used.input_tokens
  used.output_tokens = math.tointeger(usage.output_tokens) or used.output_tokens
  self.usage = used
end

local function add_block(self, block)
  local kind = type(block) == "table" and block.type
  self.blocks[#self.blocks + 1] = {
    kind = kind, id = block.id, name = block.name,
    parts = { kind == "text" and block.text or nil },
    input = kind == "tool_use" and block.input or nil,
  }
end

local HANDLERS = {
  message_start = function(self, value)
    local message = type(value.message) == "table" and value.message or {}
    self.model = message.model or self.model
    take_usage(self, message.usage)
  end,
  content_block_start = function(self, value)
    add_block(self, value.content_block)
  end,
  content_block_delta = function(self, value)
    local block = self.blocks[#self.blocks]
    local delta = type(value.delta) == "table" and value.delta or {}
    if not block then
      self.fault = "a piece of no block"
    else
      block.parts[#block.parts + 1] = delta.text or delta.partial_json
      if block.kind == "text" and type(delta.text) == "string" then
        self.said[#self.said + 1] = delta.text
      end
    end
  end,
  message_delta = function(self, value)
    self.stop_reason = type(value.delta) == "table" and value.delta.stop_reason or self.stop_reason
    take_usage(self, value.usage)
  end,
  message_stop = function(self) self.is_done = true end,
  error = function(self, value) self.error_body = json.encode(value) end,
}

local function take_events(self, events)
  for _, event in ipairs(events) do
    local value = json.decode(event.data)
    if type(value) ~= "table" then
      self.fault = "an event that is no object"
      return
    end
    local handle = HANDLERS[value.type]
    if handle then
      handle(self, value)
    end
  end
end

--- Takes bytes of the body; gives the text that came with them.
function Reader:put(bytes)
  if not self.is_stream then
    self.raw[#self.raw + 1] = bytes
    return ""
  end
  local events, fault = self.stream:put(bytes)
  if not events then
    self.fault = fault
    return ""
  end
  self.said = {}
  take_events(self, events)
  return table.concat(self.said)
end

local FINISH = { end_turn = "stop", stop_sequence = "stop", tool_use = "tool_calls",
  max_tokens = "length", refusal = "content_filter" }

local function message_of(self)
  local texts, calls = {}, {}
  for _, block in ipairs(self.blocks) do
    local text = table.concat(block.parts)
    if block.kind == "tool_use" then
      local input = type(block.input) == "table" and next(block.input) and json.encode(block.input)
      calls[#calls + 1] = { id = block.id, name = block.name,
        arguments = text ~= "" and text or input or "{}" }
    elseif block.kind == "text" then
      texts[#texts + 1] = text
    end
  end
  return {
    role = "assistant", content = table.concat(texts),
    tool_calls = #calls > 0 and json.array(calls) or nil,
    finish_reason = FINISH[self.stop_reason] or "stop", model = self.model, usage = self.usage,
  }
end

local function read_whole(self)
  local value = json.decode(table.concat(self.raw))
  if type(value) ~= "table" or type(value.content) ~= "table" then
    self.fault = "no message"
    return
  end
  HANDLERS.message_start(self, { message = value })
  for _, block in ipairs(value.content) do
    add_block(self, block)
  end
  self.stop_reason, self.is_done = value.stop_reason, true
end

function Reader:finish(now_ms)
  if self.status ~= 200 then
    return nil, failure.of_answer(self.status, self.headers, table.concat(self.raw), now_ms)
  end
  if self.is_stream then
    take_events(self, self.stream:finish())
  else
    read_whole(self)
  end
  if self.error_body then
    return nil, failure.of_answer(500, self.headers, self.error_body, now_ms)
  elseif self.fault then
    return nil, failure.bad_answer(self.fault)
  elseif not self.is_done then
    return nil, failure.of_transfer("connection_cut", "the stream ended before the answer did")
  end
  return message_of(self)
end

return M
