-- send_message as a behaviour uses it: what it accepts, refuses and raises.
--
-- Covers: core/script/bindings/send_options.c, core/kernel/mail/receivers.c
-- Covers: core/kernel/refusal.c, core/script/turns/payload.c, core/script/turns/receipt.c
-- Covers: core/lualib/lua_copy.c

local json = require("society.json")
local scene = require("scene")

describe("send_message", function()
  after_each(scene.close)

  -- Sends `options` from root to the actor a; returns what a got and the answer.
  local function deliver(options, settings)
    local got, answer, err
    local s = scene.troupe({
      root = function(root, message)
        if message.from == "user" then
          options.to = options.to or "a"
          answer, err = root:send_message(options)
        end
      end,
      a = function(_, message) got = message end,
    }, settings)
    scene.tell(s, "root")
    return got, answer, err, s
  end

  local function refused(options)
    local got, answer, err, s = deliver(options)
    assert.is_nil(answer)
    assert.is_nil(got)
    assert.equal(2, s:stats().sent)
    return err
  end

  local function misuse(options)
    return scene.raised(function(root) root:send_message(options) end)
  end

  it("returns the id of the delivered message", function()
    local got, answer = deliver({ payload = { n = 1 } })
    assert.same({ messageId = got.id }, answer)
    assert.equal("root", got.from)
    assert.equal("a", got.to)
    assert.same({ n = 1 }, got.payload)
  end)

  it("gives a message without a type the type general", function()
    assert.equal("general", deliver({ payload = "x" }).type)
  end)

  it("carries a type and calls the handler of that type", function()
    local seen = {}
    local s = scene.new()
    s:root({
      status_report = function() seen[#seen + 1] = "report" end,
      default = function(_, message) seen[#seen + 1] = "default " .. message.type end,
    })
    scene.tell(s, "root", "x", "status_report")
    scene.tell(s, "root", "x", "general")
    scene.tell(s, "root", "x", "other.type-1")
    assert.same({ "report", "default general", "default other.type-1" }, seen)
  end)

  it("marks a message without a handler as processed and logs it", function()
    local s = scene.new()
    s:root({ known = function() end })
    scene.tell(s, "root", "x", "unknown")
    assert.equal(1, s:stats().processed)
    assert.matches("unhandled", s:transcript(), 1, true)
  end)

  for _, case in ipairs({
    { "a string means a text", "hello", { text = "hello" } },
    { "an empty string means an empty text", "", { text = "" } },
    { "nested tables arrive whole", { a = { b = { 1, 2, { c = true } } } },
      { a = { b = { 1, 2, { c = true } } } } },
    { "integers stay exact", { n = 9007199254740993 }, { n = 9007199254740993 } },
    { "a number is a payload", 42, 42 },
    { "a boolean is a payload", false, false },
  }) do
    it("accepts a payload: " .. case[1], function()
      assert.same(case[3], deliver({ payload = case[2] }).payload)
    end)
  end

  it("keeps floats as floats and empty lists as lists", function()
    local got = deliver({ payload = { f = 1.0, list = json.array({}), object = {} } })
    assert.equal("float", math.type(got.payload.f))
    assert.equal('{"f":1.0,"list":[],"object":{}}', json.encode(got.payload))
  end)

  it("sends a copy: later changes to the table do not reach the receiver", function()
    local got
    local s = scene.troupe({
      root = function(root)
        local payload = { n = 1 }
        root:send_message({ to = "a", payload = payload })
        payload.n = 2
      end,
      a = function(_, message) got = message.payload end,
    })
    scene.tell(s, "root")
    assert.same({ n = 1 }, got)
  end)

  it("accepts content for payload", function()
    assert.same({ text = "x" }, deliver({ content = "x" }).payload)
  end)

  it("accepts taskId for task_id", function()
    assert.equal("t1", deliver({ payload = "x", taskId = "t1" }).task_id)
  end)

  it("refuses a message without a payload", function()
    assert.equal("missing_payload", refused({}).error)
    assert.equal("missing_payload", refused({ payload = json.null }).error)
  end)

  for name, payload in pairs({
    ["a function inside"] = { f = print },
    ["not a number"] = { n = 0 / 0 },
    ["infinity"] = { n = math.huge },
    ["broken UTF-8"] = { text = "a\xff" },
    ["broken UTF-8 as the whole"] = "a\xff",
    ["mixed keys"] = { 1, 2, x = 3 },
  }) do
    it("refuses a payload that is not JSON: " .. name, function()
      local err = refused({ payload = payload })
      assert.equal("invalid_message_format", err.error)
      assert.is_string(err.message)
    end)
  end

  it("refuses a payload that contains itself", function()
    local payload = {}
    payload.again = payload
    assert.equal("invalid_message_format", refused({ payload = payload }).error)
  end)

  it("refuses an unknown receiver and names it", function()
    local err = refused({ to = "nobody", payload = "x" })
    assert.equal("agent_not_found", err.error)
    assert.equal("nobody", err.agentId)
    assert.is_string(err.message)
  end)

  it("refuses a type that is not a name", function()
    for _, type in ipairs({ "", "two words", "-x", ("x"):rep(65), "类型" }) do
      assert.equal("invalid_message_format", refused({ payload = "x", type = type }).error)
    end
  end)

  it("ignores a from set by the caller", function()
    assert.equal("root", deliver({ payload = "x", from = "user" }).from)
    assert.equal("root", deliver({ payload = "x", from = 7 }).from)
  end)

  it("raises on an unknown option and names it", function()
    assert.matches("unknown option 'prio'", misuse({ to = "a", payload = "x", prio = 1 }), 1, true)
    assert.matches("unknown option 'timeout'",
      misuse({ to = "a", payload = "x", timeout = 1 }), 1, true)
  end)

  for name, options in pairs({
    to = { to = 7, payload = "x" },
    type = { to = "root", payload = "x", type = 7 },
    priority = { to = "root", payload = "x", priority = "soon" },
    ttl_seconds = { to = "root", payload = "x", ttl_seconds = -1 },
    delay_ms = { to = "root", payload = "x", delay_ms = "1" },
    deliver_at = { to = "root", payload = "x", deliver_at = "tomorrow" },
    deadline = { to = "root", payload = "x", deadline = {} },
    requires_ack = { to = "root", payload = "x", requires_ack = 1 },
    task_id = { to = "root", payload = "x", task_id = 1 },
    correlation_id = { to = "root", payload = "x", correlation_id = {} },
  }) do
    it("raises on a bad value and names the option: " .. name, function()
      assert.matches("'" .. name .. "'", misuse(options), 1, true)
    end)
  end

  it("raises without a receiver and on options that are not a table", function()
    assert.matches("'to'", misuse({ payload = "x" }), 1, true)
    assert.matches("table expected", scene.raised(function(root) root:send_message("a") end), 1,
      true)
  end)

  it("can go to oneself, as a message of its own", function()
    local seen = {}
    local s = scene.troupe({
      root = function(root, message)
        seen[#seen + 1] = message.from .. " " .. message.payload.text
        if message.payload.text == "go" then
          assert(root:send_message({ to = "root", payload = "again" }))
        end
      end,
    }, { policies = { contacts = "strict" } })
    scene.tell(s, "root")
    assert.same({ "user go", "root again" }, seen)
  end)

  it("reaches the orchestrator by its alias, root by default", function()
    local _, answer = deliver({ to = "orchestrator", payload = "x" })
    assert.is_string(answer.messageId)
    local got = deliver({ to = "orchestrator", payload = "x" },
      { config = { orchestrator = "a" } })
    assert.equal("a", got.to)
  end)
end)

describe("send_message to a list", function()
  after_each(scene.close)

  local function send_to(list, payload)
    local got, answer, err = {}, nil, nil
    local s = scene.troupe({
      root = function(root)
        answer, err = root:send_message({ to = list, payload = payload or "x" })
      end,
      a = function(_, message) got.a = message end,
      b = function(_, message) got.b = message end,
    })
    scene.tell(s, "root")
    return got, answer, err, s
  end

  it("returns the ids in the order of the receivers", function()
    local got, answer = send_to({ "b", "a" })
    assert.same({ messageIds = { got.b.id, got.a.id } }, answer)
  end)

  it("delivers where it can and reports the others", function()
    local got, answer = send_to({ "nobody", "a", "none" })
    assert.equal(got.a.id, answer.messageIds[2])
    assert.equal(2, #answer.partialErrors)
    assert.equal("agent_not_found", answer.partialErrors[1].error)
    assert.equal("nobody", answer.partialErrors[1].to)
    assert.equal("none", answer.partialErrors[2].to)
    assert.is_string(answer.partialErrors[2].message)
  end)

  it("fails as a whole if every receiver fails", function()
    local _, answer, err, s = send_to({ "nobody", "none" })
    assert.is_nil(answer)
    assert.equal("all_recipients_failed", err.error)
    assert.equal(2, #err.partialErrors)
    assert.is_string(err.message)
    assert.equal(2, s:stats().sent)
  end)

  it("to a list with strangers gives the reason for each", function()
    local answer
    local s = scene.troupe({
      a = function(a)
        answer = a:send_message({ to = { "b", "root", "c", "nobody" }, payload = "x" })
      end,
      b = function() end,
      c = function() end,
    }, { policies = { contacts = "strict" } })
    scene.tell(s, "a")
    assert.equal("string", type(answer.messageIds[2]))
    local errors = {}
    for index, each in ipairs(answer.partialErrors) do
      errors[index] = each.to .. " " .. each.error
    end
    assert.same({ "b unknown_contact", "c unknown_contact", "nobody agent_not_found" }, errors)
    assert.matches("request_introduction", answer.partialErrors[2].hint, 1, true)
  end)

  it("refuses a missing payload for all", function()
    local _, answer, err = send_to({ "a", "b" }, json.null)
    assert.is_nil(answer)
    assert.equal("missing_payload", err.error)
  end)

  it("raises on an empty list and on entries that are not ids", function()
    assert.matches("'to'", scene.raised(function(root)
      root:send_message({ to = {}, payload = "x" })
    end), 1, true)
    assert.matches("'to'", scene.raised(function(root)
      root:send_message({ to = { 1 }, payload = "x" })
    end), 1, true)
  end)
end)
