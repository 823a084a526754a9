-- The behaviour `llm`: an agent that thinks with a model, whose answers are scripted.

local json = require("society.json")
local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask, last, memory =
  thinkers.think, thinkers.call, thinkers.ask, thinkers.last, thinkers.memory

describe("a thinking agent", function()
  after_each(scene.close)

  it("is told who it is, shown the message, and replies with the model's answer", function()
    local seen
    local s = think(function(request)
      seen = request
      return "你好"
    end)
    local reply = last(ask(s, "in a word?"))
    assert.equal("user", reply.to)
    assert.equal("你好", reply.payload.text)
    assert.matches("想一想", seen.system, 1, true)
    assert.matches("be brief", seen.system, 1, true)
    assert.equal(1, #seen.messages)
    assert.equal("【来自用户的消息】\nin a word?", seen.messages[1].content)
    local names = {}
    for _, tool in ipairs(seen.tools) do
      names[tool.name] = tool
    end
    for _, name in ipairs({ "spawn_agent", "send_message", "create_role", "list_contacts",
      "request_introduction", "introduce", "decline", "request", "escalate", "complete" }) do
      assert(names[name], name)
      assert.is_nil(names[name].parameters.properties.from)
    end
    assert.same({ "objective", "constraints", "inputs", "outputs", "completion_criteria" },
      names.spawn_agent.parameters.properties.taskBrief.required)
  end)

  it("remembers, across messages and a crash", function()
    local lengths = {}
    local s = think(function(request)
      lengths[#lengths + 1] = #request.messages
      return "answer " .. #lengths
    end)
    ask(s) ask(s)
    s:crash() s:recover()
    ask(s)
    assert.same({ 1, 3, 5 }, lengths)
    assert.same({ "user", "assistant", "user", "assistant", "user", "assistant" },
      (function()
        local roles = {}
        for i, entry in ipairs(memory(s, "ann")) do
          roles[i] = entry.role
        end
        return roles
      end)())
  end)

  it("acts through the society's verbs and is told the outcome", function()
    local s = think({ ann = {
      call("list_contacts"),
      { expect = '"id":"root"', tool_calls = { { name = "send_message", arguments = {
        to = "root", payload = { text = "I begin" } } } } },
      { expect = "messageId", content = "done" },
    } })
    ask(s)
    local sent = scene.message(s, { agent = "root" }, { from = "ann" })
    assert.equal("I begin", sent.payload.text)
    assert.matches("answer ann: .-; calls list_contacts\n", s:transcript())
  end)

  it("answers a request by sending a message to the requester", function()
    local answer
    local s = think({ ann = { call("send_message", { to = "root", payload = { text = "42" } }),
      "said so" } }, { root = function(root)
        answer = root:request({ to = "ann", payload = "how much?" })
      end })
    scene.tell(s, "root")
    assert.equal("42", answer.payload.text)
    local to_root = 0
    for _, message in ipairs(s:messages({ agent = "root" })) do
      to_root = to_root + (message.from == "ann" and 1 or 0)
    end
    assert.equal(1, to_root)
  end)

  it("creates a role and an agent that thinks as well, and asks it", function()
    local s = think({
      ann = {
        call("create_role", { name = "poet", prompt = "write" }),
        function(request)
          local role = json.decode(last(request.messages).content)
          return call("spawn_agent", { roleId = role.id, taskBrief = scene.brief() })
        end,
        function(request)
          local child = json.decode(last(request.messages).content)
          return call("request", { to = child.id, payload = { text = "a line, please" } })
        end,
        { expect = "roses", content = "I have it" },
      },
      poet = { "roses are red" },
    })
    assert.equal("I have it", last(ask(s)).payload.text)
  end)

  it("completes the task it was given", function()
    local s = think({ ann = { call("complete", { output = { answer = 42 } }), "done" } })
    ask(s, "go", { type = "task", task_id = "T1" })
    assert.equal("completed", s:tasks({ task = "T1" })[1].state)
    assert.equal(1, s:usage({ task = "T1" })[1].calls and #s:usage({ task = "T1" }))
  end)

  it("escalates a decision to the person and gets it", function()
    local s = think({ ann = { call("escalate", { title = "May I?" }),
      { expect = "approve", content = "I may" } } })
    assert(s:send("user", { to = "ann", payload = { text = "go" } }))
    s:run()
    s:decide(s:inbox()[1].id, { decision = "approve" })
    s:run()
    assert.equal("I may", last(s:messages({ agent = "ann" })).payload.text)
  end)

  it("is introduced, and introduces", function()
    local s = think({
      ann = { call("request_introduction", { to = "root", reason = "r",
        required_capability = "poetry" }), { expect = '"id":"bob"', content = "met" } },
    }, { ids = { "ann", "bob" }, interface_spec = { services = "poetry", input_format = "i",
      output_format = "o" } })
    assert.equal("met", last(ask(s)).payload.text)
    local contacts = s:contacts("ann")
    assert.equal("bob", contacts[#contacts].id)
    assert.equal("introduction", contacts[#contacts].source)
  end)
end)

describe("a model's mistakes", function()
  after_each(scene.close)

  for _, case in ipairs({
    { name = "arguments that are no JSON", call = { name = "send_message", arguments = "{oops" },
      says = "invalid_arguments" },
    { name = "arguments that lack something", call = { name = "send_message",
      arguments = { to = "root" } }, says = "missing_payload" },
    { name = "arguments of another kind", call = { name = "request", arguments = { to = 7,
      payload = "x" } }, says = "to must be of type string" },
    { name = "arguments that are a list", call = { name = "send_message", arguments = "[]" },
      says = "must be one JSON object" },
    { name = "a tool that is not there", call = { name = "fly", arguments = {} },
      says = "unknown_tool" },
    { name = "a receiver that is not there", call = { name = "send_message",
      arguments = { to = "nobody", payload = "x" } }, says = "agent_not_found" },
    { name = "a brief that is not whole", call = { name = "spawn_agent",
      arguments = { roleId = "thinker", taskBrief = { objective = "", constraints = json.array({}),
        inputs = "i", outputs = "o", completion_criteria = "c" } } }, says = "invalid_task_brief" },
    { name = "a task that is none", call = { name = "complete", arguments = { output = 1 } },
      says = "no_task" },
  }) do
    it("are reported to it: " .. case.name, function()
      local s = think({ ann = { { tool_calls = { case.call } },
        { expect = case.says, content = "I see" } } })
      assert.equal("I see", last(ask(s)).payload.text)
    end)
  end

  it("include a tool of the app that raises", function()
    local s = think({ ann = { call("explode", {}), { expect = "boom", content = "I see" } } },
      { llm = { tools = { { name = "explode", run = function() error("boom") end } } } })
    assert.equal("I see", last(ask(s)).payload.text)
  end)

  it("include results that are too large, which are cut", function()
    local s = think({ ann = { call("flood", {}), { expect = "bytes in all", content = "much" } } },
      { llm = { tools = { { name = "flood", run = function() return ("x"):rep(1e6) end } } } })
    assert.equal("much", last(ask(s)).payload.text)
  end)
end)

describe("an app's tools", function()
  after_each(scene.close)

  it("are called with the agent and the model's arguments, and may wait", function()
    local s = think({ ann = { call("add", { a = 2, b = 3 }), { expect = "5", content = "five" } } },
      { llm = { tools = { { name = "add", description = "adds", parameters = { type = "object",
        properties = { a = { type = "number" }, b = { type = "number" } },
        required = { "a", "b" } },
        run = function(agent, given)
          agent:sleep(1000)
          agent.state.sum = given.a + given.b
          return given.a + given.b
        end } } } })
    assert.equal("five", last(ask(s)).payload.text)
    assert.matches('"sum":5', s:dump(), 1, true)
  end)

  it("are for the roles they name, and verbs for the roles they are left to", function()
    local seen
    local s = think(function(request)
      seen = request.tools
      return "ok"
    end, { llm = { verbs = { "send_message" }, tools = {
      { name = "mine", roles = { "thinker" }, run = print },
      { name = "yours", roles = { "other" }, run = print } } } })
    ask(s)
    assert.same({ "send_message", "mine" }, { seen[1].name, seen[2].name })
    assert.equal(2, #seen)
  end)
end)

describe("a conversation that is too long", function()
  after_each(scene.close)

  it("is cut to the window, and never between a call and its result", function()
    local s = think(function(request)
      local open = {}
      for _, message in ipairs(request.messages) do
        for _, asked in ipairs(message.tool_calls or {}) do
          open[asked.id] = true
        end
        if message.role == "tool" then
          assert(open[message.tool_call_id], "an answer without its call")
          open[message.tool_call_id] = nil
        end
      end
      assert(next(open) == nil, "a call without its answer")
      assert(#request.messages < 40)
      if last(request.messages).role == "tool" then
        return "done"
      end
      return call("list_contacts")
    end, { llm = { context_tokens = 5000 } })
    for _ = 1, 20 do
      assert.equal("done", last(ask(s, ("word "):rep(20))).payload.text)
    end
    assert.equal(80, #memory(s, "ann"))
  end)

  it("omits a call whose result never came because the task was cancelled", function()
    local seen
    local s = think(function(request)
      seen = request.messages
      return last(seen).content:find("slowly", 1, true) and call("wait_long", {}) or "fine"
    end, { llm = { tools = { { name = "wait_long",
      run = function(agent) agent:sleep(60000) end } } }, root = function(root, message)
        if message.payload.text == "begin" then
          root:send_message({ to = "ann", type = "task",
            payload = { text = "slowly", task_id = "T1" } })
        else
          assert(root:cancel("T1", "enough"))
        end
      end })
    assert(s:send("user", { to = "root", payload = { text = "begin" } }))
    s:advance(1000)
    assert.equal(2, #memory(s, "ann"))
    assert(s:send("user", { to = "root", payload = { text = "cancel" } }))
    s:run()
    assert.equal("fine", last(ask(s)).payload.text)
    for _, message in ipairs(seen) do
      assert.is_nil(message.tool_calls)
    end
  end)
end)
