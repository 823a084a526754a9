-- Every call of an agent with everything that can be wrong with its arguments: it raises
-- and names itself or the option, or returns an error with a code and a message; and the
-- society is, byte for byte, what it would be without the calls.

local CALLS = require("agent_calls")
local bad = require("bad")
local scene = require("scene")

local ELSEWHERE = " knows can_send begin_tool end_tool " -- below, and telemetry_tools_spec.lua
-- These cannot be wrong: they ignore whatever they are given.
local PLAIN = { "now", "contacts", "context", "recall", "idle_talk", "effects_left", "progress" }

-- Called as a script would, so that Lua knows the method's name.
local function caller(name)
  return assert(load(("local agent = ... return agent:%s(select(2, ...))"):format(name)))
end

local function try_all(name, agent, message, task)
  local call = caller(name)
  return bad.try(name, CALLS[name], function(...) return call(agent, ...) end, message, task)
end

-- A society in which `a`, who has a child `kid` and knows root and b, handles an
-- introduction request and holds a task, with act(a, message, task).
local function stage(act)
  local s = scene.troupe({
    a = function(a, message)
      if message.type == "introduction_request" then
        return act(a, message, a:receive({ type = "task", timeout_ms = 0 }))
      end
      assert(a:spawn_agent("actor", scene.brief(), { id = "kid" }))
    end,
    b = function() end,
  }, { quiet = true, unexpected_calls = true,
    policies = { contacts = "open", introductions = "agent" } })
  s:policy("messages", { "society", "workflow", "helix" })
  scene.tell(s, "a")
  for _, type in ipairs({ "introduction_request", "task" }) do
    assert(s:send("b", { to = "a", type = type,
      payload = { reason = "r", required_capability = "c", task_id = "T1" } }))
  end
  s:run()
  return s
end

describe("bad input to an agent's calls:", function()
  after_each(scene.close)

  local names = {}
  for name in pairs(CALLS) do
    names[#names + 1] = name
  end
  table.sort(names)

  for _, name in ipairs(names) do
    it(name .. " is reported and changes nothing", function()
      local faults, count
      local s = stage(function(...) faults, count = try_all(name, ...) end)
      local untouched = stage(function() end)
      assert.equal("", table.concat(faults or { "the turn failed: " .. s:transcript() }, "\n"))
      assert.is_true(count >= 30)
      assert.equal(untouched:dump(), s:dump())
      assert.same(untouched:stats(), s:stats())
      assert.is_true(scene.law_holds(s))
    end)
  end

  -- What a call with good arguments may answer here; all others answer what they do.
  local REFUSED = { request = "timeout", receive = "timeout", request_introduction = "timeout",
    cancel = "task_not_found", decide = "forbidden", http = "no_network",
    chat = "script_mismatch", resolve = "forbidden" }

  it("would be good input but for one thing", function()
    for _, name in ipairs(names) do
      local results
      stage(function(a, ...)
        local arguments = CALLS[name].good(...)
        results = table.pack(pcall(caller(name), a,
          table.unpack(arguments, 1, #CALLS[name].places)))
      end)
      local ok, answer, err = table.unpack(results, 1, 3)
      assert(ok, name .. ": " .. tostring(answer))
      assert.equal(REFUSED[name], err and err.error, name)
      scene.close()
    end
  end)

  it("is tried with every call of an agent", function()
    local files = assert(io.popen("grep -rho '{\"[a-z_]*\", agent_[a-z_]*}' core/script"))
    local count = 0
    for line in files:lines() do
      local name, is_tried = line:match('"([a-z_]+)"'), false
      for _, other in ipairs(PLAIN) do
        is_tried = is_tried or other == name
      end
      count = count + 1
      assert(is_tried or CALLS[name] or ELSEWHERE:find(" " .. name .. " ", 1, true), name)
    end
    files:close()
    assert.is_true(count >= 22)
  end)

  it("is a name that hides behind NUL, however many there are", function()
    local raised
    stage(function(a)
      local options = { to = "root", payload = { n = 1 } }
      for number = 1, 5000 do
        options["to\0" .. number] = "root"
      end
      raised = select(2, pcall(a.send_message, a, options))
    end)
    assert.matches("send: unknown option 'to'", raised, 1, true)
  end)

  it("makes knows and can_send answer no, and raise for what is not a text", function()
    local answers = {}
    stage(function(a)
      for _, call in ipairs({ "knows", "can_send" }) do
        for what, value in bad.each("") do
          local ok, answer = pcall(caller(call), a, value)
          if ok then
            answers[#answers + 1] = answer
          end
          assert(ok or answer:find(call, 1, true), what .. ": " .. tostring(answer))
        end
      end
    end)
    assert.is_true(#answers >= 30)
    for _, answer in ipairs(answers) do
      assert.is_true(not answer.inRegistry and not answer.allowed and #answer.error > 0)
    end
  end)
end)
