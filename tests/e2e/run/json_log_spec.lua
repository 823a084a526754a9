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
