-- Empty answers of a model: when that is an error, and when it is silence.

local models = require("model")
local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask, last, memory =
  thinkers.think, thinkers.call, thinkers.ask, thinkers.last, thinkers.memory

-- How often the model was called by ann.
local function calls(s)
  return s:usage({ agent = "ann" })[1].calls
end

describe("an empty answer", function()
  after_each(scene.close)

  for reason, guard in pairs({ length = "answer_cut", content_filter = "content_filter" }) do
    it("because of " .. reason .. " is reported as an error", function()
      local s = think(function() return { content = "", finish_reason = reason } end)
      assert.equal(guard, last(ask(s)).payload.guard)
    end)
  end

  for name, content in pairs({ ["no text"] = "", ["white space"] = " \n" }) do
    it(("to a person is retried, and then reported as an error: %s"):format(name), function()
      local s = think(function() return content end)
      local reply = last(ask(s))
      assert.equal("user", reply.to)
      assert.equal("stopped", reply.payload.error)
      assert.equal("empty_answer", reply.payload.guard)
      assert.matches("ann was stopped (empty_answer): ", reply.payload.text, 1, true)
      assert.equal(5, calls(s))
      assert.matches("the model's answer was empty; it is asked again", s:transcript(), 1, true)
      assert.matches("the agent was stopped: empty_answer", s:transcript(), 1, true)
      assert.equal(1, #memory(s, "ann"))
    end)
  end

  it("is retried as often as configured, and a later answer counts", function()
    local s = think({ ann = { "", "", "here it is" } })
    assert.equal("here it is", last(ask(s)).payload.text)
    assert.equal(3, calls(s))
    scene.close()
    s = think(function() return "" end, { llm = { retries_max = 0 } })
    assert.equal("empty_answer", last(ask(s)).payload.guard)
    assert.equal(1, calls(s))
  end)

  it("reaches an agent that waits for a reply immediately", function()
    local answer, took_ms
    local s = think(function() return "" end, { root = function(root)
      local began_ms = root:now()
      answer = root:request({ to = "ann", payload = "how much?", timeout_ms = 600000 })
      took_ms = root:now() - began_ms
    end })
    scene.tell(s, "root")
    assert.equal("empty_answer", answer.payload.guard)
    assert.is_true(took_ms < 1000, took_ms .. " ms")
  end)

  it("fails the task that was given", function()
    local s = think(function() return "" end)
    ask(s, "go", { type = "task", task_id = "T1" })
    assert.equal("failed", s:tasks({ task = "T1" })[1].state)
  end)

  it("is silence if nobody waits, and once something was done", function()
    local s = think(function() return "" end, { root = function(root)
      root:send_message({ to = "ann", payload = "for your information" })
    end })
    scene.tell(s, "root")
    assert.equal(1, calls(s))
    assert.equal("root", last(s:messages({ agent = "ann" })).from)
    scene.close()
    s = think({ ann = { call("list_contacts"), "" } })
    assert.equal("user", last(ask(s)).from)
    assert.equal(2, calls(s))
  end)

  it("can also come as a stream", function()
    local empty = { status = 200, headers = models.SSE, body = models.stream(
      models.delta(nil, "stop"), "[DONE]") }
    local s = scene.new({ http = function() return empty end,
      config = { llm = { provider = "openai", model = "m" } },
      app = function(s) s:root("llm") end })
    assert(s:send("user", { to = "root", payload = { text = "hello" } }))
    s:run()
    assert.equal("empty_answer", last(s:messages({ agent = "user" })).payload.guard)
  end)
end)
