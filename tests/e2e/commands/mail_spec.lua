-- The mail of an agent outside, asked for and acknowledged by operations.
--
-- Covers: core/parts/outside/outside_operations.c

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role { id = "remote", prompt = "elsewhere", behaviour = "external" }
society.root(function(root, message)
  if message.payload.text == "hire" then
    root:spawn_agent("remote", BRIEF, { id = "ann" })
    root:send_message { to = "ann", payload = "one", requires_ack = false }
    root:send_message { to = "ann", payload = "two", requires_ack = true }
    print("hired")
  elseif message.payload.text == "more" then
    root:sleep(300)
    root:send_message { to = "ann", payload = "three" }
  end
end)
]]

describe("mail of an agent outside", function()
  local place, running

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    running = place:start_ready("run app.lua --log none")
  end)

  after_each(function()
    running:kill("KILL")
    running:wait()
    place:remove()
  end)

  local function call(op, params)
    return place:run(("call %s %s"):format(op, program.quote(json.encode(params))))
  end

  local function rows(op, params)
    local result = call(op, params)
    assert.same({ 0, "" }, { result.code, result.err }, op)
    local list = {}
    for line in result.out:gmatch("[^\n]+") do
      list[#list + 1] = assert(json.decode(line))
    end
    return list
  end

  local function texts(params)
    local list = {}
    for index, message in ipairs(rows("mail", params)) do
      list[index] = message.payload.text
    end
    return table.concat(list, " ")
  end

  it("stays until it is processed, also across kill -9, and can be waited for", function()
    rows("send", { to = "root", payload = "hire" })
    running:expect("hired")
    assert.equal("one two", texts({ agent = "ann" }))
    local mail = rows("mail", { agent = "ann" })
    assert.equal("two", texts({ agent = "ann", after = mail[1].id }))
    assert.equal("", texts({ agent = "ann", after = mail[2].id, wait_ms = 10 }))
    assert.equal("received",
      rows("ack", { agent = "ann", message_id = mail[1].id, status = "received" })[1].status)
    running:kill("KILL")
    running:wait()
    running = place:start_ready("run app.lua --log none")
    assert.equal("one two", texts({ agent = "ann" }))
    for index = 1, 2 do
      rows("ack", { agent = "ann", message_id = mail[index].id, status = "processed" })
    end
    assert.equal("", texts({ agent = "ann" }))
    assert.equal("processed", rows("message", { message_id = mail[2].id })[1].status)
    rows("send", { to = "root", payload = "more" })
    assert.equal("three", texts({ agent = "ann", after = mail[2].id, wait_ms = 20000 }))
  end)

  it("is only of agents that live outside", function()
    assert.matches("agent_not_found", call("mail", { agent = "root" }).err, 1, true)
    assert.matches("agent_not_found", call("mail", { agent = "nobody" }).err, 1, true)
    local nobody = call("ack", { message_id = "x", status = "processed" })
    assert.matches("invalid_argument", nobody.err, 1, true)
    rows("send", { to = "root", payload = "hire" })
    running:expect("hired")
    assert.matches("message_not_found",
      call("ack", { agent = "ann", message_id = "x", status = "processed" }).err, 1, true)
  end)
end)
