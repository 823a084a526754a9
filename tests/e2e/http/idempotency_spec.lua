-- Idempotency-Key: a request that is repeated under its key is done once.

local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.root(function(_, message) return { text = message.payload.text } end)
society.main(function() end)
]]

describe("Idempotency-Key", function()
  local place, door

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
  end)

  after_each(function()
    door:stop()
    place:remove()
  end)

  local function post(path, body, key, token)
    return door:post(path, body, token, "-H " .. program.quote("Idempotency-Key: " .. key))
  end

  local function count_sent(text)
    local count = 0
    for _, row in ipairs(door:curl("/api/v1/messages?limit=1000").json.items) do
      count = count + (row.to == "root" and row.payload.text == text and 1 or 0)
    end
    return count
  end

  it("gives the first answer again, also after kill -9", function()
    local first = post("/api/v1/intake", { text = "once" }, "k1")
    assert.equal(202, first.status)
    local second = post("/api/v1/intake", { text = "once" }, "k1")
    assert.equal(202, second.status)
    assert.equal(first.json.messageId, second.json.messageId)
    door.running:kill("KILL")
    door.running:wait()
    door = web.start(place, "run app.lua --http 0 --log none")
    local third = post("/api/v1/intake", { text = "once" }, "k1")
    assert.equal(first.json.messageId, third.json.messageId)
    assert.equal(1, count_sent("once"))
  end)

  it("is refused for something else", function()
    assert.equal(202, post("/api/v1/intake", { text = "one" }, "k2").status)
    local answer = post("/api/v1/intake", { text = "two" }, "k2")
    assert.equal(422, answer.status)
    assert.equal("key_reused", answer.json.error)
    assert.equal(422, post("/api/v1/agents/root/pause", {}, "k2").status)
    assert.equal(0, count_sent("two"))
  end)

  it("belongs to a token", function()
    local guest = place:run("token add guest --scope write").out:match("%S+")
    assert.equal(202, post("/api/v1/intake", { text = "ours" }, "k3").status)
    assert.equal(202, post("/api/v1/intake", { text = "theirs" }, "k3", guest).status)
    assert.equal(1, count_sent("theirs"))
  end)

  it("belongs to the holder of a token, not to its name", function()
    local first = place:run("token add guest --scope write").out:match("%S+")
    assert.equal(202, post("/api/v1/intake", { text = "same" }, "k3", first).status)
    assert.equal(0, place:run("token remove guest").code)
    local second = place:run("token add guest --scope write").out:match("%S+")
    assert.equal(202, post("/api/v1/intake", { text = "same" }, "k3", second).status)
    assert.equal(202, post("/api/v1/intake", { text = "same" }, "k3", second).status)
    assert.equal(2, count_sent("same"))
  end)

  it("leaves what failed to be tried again", function()
    assert.equal(404, post("/api/v1/agents/nobody/pause", {}, "k4").status)
    assert.equal(404, post("/api/v1/agents/nobody/pause", {}, "k4").status)
    assert.equal(200, post("/api/v1/agents/root/pause", {}, "k4").status)
    assert.equal(200, post("/api/v1/agents/root/pause", {}, "k4").status)
  end)

  it("is bounded", function()
    local answer = post("/api/v1/intake", { text = "x" }, ("k"):rep(257))
    assert.equal(400, answer.status)
    assert.equal("Idempotency-Key", answer.json.member)
    assert.equal(202, post("/api/v1/intake", { text = "x" }, ("k"):rep(256)).status)
  end)

  it("is refused if it is empty, as from a variable that is not set", function()
    local answer = door:post("/api/v1/intake", { text = "bare" }, nil, "-H 'Idempotency-Key;'")
    assert.same({ 400, "Idempotency-Key" }, { answer.status, answer.json.member })
    assert.equal(0, count_sent("bare"))
  end)

  it("is not needed", function()
    door:post("/api/v1/intake", { text = "twice" })
    door:post("/api/v1/intake", { text = "twice" })
    assert.equal(2, count_sent("twice"))
  end)
end)
