-- society call at: what a society was at a line of its log. At each of many quiet moments it
-- is what the live views say then, and later it still is.
--
-- Covers: core/kernel/operations/at.c, core/store/tables/past.c
-- Covers: core/store/tables/past_answer.c

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
local behaviour = {
  system = function() end,
  task = function(agent, message)
    if message.payload.what == "fail" then return agent:fail(message, "cannot") end
    if message.payload.what == "leave" then return end
    if message.payload.what == "choose" then
      agent:escalate { title = "three", options = { "red", "blue" }, timeout_ms = 3600000 }
    end
    return agent:complete(message, { done = true })
  end,
  default = function(agent, message)
    local payload = message.payload
    if payload.what == "raise" then error("on purpose") end
    if payload.what == "hire" then
      agent:spawn_agent("worker", BRIEF, { id = payload.id })
    elseif payload.what == "add" then
      agent:add_contact { id = payload.id, reason = "r" }
    elseif payload.what == "remove" then
      agent:remove_contact(payload.id)
    elseif payload.what == "ask" then
      agent:request { to = payload.id, payload = { what = "hold" }, timeout_ms = 3600000 }
    elseif payload.what == "hold" then
      agent:receive { from = "user", type = "general", timeout_ms = 3600000 }
    elseif payload.what == "escalate" then
      agent:escalate { title = payload.title, body = { n = 1 }, wait = payload.wait }
    elseif payload.what == "give" then
      agent:send_message { to = payload.id, type = "task", task_id = payload.task,
        priority = "high", payload = { what = payload.how } }
    elseif payload.what == "shout" then
      agent:broadcast { payload = { what = "nothing" } }
    elseif payload.what == "stop" then
      agent:stop()
    end
    return { text = "done" }
  end,
}
society.role { id = "worker", name = "Worker", prompt = "works", behaviour = behaviour }
society.root(behaviour)
]]

local function pick(row, names)
  local picked = {}
  for name in names:gmatch("%S+") do
    picked[name] = row[name]
  end
  return picked
end

-- Rows with those members only, in an order of their own.
local function picked(rows, names)
  local list = {}
  for _, row in ipairs(rows) do
    list[#list + 1] = pick(row, names)
  end
  table.sort(list, function(a, b)
    return json.encode(a) < json.encode(b)
  end)
  return list
end

local AGENT = "id role parent status external children contacts created_at brief pending"
local CONTACT = "owner id role source addedAt introducedBy via"
local WAIT = "agent kind waits_for since correlation_id deadline message_id type"
local TASK = "agent assigner correlation_id ended_at opened_at parent priority started_at state"
  .. " task_id type deadline tries"
local ITEM = "id agent title body priority created_at state decision decided_at comment options"
  .. " choice task_id correlation_id deadline"
local POLICY = "kind name hash"
local TOTALS = "sent pending processed expired dead dropped cancelled taken handed_over "
  .. "agents waiting"

describe("society call at", function()
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
    return place:run(("call %s %s"):format(op, params and program.quote(json.encode(params)) or ""))
  end

  local function rows(op, params)
    local result = call(op, params)
    assert.same({ 0, "" }, { result.code, result.err }, op)
    return program.rows(result)
  end

  -- What the live views say.
  local function live()
    local items = rows("inbox")
    for _, state in ipairs({ "decided", "withdrawn" }) do
      for _, item in ipairs(rows("inbox", { state = state })) do
        assert.equal(state, item.state)
        items[#items + 1] = item
      end
    end
    local contacts = rows("contacts")
    for _, contact in ipairs(contacts) do
      contact.role = contact.role or "Worker" -- of one that has ended the tables have none
    end
    local stats = rows("stats")[1]
    local waits = rows("waits")
    stats.waiting = #waits
    local agents = rows("agents")
    local pending = {}
    for _, message in ipairs(rows("messages")) do
      if message.status == "pending" then
        pending[message.to] = (pending[message.to] or 0) + 1
      end
    end
    for _, agent in ipairs(agents) do
      agent.pending = agent.status == "paused" and agent.queue_length -- with broadcasts
        or pending[agent.id] or 0
    end
    return {
      agents = picked(agents, AGENT), contacts = picked(contacts, CONTACT),
      waits = picked(waits, WAIT), tasks = picked(rows("tasks"), TASK),
      inbox = picked(items, ITEM), policies = picked(rows("policies"), POLICY),
      totals = pick(stats, TOTALS),
    }
  end

  local function at(params)
    local row = rows("at", params)[1]
    return {
      agents = picked(row.agents, AGENT), contacts = picked(row.contacts, CONTACT),
      waits = picked(row.waits, WAIT), tasks = picked(row.tasks, TASK),
      inbox = picked(row.inbox, ITEM), policies = picked(row.policies, POLICY),
      totals = pick(row.totals, TOTALS),
    }, row
  end

  -- The live views when nothing happens any more.
  local function settled()
    local views
    program.wait_for("a quiet moment", function()
      local last = rows("activity", { limit = 1 })[1]
      views = live()
      for _, agent in ipairs(views.agents) do
        if agent.status == "working" then
          return false
        end
      end
      return last.line == rows("activity", { limit = 1 })[1].line
    end)
    return views
  end

  local function tell(to, what)
    return { "send", { to = to, payload = what } }
  end

  local STEPS = {
    tell("root", { what = "hire", id = "ann" }),
    tell("root", { what = "hire", id = "bob" }),
    tell("root", { what = "hire", id = "cat" }),
    tell("ann", { what = "hire", id = "child" }),
    tell("ann", { what = "add", id = "bob" }),
    tell("root", { what = "give", id = "bob", task = "t1", how = "leave" }),
    tell("root", { what = "give", id = "bob", task = "t2", how = "fail" }),
    tell("ann", { what = "ask", id = "bob" }),
    tell("root", { what = "give", id = "bob", task = "t3", how = "done" }),
    { "pause", { agent = "cat" } },
    tell("cat", { what = "nothing" }),
    tell("root", { what = "shout" }),
    { "swap", { kind = "contacts", name = "open" } },
    tell("bob", { what = "nothing" }),
    tell("child", { what = "escalate", title = "one", wait = false }),
    tell("ann", { what = "escalate", title = "two" }),
    { "kill" },
    function(s)
      for _, item in ipairs(s.rows("inbox")) do
        if item.title == "one" then
          return { "decide", { item_id = item.id, decision = "approve", comment = "fine" } }
        end
      end
    end,
    tell("bob", { what = "raise" }),
    function(s)
      return { "redeliver", { message_id = s.rows("dead_letters")[1].id } }
    end,
    { "resume", { agent = "bob" } },
    function(s)
      return { "drop", { message_id = s.rows("dead_letters")[1].id } }
    end,
    { "cancel", { task = "t1", reason = "late" } },
    tell("bob", { what = "remove", id = "ann" }),
    { "send", { to = "child", type = "task", task_id = "t4", payload = { what = "choose" } } },
    { "kill" },
    function(s)
      for _, item in ipairs(s.rows("inbox")) do
        if item.title == "three" then
          return { "decide", { item_id = item.id, choice = "red" } }
        end
      end
    end,
    { "terminate", { agent = "ann", force = true, reason = "over" } },
    tell("root", { what = "hire", id = "ann" }),
    { "resume", { agent = "cat" } },
    { "swap", { kind = "contacts", name = "strict" } },
  }

  it("is what the live views say at every quiet moment, and later still", function()
    local moments = {}
    for number, step in ipairs(STEPS) do
      local order = type(step) == "function" and step({ rows = rows }) or step
      if order[1] == "kill" then
        running:kill("KILL")
        running:wait()
        running = place:start_ready("run app.lua --log none")
      else
        rows(order[1], order[2])
      end
      local expected = settled()
      local found, row = at()
      for name, view in pairs(expected) do
        assert.same(view, found[name], ("%s after step %d (%s)"):format(name, number,
          json.encode(order)))
      end
      assert.equal(rows("activity", { limit = 1 })[1].line, row.line)
      moments[number] = { line = row.line, time = row.time, views = expected }
    end
    for number, moment in ipairs(moments) do
      local found, row = at({ line = moment.line })
      assert.equal(moment.line, row.line)
      assert.equal(moment.time, row.time)
      for name, view in pairs(moment.views) do
        assert.same(view, found[name], ("%s as of step %d"):format(name, number))
      end
    end
  end)

  it("finds the line of a time, and refuses what is none", function()
    rows("send", { to = "root", payload = { what = "hire", id = "ann" } })
    settled()
    local lines = rows("activity")
    local last = lines[#lines]
    assert.equal(last.line, rows("at", { time = last.time })[1].line)
    assert.equal(last.line, rows("at", { line = last.line + 1000 })[1].line)
    assert.equal(last.line, rows("at", { time = math.maxinteger })[1].line)
    assert.equal(0, rows("at", { time = "2001-01-01T00:00:00Z" })[1].line)
    assert.same({}, rows("at", { time = "2001-01-01T00:00:00Z" })[1].agents)
    for _, params in ipairs({ { line = 0 }, { line = -1 }, { time = "noon" },
      { line = 1, time = last.time } }) do
      assert.equal(1, call("at", params).code)
    end
  end)
end)
