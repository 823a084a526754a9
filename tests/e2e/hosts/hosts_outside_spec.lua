-- Two real hosts, one of which has an agent outside behind files: what the other host writes to it
-- stands in its file once, also after a kill, and it acks and answers by the ids that it reads.
--
-- Covers: core/bridge/files/delivery.c, core/parts/outside/outside_mail.c

local json = require("society.json")
local program = require("program")
local redis = require("redis")

local BETA = [[
local society = require("society")
society.config { name = "duo", files = { dir = "w", ack = { timeout_ms = 600000 },
  heartbeat = { timeout_ms = 86400000 } } }
society.role { id = "worker", name = "Worker", behaviour = "external" }
society.root(function(root)
  assert(root:spawn_agent("worker", { objective = "o", constraints = {}, inputs = "i",
    outputs = "o", completion_criteria = "c" }, { id = "a" }))
end)
]]

local ALPHA = [[
local society = require("society")
society.config { name = "duo" }
society.root(function() end)
society.main(function(user)
  local ack, err = user:send_message { to = "a@beta", type = "task_assign", task_id = "T1",
    payload = { task_id = "T1" }, wait_ack = "processed", timeout_ms = 3000000 }
  print(ack and ack.ack or err.error)
  local answer, why = user:request { to = "a@beta", payload = "?", timeout_ms = 3000000 }
  print(answer and answer.payload.text or why.error)
end)
]]

describe("an agent outside that another host writes to", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, server, started

  before_each(function()
    place, started = program.place(), {}
    server = redis.start(place)
    place:write("alpha.lua", ALPHA)
    place:write("beta.lua", BETA)
  end)

  after_each(function()
    for _, running in ipairs(started) do
      running:kill("KILL")
      running:wait()
    end
    server:stop()
    place:remove()
  end)

  local function start(name, peer)
    started[#started + 1] = place:start_ready(
      ("run %s.lua --state %s --quiet --redis %s --host %s --peers %s"):format(name, name,
        server.url, name, peer), name)
    return started[#started]
  end

  -- The letters in the file of the agent.
  local function letters()
    local list = {}
    for line in (place:read("w/channel/agents/a.jsonl") or ""):gmatch("[^\n]+") do
      list[#list + 1] = json.decode(line)
    end
    return list
  end

  local function append(name, line)
    place:shell(("printf '%%s\\n' %s >> w/channel/agents/%s"):format(
      program.quote(json.encode(line)), name))
  end

  -- The letter that fits, once it is there.
  local function await(what, fits)
    return program.wait_for(what, function()
      for _, letter in ipairs(letters()) do
        if fits(letter) then
          return letter
        end
      end
    end)
  end

  it("finds each letter once, acks it and answers it", function()
    local beta = start("beta", "alpha")
    assert.equal(0, place:run("send --state beta --to root hire").code)
    local alpha = start("alpha", "beta")
    local task = await("the task", function(letter) return letter.task_id == "T1" end)
    beta:kill("KILL")
    beta:wait()
    start("beta", "alpha")
    assert.equal(0, place:run("send --state beta --to a later").code)
    await("a later letter", function(letter) return letter.from == "user" end)
    assert.equal(2, #letters()) -- the task is not there twice
    append("a.ack", { ack_for = task.id, from = "a", status = "processed",
      id = "ack_20260101_000000_abc123", timestamp = "2026-01-01T00:00:00.000Z" })
    alpha:expect("processed")
    local question = await("the question", function(letter)
      return letter.from == "user@alpha" and letter.type == "general"
    end)
    append("a.out.jsonl", { reply_to = question.id, payload = { text = "here I am" } })
    alpha:expect("here I am")
  end)
end)
