-- A replay that a client of a running society asks for.
--
-- Covers: core/embed/replays.c, core/parts/history/replay_operations.c

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
society.config { history = arg[1] }
society.root(function(root, message)
  return { text = "hello, " .. message.payload.text }
end)
society.main(function(user)
  user:request { to = "root", payload = "Ada" }
  print("greeted")
  user:receive { type = "never" }
end)
]]

describe("a replay by call", function()
  local place, running

  local function start(history)
    place = program.place()
    place:write("app.lua", APP)
    running = place:start_ready("run app.lua --log none -- " .. history)
    running:expect("greeted")
  end

  after_each(function()
    running:kill("KILL")
    running:wait()
    place:remove()
  end)

  local function call(op, params)
    return place:run(("call %s %s"):format(op, program.quote(json.encode(params))))
  end

  local function row(op, params)
    local result = call(op, params)
    assert.same({ 0, "" }, { result.code, result.err }, op)
    return assert(json.decode(result.out))
  end

  -- Waits for the end of a replay.
  local function result_of(id)
    local result
    program.wait_for("the end of the replay", function()
      result = row("replay_result", { replay_id = id })
      return result.state ~= "running"
    end)
    return result
  end

  it("is a process of its own, one at a time", function()
    start("full")
    local id = row("replay", json.decode("{}")).id
    assert.equal("replay_1", id)
    assert.same({ "same", 0 }, { result_of(id).state, result_of(id).code })
    id = row("replay", { policies = { contacts = "open" } }).id
    assert.is_true(({ same = true, different = true })[result_of(id).state])
    for policies, code in pairs({
      ['{"contacts":"./open.lua"}'] = "invalid_argument",
      ['{"contacts":1}'] = "invalid_argument",
    }) do
      assert.matches(code, call("replay", { policies = json.decode(policies) }).err, 1, true)
    end
    assert.matches("replay_not_found", call("replay_result", { replay_id = "replay_9" }).err, 1,
      true)
    local orders = place:run("call activity " .. program.quote('{"type":"order"}')).out
    local _, count = orders:gsub("replay", "")
    assert.equal(2, count)
  end)

  it("says why it has failed", function()
    start("full")
    for kind, reason in pairs({ contacts = "contacts/nosuch.lua", nosuch = "kind 'nosuch'" }) do
      local result = result_of(row("replay", { policies = { [kind] = "nosuch" } }).id)
      assert.same({ "failed", 2 }, { result.state, result.code })
      assert.matches(reason, result.message, 1, true)
      assert.not_matches("^society: ", result.message)
    end
    assert.is_nil(result_of(row("replay", json.decode("{}")).id).message)
  end)

  it("needs a history", function()
    start("none")
    local refused = call("replay", json.decode("{}"))
    assert.equal(1, refused.code)
    assert.matches("not_possible: nothing was kept to replay", refused.err, 1, true)
  end)
end)
