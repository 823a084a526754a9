-- Filters of inspect, with the same answers from running and stopped societies.

local program = require("program")

local APP = [[
local society = require("society")
society.policy("contacts", "open")
local function brief(collaborators)
  return { objective = "-", constraints = {}, inputs = "-", outputs = "-",
    completion_criteria = "-", collaborators = collaborators }
end
society.role { id = "worker", name = "Worker", behaviour = function(agent, message)
  if message.payload.text == "greet" then
    return agent:request { to = "c", payload = "hello" }.payload
  end
  return { text = "done" }
end }
society.root(function(root)
  root:spawn_agent("worker", brief {}, { id = "a" })
  root:spawn_agent("worker", brief {}, { id = "b" })
  root:spawn_agent("worker", brief {
    { agentId = "b", role = "the second", description = "knows it all" },
  }, { id = "c" })
  return root:request { to = "a", payload = "greet" }.payload
end)
]]

local rows = program.rows

describe("inspect", function()
  local place, running

  local function start()
    running = place:start_ready("run app.lua --quiet")
  end

  local function stop()
    if running then
      running:kill("INT")
      running:wait()
      running = nil
    end
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    start()
    assert.equal("done\n", place:run("send --wait hello").out)
  end)

  after_each(function()
    stop()
    place:remove()
  end)

  it("refuses a filter that does not apply to the subject", function()
    for _, words in ipairs({
      "agents --task A", "agents --type t", "agents --correlation c", "contacts --task A",
      "inbox --type t", "usage --since 2026-01-05T12:00:00Z", "usage --until 2026-01-05T12:00:00Z",
      "waits --agent root", "policies --limit 1", "stats --agent root",
    }) do
      local what, filter = words:match("^(%S+) (%S+)")
      assert.same({ code = 2, out = "", err = ("society: inspect: %s cannot be filtered by %s\n")
        :format(what, filter) }, place:run("inspect " .. words))
      assert.equal(0, place:run("inspect " .. what).code, what)
    end
  end)

  it("filters agents by time of spawning and shows the latest, running and stopped", function()
    for _ = 1, 2 do
      local latest = rows(place:run("inspect agents --limit 2 --json"))
      assert.same({ "b", "c" }, { latest[1].id, latest[2].id })
      assert.equal(2, #latest)
      assert.equal(0, #rows(place:run("inspect agents --since 2999-01-01T00:00:00Z --json")))
      assert.equal(0, #rows(place:run("inspect agents --agent a --json" ..
        " --until 2000-01-01T00:00:00Z")))
      local one = rows(place:run("inspect agents --agent a --json"))
      assert.same({ 1, "a" }, { #one, one[1].id })
      stop()
    end
  end)

  it("says that no agent has an id, with the exit code of an empty list", function()
    for _ = 1, 2 do -- running, then stopped
      for _, words in ipairs({ "messages --agent nobody", "tasks --agent nobody --limit 3",
        "activity --json --agent nobody", "dead-letters --from a --to nobody" }) do
        assert.same({ code = 0, out = "", err = "society: no agent has the id nobody\n" },
          place:run("inspect " .. words))
      end
      for _, words in ipairs({ "messages --agent b --type none", "dead-letters --from a",
        "messages --agent b@elsewhere", "messages --type none" }) do
        assert.same({ code = 0, out = "", err = "" }, place:run("inspect " .. words))
      end
      assert.equal("", place:run("inspect messages --agent a").err)
      stop()
    end
  end)

  it("shows the same of living agents, running and stopped", function()
    assert.equal(0, place:run("pause b").code)
    for _ = 1, 3 do
      place:run("send --to b hello")
    end
    local shown = place:run("inspect agents").out
    assert.matches("^ID +ROLE +PARENT +STATUS +QUEUE +CONTACTS +CREATED\n", shown)
    assert.matches("\nb +Worker +root +paused +3 +", shown)
    local seen = rows(place:run("inspect agents --json"))
    local one = rows(place:run("inspect agents --agent root --limit 1 --json"))
    stop()
    assert.equal(shown, place:run("inspect agents").out)
    assert.same(seen, rows(place:run("inspect agents --json")))
    assert.same(one, rows(place:run("inspect agents --agent root --limit 1 --json")))
    start()
    assert.equal(0, place:run("terminate c").code)
    stop()
    for _, row in ipairs(rows(place:run("inspect agents --json"))) do
      assert.equal(row.id == "c", row.status == "stopped")
      assert.equal(row.id == "c", row.queue_length == nil)
    end
  end)

  it("shows the same contacts running and stopped, with their role", function()
    local questions = { "", " --agent root", " --agent c", " --agent c --limit 1" }
    local seen = {}
    for i, words in ipairs(questions) do
      seen[i] = rows(place:run("inspect contacts --json" .. words))
    end
    stop()
    for i, words in ipairs(questions) do
      assert.same(seen[i], rows(place:run("inspect contacts --json" .. words)))
    end
    local found = {}
    for _, row in ipairs(seen[3]) do
      assert.equal("c", row.owner)
      found[row.id] = { row.source, row.role, row.reason }
    end
    assert.same({ a = { "first_message", "Worker" }, root = { "parent", "root" },
      b = { "preset", "the second", "knows it all" } }, found)
    assert.equal(1, #seen[4])
  end)

  it("shows long lists in full, by pages while it runs, the same as when it is stopped", function()
    for _ = 1, 25 do
      place:run("send hello")
    end
    assert.equal("done\n", place:run("send --wait hello").out)
    local seen, walked, last = {}, {}, 0
    for _, what in ipairs({ "activity", "messages", "tasks", "dead-letters" }) do
      seen[what] = rows(place:run(("inspect %s --json"):format(what)))
    end
    assert.is_true(#seen.activity > 100)
    repeat
      local page = rows(place:run(([[call activity '{"after":%d,"limit":7}']]):format(last)))
      for _, row in ipairs(page) do
        assert.is_true(row.line > last)
        last = row.line
        walked[#walked + 1] = row
      end
    until #page == 0
    assert.same(seen.activity, walked)
    local latest = rows(place:run("inspect activity --limit 3 --json"))
    assert.same({ #walked - 2, #walked - 1, #walked }, { latest[1].line, latest[2].line,
      latest[3].line })
    stop()
    for what, list in pairs(seen) do
      local stopped = rows(place:run(("inspect %s --json"):format(what)))
      assert.same(list, table.move(stopped, 1, #list, 1, {}), what) -- the end leaves lines
    end
  end)

  it("shows lists of a stopped society that are larger than any JSON text may be", function()
    stop()
    place:write("large.lua", [[
      local society = require("society")
      society.root { default = function() end }
      society.main(function(user)
        for _ = 1, 10 do
          assert(user:send_message { to = "root", payload = { text = ("x"):rep(7 << 20) } })
          user:sleep(1) -- each in a turn of its own, within its budget
        end
      end)
    ]])
    local run = place:run("run large.lua --quiet --fresh")
    assert.equal(0, run.code, run.err)
    local result = place:run("inspect messages --json")
    assert.equal(0, result.code, result.err)
    assert.is_true(#result.out > 64 << 20)
    local _, count = result.out:gsub("\n", "")
    assert.equal(10, count)
    result = place:run("inspect messages")
    assert.equal("", result.err)
    assert.equal(0, result.code)
  end)
end)
