-- Replay of long-lived societies: kills, starts, waits, damage, and no history.

local program = require("program")
local recorded = require("recorded")
local tree = require("tree")

-- Where the examples are: specs run in other directories.
local function examples_path()
  return tree.path("examples")
end

describe("replay of a life", function()
  local place, running

  local function replay(arguments)
    return recorded.replay(place, arguments)
  end

  local function assert_same(arguments)
    return recorded.assert_same(place, arguments)
  end

  local function sql(text)
    return recorded.sql(place, text)
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", recorded.APP)
    place:write("helper.lua", recorded.HELPER)
  end)

  after_each(function()
    if running then
      running:kill("KILL")
      running:wait()
      running = nil
    end
    place:remove()
  end)

  for _, name in ipairs {
    "01_hello", "02_survives", "03_calculator", "04_calculator_open", "05_calculator_colleagues",
    "06_introduction", "07_tasks", "08_deadlock", "09_checkpoint", "10_approval",
    "11_supervision", "13_run_lua", "14_calculator_models", "15_debate", "16_approved_tools",
    "18_strangers",
  } do
    it("finds no difference in the example " .. name, function()
      local app = program.quote(examples_path() .. "/" .. name .. ".lua")
      assert.equal(0, place:run("run " .. app .. " --quiet --set history=full").code)
      local totals = assert_same()
      assert.is_true(totals.runs > 0)
    end)
  end

  it("finds no difference where neither the reply nor the state of a turn was possible", function()
    place:write("app.lua", [[
      local society = require("society")
      ]] .. recorded.BRIEF .. [[
      society.config { history = "full", mailbox_max = 1 }
      society.role { id = "clumsy", behaviour = function(agent, message)
        agent.state.holes = { [1] = 1, [3] = 3 }
        return "there is no room for this"
      end }
      society.root(function(root, message)
        if message.from ~= "user" then return end
        root:spawn_agent("clumsy", BRIEF, { id = "clumsy" })
        root:send_message { to = "clumsy", payload = "go" }
        root:send_message { to = "root", payload = "fills the mailbox" }
        root:sleep(50)
      end)
      society.main(function(user)
        user:request { to = "root", payload = "go", timeout_ms = 10 }
      end)
    ]])
    assert.equal(0, place:run("run app.lua --quiet").code)
    assert_same()
  end)

  it("finds no difference where a model was called again because somebody waits", function()
    place:write("app.lua", [[
      local society = require("society")
]] .. recorded.BRIEF .. [[
      society.config { history = "full", llm = { provider = "scripted",
        answers = { ann = { "", "", "hello" } } } }
      society.role { id = "t", name = "t", prompt = "p", behaviour = "llm" }
      society.root(function(root, message)
        root:spawn_agent("t", BRIEF, { id = "ann" })
        return assert(root:request { to = "ann", payload = "?" }).payload
      end)
      society.main(function(user)
        print(user:request { to = "root", payload = "go" }.payload.text)
      end)
    ]])
    assert.equal("hello\n", place:run("run app.lua --quiet").out)
    assert_same()
  end)

  it("covers kills and starts, even with another script in between", function()
    place:write("app.lua", [[
      local society = require("society")
]] .. recorded.BRIEF .. [[
      society.config { history = "full", name = "long" }
      society.role { id = "worker", name = "worker", behaviour = function(agent, message)
        if message.payload.i % 3 == 0 then
          print("sleeps over number " .. message.payload.i)
          agent:sleep(3600000)
        end
        agent.state.done = (agent.state.done or 0) + 1
        return { done = agent.state.done, chance = agent:random(1, 1000000) }
      end }
      society.root(function(root, message)
        root:spawn_agent("worker", BRIEF, { id = "W" })
        for i = 1, 20 do
          assert(root:request { to = "W", payload = { i = i }, timeout_ms = 86400000 })
        end
        return "all done"
      end)
      society.main(function(user)
        print(user:request { to = "root", payload = "go", timeout_ms = 86400000 }.payload.text)
      end)
    ]])
    for life = 1, 6 do -- each an hour later, and killed while all of them wait
      if life == 3 then -- the same effects from another text
        place:write("app.lua", "-- edited\n" .. place:read("app.lua"))
      end
      running = place:start("run app.lua --quiet", place:clock())
      running:expect("sleeps over number " .. 3 * life)
      running:kill("KILL")
      running:wait()
      assert.equal(3, assert_same().waiting)
      place:advance(3600000)
    end
    running = place:start("run app.lua --quiet", place:clock())
    local ended = running:wait()
    running = nil
    assert.same({ 0, "" }, { ended.code, ended.err })
    assert.matches("all done\n$", ended.out)
    local totals = assert_same()
    assert.is_true(totals.starts >= 7)
    assert.equal(0, totals.waiting)
    assert.equal("20\n", sql("SELECT json_extract(state, '$.done') FROM agents WHERE id = 'W'"))
  end)

  it("works beside a running society, up to its open waits", function()
    place:write("app.lua", recorded.APP .. [[
      society.main(function(user)
        print(user:request { to = "root", payload = "go" }.payload.text)
        user:sleep(3600000)
      end)
    ]])
    running = place:start("run app.lua --quiet")
    running:expect("help with hello")
    assert.is_true(assert_same().waiting >= 1)
    place:write("other.lua", (recorded.APP:gsub('payload = "go"', 'payload = "come"')))
    local _, differences = replay("--app other.lua")
    assert.equal("user", differences[1].agent)
    assert.equal("effect", differences[1].difference)
    running:kill("INT")
    running:wait()
    running = nil
    assert.is_true(assert_same().waiting >= 1)
  end)

  it("refuses a record that others have changed", function()
    place:run("run app.lua --quiet")
    place:shell("sqlite3 .society/society.db " .. program.quote(
      "UPDATE history SET detail = replace(detail, 'hello from', 'howdy from')"))
    local result = place:run("replay")
    assert.equal(74, result.code)
    assert.matches("damaged", result.err)
  end)

  it("reports what it cannot do", function()
    place:write("app.lua", (recorded.APP:gsub("society.config[^\n]*", "")))
    place:run("run app.lua --quiet")
    local result = place:run("replay")
    assert.equal(2, result.code)
    assert.matches('.society keeps no history: run it with society.config{ history = "full" }',
      result.err, 1, true)
    assert.equal("0\n", sql("SELECT count(*) FROM history"))
    assert.equal(2, place:run("replay --state nowhere").code)
    assert.equal(2, place:run("replay --policy contacts").code)
    assert.equal(2, place:run("replay what").code)
    place:run("run app.lua --quiet --fresh --set history=full")
    result = place:run("replay --policy contacts=nothing")
    assert.equal(2, result.code)
    assert.matches("nothing.lua", result.err, 1, true)
    result = place:run("replay --policy contact=open")
    assert.equal(2, result.code)
    assert.matches("there is no policy kind 'contact'", result.err, 1, true)
    place:write("broken.lua", "local x = = 1")
    for name, why in pairs({ missing = "No such file", broken = "unexpected symbol" }) do
      result = place:run("replay --app " .. name .. ".lua")
      assert.equal(2, result.code)
      assert.equal("", result.out)
      assert.matches("^society: replay: " .. name .. "%.lua:.*" .. why, result.err)
    end
  end)

  -- When a turn is ended by CPU time depends on the machine; that it was is in its record.
  it("repeats a turn that its budget of CPU time ended", function()
    place:write("app.lua", [[
      local society = require("society")
      society.config({ history = "full", cpu_ms_max = 50 })
      society.role({ id = "loop", name = "l", behaviour = function(agent)
        agent:sleep(1)
        while true do
          agent:now()
          for _ = 1, 1000000 do end
        end
      end })
      society.role({ id = "long", name = "l", behaviour = function()
        for _ = 1, 60000000 do end
        return "less than the steps of a replay"
      end })
      society.root(function(root)
        assert(root:spawn_agent("loop", { objective = "o", constraints = {}, inputs = "i",
          outputs = "o", completion_criteria = "c" }, { id = "loop" }))
        assert(root:spawn_agent("long", { objective = "o", constraints = {}, inputs = "i",
          outputs = "o", completion_criteria = "c" }, { id = "long" }))
        local _, err = root:request({ to = "loop", payload = "go" })
        local _, other = root:request({ to = "long", payload = "go" })
        return err.error .. " " .. other.error
      end)
      society.main(function(user)
        print(user:request({ to = "root", payload = "go" }).payload.text)
      end)
    ]])
    assert.equal("receiver_failed receiver_failed\n", place:run("run app.lua").out)
    for _, letter in ipairs(program.rows(place:run("inspect dead-letters --json"))) do
      assert.equal("cpu_ms", letter.error.which)
    end
    assert_same()
  end)
end)
