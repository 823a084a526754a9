-- Who gets the last word of a thinking agent, and how its tasks end.

local scene = require("scene")
local thinkers = require("thinkers")

local think, call, last = thinkers.think, thinkers.call, thinkers.last

-- What root gets for a message to ann, and how long it waited.
local function root_asks(answers, request, options)
  local got = {}
  options = options or {}
  options.root = function(root, message)
    if message.from ~= "user" then
      return
    end
    local began_ms = root:now()
    request.timeout_ms = 60000
    got.answer, got.err = root:request(request)
    got.took_ms = root:now() - began_ms
  end
  local s = think(answers, options)
  scene.tell(s, "root")
  assert.equal("idle", s:agent("root").status)
  return got, s
end

local function task(id)
  return { to = "ann", type = "task", payload = { task_id = id or "T", text = "?" } }
end

describe("a task that a model answers in plain text", function()
  after_each(scene.close)

  it("is completed with the text, after one reminder, and the waiting agent gets it", function()
    local shown = {}
    local got, s = root_asks(function(request)
      shown[#shown + 1] = last(request.messages).content
      return "the answer is 42"
    end, task())
    assert.equal("the answer is 42", got.answer.payload.output)
    assert.is_true(got.took_ms < 1000)
    assert.equal("completed", s:tasks()[1].state)
    assert.equal(2, #shown)
    assert.matches("任务 T 尚未结束", shown[2], 1, true)
  end)

  it("is ended as the model wants after the reminder", function()
    local got, s = root_asks({ ann = { "I see", { expect = "Task T is still open",
      tool_calls = { { name = "fail", arguments = { error = "no tools" } } } }, "sorry" } },
      task(), { policies = { prompts = "en" } })
    assert.equal("no tools", got.answer.payload.error)
    assert.equal("failed", s:tasks()[1].state)
  end)

  it("is completed immediately if the model has no verb for it", function()
    local got = root_asks({ ann = { "42" } }, task(), { llm = { verbs = { "list_contacts" } } })
    assert.equal("42", got.answer.payload.output)
  end)

  it("ends a spawn that waits for it", function()
    local result, err
    local s = think(function() return "42" end, { root = function(root, message)
      if message.from == "user" then
        result, err = root:spawn_agent("thinker", scene.brief(), { id = "bob", wait = true,
          message = { text = "how much?" } })
      end
    end })
    scene.tell(s, "root")
    assert.is_nil(err)
    assert.equal("bob", result.id)
    assert.equal("completed", s:tasks({ agent = "bob" })[1].state)
    assert.equal("idle", s:agent("root").status)
  end)

  it("fails if the model falls silent after its work", function()
    local got, s = root_asks({ ann = { call("list_contacts"), "", "" } }, task())
    assert.equal("empty_answer", got.answer.payload.error.guard)
    assert.equal("failed", s:tasks()[1].state)
  end)

  it("fails immediately if a model without a verb for it falls silent after its work", function()
    local got, s = root_asks({ ann = { call("list_contacts"), "" } }, task(),
      { llm = { verbs = { "list_contacts" } } })
    assert.equal("empty_answer", got.answer.payload.error.guard)
    assert.equal(2, s:usage({ agent = "ann" })[1].calls)
  end)

  it("needs no reminder once a tool of the app has ended it", function()
    local got, s = root_asks({ ann = { call("hand_in"), "done" } }, task(), { llm = { tools = { {
      name = "hand_in", run = function(agent) return agent:complete("T", "by the tool") end,
    } } } })
    assert.equal("by the tool", got.answer.payload.output)
    assert.equal(2, s:usage({ agent = "ann" })[1].calls)
  end)
end)

describe("several open tasks of a model", function()
  after_each(scene.close)

  -- What root gets as the output, or else the error, of the tasks t1 and t2, the second of
  -- which comes later, and what the model was shown last each time it was called.
  local function two_tasks(answers, delay_ms)
    local shown, got = {}, {}
    local s = think(function(request)
      shown[#shown + 1] = last(request.messages).content
      local answer = answers[#shown] or "nothing more"
      answer = type(answer) == "string" and { content = answer } or answer
      answer.delay_ms = 1000
      return answer
    end, { llm = { on_message = "interrupt" }, policies = { prompts = "en" },
      root = function(root, message)
        if message.from == "user" then
          root:send_message(task("t1"))
          local second = task("t2")
          second.delay_ms = delay_ms
          root:send_message(second)
        elseif message.type == "result" then
          local payload = message.payload
          got[payload.task_id] = payload.output or payload.error
        end
      end })
    scene.tell(s, "root")
    return got, shown
  end

  it("are all named in the reminder", function()
    local got, shown = two_tasks({ "hm", "thinking aloud", "both are 42" }, 300)
    assert.equal(3, #shown)
    assert.matches("Tasks t1, t2 are still open", shown[3], 1, true)
    assert.same({ t1 = "both are 42", t2 = "both are 42" }, got)
  end)

  it("are ended by their ids", function()
    local got, shown = two_tasks({ "hm", "thinking aloud",
      call("complete", { task_id = "t1", output = "one" }),
      call("fail", { task_id = "t3", error = "none" }),
      call("fail", { task_id = "t2", error = "two" }), "All done, bye." }, 300)
    assert.matches("no task t3 is being handled", shown[5], 1, true)
    assert.same({ t1 = "one", t2 = "two" }, got)
  end)

  it("are each reminded of, even one that came after a reminder", function()
    local got, shown = two_tasks({ "hm", "cut short", "hm again",
      call("complete", { task_id = "t1", output = "one" }),
      call("complete", { output = "two" }), "bye" }, 1500)
    assert.matches("Task t1 is still open", shown[2], 1, true)
    assert.matches("Tasks t1, t2 are still open", shown[4], 1, true)
    assert.same({ t1 = "one", t2 = "two" }, got)
  end)
end)

describe("an introduction request that a model answers in plain text", function()
  after_each(scene.close)

  it("is declined with the text", function()
    local err
    local s = think({ ann = { "I know nobody" } }, { policies = { introductions = "agent" },
      root = function(root, message)
        if message.from == "user" then
          err = select(2, root:request_introduction({ to = "ann", reason = "r",
            required_capability = "c" }))
        end
      end })
    scene.tell(s, "root")
    assert.equal("no_introduction", err.error)
    assert.equal("I know nobody", err.reason)
  end)
end)

describe("an agent that answered its parent and is then stopped", function()
  after_each(scene.close)

  it("notifies it by a report", function()
    local s = think(function(request)
      return last(request.messages).role == "user"
        and call("send_message", { to = "root", payload = "here" }) or call("list_contacts")
    end, { root = function(root, message)
      if message.from == "user" then
        root:send_message({ to = "ann", payload = "?" })
      end
    end })
    scene.tell(s, "root")
    assert.equal("repeated_call",
      scene.message(s, { agent = "root", type = "status_report" }, { from = "ann" }).payload.guard)
  end)
end)
