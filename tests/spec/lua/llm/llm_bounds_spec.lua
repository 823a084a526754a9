-- The host's limits per message, reached by a thinking agent: a guard stops it before them,
-- and waiting agents are notified.

local scene = require("scene")
local thinkers = require("thinkers")

local last = thinkers.last

-- Ann, who thinks, and what root was told about her. `llm` are further settings.
local function start(answers, llm, options)
  llm.provider, llm.answers = "scripted", answers
  llm.limits = { agent_tokens = 0, task_tokens = 0, society_tokens = 0 }
  options = options or {}
  local s = scene.new({
    policies = options.policies,
    config = { llm = llm, effects_max = options.effects_max },
    app = function(s)
      s:role({ id = "thinker", name = "t", prompt = "p", behaviour = "llm" })
      s:root(function(root, message)
        if message.from == "user" then
          root:spawn_agent("thinker", scene.brief(), { id = "ann" })
        end
      end)
    end,
  })
  scene.tell(s, "root")
  return s
end

-- `count` different calls of a tool at once.
local function many(count)
  local number = 0
  return function()
    local calls = {}
    for index = 1, count do
      number = number + 1
      calls[index] = { name = "own", arguments = { n = number } }
    end
    return { tool_calls = calls }
  end
end

local function assert_stopped(s, guard)
  local reply = last(thinkers.ask(s)).payload
  assert.same({ "stopped", guard }, { reply.error, reply.guard })
  assert.equal(guard,
    scene.message(s, { agent = "root", type = "status_report" }, { from = "ann" }).payload.guard)
  assert.same({}, s:dead_letters())
  assert.equal("idle", s:agent("ann").status)
end

describe("a thinking agent without effects left", function()
  after_each(scene.close)

  local guards = { rounds = false, repeats = false }

  it("is stopped by name, with the maximum of tools at once", function()
    local s = start(many(256), { guards = guards, tools = { { name = "own",
      run = function() return "ok" end } } })
    assert_stopped(s, "activation_too_long")
    -- The last word is complete.
    local calls, answers = 0, 0
    for _, entry in ipairs(thinkers.memory(s, "ann")) do
      calls = calls + #(entry.tool_calls or {})
      answers = answers + (entry.role == "tool" and 1 or 0)
    end
    assert.equal(calls, answers)
    assert.is_true(answers > 9000, answers .. " answers")
  end)

  for _, effects_max in ipairs({ 40, 300, 2000 }) do
    for _, count in ipairs({ 1, 7, 100 }) do
      it(("is stopped with a limit of %d, calling %d at once"):format(effects_max, count),
        function()
          local s = start(many(count), { guards = guards, tools = { { name = "own",
            run = function(agent) return #agent:contacts() end } } },
            { effects_max = effects_max })
          assert_stopped(s, "activation_too_long")
        end)
    end
  end

  it("is stopped where one tool uses them all", function()
    local s = start(many(1), { guards = guards, tools = { { name = "own", run = function(agent)
      while true do
        agent:contacts()
      end
    end } } })
    assert_stopped(s, "activation_too_long")
  end)

  it("leaves interrupting messages that are too many for later", function()
    local s = start(function() return { content = "heard", delay_ms = 1000 } end,
      { on_message = "interrupt" }, { effects_max = 60 })
    for index = 1, 50 do
      assert(s:send("user", { to = "ann", payload = { text = "message " .. index } }))
    end
    s:run()
    assert.same({}, s:dead_letters())
    assert.equal(0, s:queue("ann").pending and #s:queue("ann").pending or 0)
    assert.is_true(scene.law_holds(s))
  end)
end)

describe("a thinking agent that cannot remember more", function()
  after_each(scene.close)

  it("is stopped by name, and continues with the next message", function()
    local is_over = false
    local calls = many(250)
    local s = start(function() return is_over and "fine" or calls() end, {
      guards = { rounds = false, repeats = false }, context_tokens = 2000000000,
      tools = { { name = "own", run = function() return ("x"):rep(32768) end } } },
      { policies = { context = { kind = "context", version = 1, keep = function(request)
        return { #request.units }
      end } } })
    assert_stopped(s, "conversation_full")
    is_over = true
    assert.equal("fine", last(thinkers.ask(s)).payload.text)
  end)
end)
