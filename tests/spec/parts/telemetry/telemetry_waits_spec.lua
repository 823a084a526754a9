-- Telemetry across crashes, and of waits that end in other ways than by a reply.
--
-- Covers: core/parts/telemetry/telemetry_waits.c

local scene = require("scene")
local spans = require("spans")

describe("telemetry across a crash", function()
  after_each(scene.close)

  local function waiting(done)
    local s = scene.troupe({
      root = function(root)
        assert(root:request({ to = "a", payload = "x" }))
        done()
      end,
      a = function(a)
        a:sleep(1000)
        return "done"
      end,
    }, { telemetry = true })
    assert(s:send("user", { to = "root", payload = "go" }))
    return s
  end

  it("has the same ids for what is done again, and no span twice", function()
    local plain, crashed = waiting(function() end), waiting(function() end)
    plain:run()
    crashed:advance(500)
    crashed:crash()
    crashed:recover()
    crashed:run()
    local one, two = spans.by_name(plain:spans()), spans.by_name(crashed:spans())
    for name, list in pairs(one) do
      for index, span in ipairs(list) do
        local other = two[name][index]
        assert.same({ span.traceId, span.spanId, span.parentSpanId, span.startTimeUnixNano },
          { other.traceId, other.spanId, other.parentSpanId, other.startTimeUnixNano }, name)
      end
    end
    spans.trees(crashed:spans())
  end)

  it("lets nothing leave that is not durable", function()
    for seed = 1, 40 do
      local s = scene.troupe({
        root = function(root)
          for index = 1, 3 do
            root:request({ to = "a", payload = index, timeout_ms = 5000 })
          end
        end,
        a = function(a)
          a:sleep(10)
          return "done"
        end,
      }, { telemetry = true, seed = seed, faults = { "crash", "lag" } })
      assert(s:send("user", { to = "root", payload = "go" }))
      s:run()
      assert(s:check())
      local handled = {}
      for _, message in ipairs(s:messages({})) do
        handled[message.id] = true
      end
      for _, span in ipairs(s:spans()) do
        local id = spans.attributes(span)["society.message.id"]
        assert.is_true(id == nil or handled[id], span.name)
      end
      spans.trees(s:spans())
      s:close()
    end
  end)

  it("continues its traces when the state is opened under another seed", function()
    local folder, all = scene.folder(), {}
    for seed = 1, 2 do
      local s = scene.new({ telemetry = true, store = folder, seed = seed,
        policies = { contacts = "open" },
        app = function(s)
          s:role({ id = "actor", name = "actor", behaviour = function(a)
            a:sleep(1000)
            return "done"
          end })
          s:root(function(root)
            assert(root:spawn_agent("actor", scene.brief(), { id = "a" }))
            assert(root:request({ to = "a", payload = "x" }))
          end)
        end })
      if seed == 1 then
        assert(s:send("user", { to = "root", payload = "go" }))
        s:advance(500)
      else
        s:run()
      end
      local left = s:spans()
      table.move(left, 1, #left, #all + 1, all)
      s:close()
    end
    assert.same({ "invoke_agent root", "  request actor", "    invoke_agent actor" },
      spans.trees(all))
  end)
end)

describe("telemetry of waits", function()
  after_each(scene.close)

  -- The tree of what one message to root causes; meanwhile(s) is called once it waits.
  local function tree(agents, options, meanwhile)
    options = options or {}
    options.telemetry = true
    local s = scene.troupe(agents, options)
    local before = #s:spans()
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(100)
    if meanwhile then
      meanwhile(s)
    end
    s:run()
    local all = s:spans()
    local mine = table.move(all, before + 1, #all, 1, {})
    return spans.trees(mine), spans.by_name(mine)
  end

  it("ends the request of an agent that is terminated while it waits", function()
    assert.same({
      "invoke_agent root", "  invoke_agent actor !agent_stopped", "    request actor !cancelled",
      "      invoke_agent actor",
    }, (tree({
      root = function(root)
        assert(root:send_message({ to = "a", payload = "x" }))
        root:sleep(200)
        assert(root:terminate("a", { force = true }))
      end,
      a = function(a)
        a:request({ to = "b", payload = "y" })
      end,
      b = function(b)
        b:sleep(1000)
      end,
    })))
  end)

  it("gives each attempt of a redelivered message a span of its own", function()
    local is_good = false
    local lines = tree({
      root = function()
        assert(is_good, { error = "not_yet" })
      end,
    }, nil, function(s)
      s:run()
      is_good = true
      assert(s:redeliver(s:dead_letters()[1].id))
    end)
    assert.same({ "invoke_agent root !script_error", "invoke_agent root" }, lines)
  end)

  it("shows how long a person was waited for", function()
    local lines, names = tree({
      root = function(root)
        assert(root:escalate({ title = "well?", wait = true }))
      end,
    }, nil, function(s)
      assert(s:decide(s:inbox()[1].id, { decision = "approve" }))
    end)
    assert.same({ "invoke_agent root", "  request user" }, lines)
    local span = names["request user"][1]
    assert.equal(100000000,
      math.tointeger(span.endTimeUnixNano) - math.tointeger(span.startTimeUnixNano))
  end)

  it("says of an HTTP request which server answered what, and not the rest of its URL", function()
    local lines, names = tree({
      root = function(root)
        assert(root:http({ url = "http://u:secret@api.test:81/a/secret?key=secret" }))
      end,
    }, { http = function() return { status = 404, body = "" } end })
    assert.same({ "invoke_agent root", "  http GET" }, lines)
    local values = spans.attributes(names["http GET"][1])
    assert.same({ "GET", "api.test", 404 }, { values["http.request.method"],
      values["server.address"], values["http.response.status_code"] })
    for _, value in pairs(values) do
      assert.not_matches("secret", value)
    end
  end)
end)
