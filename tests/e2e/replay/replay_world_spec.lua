-- Replay of external effects: models and servers are not asked again, their answers come
-- from the record; and of policies other than contacts.

local program = require("program")
local recorded = require("recorded")
local servers = require("server")

describe("replay of a society with external calls", function()
  local place, server

  before_each(function()
    place = program.place()
    server = servers.start(place)
  end)

  after_each(function()
    if server then
      server:stop()
    end
    place:remove()
  end)

  local APP = recorded.BRIEF .. [[
    local society = require("society")
    local URL = "%s"
    society.config { history = "full", llm = { model = "m", base_url = URL .. "/local",
      key_env = "NONE_SUCH", retry_first_ms = 10 } }
    society.role { id = "thinker", behaviour = "llm", prompt = "think" }
    society.root(function(root)
      assert(root:spawn_agent("thinker", BRIEF, { id = "thinker" }))
      local first = assert(root:chat { messages = { { role = "user", content = "one two" } } })
      local page = assert(root:http { url = URL .. "/count" })
      local lost, err = root:http { url = "http://127.0.0.1:1/", timeout_ms = 1000 }
      local second = assert(root:request { to = "thinker", payload = "three four" })
      local third = assert(root:request { to = "thinker", payload = "five six" }) -- it recalls
      root.state.seen = first.content .. page.body
      return table.concat({ first.content, page.status, page.body, tostring(lost), err.error,
        second.payload.text, third.payload.text }, "|")
    end)
    society.main(function(user)
      print(assert(user:request { to = "root", payload = "go" }).payload.text)
    end)
  ]]

  local function run_once()
    place:write("app.lua", APP:format(server.url))
    local result = place:run("run app.lua --quiet")
    assert.matches("^one two |200|%d+|nil|connect_failed|.*three four", result.out, 1, false)
    return #server:requests()
  end

  it("calls no model and no server again: the answers come from the record", function()
    local asked = run_once()
    assert.is_true(asked >= 3)
    local totals = recorded.assert_same(place)
    assert.is_true(totals.effects >= 5)
    assert.equal(asked, #server:requests())
    server:stop() -- the server is gone, and nothing is missing
    server = nil
    place:shell("rm app.lua")
    recorded.assert_same(place)
  end)

  it("finds another question to the model, and another use of its answer", function()
    local asked = run_once()
    local app = place:read("app.lua")
    place:write("app.lua", (app:gsub('content = "one two"', 'content = "one"')))
    local _, differences, result = recorded.replay(place, "--app app.lua")
    assert.equal(1, result.code)
    assert.same({ "effect", "root" }, { differences[1].difference, differences[1].agent })
    assert.equal("chat", differences[1].recorded.effect)
    assert.matches("one two", require("society.json").encode(differences[1].recorded), 1, true)
    place:write("app.lua", (app:gsub("URL .. \"/count\"", "URL .. \"/other\"")))
    _, differences = recorded.replay(place, "--app app.lua")
    assert.equal("http", differences[1].recorded.effect)
    place:write("app.lua", (app:gsub("first.content .. page.body", "page.body")))
    _, differences = recorded.replay(place, "--app app.lua")
    assert.same({ "state", "root" }, { differences[1].difference, differences[1].agent })
    assert.equal(asked, #server:requests())
  end)
end)

describe("replay under another policy", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  it("shows the deadlock in which another agent would have been released", function()
    place:write("app.lua", recorded.BRIEF .. [[
      local society = require("society")
      society.config { history = "full" }
      society.role { id = "asker", behaviour = function(agent, message)
        if message.type == "query" then return "fine" end
        agent:sleep(message.payload.after)
        local answer, err = agent:request {
          to = message.payload.other, type = "query", payload = { query = "?" } }
        print(agent.id, answer and "answered" or err.error)
        agent:send_message { to = "user", payload = "ready" }
      end }
      society.root(function(root)
        for i = 1, 2 do root:spawn_agent("asker", BRIEF, { id = "a" .. i }) end
        for i = 1, 2 do
          root:send_message { to = "a" .. i, payload = { other = "a" .. 3 - i, after = i * 50 } }
        end
      end)
      society.policy("contacts", "open")
      society.main(function(user)
        user:send_message { to = "root", payload = "go" }
        for _ = 1, 2 do assert(user:receive {}) end
      end)
    ]])
    local out = place:run("run app.lua --quiet").out
    assert.matches("a1\tdeadlock\n", out, 1, true)
    recorded.assert_same(place)
    recorded.assert_same(place, "--policy deadlock=earliest")
    local _, differences, result = recorded.replay(place, "--policy deadlock=latest")
    assert.equal(1, result.code)
    assert.equal(1, #differences)
    local found = differences[1]
    assert.matches("^deadlock%.", found.asked)
    assert.not_same(found.recorded, found.now)
    assert.matches("deadlock%.%w+.*recorded.*now", place:run("replay --policy deadlock=latest").out)
  end)

  it("shows the failure after which the message would have been given up", function()
    place:write("app.lua", recorded.BRIEF .. [[
      local society = require("society")
      society.config { history = "full" }
      society.root(function(root)
        root:sleep(1)
        error("no luck", 0)
      end)
      society.main(function(user)
        user:send_message { to = "root", payload = "go" }
      end)
    ]])
    place:run("run app.lua --quiet")
    recorded.assert_same(place)
    place:write("never.lua", [[
      return { kind = "supervision", version = 1, defaults = {}, examples = {},
        retry_after = function() return nil end }
    ]])
    local _, differences, result = recorded.replay(place, "--policy supervision=./never.lua")
    assert.equal(1, result.code)
    assert.equal(3, #differences) -- each of the three retries
    assert.matches('^supervision.retry_after.*"root"', differences[1].asked)
    assert.is_number(differences[1].recorded[1])
    assert.not_equal(differences[1].recorded[1], differences[1].now[1])
  end)
end)
