-- agent:http and models: limits of time, size and concurrency, and secrets.
--
-- Covers: core/lualib/options.c, core/script/calls/outward.c, core/script/calls/exchange.c
-- Covers: core/script/calls/visit.c, core/script/bindings/bind_http.c

local model = require("model")
local scene = require("scene")

local URL = "http://a.test/x"

-- Root makes a request with these options in a world that answers so.
local function ask(request, world, config)
  local seen = {}
  local s = scene.troupe({
    root = function(root)
      request.url = request.url or URL
      seen.answer, seen.err = root:http(request)
      seen.at = root:now()
    end,
  }, { http = function(asked)
    seen.request = asked
    return world
  end, config = config })
  seen.begun = s:now()
  scene.tell(s, "root")
  return seen
end

describe("agent:http", function()
  after_each(scene.close)

  for _, case in ipairs({
    { name = "times out if the first byte comes later", options = { first_byte_ms = 50 },
      world = { delay_ms = 51 }, error = "first_byte_timeout" },
    { name = "accepts a first byte at the last moment", options = { first_byte_ms = 50 },
      world = { delay_ms = 50 } },
    { name = "times out if the whole answer comes later", options = { timeout_ms = 40 },
      world = { delay_ms = 41 }, error = "timeout" },
    { name = "refuses an answer of more bytes than allowed", options = { answer_bytes_max = 4 },
      world = { body = "fives" }, error = "answer_too_large" },
    { name = "accepts an answer of exactly as many bytes", options = { answer_bytes_max = 5 },
      world = { body = "fives" } },
    { name = "refuses more than 16 MB by default", options = {},
      world = { body = ("x"):rep(16 * 1024 * 1024 + 1) }, error = "answer_too_large" },
    { name = "refuses an answer that JSON cannot hold", options = {},
      world = { body = ("\1"):rep(12 * 1024 * 1024) }, error = "answer_too_large" },
  }) do
    it(case.name, function()
      local seen = ask(case.options, case.world)
      assert.equal(case.error, seen.err and seen.err.error)
      assert.equal(case.error == nil, seen.answer ~= nil)
    end)
  end

  it("limits concurrent requests, and the others wait in order", function()
    local asked, order, times, acts, s = {}, {}, {}, {}, nil
    for index = 1, 9 do
      acts["a" .. index] = function(agent)
        asked[#asked + 1] = tostring(index)
        assert(agent:http({ url = URL .. index, timeout_ms = 60000 }))
      end
    end
    s = scene.troupe(acts, { config = { http_concurrency = 3 }, http = function(request)
      times[#times + 1] = s:now()
      order[#order + 1] = request.url:match("%d$")
      return { delay_ms = 100 }
    end })
    for index = 1, 9 do
      assert(s:send("user", { to = "a" .. index, payload = "go" }))
    end
    s:run()
    assert.same(asked, order)
    for index = 4, 9 do
      assert.is_true(times[index] - times[index - 3] >= 100)
    end
    assert.is_true(times[9] - times[1] < 300)
  end)

  it("gives the slot of a request that timed out to the next", function()
    local order = {}
    local function act(agent, message)
      local _, err = agent:http({ url = URL .. agent.id, timeout_ms = message.payload.ms })
      order[#order + 1] = agent.id .. (err and " " .. err.error or "")
    end
    local s = scene.troupe({ a = act, b = act, c = act, d = act }, {
      config = { http_concurrency = 1 }, http = function() return { delay_ms = 100 } end })
    for id, ms in pairs({ a = 1000, b = 50, c = 1000, d = 150 }) do
      assert(s:send("user", { to = id, payload = { ms = ms } }))
    end
    s:run()
    table.sort(order)
    assert.equal("a,b timeout,c,d timeout", (table.concat(order, ",")
      :gsub("d,", "d timeout,"):gsub("d$", "d timeout")))
  end)

  it("makes the waiting requests after a crash", function()
    local count, done, acts = 0, {}, {}
    for index = 1, 4 do
      acts["a" .. index] = function(agent)
        done[agent.id] = assert(agent:http({ url = URL })).status
      end
    end
    local s = scene.troupe(acts, { config = { http_concurrency = 1 }, http = function()
      count = count + 1
      return { delay_ms = 100 }
    end })
    for index = 1, 4 do
      assert(s:send("user", { to = "a" .. index, payload = "go" }))
    end
    s:advance(150)
    s:crash() s:recover() s:run()
    assert.is_true(count >= 4 and count <= 6)
    assert.same({ a1 = 200, a2 = 200, a3 = 200, a4 = 200 }, done)
    assert.is_true(scene.law_holds(s))
  end)

  it("refuses invalid limits", function()
    for _, options in ipairs({ { first_byte_ms = 0 }, { idle_ms = -1 }, { connect_ms = 1.5 },
      { connect_ms = "soon" }, { answer_bytes_max = 16 * 1024 * 1024 + 1 } }) do
      options.url = URL
      assert.matches("http: '", scene.raised(function(root) root:http(options) end), 1, true)
    end
  end)
end)

describe("a secret of agent:http", function()
  after_each(scene.close)

  local SECRETS = { TOKEN = "http://a.test" }

  it("is only named to a simulated world", function()
    local seen = ask({ secret = "TOKEN" }, {}, { secrets = SECRETS })
    assert.equal(200, seen.answer.status)
    assert.equal("TOKEN", seen.request.secret)
    assert.is_nil(seen.request.headers)
  end)

  for _, case in ipairs({
    { name = "that no setting allows", secret = "OTHER", fault = "must say where 'OTHER' may go" },
    { name = "for another server", secret = "TOKEN", url = "http://b.test/",
      fault = "'TOKEN' may go to http://a.test only" },
    { name = "for a server whose name continues", secret = "TOKEN", url = "http://a.test.evil/",
      fault = "may go to http://a.test only" },
    { name = "for a server behind a user name", secret = "TOKEN", url = "http://a.test@evil/",
      fault = "may go to http://a.test only" },
    { name = "for another port", secret = "TOKEN", url = "http://a.test:99/",
      fault = "may go to http://a.test only" },
    { name = "without a name", secret = "", fault = "must name an environment variable" },
    { name = "that is a number", secret = 7, fault = "must be a name or a table" },
    { name = "in an unknown field", secret = { env = "TOKEN", value = "x" },
      fault = "unknown option 'value'" },
    { name = "in a bad header", secret = { env = "TOKEN", header = "a b" },
      fault = "cannot be sent" },
    { name = "behind a line break", secret = { env = "TOKEN", prefix = "a\r\nb: " },
      fault = "cannot be sent" },
  }) do
    it(case.name .. " is refused", function()
      local text = scene.raised(function(root)
        root:http({ url = case.url or URL, secret = case.secret })
      end, { config = { secrets = SECRETS } })
      assert.matches(case.fault, text, 1, true)
    end)
  end

  it("may go only where a URL says", function()
    for _, secrets in ipairs({ 7, { TOKEN = true }, { TOKEN = "a.test" }, { "http://a.test" },
      { TOKEN = "http://" }, { TOKEN = "http://me@a.test" }, { ["A=B"] = "http://a.test" } }) do
      assert.has_error(function() scene.new({ config = { secrets = secrets } }) end)
    end
  end)

  it("is not sent after a crash to a place that is no longer allowed", function()
    local allowed, requests = SECRETS, 0
    local s = scene.new({
      http = function()
        requests = requests + 1
        return { delay_ms = 100 }
      end,
      app = function(s)
        s:config({ secrets = allowed })
        s:root(function(root)
          root:http({ url = URL, secret = "TOKEN" })
        end)
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(50)
    s:crash()
    allowed = {}
    s:recover() s:run()
    assert.equal(1, requests)
  end)
end)

describe("the timeouts of a model", function()
  after_each(scene.close)

  local function tries(llm, delay_ms)
    llm.model, llm.retries_max = "m", 1
    local s, seen = model.ask(function()
      local answer = model.say("hi")
      answer.delay_ms = delay_ms
      return answer
    end, { config = { llm = llm } })
    scene.tell(s, "root")
    local result = seen.results[1]
    return result.err and result.err.error or "answered", #seen.requests
  end

  it("are settings", function()
    assert.same({ "first_byte_timeout", 2 }, { tries({ first_byte_ms = 20 }, 21) })
    assert.same({ "answered", 1 }, { tries({ first_byte_ms = 20 }, 20) })
    assert.same({ "timeout", 2 }, { tries({ total_ms = 15 }, 21) })
    assert.same({ "first_byte_timeout", 2 }, { tries({}, 60001) })
    assert.same({ "answered", 1 }, { tries({ first_byte_ms = 90000 }, 60001) })
  end)

  it("are positive integers", function()
    for _, name in ipairs({ "connect_ms", "first_byte_ms", "idle_ms", "total_ms" }) do
      for _, value in ipairs({ 0, -1, 1.5, "1", 2 ^ 31 }) do
        assert.has_error(function() scene.new({ config = { llm = { [name] = value } } }) end)
      end
    end
  end)
end)
