-- Isolated agents in the built program: the same agent in a process of its own.
-- Covers: core/script/turns/isolated.c, core/script/turns/seat.c, core/script/turns/handout.c
-- Covers: core/script/turns/question.c
-- Covers: core/worker/guest.c, core/worker/guest_world.c, core/lualib/lua_stages.c

local program = require("program")
local json = require("society.json")

local HEAD = [[
local society = require("society")
local json = require("society.json")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
]]

describe("an isolated agent", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  local function write(text)
    place:write("app.lua", HEAD .. text)
  end

  local function run(options)
    return place:run("run app.lua " .. (options or ""))
  end

  -- What `main` printed, as JSON.
  local function answer_of(result)
    assert.equal(0, result.code, result.err:sub(-2000))
    return assert(json.decode(result.out:match("(%b{})\n$") or result.out))
  end

  local MAIN = [[
    society.main(function(user)
      local reply, err = user:request({ to = "root", payload = "go" })
      print(json.encode(reply and reply.payload or err))
    end)
  ]]

  -- One behaviour for both: what it does says whether it can tell where it runs.
  local BEHAVIOUR = [[
    local shared = 0
    local function behaviour(agent, message)
      shared = shared + 1
      agent.state.count = (agent.state.count or 0) + 1
      local seen = { id = agent.id, role = agent.role, parent = agent.parent,
        brief = agent.brief.objective, status = agent.status, text = message.text,
        payload = message.payload, from = message.from, count = agent.state.count,
        agents = #society.agents(), knows = agent:knows("root"), stranger = agent:knows("nobody"),
        contact = agent:contact("root").role, name = tostring(agent), shared = shared }
      local keys = {}
      for key in pairs(message) do keys[#keys + 1] = key end
      seen.keys = keys
      local _, unknown = agent:send_message({ to = "nobody", payload = "x" })
      seen.unknown = unknown.error
      seen.misuse = select(2, pcall(agent.send_message, agent, 5))
      seen.wrong = select(2, pcall(function() agent.id = "x" end))
      seen.none = agent.nothing == nil
      local sent = agent:send_message({ to = agent.parent, type = "status_report",
        payload = { text = "half", list = json.array({}), null = json.null } })
      seen.sent = #sent.messageId
      seen.random = math.random(3) <= 3 and agent:random() < 1 and os.time() > 0
      agent:sleep(1)
      agent:send_message({ to = agent.id, type = "status_report", payload = "to myself" })
      seen.received = agent:receive({ type = "status_report" }).text
      seen.late = select(2, agent:request({ to = "silent", payload = "?", timeout_ms = 1 })).error
      print("seen by", message.payload.text)
      return { seen = seen }
    end
  ]]

  it("cannot tell where it runs", function()
    write(BEHAVIOUR .. [[
      society.role({ id = "inside", name = "r", behaviour = behaviour })
      society.role({ id = "apart", name = "r", isolated = true,
        behaviour = { default = behaviour } })
      society.role({ id = "silent", name = "s", behaviour = function(a) a:sleep(100) end })
      society.policy("contacts", "open")
      society.role({ id = "staged", name = "r", isolated = true, behaviour = {
        sense = function(_, message) return message.payload.text end,
        act = function(agent, text) return { text = agent.id .. " " .. text } end } })
      local function clean(value, id)
        if type(value) ~= "table" then
          return type(value) == "string" and value:gsub(id, "ID") or value
        end
        local copy = {}
        for k, v in pairs(value) do copy[k] = clean(v, id) end
        return copy
      end
      society.root({ status_report = function() end, default = function(root, message)
        if message.from ~= "user" then return end
        local seen = {}
        assert(root:spawn_agent("staged", BRIEF, { id = "staged" }))
        assert(root:spawn_agent("silent", BRIEF, { id = "silent" }))
        for i, role in ipairs({ "inside", "apart" }) do
          assert(root:spawn_agent(role, BRIEF, { id = "the_" .. role }))
        end
        for i, role in ipairs({ "inside", "apart" }) do
          for _ = 1, 2 do
            local reply = assert(root:request({ to = "the_" .. role, payload = "go" }))
            seen[i] = json.encode(clean(reply.payload.seen, role))
          end
        end
        local staged = assert(root:request({ to = "staged", payload = "go" })).payload.text
        return { inside = seen[1], apart = seen[2], staged = staged }
      end })
    ]] .. MAIN)
    local answer = answer_of(run())
    assert.same(json.decode(answer.inside), json.decode(answer.apart))
    assert.equal("staged go", answer.staged)
  end)

  -- A list as its state was lost once. The most values that can be handed over are 20,000, with
  -- those around them: here a list, a verb, a list, an object, two names, a receiver, a list.
  it("keeps a list as its state, and is told when it hands over too many values", function()
    write([[
      society.role({ id = "apart", name = "r", isolated = true, behaviour = function(agent, m)
        local had = agent.state[1]
        agent.state = { 7, 8 }
        local values = {}
        for i = 1, m.payload.count do values[i] = {} end
        local is_sent, err = pcall(agent.send_message, agent,
          { to = "root", type = "status_report", payload = values })
        return { had = had, is_sent = is_sent, err = err }
      end })
      society.root({ status_report = function() end, default = function(root, message)
        if message.from ~= "user" then return end
        assert(root:spawn_agent("apart", BRIEF, { id = "apart" }))
        local first = assert(root:request({ to = "apart", payload = { count = 19980 } })).payload
        local second = assert(root:request({ to = "apart", payload = { count = 20000 } })).payload
        return { first = first, second = second }
      end })
    ]] .. MAIN)
    local answer = answer_of(run())
    assert.is_nil(answer.first.had)
    assert.is_true(answer.first.is_sent)
    assert.equal(7, answer.second.had)
    assert.is_false(answer.second.is_sent)
    assert.matches("can hand over 20000 values at once", answer.second.err, 1, true)
  end)

  it("has modules of its own, which the host never runs", function()
    place:write("guest.lua", [[
      local helper = require("lib.helper")
      string.format = nil
      require("society").agents = nil
      print("loading")
      return function(agent, message)
        helper.count = helper.count + 1
        return { count = helper.count, format = string.format == nil,
          own = require("lib.helper") == helper, outline = require("society.outline") ~= nil,
          missing = select(2, pcall(require, "lib.nothing")),
          out = select(2, pcall(require, "..app")), load = load("return 1 + 1")() }
      end
    ]])
    place:shell("mkdir lib")
    place:write("lib/helper.lua", "return { count = 0 }")
    write([[
      society.role({ id = "guest", name = "g", isolated = true, behaviour = "guest" })
      society.root(function(root)
        local counts = {}
        for _ = 1, 2 do
          local id = assert(root:spawn_agent("guest", BRIEF)).id
          for _ = 1, 2 do
            local answer, err = root:request({ to = id, payload = "go" })
            counts[#counts + 1] = answer and answer.payload or err
          end
        end
        return { counts = counts, format = string.format("%d", 1),
          agents = society.agents ~= nil }
      end)
    ]] .. MAIN)
    local result = run()
    local answer = answer_of(result)
    for i, count in ipairs({ 1, 2, 1, 2 }) do
      local got = answer.counts[i]
      assert.equal(count, got.count)
      assert.is_true(got.format and got.own and got.outline)
      assert.equal(2, got.load)
      assert.matches("no module 'lib.nothing'", got.missing, 1, true)
      assert.matches("is not a module name", got.out, 1, true)
    end
    assert.equal("1", answer.format)
    assert.is_true(answer.agents)
    assert.is_nil(result.err:find("loading", 1, true))
  end)

  it("keeps what a turn did all or nothing, also if it is slow between its effects", function()
    write([[
      local function burn() local x = 0 for i = 1, 400000 do x = x + i % 7 end return x end
      society.role({ id = "slow", name = "s", isolated = true, behaviour = function(agent, m)
        local ids, times = {}, { agent:now() }
        for i = 1, 4 do
          burn()
          ids[i] = agent:send_message({ to = "root", type = "status_report",
            payload = { text = m.payload.text, n = i } }).messageId
        end
        local child = assert(agent:spawn_agent("child", agent.brief)).id
        burn()
        agent:send_message({ to = child, payload = { text = ids[1] } })
        burn()
        if m.payload.text == "fails" then error("on purpose") end
        if m.payload.text == "loops" then while true do end end
        return { ids = ids, child = child, now = times[1] }
      end })
      society.role({ id = "child", name = "c", behaviour = function() end })
      society.role({ id = "busy", name = "b", behaviour = function(agent)
        agent:send_message({ to = agent.id, payload = "again", delay_ms = 1 })
        agent:send_message({ to = "root", type = "status_report", payload = "noise" })
      end })
      society.root({ status_report = function() end, default = function(root)
        local busy = assert(root:spawn_agent("busy", BRIEF)).id
        root:send_message({ to = busy, payload = "go" })
        local slow = {}
        for i = 1, 3 do
          slow[i] = assert(root:spawn_agent("slow", BRIEF, { id = "slow" .. i })).id
        end
        local answers = {}
        for i, what in ipairs({ "works", "fails", "loops" }) do
          local reply, err = root:request({ to = slow[i], payload = what })
          answers[what] = reply and reply.payload or err
        end
        root:terminate(busy, { force = true })
        return answers
      end })
    ]] .. MAIN)
    local result = run()
    local answer = answer_of(result)
    local sent, children = {}, {}
    for i = 1, 3 do
      local rows = ("inspect messages --agent slow%d --limit 1000 --json"):format(i)
      for _, message in ipairs(program.rows(place:run(rows))) do
        if message.type == "status_report" then
          sent[#sent + 1] = message
        elseif message.to == answer.works.child then
          children[#children + 1] = message.payload.text
        end
      end
    end
    assert.equal(4, #sent)
    for _, message in ipairs(sent) do
      assert.equal("works", message.payload.text)
      assert.equal(answer.works.ids[message.payload.n], message.id)
    end
    assert.same({ answer.works.ids[1] }, children)
    assert.equal("receiver_failed", answer.fails.error)
    assert.equal("receiver_failed", answer.loops.error)
    local dead = program.rows(place:run("inspect dead-letters --json"))
    local errors = {}
    for _, letter in ipairs(dead) do
      errors[letter.payload.text] = letter.error
    end
    assert.equal("budget_exceeded", errors.loops.error)
    assert.equal("cpu_ms", errors.loops.which)
    assert.equal("script_error", errors.fails.error)
    assert.matches("app.lua:%d+: on purpose", errors.fails.message)
  end)

  it("makes whatever it spawns isolated, and so are the roles that it declares", function()
    place:write("guest.lua", [[
      return function(agent, message)
        if message.payload.text == "where" then return { seen = HOST or "apart" } end
        local child = assert(agent:spawn_agent("plain", agent.brief)).id
        local answer = assert(agent:request({ to = child, payload = "where" })).payload
        assert(agent:create_role({ id = "made", name = "m", behaviour = "guest" }))
        local made = assert(agent:spawn_agent("made", agent.brief)).id
        return { plain = answer.seen,
          made = assert(agent:request({ to = made, payload = "where" })).payload.seen }
      end
    ]])
    write([[
      society.role({ id = "guest", name = "g", behaviour = "guest" })
      society.role({ id = "plain", name = "p", behaviour = function()
        return { seen = HOST or "apart" }
      end })
      society.root(function(root)
        HOST = "host"
        local plain = assert(root:spawn_agent("plain", BRIEF)).id
        local guest = assert(root:spawn_agent("guest", BRIEF, { isolated = true })).id
        local answer = assert(root:request({ to = guest, payload = "go" })).payload
        local made = assert(root:spawn_agent("made", BRIEF)).id
        answer.of_root = assert(root:request({ to = made, payload = "where" })).payload.seen
        answer.here = assert(root:request({ to = plain, payload = "where" })).payload.seen
        return answer
      end)
    ]] .. MAIN)
    assert.same({ plain = "apart", made = "apart", of_root = "apart", here = "host" },
      answer_of(run()))
  end)
end)
