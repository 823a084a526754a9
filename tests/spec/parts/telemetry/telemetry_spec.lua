-- Telemetry: which spans a society gives, their places in traces, and what they hold.

local scene = require("scene")
local spans = require("spans")

local TRACE_ID, OUTER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
local GIVEN = ("00-%s-%s-01"):format(TRACE_ID, OUTER)

describe("telemetry", function()
  after_each(scene.close)

  -- A society of agents by id, with spans.
  local function troupe(agents, options)
    options = options or {}
    options.telemetry = true
    return scene.troupe(agents, options)
  end

  local function ask(s, fields)
    fields = fields or {}
    fields.to, fields.payload = "root", "go"
    assert(s:send("user", fields))
    s:run()
    return s:spans()
  end

  -- root sends to a, which requests of b.
  local function chain(options)
    return troupe({
      root = function(root)
        assert(root:send_message({ to = "a", payload = "x" }))
      end,
      a = function(a)
        assert(a:request({ to = "b", payload = "y" }))
      end,
      b = function()
        return "done"
      end,
    }, options)
  end

  local TREE = {
    "invoke_agent root", "  invoke_agent actor", "    request actor", "      invoke_agent actor",
  }

  it("gives one trace for a chain, each activation below the span that caused it", function()
    local s = chain()
    local before = #s:spans()
    local all = ask(s)
    local mine = table.move(all, before + 1, #all, 1, {})
    assert.same(TREE, spans.trees(mine))
    for _, span in ipairs(mine) do
      assert.equal(mine[1].traceId, span.traceId)
    end
  end)

  it("continues the trace of a message that comes with one", function()
    local s = chain()
    local before = #s:spans()
    local all = ask(s, { traceparent = GIVEN })
    local mine = table.move(all, before + 1, #all, 1, {})
    assert.same(TREE, spans.trees(mine, { [OUTER] = true }))
    assert.equal(TRACE_ID, mine[1].traceId)
  end)

  it("begins a trace for each message without one, and for a traceparent that is none", function()
    local s = chain()
    local before = #s:spans()
    ask(s)
    local all = ask(s, { traceparent = "nothing of the kind" })
    local roots = {}
    for index = before + 1, #all do
      roots[all[index].traceId] = true
    end
    local count = 0
    for _ in pairs(roots) do
      count = count + 1
    end
    assert.equal(2, count)
  end)

  it("leaves out a trace that its sender did not sample, and hands that on", function()
    local heard
    local s = troupe({
      root = function(root)
        assert(root:send_message({ to = "a", payload = "x" }))
      end,
      a = function(_, message)
        heard = message.traceparent
      end,
    })
    local before = #s:spans()
    local all = ask(s, { traceparent = GIVEN:gsub("01$", "00") })
    assert.equal(before, #all)
    assert.matches("^00%-" .. TRACE_ID .. "%-%x+%-00$", heard)
    assert.not_matches(OUTER, heard)
  end)

  it("keeps a traceparent that a sender sets itself", function()
    local heard
    local s = troupe({
      root = function(root)
        assert(root:send_message({ to = "a", payload = "x", traceparent = GIVEN }))
      end,
      a = function(_, message)
        heard = message.traceparent
      end,
    })
    ask(s)
    assert.equal(GIVEN, heard)
  end)

  it("names the error of a request that timed out and of a message that died", function()
    local s = troupe({
      root = function(root)
        local _, err = root:request({ to = "a", payload = "x", timeout_ms = 50 })
        assert.equal("timeout", err.error)
        error("no more")
      end,
      a = function(a)
        a:sleep(100)
      end,
    }, {})
    local names = spans.by_name(ask(s))
    local request = names["request actor"][1]
    assert.equal("timeout", spans.attributes(request)["error.type"])
    assert.equal("50000000",
      tostring(math.tointeger(request.endTimeUnixNano) - math.tointeger(request.startTimeUnixNano)))
    local last = names["invoke_agent root"][#names["invoke_agent root"]]
    assert.equal(2, last.status.code)
    assert.is_nil(last.status.message) -- it is content
  end)

  it("gives a retried activation once, with what was done before the failure", function()
    local tries = 0
    local s = troupe({
      root = function(root)
        assert(root:request({ to = "a", payload = "x" }))
        tries = tries + 1
        if tries == 1 then
          error("once")
        end
        assert(root:request({ to = "a", payload = "y" }))
      end,
      a = function()
        return "done"
      end,
    })
    local before = #s:spans()
    local all = ask(s)
    assert.same({
      "invoke_agent root", "  request actor", "    invoke_agent actor", "  request actor",
      "    invoke_agent actor",
    }, spans.trees(table.move(all, before + 1, #all, 1, {})))
    assert.equal(2, tries)
  end)

  it("gives the same spans in every run of a seed, and other ids with another seed", function()
    local first, second, other = chain(), chain(), chain({ seed = 7 })
    assert.same(ask(first), ask(second))
    assert.not_equal(ask(first)[1].spanId, ask(other)[1].spanId)
  end)

  it("adds nothing to a society without telemetry", function()
    local s = scene.troupe({ root = function() end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:run()
    assert.same({}, s:spans())
    assert.is_nil(s:dump():find("telemetry", 1, true))
  end)

  it("says who did what in which message", function()
    local s = troupe({ root = function() end })
    local before = #s:spans()
    local all = ask(s, { type = "question", task_id = "T1" })
    local values = spans.attributes(all[before + 1])
    assert.matches("^msg_", values["society.message.id"])
    values["society.message.id"] = nil
    assert.same({
      ["gen_ai.operation.name"] = "invoke_agent", ["gen_ai.agent.name"] = "root",
      ["gen_ai.agent.id"] = "root", ["gen_ai.conversation.id"] = values["gen_ai.conversation.id"],
      ["society.message.type"] = "question", ["society.message.from"] = "user",
      ["society.task.id"] = "T1", ["society.message.attempt"] = 1,
    }, values)
  end)
end)
