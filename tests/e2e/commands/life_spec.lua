-- Covers: core/main/program_system.c
-- One agent, one message and one conversation, and the width of tables.

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "greet", constraints = {}, inputs = "-", outputs = "-",
  completion_criteria = "-" }
society.role { id = "greeter", behaviour = function(agent, message)
  agent.state.count = 1
  return { text = "hello, " .. message.payload.text }
end }
society.root(function(root, message)
  root:remember { role = "user", content = "who\nis there?" }
  root:remember { role = "assistant", content = "I call", tool_calls = {
    { id = "c1", name = "send_message", arguments = '{"to":"x"}' } } }
  local child = assert(root:spawn_agent("greeter", BRIEF, { id = "greeter_1" }))
  local answer = assert(root:request { to = child.id, payload = { text = message.payload.text } })
  return answer.payload
end)
]]

describe("society inspect of one thing", function()
  local place, running

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    running = place:start_ready("run app.lua --quiet")
    assert.matches("^hello, x+\n$", place:run("send --to root --wait " .. ("x"):rep(300)).out)
  end)

  teardown(function()
    if running then
      running:kill("KILL")
      running:wait()
    end
    place:remove()
  end)

  local function message_to(id)
    for _, row in ipairs(program.rows(place:run("inspect messages --json"))) do
      if row.to == id then
        return row.id
      end
    end
  end

  local function looks()
    local agent = place:run("inspect agent gree")
    assert.same({ 0, "" }, { agent.code, agent.err })
    assert.matches("^id +greeter_1\nrole +greeter\nparent +root\n", agent.out)
    assert.matches('\nstate +{"count":1}\n', agent.out)
    local id = message_to("greeter_1")
    local message = place:run("inspect message " .. id)
    assert.same({ 0, "" }, { message.code, message.err })
    assert.matches("\nid +" .. id .. "\n", message.out)
    assert.matches("\nreply +msg_%S+ from greeter_1: {\"text\":\"hello, x+\"}\n", message.out)
    assert.matches("\n\nTIME +EVENT +AGENT +OTHER +DETAIL\n%S+ +sent +root +greeter_1", message.out)
    assert.matches("\n%S+ +processed +greeter_1 +root", message.out)
    assert.equal(id, program.rows(place:run("inspect message --json " .. id))[1].id)
    local talk = place:run("inspect conversation --agent root")
    assert.same({ 0, "user: who\n  is there?\nassistant: I call\n"
      .. 'assistant calls send_message {"to":"x"}\n' }, { talk.code, talk.out })
  end

  it("shows the conversation of an agent that has ended, running and stopped", function()
    local other = program.place()
    other:write("app.lua", [[
      local society = require("society")
      local BRIEF = { objective = "-", constraints = {}, inputs = "-", outputs = "-",
        completion_criteria = "-" }
      society.role { id = "speaker", behaviour = function(agent)
        agent:remember { role = "user", content = "are you there?" }
        agent:remember { role = "assistant", content = "not for long" }
        return "said"
      end }
      society.root(function(root)
        for _, id in ipairs({ "talker", "other" }) do
          root:spawn_agent("speaker", BRIEF, { id = id })
          root:request { to = id, payload = "x" }
        end
        root:terminate("talker")
        return "ready"
      end)
    ]])
    local server = other:start_ready("run app.lua --quiet")
    assert.equal("ready\n", other:run("send --to root --wait go").out)
    program.wait_for("the end of the agent", function()
      return not other:run("inspect agents --json").out:find('"id":"talker"', 1, true)
    end)
    for _, signal in ipairs({ "KILL", false }) do
      local talk = other:run("inspect conversation --agent talker")
      assert.same({ 0, "user: are you there?\nassistant: not for long\n", "" },
        { talk.code, talk.out, talk.err })
      local row = program.rows(other:run("inspect conversation --agent talker --json"))[1]
      assert.same({ 2, 1, 2 }, { row.count, row.first, #row.entries })
      local nobody = other:run("inspect conversation --agent nobody")
      assert.same({ 1, "" }, { nobody.code, nobody.out })
      assert.matches("agent_not_found", nobody.err, 1, true)
      if signal then
        server:kill(signal)
        server:wait()
      end
    end
    other:remove()
  end)

  it("is as wide as the terminal, unless --wide is given", function()
    local function widest(arguments)
      local command = ("stty cols 120; %s %s"):format(place.program, arguments)
      local shown = place:shell(("script -qefc %s /dev/null"):format(program.quote(command))).out
      local most = 0
      for line in shown:gmatch("[^\r\n]+") do
        most = math.max(most, utf8.len(line))
      end
      return most
    end
    assert.is_true(widest("inspect messages") <= 120)
    assert.is_true(widest("inspect messages --wide") > 300)
  end)

  it("says what is missing or ambiguous", function()
    for arguments, sentence in pairs({
      ["agent"] = "inspect: agent needs an ID",
      ["conversation"] = "inspect: conversation needs --agent ID",
      ["agents root"] = "inspect: agents takes no ID; to filter: --agent ID",
      ["agent root --type x"] = "inspect: agent cannot be filtered by --type",
      ["message msg_"] = "begins the ids of",
    }) do
      local result = place:run("inspect " .. arguments)
      assert.equal(2, result.code, arguments)
      assert.matches(sentence, result.err, 1, true)
    end
    local result = place:run("inspect agent nobody")
    assert.equal(1, result.code)
    assert.matches("society: agent_not_found: ", result.err, 1, true)
  end)

  it("shows the same running and stopped", function()
    looks()
    running:kill("TERM")
    running:wait()
    running = nil
    looks()
  end)
end)

describe("a message that cannot be handled", function()
  local place, running

  before_each(function()
    place = program.place()
    place:write("app.lua", [[
      local society = require("society")
      society.root(function() error("no luck") end)
    ]])
    running = place:start_ready("run app.lua --quiet")
  end)

  local function stop()
    if running then
      running:kill("KILL")
      running:wait()
      running = nil
    end
  end

  after_each(function()
    stop()
    place:remove()
  end)

  local function look()
    local letter = program.rows(place:run("inspect dead-letters --json"))[1]
    assert.same({ 1, 4 }, { letter.attempt, letter.tries })
    assert.matches("\n%S+ +" .. letter.id .. " +user +root +general +4 ",
      place:run("inspect dead-letters").out)
    local tries = {}
    local message = program.rows(place:run("inspect message --json " .. letter.id))[1]
    for _, entry in ipairs(message.life) do
      if entry.event == "turn_failed" then
        local detail = json.decode(entry.detail)
        assert.matches("app.lua:2: no luck", detail.message, 1, true)
        tries[#tries + 1] = detail.tries
      end
    end
    assert.same({ 1, 2, 3, 4 }, tries)
  end

  it("shows each try with its error, and counts them, running and stopped", function()
    local answer = place:run("send --to root --wait go")
    assert.equal(1, answer.code)
    assert.matches("\n  reason: script_error: [^\n]*app.lua:2: no luck\n", answer.err)
    look()
    stop()
    look()
  end)
end)
