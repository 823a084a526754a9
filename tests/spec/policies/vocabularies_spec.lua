-- The default vocabularies: what they accept, what they refuse and how.

local json = require("society.json")
local samples = require("samples")
local scene = require("scene")

local DEFAULTS = { messages = { "society", "workflow", "helix" } }
local INTERFACE = { services = "s", input_format = "i", output_format = "o" }

local function pair(policies)
  return scene.pair(policies or DEFAULTS)
end

local function send(s, type, payload, options)
  options = options or {}
  options.to, options.type, options.payload = "b", type, payload
  return s:send("a", options)
end

describe("the default set", function()
  after_each(scene.close)

  it("is society, workflow and helix", function()
    local s = require("society").new({ quiet = true })
    local _, err = s:send("user", { to = "root", type = "news", payload = "x" })
    s:close()
    assert.equal("invalid_message_format", err.error)
    assert.equal("news", err.message_type)
    assert.same({}, err.missing_fields)
    assert.same({ "the active vocabularies are society, workflow, helix" }, err.details)
    assert.matches("no active vocabulary has this type", err.message, 1, true)
  end)
end)

describe("a society that ends", function()
  it("leaves the shipped vocabularies unchanged for the next one", function()
    local function ask(s)
      return s:send("user", { to = "root", type = "task_assignment", payload = {} })
    end
    for _ = 1, 2 do
      local s = require("society").new({ quiet = true })
      s:policy("messages", "society", { mode = "warn" })
      assert(ask(s))
      s:close()
      s = require("society").new({ quiet = true })
      local _, err = ask(s)
      s:close()
      assert.equal("invalid_message_format", err and err.error)
    end
  end)
end)

-- Gives a sample what it refers to: the task it cancels, the query it answers.
local function prepare(s, sample)
  local body = sample.payload or sample.content
  if sample.type == "abort" or body.action == "cancel" then
    assert(s:send("a", { to = "b", type = "task", payload = { task_id = body.task_id } }))
  elseif sample.type == "response" then
    body.query_id = assert(s:send("b", { to = "a", type = "query",
      payload = { query = "?" } })).messageId
  end
end

describe("the samples of the protocols", function()
  after_each(scene.close)

  for name, texts in pairs(samples) do
    for number, text in ipairs(texts) do
      it(("fit: %s %d"):format(name, number), function()
        local sample = assert(json.decode(text))
        for _, policies in ipairs({ DEFAULTS, { messages = { name } } }) do
          local s = pair(policies)
          prepare(s, sample)
          local sent = assert(s:send("a", {
            to = "b", type = sample.type, payload = sample.payload, content = sample.content,
            requires_ack = sample.requires_ack, ttl_seconds = sample.ttl_seconds,
            priority = sample.priority,
          }))
          s:run()
          local payload = scene.message(s, {}, { id = sent.messageId }).payload
          payload.self_introduction = nil -- the host adds it to a first message
          assert.same(sample.payload or sample.content, payload)
        end
      end)
    end
  end
end)

describe("a message that does not fit", function()
  after_each(scene.close)

  for _, case in ipairs({
    { "task_assign", {}, { "task_id" } },
    { "task_assign", { task_id = "a/b" }, {}, "task_id must be an id" },
    { "task_complete", { output = 1 }, { "task_id" } },
    { "abort", "stop", { "task_id" } },
    { "checkpoint_request", { checkpoint_id = "" }, { "checkpoint_id" } },
    { "checkpoint_response", { checkpoint_id = json.null }, { "checkpoint_id" } },
    { "task", { action = "cancel" }, { "task_id" } },
    { "task", { task_id = "T", deadline = "soon" }, {}, "deadline must be an RFC 3339 time" },
    { "task", { task_id = "T", priority = "P9" }, {}, "priority must be one of P0, P1" },
    { "task", { task_id = "T", spec = "JWT" }, {}, "spec must be a list" },
    { "result", {}, { "task_id", "status" } },
    { "result", { task_id = "T", status = "failed", error = "" }, { "error" } },
    { "result", { task_id = "T", status = "odd" }, {}, "status must be one of done, completed" },
    { "result", { task_id = "T", status = "done", retryable = 1 }, {}, "retryable must be true" },
    { "query", { code = "x" }, { "query" } },
    { "response", {}, { "query_id", "answer" } },
    { "alert", { reason = "x" }, { "alert_type" } },
    { "sync", { load = "1%" }, { "status" } },
    { "sync", { status = "idle", active_tasks = 1.5 }, {}, "active_tasks must be an integer" },
    { "introduction_request", {}, { "reason", "required_capability" } },
    { "introduction_request", { reason = "r", required_capability = { 1 } }, {},
      "required_capability must be a string" },
    { "introduction_response", {}, { "target_agent" } },
    { "introduction_response", { target_agent = json.null }, { "reason" } },
    { "introduction_response", { target_agent = { role = "r" } }, { "target_agent.id" } },
    { "introduction_response", { target_agent = { id = "x/y" } }, {}, "must be an agent's id" },
    { "introduction_response", { target_agent = { id = "x", role = 7 } }, {},
      "target_agent.role must be a string" },
    { "introduction_response", { target_agent = "x" }, {}, "target_agent must be an object" },
    { "task_assignment", { text = "go" },
      { "objective", "constraints", "inputs", "outputs", "completion_criteria" } },
    { "task_assignment", { task_brief = scene.brief({ inputs = json.null }) }, { "inputs" } },
    { "task_assignment", scene.brief({ constraints = "one" }), {}, "constraints 必须是数组" },
    { "task_assignment", { task_brief = "do it" }, {}, "task_brief must be an object" },
    { "task_assignment", 7,
      {}, "the payload must be an object" },
    { "decision", { item_id = "i", decision = "approve" }, {},
      "decision can only be sent by the host" },
    { "delivery_failed", { text = "x" }, {}, "delivery_failed can only be sent by the host" },
  }) do
    it(("is refused: %s %s"):format(case[1], json.encode(case[2])), function()
      local s = pair()
      local before = s:stats()
      local sent, err = send(s, case[1], case[2])
      assert.is_nil(sent)
      assert.equal("invalid_message_format", err.error)
      assert.equal(case[1], err.message_type)
      assert.same(case[3], err.missing_fields)
      assert.is_true(#err.details > 0 and #err.message > 0)
      assert.matches(case[4] or case[3][1], table.concat(err.details, "\n"), 1, true)
      assert.same(before, s:stats())
    end)
  end

  it("uses up no id", function()
    local s = pair()
    local first = assert(send(s, "general", "x")).messageId
    send(s, "task", {})
    send(s, "news", "x")
    local second = assert(send(s, "general", "x")).messageId
    assert.equal(tonumber(first:sub(-10), 16) + 1, tonumber(second:sub(-10), 16))
  end)
end)

describe("a message that fits", function()
  after_each(scene.close)

  for _, case in ipairs({
    { "task_assignment", scene.brief() },
    { "task_assignment", { text = "go", taskBrief = scene.brief({ constraints = {} }) } },
    { "introduction_request", { reason = "r", required_capability = "c", more = { 1 } } },
    { "introduction_response", { target_agent = { id = "b", interface_spec = INTERFACE } } },
    { "introduction_response", { target_agent_id = "b@north" } },
    { "introduction_response", { target_agent = { targetAgentId = "b" }, usage_hint = "u" } },
    { "introduction_response", { reason = "nobody" } },
    { "status_report", 7 },
    { "collaboration_request", { "a", "list" } },
    { "collaboration_response", true },
    { "general", { message_type = "general", messageType = "general" } },
    { "progress_update", { task_id = "T", percent = 1 } },
    { "broadcast", "x" }, { "heartbeat", {} },
    { "result", { task_id = "T", status = "failed", error = { error = "budget" } } },
    { "response", { query_id = "q", answer = false } },
    { "sync", { status = "idle", current_task = json.null, estimated_free =
      "2026-02-21T19:30:00+08:00" } },
  }) do
    it(("is accepted: %s %s"):format(case[1], json.encode(case[2])), function()
      local sent, err = send(pair(), case[1], case[2])
      -- Whether an introduction was requested or a query asked is another question.
      assert.is_true(sent ~= nil or err.error == "unsolicited_introduction"
        or err.error == "unknown_query", json.encode(err or json.null))
    end)
  end

  it("may have its task_id in the envelope, its own or inherited", function()
    local s, err = pair(), nil
    assert(send(s, "task", { requirement = "r" }, { task_id = "T" }))
    assert(send(s, "abort", { reason = "r" }, { task_id = "T" }))
    s = scene.troupe({
      a = function(a)
        assert(a:send_message({ to = "b", type = "result", payload = { status = "done" } }))
      end,
      b = function(b, message)
        if message.task_id == "T-7" then
          err = select(2, b:send_message({ to = "a", type = "task_complete",
            payload = { task_id = "../x" } }))
        end
      end,
    })
    s:policy("messages", DEFAULTS.messages)
    assert(s:send("user", { to = "a", payload = "x", task_id = "T-7" }))
    s:run()
    assert.equal("T-7", scene.message(s, { type = "result" }).task_id)
    assert.matches("task_id must be an id", err.details[1], 1, true)
  end)
end)

describe("requires_ack", function()
  after_each(scene.close)

  local function wants(policies, type, given)
    local s = pair(policies)
    local payload = { task_id = "T", checkpoint_id = "C", status = "done" }
    if type == "abort" then
      assert(send(s, "task", { task_id = "T" }))
    end
    local sent = assert(send(s, type, payload, { requires_ack = given }))
    s:run()
    return scene.message(s, {}, { id = sent.messageId }).requires_ack
  end

  it("follows the type unless the sender sets it", function()
    for _, type in ipairs({ "task_assign", "task_complete", "checkpoint_request",
      "checkpoint_response", "abort" }) do
      assert.is_true(wants(nil, type))
      assert.is_false(wants(nil, type, false))
    end
    for _, type in ipairs({ "progress_update", "broadcast", "heartbeat", "general", "result" }) do
      assert.is_false(wants(nil, type))
      assert.is_true(wants(nil, type, true))
    end
  end)

  it("follows the default rule for a type without its own", function()
    for _, is_wanted in ipairs({ true, false }) do
      local policies = { messages = { { kind = "messages", version = 1, types = { known = {} },
        default = { requires_ack = is_wanted } } } }
      assert.equal(is_wanted, wants(policies, "unheard_of"))
      assert.is_false(wants(policies, "known"))
    end
  end)

  it("can be set for each type", function()
    local s = pair()
    s:policy("messages", "workflow", { requires_ack = { abort = false, heartbeat = true } })
    local ids = {}
    for _, type in ipairs({ "heartbeat", "task_assign", "abort" }) do
      ids[type] = assert(send(s, type, { task_id = "T" })).messageId
    end
    s:run()
    assert.is_false(scene.message(s, {}, { id = ids.abort }).requires_ack)
    assert.is_true(scene.message(s, {}, { id = ids.heartbeat }).requires_ack)
    assert.is_true(scene.message(s, {}, { id = ids.task_assign }).requires_ack)
  end)
end)
