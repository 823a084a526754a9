-- agent:http in a simulated world: an effect that is made once, answered once, and in doubt
-- after a crash.
--
-- Covers: core/parts/models/calls.c

local json = require("society.json")
local scene = require("scene")

-- A root that makes one request and keeps the outcome, in a world that counts.
local function ask(request, world)
  local seen = { requests = {}, results = {} }
  local s = scene.troupe({
    root = function(root)
      local answer, err = root:http(request)
      seen.results[#seen.results + 1] = { answer = answer, err = err }
      root.state.result = answer and answer.status or err.error
      root:send_message({ to = "user", payload = { text = tostring(root.state.result) } })
    end,
  }, {
    http = function(asked)
      seen.requests[#seen.requests + 1] = asked
      return world(asked, #seen.requests)
    end,
  })
  return s, seen
end

local function hello()
  return { status = 200, headers = { ["content-type"] = "text/plain" }, body = "hello" }
end

local function never()
  return { delay_ms = 20000, body = "late" }
end

-- Sends the request without letting an answer back.
local function go_out(s)
  assert(s:send("user", { to = "root", payload = "go" }))
  s:advance(100)
end

describe("agent:http", function()
  after_each(scene.close)

  it("returns status, headers and body", function()
    local s, seen = ask({ url = "http://a.test/x", headers = { accept = "*/*" } }, hello)
    scene.tell(s, "root")
    assert.same({ { answer = { status = 200, headers = { ["content-type"] = "text/plain" },
      body = "hello" } } }, seen.results)
    local request = seen.requests[1]
    assert.equal("GET", request.method)
    assert.equal("http://a.test/x", request.url)
    assert.same({ accept = "*/*" }, request.headers)
    assert.equal("root", request.agent)
    assert.matches("^call_%d+_%d+_%w+_%x+$", request.call)
    assert.is_false(request.repeated)
  end)

  it("posts a body, and joins the pieces of an answer", function()
    local s, seen = ask({ url = "https://a.test/", body = "{}" },
      function() return { status = 404, body = { "a", "", "bc" } } end)
    scene.tell(s, "root")
    assert.equal("POST", seen.requests[1].method)
    assert.equal("{}", seen.requests[1].body)
    assert.equal("abc", seen.results[1].answer.body)
    assert.equal(404, seen.results[1].answer.status)
  end)

  it("returns a body that is not text as base64", function()
    for bytes, text in pairs({ ["\xff"] = "/w==", ["\xff\xfe"] = "//4=", ["\xff\0\1"] = "/wAB" }) do
      local s, seen = ask({ url = "http://a.test/" }, function() return { body = bytes } end)
      scene.tell(s, "root")
      assert.equal(text, seen.results[1].answer.body_base64)
      assert.is_nil(seen.results[1].answer.body)
    end
  end)

  it("returns what went wrong", function()
    local s, seen = ask({ url = "http://a.test/" }, function()
      return nil, { error = "connection_cut", message = "gone" }
    end)
    scene.tell(s, "root")
    assert.same({ { err = { error = "connection_cut", message = "gone" } } }, seen.results)
  end)

  it("times out, and drops what comes later", function()
    local s, seen = ask({ url = "http://a.test/", timeout_ms = 5000 }, never)
    scene.tell(s, "root")
    assert.equal("timeout", seen.results[1].err.error)
    assert.equal(5000, seen.results[1].err.timeout_ms)
    s:advance(60000)
    assert.equal(1, #seen.results)
  end)

  it("waits without being blocked", function()
    local s = ask({ url = "http://a.test/" }, never)
    go_out(s)
    assert.equal("working", s:agent("root").status)
    assert.equal("call", s:waits()[1].kind)
  end)

  it("reaches nothing without a world", function()
    local _, err = scene.play(function(root) return root:http({ url = "http://a.test/" }) end)
    assert.equal("no_network", err.error)
  end)

  it("fails loudly if the world itself fails", function()
    local s, seen = ask({ url = "http://a.test/" }, function() error("no such page") end)
    scene.tell(s, "root")
    assert.equal("world_failed", seen.results[1].err.error)
    assert.matches("no such page", seen.results[1].err.message, 1, true)
    assert.matches("world_failed", s:transcript(), 1, true)
  end)

  it("uses the world of society.config", function()
    local s = scene.troupe({
      root = function(root) root.state.body = root:http({ url = "http://a.test/" }).body end,
    }, { config = { http = hello } })
    scene.tell(s, "root")
    assert.matches("hello", s:dump(), 1, true)
  end)

  it("is not made before its turn is durable, nor by a turn that raises", function()
    local count, tries = 0, 0
    local s = scene.troupe({
      root = function(root)
        tries = tries + 1
        if tries == 1 then
          error("once")
        end
        root:http({ url = "http://a.test/" })
      end,
    }, { http = function() count = count + 1 return {} end })
    scene.tell(s, "root")
    assert.equal(2, tries)
    assert.equal(1, count)
  end)

  it("ends with the agent that waits for it", function()
    local s = scene.troupe({
      a = function(a) a:http({ url = "http://a.test/", timeout_ms = 60000 }) end,
      root = function(root) root:terminate("a", { force = true }) end,
    }, { http = never })
    assert(s:send("user", { to = "a", payload = "go" }))
    s:advance(100)
    scene.tell(s, "root")
    assert.is_nil(s:agent("a"))
    assert.same({}, s:waits())
    assert.is_true(scene.law_holds(s))
  end)
end)

describe("agent:http after a crash", function()
  after_each(scene.close)

  it("is not made again if it was answered", function()
    local s, seen = ask({ url = "http://a.test/", method = "POST" }, hello)
    scene.tell(s, "root")
    s:crash() s:recover() s:run()
    assert.equal(1, #seen.requests)
  end)

  it("is not made again by an activation that continues", function()
    local count = 0
    local s = scene.troupe({
      root = function(root)
        local first = root:http({ url = "http://a.test/", method = "POST" })
        root:sleep(1000)
        root.state.answer = first.body
      end,
    }, { http = function() count = count + 1 return { body = "answer " .. count } end })
    go_out(s)
    s:crash() s:recover() s:run()
    assert.equal(1, count)
    assert.matches("answer 1", s:dump(), 1, true)
  end)

  for _, case in ipairs({
    { name = "GET", request = {} },
    { name = "HEAD", request = { method = "HEAD" } },
    { name = "what is marked idempotent", request = { method = "PUT", idempotent = true } },
  }) do
    it("repeats " .. case.name .. " in doubt under the same id, with its whole time", function()
      case.request.url = "http://a.test/"
      local s, seen = ask(case.request, function(_, count)
        return count > 1 and hello() or never()
      end)
      go_out(s)
      s:crash()
      s:advance(3600000)
      s:recover() s:run()
      assert.equal(2, #seen.requests)
      assert.is_true(seen.requests[2].repeated)
      assert.equal(seen.requests[1].call, seen.requests[2].call)
      assert.equal(200, seen.results[1].answer.status)
      assert.equal(1, #seen.results)
    end)
  end

  it("reports a request in doubt that must not be repeated", function()
    local s, seen = ask({ url = "http://a.test/", body = "pay" }, never)
    go_out(s)
    s:crash() s:recover() s:run()
    assert.equal(1, #seen.requests)
    assert.equal("in_doubt", seen.results[1].err.error)
    assert.equal(seen.requests[1].call, seen.results[1].err.call)
    assert.equal("in_doubt", s:activity({ type = "in_doubt" })[1].event)
  end)

  it("has the same outcome on disk, wherever it crashes", function()
    for steps = 1, 12 do
      local s, seen = ask({ url = "http://a.test/" }, hello)
      assert(s:send("user", { to = "root", payload = "go" }))
      for _ = 1, steps do
        s:step()
      end
      s:crash() s:recover() s:run()
      local shown = s:messages({ agent = "user" })
      assert.equal("200", shown[#shown].payload.text)
      assert.is_true(#seen.requests <= 2)
      scene.close()
    end
  end)

  it("is the same for the same seed", function()
    local function run()
      local s = ask({ url = "http://a.test/" }, hello)
      scene.tell(s, "root")
      return s:transcript() .. s:dump()
    end
    assert.equal(run(), run())
  end)

  it("keeps large requests complete", function()
    local body = json.encode({ text = ("\u{4e2d}\\\"\n"):rep(20000) })
    local s, seen = ask({ url = "http://a.test/", body = body, idempotent = true }, function(_, n)
      return n > 1 and hello() or never()
    end)
    go_out(s)
    s:crash() s:recover() s:run()
    assert.equal(body, seen.requests[2].body)
  end)
end)
