-- society call: every operation of a society that has something of everything, running and
-- stopped; each answer has the shape that the table of operations declares.

local json = require("society.json")
local program = require("program")
local table_of_operations = require("society.program").operations

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role { id = "worker", prompt = "works", behaviour = function(agent, message)
  local what = message.payload.text or message.payload.what
  if what == "fail" then error("on purpose") end
  if what == "wait" then
    agent:remember { role = "user", content = "wait" }
    agent:receive { type = "never" }
  end
  if what == "ask" then
    agent:escalate { title = "may I?", body = { n = 1 }, options = { "a", "b" } }
  end
  return { text = "done" }
end }
society.root(function(root, message)
  if message.payload.text == "hire" then
    for _, id in ipairs({ "ann", "bob", "cat" }) do
      root:spawn_agent("worker", BRIEF, { id = id })
    end
    root:send_message { to = "ann", payload = "fail" }
    root:send_message { to = "bob", type = "task", task_id = "t1", payload = { what = "wait" } }
    root:send_message { to = "cat", payload = "ask", ttl_seconds = 500, priority = "high" }
    print("hired")
  end
end)
]]

describe("society call", function()
  local place, running

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    if running then
      running:kill("KILL")
      running:wait()
      running = nil
    end
    place:remove()
  end)

  local function call(op, params)
    return place:run(("call %s %s"):format(op,
      params and program.quote(json.encode(params)) or ""))
  end

  -- The rows of an answer.
  local function rows(op, params)
    local result = call(op, params)
    assert.same({ 0, "" }, { result.code, result.err }, op)
    local list = {}
    for line in result.out:gmatch("[^\n]+") do
      list[#list + 1] = assert(json.decode(line))
    end
    return list
  end

  local is = {
    text = function(value) return type(value) == "string" end,
    ["message id"] = function(value) return type(value) == "string" and value:find("^msg_") end,
    time = function(value) return type(value) == "string" and value:find("^%d+%-%d+%-%d+T.*Z$") end,
    integer = function(value) return math.type(value) == "integer" end,
    number = function(value) return type(value) == "number" end,
    flag = function(value) return type(value) == "boolean" end,
    object = function(value) return type(value) == "table" end,
    list = function(value) return type(value) == "table" end,
    json = function() return true end,
  }

  local function find(op)
    for _, operation in ipairs(table_of_operations) do
      if operation.name == op then
        return operation
      end
    end
    error("no operation " .. op)
  end

  -- Checks the rows against what the operation declares and returns them.
  local function fitting(op, params)
    local members = {}
    local list = rows(op, params)
    for _, member in ipairs(find(op).answer) do
      members[member.name] = member
    end
    for _, row in ipairs(list) do
      for name, value in pairs(row) do
        assert.truthy(members[name] and is[members[name].kind](value),
          ("%s.%s: %s"):format(op, name, json.encode(row)))
      end
      for name, member in pairs(members) do
        assert.truthy(not member.needed or row[name] ~= nil, op .. " without " .. name)
      end
    end
    return list
  end

  -- Starts the society and waits until it has something of everything.
  local function start()
    running = place:start_ready("run app.lua --log none")
    fitting("send", { to = "root", payload = "hire" })
    running:expect("hired")
    program.wait_for("the dead letter, the item and the task", function()
      return #rows("dead_letters") == 1 and #rows("inbox") == 1 and #rows("waits") == 2
    end)
  end

  local solo = { agent = 1, message = 1, task = 1, item = 1, conversation = 1 }

  it("answers every look as declared, running and stopped", function()
    start()
    for round = 1, 2 do
      for _, operation in ipairs(table_of_operations) do
        if operation.scope == "read" and not (operation.needs_running or solo[operation.name]) then
          local count = #fitting(operation.name)
          assert.is_true(count > 0 or operation.name == "usage" or operation.name == "links"
            or (round == 2 and operation.name == "waits"), operation.name)
        end
      end
      if round == 1 then
        assert.same({}, rows("stop"))
        assert.equal(0, running:wait().code)
        running = nil
      end
    end
  end)

  it("shows queues and loads as the samples do, running and stopped", function()
    start()
    for round = 1, 2 do
      local queues, loads = {}, {}
      for line in place:run("inspect queue --json").out:gmatch("[^\n]+") do
        local queue = json.decode(line)
        queues[queue.queue_name] = queue
      end
      for line in place:run("inspect load --json").out:gmatch("[^\n]+") do
        local load = json.decode(line)
        loads[load.agent] = load
      end
      assert.same({ task_id = "t1" }, queues.bob_tasks.processing)
      assert.same({}, queues.bob_tasks.pending)
      assert.same({}, queues.bob_tasks.completed)
      assert.same({ "busy", "t1", 0 },
        { loads.bob.status, loads.bob.current_task, loads.bob.queue_length })
      assert.matches("^%d+%%$", loads.bob.load)
      assert.matches("^%d%d%d%d%-%d%d%-%d%dT", loads.bob.estimated_free)
      assert.is_nil(loads.user)
      local one = place:run("inspect load --agent bob")
      assert.matches("^AGENT.*\nbob +busy +t1 [^\n]*\n$", one.out)
      if round == 1 then
        assert.same({}, rows("stop"))
        assert.equal(0, running:wait().code)
        running = nil
      end
    end
  end)

  it("does what it is told, and the activity says who told it", function()
    start()
    assert.equal("t1", fitting("load", { agent = "bob" })[1].current_task)
    assert.same({ task_id = "t1" }, fitting("queue", { agent = "bob" })[1].processing)
    assert.same({ count = 1, entries = { { role = "user", content = "wait" } }, first = 1 },
      fitting("conversation", { agent = "bob" })[1])
    assert.same({}, fitting("conversation", { agent = "cat" })[1].entries)
    local item = rows("inbox")[1].id
    local letter = rows("dead_letters")[1].id
    assert.equal("cat", fitting("decide", { item_id = item, decision = "approve" })[1].agent)
    assert.equal(letter, fitting("drop", { message_id = letter })[1].messageId)
    assert.equal("cancelled", fitting("cancel", { task = "t1", reason = "late" })[1].state)
    assert.equal("paused", fitting("pause", { agent = "ann" })[1].status)
    fitting("resume", { agent = "All" })
    assert.equal("done", fitting("request", { to = "bob", payload = "x" })[1].payload.text)
    assert.equal("contacts", fitting("policy", { kind = "contacts", name = "open" })[1].kind)
    assert.equal("ann", fitting("terminate", { agent = "ann", reason = "over" })[1].id)
    assert.equal("root", fitting("intake", { text = "hello" })[1].route_to)
    local orders = {}
    for _, line in ipairs(rows("activity", { type = "order" })) do
      local detail = json.decode(line.detail)
      assert.equal("owner", detail.by)
      orders[#orders + 1] = detail.op .. " " .. detail.target
    end
    assert.same({ "send root", "decide " .. item, "drop " .. letter, "cancel t1", "pause ann",
      "resume All", "request bob", "policy contacts", "terminate ann",
      "intake root" }, orders)
  end)

  it("looks at one thing", function()
    start()
    local item = rows("inbox")[1].id
    local chain = fitting("why", { agent = "cat" })
    assert.same({ "cat", "person" }, { chain[1].agent, chain[#chain]["end"] })
    assert.same({ { op = "decide", item_id = item } }, chain[#chain].ended_by)
    chain = fitting("why", { agent = "bob" })
    assert.equal("silence", chain[#chain]["end"])
    assert.same({ { op = "send", to = "bob", type = "never" }, { op = "cancel", task = "t1" } },
      chain[#chain].ended_by)
    assert.equal("root", fitting("agent", { agent = "ann" })[1].parent)
    assert.equal(4, #fitting("tree", { root = "root" }))
    assert.equal("bob", fitting("task", { task = "t1" })[1].agent)
    local context = fitting("context", { agent = "bob" })[1]
    assert.matches("works", context.context, 1, true)
    assert.matches("o", context.brief_text, 1, true)
    assert.equal("strict", fitting("policy_kind", { kind = "contacts" })[1].active[1].name)
    assert.equal("open", fitting("swap", { kind = "contacts", name = "open" })[1].name)
    local kind = fitting("policy_kind", { kind = "contacts" })[1]
    assert.equal("open", kind.active[1].name)
    assert.same({ "strict", "open", "command" },
      { kind.swaps[1].from.name, kind.swaps[1].to.name, kind.swaps[1].by })
    for name, sentence in pairs({ ["./open.lua"] = "invalid_argument", ["../open"] =
      "invalid_argument", nothing = "there is no" }) do
      local result = call("swap", { kind = "contacts", name = name })
      assert.equal(1, result.code)
      assert.matches(sentence, result.err, 1, true)
    end
    assert.matches("depth", call("swap", { kind = "contacts", name = "strict",
      settings = { depth = 1 } }).err)
    local path = {}
    for index, message in ipairs(fitting("item", { item_id = item })[1].chain) do
      path[index] = message.from .. " " .. message.to
    end
    assert.same({ "user root", "root cat" }, path)
    local sent = fitting("send", { to = "bob", payload = "later" })[1].messageId
    assert.is_nil(fitting("message", { message_id = sent, wait_ms = 10 })[1].reply)
    fitting("cancel", { task = "t1" })
    assert.equal("done",
      fitting("message", { message_id = sent, wait_ms = 20000 })[1].reply.payload.text)
    fitting("decide_feature", { feature = item, action = "reject", feedback = "no" })
    assert.same({}, rows("inbox"))
    assert.equal("no", fitting("inbox", { state = "decided" })[1].comment)
  end)

  it("does an order once under its key, also after kill -9", function()
    start()
    local function send(text)
      return place:run("call send --key k1 " .. program.quote(json.encode({ to = "root",
        payload = text })))
    end
    local first = send("once")
    assert.equal(0, first.code)
    running:kill("KILL")
    running:wait()
    assert.equal(first.out, send("once").out) -- of the stopped society
    running = place:start_ready("run app.lua --log none")
    assert.equal(first.out, send("once").out)
    assert.matches("key_reused", send("twice").err)
    local count = 0
    for _, message in ipairs(rows("messages", { agent = "user" })) do
      count = count + (message.payload.text == "once" and 1 or 0)
    end
    assert.equal(1, count)
  end)

  it("works on a stopped society where that makes sense", function()
    start()
    running:kill("INT")
    running:wait()
    running = nil
    assert.equal("cancelled", fitting("cancel", { task = "t1" })[1].state)
    assert.equal("paused", fitting("pause", { agent = "ann" })[1].status)
    assert.equal("paused", fitting("agent", { agent = "ann" })[1].status)
    assert.equal("cancelled", fitting("task", { task = "t1" })[1].state)
    assert.equal(1, #fitting("item", { item_id = rows("inbox")[1].id }))
    for _, op in ipairs({ "stop", "terminate", "request", "policy", "intake", "why" }) do
      local result = call(op)
      assert.equal(1, result.code)
      assert.matches("no society is running in .society, and " .. op .. " needs one", result.err,
        1, true)
    end
  end)

  it("lists the operations, and says what is wrong with a call", function()
    local list = place:run("call").out
    for _, operation in ipairs(table_of_operations) do
      assert.matches("\n" .. operation.name .. " ", "\n" .. list, 1, true)
    end
    for arguments, sentence in pairs({
      ["fly"] = "unknown operation 'fly'; the operations are ",
      ["pause '{\"agnet\":1}'"] = "no parameter 'agnet'; its parameters are agent, subtree, reason",
      ["stats '{\"agent\":1}'"] = "stats has no parameter 'agent'; it has none",
      ["pause '[1]'"] = "the parameters must be a JSON object",
      ["pause '{'"] = "what follows OP is not JSON",
    }) do
      local result = place:run("call " .. arguments)
      assert.equal(2, result.code)
      assert.matches(sentence, result.err, 1, true)
    end
  end)
end)
