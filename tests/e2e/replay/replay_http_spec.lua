-- The history run again over HTTP: in a process of its own, one at a time, by whoever may operate.
--
-- Covers: core/parts/history/replay_operations.c

local json = require("society.json")
local program = require("program")
local recorded = require("recorded")
local web = require("web")

describe("POST /replays", function()
  local place, door

  setup(function()
    place = program.place()
    place:write("app.lua", recorded.APP)
    place:write("helper.lua", recorded.HELPER)
    door = web.start(place, "run app.lua --http 0 --log none")
    program.wait_for("the end of all work", function()
      local stats = door:curl("/api/v1/stats").json
      return stats.sent > 5 and stats.pending == 0 and stats.waiting == 0
    end)
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  local function finish(id)
    return program.wait_for("the end of " .. id, function()
      local result = door:curl("/api/v1/replays/" .. id).json
      return result.state ~= "running" and result
    end)
  end

  local function replay(body, more)
    local answer = door:post("/api/v1/replays", body, nil, more)
    assert.equal(202, answer.status, answer.body)
    return finish(answer.json.id)
  end

  it("finds the same under the same policies, and where it differs under others", function()
    local same = replay({})
    assert.same({ "same", 0, 1 }, { same.state, same.code, #same.findings }, json.encode(same))
    assert.equal(0, same.findings[1].differences)
    local other = replay({ policies = { contacts = "open" } })
    assert.equal("different", other.state)
    assert.equal("Stranger", other.findings[1].agent)
    local totals = other.findings[#other.findings]
    assert.equal(#other.findings - 1, totals.differences)
  end)

  it("is done once under a key, and leaves an order", function()
    local function count_orders()
      local count = 0
      for _, row in ipairs(door:curl("/api/v1/activity?type=order&limit=1000").json.items) do
        count = count + (json.decode(row.detail).op == "replay" and 1 or 0)
      end
      return count
    end
    local before = count_orders()
    local first = replay({}, "-H 'Idempotency-Key: again'")
    local second = replay({}, "-H 'Idempotency-Key: again'")
    assert.equal(first.id, second.id)
    assert.equal(before + 1, count_orders())
  end)

  it("is refused while another one runs", function()
    local refused = program.wait_for("two at a time", function()
      local request = { method = "POST", path = "/api/v1/replays",
        headers = { Host = door.host, Authorization = "Bearer " .. door.token } }
      local answers = door:many({ request, request })
      local body = json.decode(answers[1].body)
      assert.equal(202, answers[1].status, answers[1].body)
      finish(body.id)
      if answers[2].status == 202 then -- the first one had ended by then
        finish(json.decode(answers[2].body).id)
        return nil
      end
      return answers[2]
    end)
    assert.equal(409, refused.status)
    assert.equal("in_progress", json.decode(refused.body).error)
  end)

  it("says what is wrong", function()
    assert.equal(404, door:curl("/api/v1/replays/nothing").status)
    assert.equal(400, door:post("/api/v1/replays", { policies = "open" }).status)
    local reader = place:run("token add reader --scope read").out:match("%S+")
    assert.equal(403, door:post("/api/v1/replays", {}, reader).status)
  end)
end)

describe("POST /replays without a history", function()
  it("is refused with a sentence that says so", function()
    local place = program.place()
    place:write("app.lua", 'local society = require("society")\nsociety.main(function() end)\n')
    local door = web.start(place, "run app.lua --http 0 --log none")
    local answer = door:post("/api/v1/replays", {})
    door:stop()
    place:remove()
    assert.same({ 409, "not_possible" }, { answer.status, answer.json.error })
    assert.matches('set history = "full" in society.config', answer.json.message, 1, true)
  end)
end)
