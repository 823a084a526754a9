-- The beginning of an id wherever one is taken: items, letters, messages, chains, agents that
-- have ended, filters of dead letters, tokens.
--
-- Covers: lua/society/cli/ids.lua

local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role { id = "clerk", name = "clerk", behaviour = { task = function(clerk, message)
  clerk:escalate { title = message.task_id }
end, default = function() error("too much") end } }
society.role { id = "outsider", name = "outsider", behaviour = "external" }
society.policy("supervision", function() return nil end)
society.root(function(root)
  for _, id in ipairs { "clerk_1", "walker", "gone" } do
    root:spawn_agent("clerk", BRIEF, { id = id })
  end
  root:spawn_agent("outsider", BRIEF, { id = "abroad" })
  root:send_message { to = "clerk_1", payload = "no", task_id = "T0" }
  root:send_message { to = "walker", payload = "no", task_id = "T5" }
  root:send_message { to = "clerk_1", type = "task", payload = { task_id = "T1" } }
  root:send_message { to = "walker", type = "task", payload = { task_id = "T2" } }
  root:terminate("gone", { reason = "enough" })
end)
society.main(function(user)
  user:send_message { to = "root", payload = "go" }
  user:receive { from = "root" }
end)
]]

describe("the beginning of an id", function()
  local place, running

  local function rows(subject)
    return program.rows(place:run("inspect " .. subject .. " --json"))
  end

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    running = place:start_ready("run app.lua --quiet")
    program.wait_for("two items", function() return rows("inbox")[2] end)
  end)

  teardown(function()
    running:kill("KILL")
    running:wait()
    place:remove()
  end)

  -- The shortest beginning of the id that none of the others has.
  local function shortest(id, others)
    for length = 1, #id do
      local text, is_alone = id:sub(1, length), true
      for _, other in ipairs(others) do
        is_alone = is_alone and (other == id or other:sub(1, length) ~= text)
      end
      if is_alone then
        return text
      end
    end
    return id
  end

  local function ids_of(subject, member)
    local list = {}
    for index, row in ipairs(rows(subject)) do
      list[index] = row[member or "id"]
    end
    return list
  end

  local function expect_many(arguments, text)
    local result = place:run(arguments)
    assert.equal(2, result.code, result.out)
    assert.matches(("'%s' begins the ids of "):format(text), result.err, 1, true)
  end

  it("names a message in inspect", function()
    -- The end of an id counts, what is before it is the time.
    local id, text
    program.wait_for("a message of a later millisecond", function()
      id = place:run("send --to abroad hello").out:match("msg_%S+")
      text = shortest(id, ids_of("messages"))
      return #text < #id
    end)
    local result = place:run("inspect message " .. text)
    assert.equal(0, result.code, result.err)
    assert.equal(place:run("inspect message " .. id).out, result.out)
    expect_many("inspect message msg_", "msg_")
  end)

  it("names an agent that has ended, if none that lives fits", function()
    local whole = place:run("inspect agent gone")
    assert.equal(0, whole.code, whole.err)
    program.wait_for("the end in the tables", function()
      return place:run("inspect agent gon").out == place:run("inspect agent gone").out
    end)
    local lines = place:run("inspect activity --agent gon --json").out
    assert.matches('"event":"stopped"', lines, 1, true)
  end)

  it("names a chain in filters", function()
    local chain = rows("dead-letters")[1].correlation_id
    local result = place:run("inspect messages --correlation " .. chain:sub(1, 12) .. " --json")
    assert.equal(0, result.code, result.err)
    assert.equal(place:run("inspect messages --correlation " .. chain .. " --json").out, result.out)
    local watching = place:start("watch --after 0 --json --correlation " .. chain:sub(1, 12))
    watching:expect(chain)
    watching:kill("TERM")
    watching:wait()
  end)

  it("names the agent of a token, which lives outside", function()
    assert.equal(0, place:run("token add bridge --scope write --as abr").code)
    assert.matches("as abroad", place:run("token list").out, 1, true)
  end)

  it("names the agents, tasks and chains of filters of dead letters", function()
    local chain = rows("dead-letters")[1].correlation_id
    for _, filter in ipairs({ "to=clerk", "agent=cl", "task=T0", "to=walker" }) do
      local result = place:run("drop --expected 99 --filter " .. filter)
      assert.equal(1, result.code)
      assert.matches("1", result.err, 1, true)
    end
    expect_many("drop --filter task=T", "T")
    for _, filter in ipairs({ "from=ro", "correlation=" .. chain:sub(1, 12) }) do
      local result = place:run("drop --expected 99 --filter " .. filter)
      assert.matches("2", result.err, 1, true)
    end
    assert.equal(2, #rows("dead-letters"))
  end)

  it("names letters to redeliver and to drop", function()
    local list = ids_of("dead-letters")
    expect_many("redeliver msg_", "msg_")
    assert.equal(list[1] .. ": dropped\n", place:run("drop " .. shortest(list[1], list)).out)
    local result = place:run("redeliver msg_")
    assert.equal(0, result.code, result.err)
    assert.matches(list[2], result.out, 1, true)
  end)

  it("names an item to decide", function()
    local list = ids_of("inbox")
    expect_many("decide item_ approve", "item_")
    local result = place:run("decide " .. shortest(list[1], list) .. " approve")
    assert.equal(0, result.code, result.err)
    program.wait_for("the decision", function() return #rows("inbox") == 1 end)
    assert.equal(list[2], rows("inbox")[1].id)
  end)
end)
