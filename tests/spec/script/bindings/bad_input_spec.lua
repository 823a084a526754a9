-- Every call of an agent with everything that can be wrong with its arguments: it raises
-- and names itself or the option, or returns an error with a code and a message; and the
-- society is, byte for byte, what it would be without the calls.

local bad = require("bad")
local scene = require("scene")

local SPEC = { services = "s", input_format = "i", output_format = "o" }

-- An id that was accepted by mistake must not collide with the next.
local made = 0
local function new_id()
  made = made + 1
  return "new" .. made
end

-- What bad.try() needs to know about each call.
local CALLS = {
  send_message = {
    good = function() return { { to = "root", payload = { n = 1 } } } end,
    places = { "" }, fields = { {
      to = "", payload = "payload text empty", content = "payload text empty null ?",
      type = "null ?", priority = "null ?", ttl_seconds = "ms null ?", delay_ms = "ms null ?",
      requires_ack = "flag null ?", deliver_at = "ms null ?", deadline = "ms null ?",
      task_id = "null ?", taskId = "null ?", correlation_id = "key null ?", wait_ack = "null ?",
      dedupe_key = "key null ?", traceparent = "key null ?", timeout_ms = "null ?",
    } },
  },
  request = {
    good = function() return { { to = "root", payload = { n = 1 }, timeout_ms = 5 } } end,
    places = { "" }, fields = { {
      to = "", payload = "payload text empty", type = "null ?", priority = "null ?",
      timeout_ms = "ms null ?", task_id = "null ?", correlation_id = "key null ?",
    } },
  },
  reply = { good = function(message) return { message, { n = 1 }, { type = "general" } } end,
    places = { "", "payload text empty", "options null ?" }, fields = { [3] = { type = "null ?",
      priority = "null ?", ttl_seconds = "ms null ?", delay_ms = "ms null ?" } },
  },
  receive = {
    good = function() return { { from = "root", type = "general", timeout_ms = 5 } } end,
    places = { "options ?" }, fields = { { from = "?", type = "?", timeout_ms = "ms ?" } },
  },
  spawn_agent = {
    good = function()
      return { "actor", scene.brief(), { id = new_id(), message = "begin" } }
    end,
    places = { "", "", "options ?" },
    fields = { nil, {
      objective = "payload text empty log function", constraints = "options payload",
      collaborators = "options null ?",
    }, { id = "?", message = "payload text empty ?" } },
  },
  create_role = {
    good = function()
      return { { id = new_id(), name = "n", interface_spec = SPEC } }
    end,
    places = { "" }, fields = { {
      id = "?", name = "text ?", prompt = "text empty ?", rolePrompt = "text empty ?",
      behaviour = "?", interface_spec = "?",
    } },
  },
  contact = { good = function() return { "root" } end, places = { "" }, },
  add_contact = {
    good = function() return { { id = "root", role = "r", interfaceSpec = SPEC } } end,
    places = { "" },
    fields = { { id = "", role = "text empty ?", interfaceSpec = "open options ?" } },
  },
  remove_contact = { good = function() return { "b" } end, places = { "" } },
  request_introduction = {
    good = function()
      return { { to = "root", reason = "r", required_capability = "c", timeout_ms = 5 } }
    end,
    places = { "" }, fields = { {
      to = "", reason = "text log", required_capability = "text log", timeout_ms = "ms ?",
    } },
  },
  introduce = {
    good = function(message) return { message, { target = "root", usage_hint = "h" } } end,
    places = { "", "" }, fields = { nil, { target = "", usage_hint = "text empty log ?" } },
  },
  decline = {
    good = function(message) return { message, "no" } end, places = { "", "text log number" },
  },
  terminate = {
    good = function() return { "kid", { reason = "r" } } end, places = { "", "options ?" },
    fields = { nil, { force = "flag ?", reason = "short empty ?" } },
  },
  stop = {
    good = function() return { { reason = "r" } } end, places = { "options ?" },
    fields = { { reason = "short empty ?" } },
  },
  pause = {
    good = function() return { "kid", { subtree = true } } end, places = { "", "options ?" },
    fields = { nil, { subtree = "flag ?", reason = "short empty ?" } },
  },
  resume = {
    good = function() return { "kid", { reason = "r" } } end, places = { "", "options ?" },
    fields = { nil, { subtree = "flag ?", reason = "short empty ?" } },
  },
  escalate = {
    good = function() return { { title = "t", timeout_ms = 5, wait = false } } end,
    places = { "" }, fields = { {
      title = "text", body = "payload text empty log null ?", options = "list ?",
      priority = "?", timeout_ms = "ms ?", wait = "flag ?",
    } },
  },
  broadcast = {
    good = function() return { { payload = { n = 1 } } } end,
    places = { "" }, fields = { {
      payload = "payload text empty", type = "null ?", priority = "null ?", task_id = "null ?",
      ttl_seconds = "ms null ?", requires_ack = "flag null ?", correlation_id = "key null ?",
    } },
  },
  checkpoint = {
    good = function() return { { agents = { "root" }, payload = { n = 1 }, timeout_ms = 5 } } end,
    places = { "options ?" }, fields = { {
      agents = "options ?", payload = "payload text empty ?", timeout_ms = "ms ?",
    } },
  },
  http = {
    good = function()
      return { { url = "http://a.test/", method = "GET", headers = { a = "b" }, body = "x",
        timeout_ms = 5, idempotent = true, connect_ms = 5, answer_bytes_max = 5 } }
    end,
    places = { "" }, fields = { {
      url = "", method = "?", headers = "options ?", body = "payload text empty log ?",
      timeout_ms = "ms ?", idempotent = "flag ?", connect_ms = "count ?",
      first_byte_ms = "count ?", idle_ms = "count ?", answer_bytes_max = "count ?", secret = "?",
    } },
  },
  chat = {
    good = function()
      return { { messages = { { role = "user", content = "x" } }, system = "s",
        tools = { { name = "f" } }, model = "m", provider = "scripted", temperature = 1,
        max_tokens = 5, timeout_ms = 5, interruptible = true } }
    end,
    places = { "" }, fields = { {
      messages = "options list", system = "text empty payload log ?", tools = "options list ?",
      model = "text empty payload log ?", provider = "text empty payload log ?",
      temperature = "number payload ms ?", max_tokens = "count payload ?", timeout_ms = "ms ?",
      interruptible = "flag ?",
    } },
  },
  remember = {
    good = function() return { { role = "user", content = "x" } } end,
    places = { "" }, fields = { { role = "", content = "text empty payload log" } },
  },
  choose = { good = function() return { { { first = 1, last = 1, tokens = 5 } }, 100 } end,
    places = { "", "count" } },
  decide = {
    good = function() return { "item", { decision = "approve" } } end, places = { "", "" },
    fields = { nil, { decision = "", changes = "payload text empty log null ?", choice = "?",
      comment = "text empty ?" } },
  },
  complete = {
    good = function(_, task) return { task, { n = 1 } } end,
    places = { "", "payload text empty log null ?" },
  },
  fail = {
    good = function(_, task) return { task, "why", { retryable = false } } end,
    places = { "", "payload text empty log null", "options ?" },
    fields = { nil, nil, { retryable = "flag ?" } },
  },
  resolve = { good = function() return { "b", "skip" } end, places = { "", "" } },
  cancel = { good = function() return { "task", "why" } end,
    places = { "", "text empty log number ?" } },
  load = { good = function() return { "root" } end, places = { "?" } },
  sleep = { good = function() return { 0 } end, places = { "" } },
  milestone = { good = function() return { "half of it" } end, places = { "text empty log" } },
  log = { good = function() return { "info", "text", { n = 1 } } end,
    places = { "", "text empty log number", "payload text empty open log null ?" } },
  random = { good = function() return { 1, 2 } end, places = { "payload ?", "payload ?" } },
}

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
