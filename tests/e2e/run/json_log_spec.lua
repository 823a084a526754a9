-- Lines of the log with --json: the detail of an event that has members is an object, and that of
-- a message has every member; people still read sentences.
--
-- Covers: core/kernel/trace.c

local json = require("society.json")
local program = require("program")

local APP = [[
  local society = require("society")
  local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
    completion_criteria = "c" }
  society.config { llm = { provider = "scripted", answers = {
    { content = "thought" }, { content = "thought" } } } }
  society.role { id = "thinker", name = "thinker", prompt = "Think.", behaviour = "llm" }
  society.role { id = "worker", name = "worker", behaviour = {
    general = function(agent, message)
      if message.payload.text == "ask" then
        return agent:escalate { title = "may I?", timeout_ms = 1 }
      end
      return ("x"):rep(300)
    end,
    task = function(agent, message) agent:complete(message, "done") end,
  } }
  society.root { default = function() end, general = function(root)
    root:spawn_agent("worker", BRIEF, { id = "w1" })
    root:spawn_agent("thinker", BRIEF, { id = "t1" })
    root:request { to = "w1", payload = "ask" }
    root:request { to = "w1", payload = "long" }
    root:send_message { to = "w1", type = "task", payload = { task_id = "T1" } }
    root:request { to = "t1", payload = "think" }
    root:spawn_agent("worker", { objective = "bad" })
    root:terminate("w1", { reason = "enough" })
    return "end"
  end }
  society.main(function(user) user:request { to = "root", payload = "go" } end)
]]

describe("the log", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  it("has objects in lines of JSON", function()
    local result = place:run("run app.lua --json --log debug")
    assert.equal(0, result.code, result.err)
    local details, messages = {}, {}
    for line in result.err:gmatch("[^\n]+") do
      local row = assert(json.decode(line))
      details[row.event] = details[row.event] or row.detail
      if row.event == "message" then
        messages[#messages + 1] = row.detail
      end
    end
    assert.same({ parent = "root", role = "worker" }, details.spawn)
    assert.same({ kind = "human", timeout_ms = 1 }, details.timeout)
    assert.same({ reason = "enough" }, details.stopped)
    assert.equal("may I?", details.escalation.title)
    assert.matches("^item_", details.escalation.item_id)
    assert.equal("T1", details.task_end.task_id)
    assert.equal("invalid_task_brief", details.invalid_task_brief.error)
    assert.equal("chat", details.call.kind)
    assert.equal(1, details.answer.calls)
    assert.equal(1, details.answer.total.calls)

    local first, long = messages[1], nil
    assert.same({ "user", "root", "general", "go" },
      { first.from, first.to, first.type, first.payload.text })
    assert.equal("normal", first.priority)
    assert.matches("^msg_", first.id)
    assert.is_false(first.requires_ack)
    for _, message in ipairs(messages) do
      long = type(message.payload) == "string" and message or long
    end
    assert.matches("^{\"text\":\"xxx.*… %(311 bytes%)$", long.payload)
    assert.equal("w1", long.from)
  end)

  -- The last detail of each event in the lines of JSON.
  local function details_in(lines)
    local details = {}
    for line in lines:gmatch("[^\n]+") do
      local row = assert(json.decode(line), line)
      assert.equal("table", type(row.detail), line)
      details[row.event] = row.detail
    end
    return details
  end

  -- What a run says until it has told of an event.
  local function details_until(event, environment)
    local running = place:start("run app.lua --json", environment)
    running:expect(('"event":"%s"'):format(event))
    running:kill("KILL")
    running:wait()
    return details_in(running:err())
  end

  it("has objects about turns, handlers and calls", function()
    place:write("app.lua", [[
      local society = require("society")
      society.config { llm = { provider = "openai", model = "m", base_url = "http://127.0.0.1:1",
        retries_max = 1, retry_first_ms = 1 } }
      society.root { task = function(root)
        assert(root:request { to = "user", payload = "?", timeout_ms = 1 })
      end }
      society.main(function(user)
        user:chat { messages = { { role = "user", content = "?" } } }
        user:send_message { to = "root", payload = "nobody handles it" }
        user:send_message { to = "root", type = "task", payload = { task_id = "T1" } }
        user:sleep(10)
      end)]])
    local details = details_in(place:shell("OPENAI_API_KEY=none society run app.lua --json").err)
    assert.same({ "user", "general" }, { details.unhandled.from, details.unhandled.type })
    assert.matches("^msg_", details.unhandled.message_id)
    assert.equal("recorded_error", details.no_retry.reason)
    assert.matches("^msg_", details.no_retry.message_id)
    assert.matches("^call_", details.retry.call_id)
    assert.matches("^connect_failed; try 2", details.retry.reason)
    assert.matches("^%d%d%d%d%-%d%d%-%d%dT", details.retry.retry_at)
  end)

  it("has objects about policies", function()
    place:write("app.lua", [[
      local society = require("society")
      society.policy("supervision", function() return "nonsense" end)
      society.root(function(root) error("oh") end)
      society.main(function(user)
        user:send_message { to = "root", payload = "go" }
        user:receive { from = "root" }
      end)]])
    local running = place:start_ready("run app.lua --json")
    running:expect("policy_failed")
    assert.equal(0, place:run("policy contacts=open").code)
    assert.equal(1, place:run("policy gatekeeper=nowhere").code)
    running:kill("KILL")
    running:wait()
    local details = details_in(running:err())
    assert.same({ "supervision", "app" },
      { details.policy_failed.kind, details.policy_failed.name })
    assert.same({ "gatekeeper", "nowhere" },
      { details.policy_refused.kind, details.policy_refused.name })
    assert.same({ "contacts", "strict", "open" }, { details.policy_swapped.kind,
      details.policy_swapped.from.name, details.policy_swapped.to.name })
    assert.same({ kind = "contacts", name = "open" }, details_until("policy_kept").policy_kept)
  end)

  it("has objects about the clock, and a trial that was cut short", function()
    place:write("app.lua", [[
      require("society").main(function(user) user:receive { from = "root" } end)]])
    local clock = program.quote(place:preload("clock"))
    local running = place:start("run app.lua --json", "CLOCK_DAYS=2 LD_PRELOAD=" .. clock)
    program.wait_for("the wait", function()
      return place:run("inspect waits --json").out:find('"receive"', 1, true)
    end)
    running:kill("KILL")
    running:wait()
    place:write("app.lua", place:read("app.lua") .. " -- changed")
    local details = details_until("trial", "SOCIETY_TRIAL_MS=0")
    assert.same({ 1, 1, "string" },
      { details.trial.left, details.trial.waiting, type(details.trial.reason) })
    assert.equal(0, details.clock.was_ahead_ms)
    assert.is_true(details.clock.ahead_ms > 86400000)
  end)

  it("has objects where there is only a sentence", function()
    place:write("app.lua", [[
      local society = require("society")
      print("while loading")
      society.root { task = function() end }
      society.main(function(user)
        user:send_message { to = "root", type = "task", payload = { task_id = "T1" } }
      end)]])
    local details = details_in(place:run("run app.lua --json --http 0 --once").err)
    assert.same({ text = "while loading" }, details.print)
    assert.equal("1 task is left open: T1 (root); the run does not wait for its alerts",
      details.tasks.text)
    assert.matches("^http://127%.0%.0%.1:%d+$", details.http.url)
    assert.matches("^listening on http", details.http.text)
    details = details_in(place:run("run app.lua --json").err)
    assert.matches("^main finished in an earlier run", details.ended.text)
    details = details_in(place:run("run app.lua --json --set nothing=1").err)
    assert.matches("unknown setting 'nothing'", details.not_started.text, 1, true)
  end)

  it("has objects about files", function()
    place:write("app.lua", [[
      local society = require("society")
      society.config { files = { dir = "w" } }
      society.main(function() end)]])
    place:shell("mkdir -m 755 w")
    local details = details_in(place:run("run app.lua --json").err)
    assert.equal(".", details.open_directory.file)
    assert.matches("^its mode is 0755", details.open_directory.reason)
  end)

  it("has the reason of a dead letter, for people as well", function()
    place:write("app.lua", [[
      local society = require("society")
      society.policy("supervision", function() end) -- no retries
      society.root(function() error("oh") end)
      society.main(function(user)
        user:send_message { to = "root", payload = "late", ttl_seconds = 0.001, delay_ms = 50 }
        user:request { to = "root", payload = "go" }
      end)]])
    local reasons = {}
    for line in place:run("run app.lua --json").err:gmatch("[^\n]+") do
      local row = assert(json.decode(line))
      if row.event == "dead_letter" then
        reasons[row.detail.payload.text] = row.detail.reason
      end
    end
    assert.same({ late = "expired", go = "script_error" }, reasons)
    assert.matches('dead_letter: user → root  general  {"text":"go"}  script_error\n',
      place:run("run app.lua --fresh").err, 1, true)
  end)

  it("has sentences for people", function()
    local result = place:run("run app.lua")
    assert.equal(0, result.code, result.err)
    for _, sentence in ipairs({ "info spawn w1: spawned by root as worker\n",
      "info timeout w1: human after 1 ms\n", "info escalation w1: may I?\n",
      "info stopped w1: enough\n", "info message: user → root  general  {\"text\":\"go\"}\n" }) do
      assert.matches(sentence, result.err, 1, true)
    end
  end)
end)
