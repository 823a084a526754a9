-- Workers of isolated agents that die or fall silent while they work: the activation has failed,
-- supervision decides, and nothing else happens.
-- Covers: core/script/turns/seat.c

local program = require("program")

-- The guest works for as long as it is let. Its second failure within a minute is one too many.
local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.config({ cpu_ms_max = 600000 })
society.policy("messages", "any")
society.policy("contacts", "open")
society.policy("supervision", "backoff",
  { failures_max = 1 })
society.role({ id = "guest", name = "g", isolated = true, behaviour = function(agent, m)
  while m.payload.text == "work" do end
  return "alive"
end })
society.role({ id = "other", name = "o", isolated = true, behaviour = function(agent, m)
  return m.payload.text .. " " .. agent.id
end })
society.root({
  alert = function(root, message) root.state.alert = message.payload end,
  work = function(root)
    assert(root:spawn_agent("guest", BRIEF, { id = "guest" }))
    assert(root:spawn_agent("other", BRIEF, { id = "other" }))
    for _ = 1, 2 do
      local _, err = root:request({ to = "guest", payload = "work", timeout_ms = 3600000 })
      assert(err.error == "receiver_failed")
    end
  end,
})
]]

describe("an isolated agent whose worker", function()
  local place, running

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    running:kill("KILL")
    running:wait()
    place:remove()
  end)

  local function start(environment)
    place:write("app.lua", APP)
    running = place:start("run app.lua --state st", environment)
    program.wait_for("the socket", function()
      return place:shell("test -S st/socket").code == 0 or running:code()
    end)
    local sent = place:run("send --to root --type work x --state st")
    assert.equal(0, sent.code, sent.err .. running:err())
  end

  -- What an agent answers to a text.
  local function ask(id, text)
    local sent = place:run(("send --to %s --wait --timeout 250000 --state st %s"):format(id, text))
    return (sent.out:gsub("\n$", ""))
  end

  local function look_at(id)
    return program.rows(place:run("inspect agent " .. id .. " --state st --json"))[1]
  end

  -- Signals the worker that works, once: the one that has used CPU time for a while.
  local function signal(name, but)
    local pid
    program.wait_for("a worker that works", function()
      local result = place:shell(("cd /proc && for z in $(cat %s/task/%s/children); do "
        .. "for w in $(cat $z/task/$z/children); do echo $w $(cut -d' ' -f14 $w/stat); done; done")
        :format(running.pid, running.pid))
      for worker, ticks in result.out:gmatch("(%d+) (%d+)") do
        pid = worker ~= but and tonumber(ticks) >= 5 and worker or pid
      end
      return pid
    end)
    assert.equal(0, place:shell("kill -" .. name .. " " .. pid).code)
    return pid
  end

  local function letters()
    local all = {}
    for i, letter in ipairs(program.rows(place:run("inspect dead-letters --state st --json"))) do
      all[i] = { letter.to, letter.error.error }
    end
    return all
  end

  it("is killed while it works has failed, and is held if it fails too often", function()
    start()
    local first = signal("KILL")
    program.wait_for("the dead letter", function()
      return #letters() == 1
    end)
    assert.equal("here_is other", ask("other", "here_is"))
    signal("KILL", first)
    program.wait_for("the dead letters", function()
      return #letters() == 2
    end)
    assert.same({ { "guest", "worker_died" }, { "guest", "worker_died" } }, letters())
    assert.equal("here_is other", ask("other", "here_is"))
    program.wait_for("the alert", function()
      return look_at("root").state
    end)
    assert.equal("guest", look_at("root").state.alert.agent)
    assert.equal("failed", look_at("guest").status)
    assert.equal(0, place:run("resume guest --state st").code)
    assert.equal("alive", ask("guest", "x"))
  end)

  it("says nothing and uses no time for a minute is given up", function()
    start(place:clock())
    signal("STOP")
    assert.equal("here_is other", ask("other", "here_is"))
    assert.same({}, letters())
    place:advance(61000) -- all clocks, CPU time as well, of which there is more
    program.wait_for("the dead letter", function()
      assert.equal("here_is other", ask("other", "here_is"))
      return #letters() > 0
    end)
    assert.same({ "guest", "worker_died" }, letters()[1])
  end)
end)
