--- model: what a chat completions server says, for specs, and a root that calls it.

local json = require("society.json")
local scene = require("scene")

local M = {}

--- The events of a stream of chat completions.
function M.stream(...)
  local parts = {}
  for index, value in ipairs({ ... }) do
    parts[index] = "data: " .. (type(value) == "string" and value or json.encode(value)) .. "\n\n"
  end
  return table.concat(parts)
end

--- One piece of an answer.
function M.delta(content, finish)
  return { choices = json.array({ { index = 0, delta = { content = content },
    finish_reason = finish } }), model = "test-model" }
end

--- Headers of a stream.
M.SSE = { ["content-type"] = "text/event-stream; charset=utf-8" }

--- A complete answer.
function M.say(text, usage)
  return { status = 200, headers = M.SSE, body = M.stream(M.delta(text), M.delta(nil, "stop"),
    { choices = json.array({}), usage = usage or { prompt_tokens = 10, completion_tokens = 5 } },
    "[DONE]") }
end

--- A root that calls a model once per message and keeps its answer.
function M.ask(world, options, chat)
  local seen = { requests = {}, results = {} }
  options = options or {}
  options.http = function(request)
    seen.requests[#seen.requests + 1] = request
    return world(request, #seen.requests)
  end
  options.config = options.config or {}
  options.config.llm = options.config.llm or { provider = "openai", model = "test-model" }
  local s = scene.troupe({
    root = function(root, message)
      local answer, err = root:chat(chat or {
        messages = { { role = "user", content = message.payload.text } } })
      seen.results[#seen.results + 1] = { answer = answer, err = err }
    end,
  }, options)
  return s, seen
end

return M
