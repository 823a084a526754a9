-- Vocabularies as policies: several in force, their order, modes, settings, faults.
--
-- Covers: core/script/policies/messages.c

local json = require("society.json")
local scene = require("scene")

local USUAL = { "society", "workflow", "helix" }

local function vocabulary(types, more)
  local made = { kind = "messages", version = 1, types = types }
  for name, value in pairs(more or {}) do
    made[name] = value
  end
  return made
end

local function pair()
  local s = scene.troupe({ a = function() end, b = function() end })
  s:policy("messages", USUAL)
  return s
end

local function send(s, type, payload)
  local sent, err = s:send("a", { to = "b", type = type, payload = payload or "x" })
  return sent ~= nil, err
end

local function events(s, name)
  local found = {}
  for _, event in ipairs(s:activity()) do
    if event.event == name then
      found[#found + 1] = event
    end
  end
  return found
end

describe("society.policy('messages', …)", function()
  after_each(scene.close)

  it("adds a vocabulary to those in force", function()
    local s = pair()
    assert.is_false(send(s, "order"))
    s:policy("messages", vocabulary({ order = { required = { "dish" }, fields =
      { dish = "string" } } }))
    assert.is_true(send(s, "order", { dish = "soup" }))
    assert.is_false(send(s, "order", { dish = 1 }))
    assert.is_false(send(s, "task", {}))
    assert.is_true(send(s, "general"))
  end)

  it("replaces the vocabulary of the same name", function()
    local s = pair()
    s:policy("messages", vocabulary({ order = {} }, { name = "kitchen" }))
    s:policy("messages", vocabulary({ bill = {} }, { name = "bar" }))
    s:policy("messages", vocabulary({ dish = {} }, { name = "kitchen" }))
    assert.is_false(send(s, "order"))
    assert.is_true(send(s, "bill"))
    local _, err = send(s, "news")
    assert.same({ "the active vocabularies are society, workflow, helix, kitchen, bar" },
      err.details)
    assert.is_true(send(s, "dish"))
  end)

  it("accepts a list of names and tables as the whole set", function()
    local s = pair()
    s:policy("messages", { "helix", vocabulary({ order = {} }) })
    assert.is_false(send(s, "general"))
    assert.is_true(send(s, "order"))
    assert.is_true(send(s, "query", { query = "?" }))
    s:policy("messages", { "society" })
    assert.is_false(send(s, "order"))
    assert.is_false(send(s, "query", { query = "?" }))
  end)

  it("accepts names with commas as the whole set", function()
    local s = pair()
    s:policy("messages", "helix,any")
    assert.is_true(send(s, "news"))
    assert.is_false(send(s, "query", {}))
    s:policy("messages", "any,")
    assert.is_true(send(s, "query", {}))
  end)

  it("lets the first vocabulary that knows a type decide about it", function()
    local order = { kind = "messages", version = 1, name = "second",
      types = { task = { required = { "n" }, fields = { n = "integer" } } } }
    local s = pair()
    s:policy("messages", order)
    assert.is_true(send(s, "task", { task_id = "T" }))
    s:policy("messages", { order, "helix" })
    assert.is_false(send(s, "task", { task_id = "T" }))
    assert.is_true(send(s, "task", { n = 1 }))
    s:policy("messages", { "any", "helix" })
    assert.is_true(send(s, "task", "anything"))
  end)

  it("finds the app's own beside the app, and a path", function()
    local folder = scene.files({ ["app.lua"] = [[
      local society = require("society")
      society.policy("messages", "mine")
      society.policy("messages", society.path)
      society.root(function() end)
    ]] })
    os.execute(("mkdir -p %s/policies/messages"):format(folder))
    for name, type in pairs({ ["policies/messages/mine.lua"] = "order", ["x.lua"] = "bill" }) do
      local file = assert(io.open(folder .. "/" .. name, "w"))
      file:write(('return { kind = "messages", version = 1, types = { %s = {} } }'):format(type))
      file:close()
    end
    local text = assert(io.open(folder .. "/app.lua")):read("a")
    local file = assert(io.open(folder .. "/app.lua", "w"))
    file:write((text:gsub("society%.path", ("%q"):format(folder .. "/x.lua"))))
    file:close()
    local s = scene.new({ app = folder .. "/app.lua", policies = { messages = USUAL } })
    local _, err = s:send("user", { to = "root", type = "news", payload = "x" })
    assert.same({ "the active vocabularies are society, workflow, helix, mine, x" }, err.details)
    assert(s:send("user", { to = "root", type = "bill", payload = "x" }))
    assert(s:send("user", { to = "root", type = "order", payload = "x" }))
  end)

  it("applies after a crash as before", function()
    local s = scene.new({ policies = { messages = USUAL }, app = function(s)
      s:policy("messages", vocabulary({ order = { required = { "n" }, fields = { n = "any" } } }))
    end })
    s:crash()
    s:recover()
    assert(s:send("user", { to = "root", type = "order", payload = { n = 1 } }))
    assert.is_nil(s:send("user", { to = "root", type = "order", payload = {} }))
    assert.is_nil(s:send("user", { to = "root", type = "news", payload = "x" }))
  end)
end)

describe("the vocabularies in force", function()
  after_each(scene.close)

  local function names(s)
    local list = {}
    for _, policy in ipairs(s:policies()) do
      if policy.kind == "messages" then
        list[#list + 1] = policy.name .. " " .. policy.settings.mode
      end
    end
    return list
  end

  it("are listed in order, and every change is recorded", function()
    local s = pair()
    s:policy("messages", "helix", { mode = "warn" })
    s:policy("messages", vocabulary({ order = {} }))
    pcall(s.policy, s, "messages", "nowhere")
    assert.same({ "society reject", "workflow reject", "helix warn", "app reject" }, names(s))
    local swaps = events(s, "policy_swapped")
    local last = json.decode(swaps[#swaps].detail)
    assert.same({ kind = "messages", by = "call", to = { name = "app", hash = "app" } }, last)
    last = json.decode(swaps[#swaps - 1].detail)
    assert.same({ "reject", "warn" }, { last.from.settings.mode, last.to.settings.mode })
    assert.equal("nowhere", json.decode(events(s, "policy_refused")[1].detail).name)
  end)

  it("are recorded as a swap if they differ at a start", function()
    local wanted = USUAL
    local s = scene.new({ policies = { messages = USUAL }, app = function(s)
      s:policy("messages", wanted)
    end })
    assert.equal(0, #events(s, "policy_swapped"))
    wanted = { "society", "helix" }
    s:crash()
    s:recover()
    local swaps = events(s, "policy_swapped")
    assert.equal(1, #swaps)
    local detail = json.decode(swaps[1].detail)
    assert.same({ "start", "workflow" }, { detail.by, detail.from.name })
    assert.is_nil(detail.to)
    assert.same({ "society reject", "helix reject" }, names(s))
  end)
end)

describe("the setting briefs of society", function()
  after_each(scene.close)

  it("sets how much of a brief a task_assignment needs", function()
    local lax = scene.brief({ objective = "", constraints = "be brief" })
    for name, expected in pairs({
      strict = { true, false, false }, lenient = { true, true, false }, any = { true, true, true },
    }) do
      local s = pair()
      s:policy("messages", "society", { briefs = name })
      for index, brief in ipairs({ scene.brief(), lax, { note = "just do it" } }) do
        assert.equal(expected[index], send(s, "task_assignment", { task_brief = brief }), name)
      end
    end
  end)

  it("decides about the first message of spawn_agent, which carries the brief", function()
    local answers = {}
    local s = scene.troupe({ root = function(root, message)
      answers[#answers + 1] = table.pack(root:spawn_agent("actor", { note = "just do it" },
        { id = "c" .. #answers, message = message.payload.text }))
    end })
    s:policy("messages", USUAL)
    s:policy("briefs", function() return true end)
    scene.tell(s, "root")
    s:policy("messages", "society", { briefs = "any" })
    scene.tell(s, "root")
    assert.equal("spawn_failed", answers[1][2].error)
    assert.equal("invalid_message_format", answers[1][2].cause.error)
    assert.is_nil(s:agent("c0"))
    assert.equal("c1", answers[2][1].id)
    assert.same({ text = "go", task_brief = { note = "just do it" } },
      scene.message(s, { type = "task_assignment" }).payload)
  end)
end)

describe("mode warn", function()
  after_each(scene.close)

  it("sends what does not fit, logs it and records it once", function()
    local s = pair()
    s:policy("messages", "helix", { mode = "warn" })
    assert.is_true(send(s, "task", { action = "run" }))
    assert.is_false(send(s, "task_assign", {}))
    assert.is_false(send(s, "news"))
    s:run()
    local warnings = events(s, "message_warning")
    assert.equal(1, #warnings)
    assert.equal("a", warnings[1].agent)
    local detail = json.decode(warnings[1].detail)
    assert.same({ "task_id" }, detail.missing_fields)
    assert.equal("task", detail.message_type)
    assert.equal(scene.message(s, { type = "task" }).id, detail.message_id)
    assert.equal(1, scene.count(s:transcript(), "warn message_warning"))
    s:crash()
    s:recover()
    assert.equal(1, #events(s, "message_warning"))
  end)

  it("of all vocabularies lets unknown types pass, but not the host's", function()
    local s = pair()
    s:policy("messages", USUAL, { mode = "warn" })
    assert.is_true(send(s, "news"))
    assert.is_true(send(s, "general"))
    assert.is_false(send(s, "decision", { item_id = "i", decision = "approve" }))
    s:run()
    assert.equal(1, #events(s, "message_warning"))
  end)

  it("does not log a message the contacts policy refuses", function()
    local s = pair()
    s:policy("messages", USUAL, { mode = "warn" })
    s:policy("contacts", "strict")
    local _, err = send(s, "news")
    assert.equal("unknown_contact", err.error)
    assert.equal(0, #events(s, "message_warning"))
  end)
end)

describe("the order of checks", function()
  after_each(scene.close)

  it("is: receiver exists, message fits, contact allowed", function()
    local s = pair()
    s:policy("contacts", "strict")
    local function code(to, type)
      return select(2, s:send("a", { to = to, type = type, payload = "x" })).error
    end
    assert.equal("agent_not_found", code("nobody", "news"))
    assert.equal("invalid_message_format", code("b", "news"))
    assert.equal("unknown_contact", code("b", "general"))
  end)

  it("includes replies and requests, and a replay does not ask again", function()
    local errors = {}
    local s = scene.troupe({
      a = function(a, message)
        errors[1] = select(2, a:reply(message, {}, { type = "response" })).error
        errors[2] = select(2, a:request({ to = "root", type = "query", payload = {} })).error
        errors[3] = select(2, a:send_message({ to = { "root", "b" }, type = "x", payload = "x" }))
          .partialErrors[2].error
        a:sleep(1000)
        a:reply(message, "ok")
      end,
      b = function() end,
    })
    s:policy("messages", USUAL)
    assert(s:send("user", { to = "a", payload = "go" }))
    s:advance(500)
    s:policy("messages", { "any" })
    s:crash()
    s:recover()
    s:run()
    assert.same({ "invalid_message_format", "invalid_message_format", "invalid_message_format" },
      errors)
    assert.same({}, s:dead_letters())
  end)
end)
