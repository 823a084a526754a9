--- thinkers: societies of thinking agents, with scripted answers.

local json = require("society.json")
local scene = require("scene")

local M = {}

--- A society of agents in the role `thinker`, spawned by root, that answer by script.
-- options.llm: further settings; options.spans: society.config{ telemetry }, with telemetry;
-- options.root: what root does; options.roles(s): more roles.
function M.think(answers, options)
  options = options or {}
  local llm = options.llm or {}
  llm.provider, llm.answers = "scripted", answers
  local s = scene.new({
    config = { llm = llm, telemetry = options.spans }, telemetry = options.spans ~= nil,
    policies = options.policies, seed = options.seed,
    faults = options.faults,
    app = function(s)
      s:role({ id = "thinker", name = "思考者", prompt = "想一想", behaviour = "llm",
        interface_spec = options.interface_spec })
      if options.roles then
        options.roles(s)
      end
      s:root(function(root, message)
        if message.payload.spawn then
          for _, id in ipairs(message.payload.spawn) do
            assert(root:spawn_agent("thinker", scene.brief(options.brief), { id = id }))
          end
          return
        end
        return options.root and options.root(root, message)
      end)
    end,
  })
  assert(s:send("user", { to = "root", payload = { spawn = options.ids or { "ann" } } }))
  s:run()
  return s
end

--- An answer that calls one tool.
function M.call(name, arguments)
  return { tool_calls = { { name = name, arguments = arguments } } }
end

--- The outcome of a message to ann.
function M.ask(s, text, more)
  local message = { to = "ann", payload = { text = text or "hello" } }
  for name, value in pairs(more or {}) do
    message[name] = value
  end
  assert(s:send("user", message))
  s:run()
  return s:messages({ agent = "ann" })
end

--- The last of a list.
function M.last(list)
  return list[#list]
end

--- The conversation of an agent as stored.
function M.memory(s, id)
  local list = {}
  for _, row in ipairs(json.decode(s:dump())) do
    if row.table == "memories" and row.agent == id then
      list[#list + 1] = row.entry
    end
  end
  return list
end

return M
