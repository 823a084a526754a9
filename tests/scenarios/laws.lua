-- Jobs at the edges of what the checkers watch: a time to live to the millisecond, delays
-- beyond any restart, keys at the end of their window, decisions that come as messages,
-- waits that close a ring, replies by an agent that was not asked, turns that do much and
-- are rolled back, waits for an agent that ends, and lines of a door that refuses every
-- second one. The outcome of each job is fixed; main fails if one does not come to it. Words
-- after `--` are the only kinds of jobs:
--
--   society sim tests/scenarios/laws.lua --seeds 1..60 --faults raise -- much

local society = require("society")
local jobs = require("jobs")
local helpers = require("laws_helpers")

local JOBS = 16 -- every kind once, then some at random
local WINDOW_MS = 20000
local LINES = 8
local BRIEF, LONG_MS = helpers.BRIEF, helpers.LONG_MS
local ask, expect, spawn, tell = helpers.ask, helpers.expect, helpers.spawn, helpers.tell
local expect_ends, pair, time_of = helpers.expect_ends, helpers.pair, helpers.time_of
local decide = helpers.decide

society.config { name = "laws", dedupe_window_ms = WINDOW_MS }

society.role { id = "far", name = "far", prompt = "lives outside", behaviour = "external" }

local DO = {}

-- Messages that expire just before, when and just after their receiver wakes.
local function send_short(agent, to, wake_ms, kind)
  for late_ms = -1, 1 do
    local left_ms = wake_ms + late_ms - agent:now()
    if left_ms > 0 then
      tell(agent, to, {
        order = "note", tag = "x", status = "s", not_after = agent:now() + left_ms,
      }, { ttl_seconds = left_ms / 1000, type = kind })
    end
  end
end

function DO.ttl(agent, number)
  for i, order in ipairs { "sleep_until", "take_all" } do
    local helper = spawn(agent, "-helper" .. i)
    local wake_ms = agent:now() + 100 + number
    tell(agent, helper, { order = order, time_ms = wake_ms })
    tell(agent, helper, { order = "note", tag = "x", not_after = agent:now() + 500 },
      { ttl_seconds = 0.5, delay_ms = 500 }) -- never comes
    send_short(agent, helper, wake_ms, i == 2 and "status_report" or nil)
    agent:broadcast {
      payload = { not_after = agent:now() + 1000 * i }, ttl_seconds = i,
    }
    ask(agent, helper, { order = "state" }, { priority = "low" })
  end
end

-- The longest delay is longer than any step of the clock. A clock that is set back moves
-- dates away and delays not, so each keep their order among themselves.
function DO.delay(agent)
  local helper, dated = spawn(agent, "-helper"), spawn(agent, "-dated")
  local last_date_ms = 0
  for i, delay_ms in ipairs { 40, 900, 4000, 60000, 4000000 } do
    local due_ms, is_dated = agent:now() + delay_ms, i % 2 == 0
    tell(agent, is_dated and dated or helper, { order = "note", tag = "x", not_before = due_ms },
      is_dated and { deliver_at = due_ms } or { delay_ms = delay_ms })
    last_date_ms = is_dated and math.max(last_date_ms, due_ms) or last_date_ms
    agent:sleep(agent:random(500)) -- a restart in between may set the clock back
  end
  local last = { order = "note", tag = "!", not_before = agent:now() + 9000000 }
  expect("xxx!", ask(agent, helper, last, { delay_ms = 9000000 }).seen, "what came late")
  last.not_before = math.max(last_date_ms, agent:now()) + 60000
  expect("xx!", ask(agent, dated, last, { deliver_at = last.not_before }).seen,
    "what came on its date")
end

-- A turn that raises is tried again later, so what is expected of a moment is compared after
-- that moment was committed.
function DO.window(agent)
  local helper, other = spawn(agent, "-helper"), spawn(agent, "-other")
  local clock = spawn(agent, "-clock")
  local since_ms, count = -WINDOW_MS, 0
  for i = 1, 9 do
    local now_ms = time_of(agent, clock)
    local is_new = now_ms - since_ms >= WINDOW_MS
    local sent = tell(agent, helper, { order = "note", tag = "x" }, { dedupe_key = agent.id })
    local old_ms = now_ms - since_ms
    if is_new then
      since_ms, count = now_ms, count + 1
    end
    agent:sleep(i == 4 and WINDOW_MS - 1 or agent:random(1000, 8000))
    expect(not is_new, sent.duplicate == true, "a duplicate after " .. old_ms .. " ms")
  end
  -- The last millisecond of the window, unless something was slow.
  local first_ms = time_of(agent, clock)
  tell(agent, other, { order = "note", tag = "e" }, { dedupe_key = "edge" })
  agent:sleep(WINDOW_MS - 1)
  local is_over = time_of(agent, clock) - first_ms >= WINDOW_MS
  local again = tell(agent, other, { order = "note", tag = "e" }, { dedupe_key = "edge" })
  agent:sleep(1)
  expect(not is_over, again.duplicate == true, "a duplicate at the end of the window")
  for _ = 1, 2 do
    assert(agent:send_message {
      to = { helper, other }, payload = { order = "note", tag = "l" }, dedupe_key = "list",
    })
  end
  expect(("x"):rep(count) .. "l!", ask(agent, helper, { order = "note", tag = "!" },
    { priority = "low" }).seen, "what came under one key")
  expect((is_over and "eel!" or "el!"), ask(agent, other, { order = "note", tag = "!" },
    { priority = "low" }).seen, "what came under one key of a list")
end

function DO.decision(agent, number)
  local helper = spawn(agent, "-helper")
  tell(agent, helper, { order = "escalate", title = "number " .. number })
  local answer = assert(agent:escalate { title = "number " .. number + 1 })
  expect(number % 2 == 0 and "reject" or "approve", answer.decision, "the decision")
  local decisions
  repeat -- the person looks every minute
    agent:sleep(60000)
    decisions = ask(agent, helper, { order = "state" }).decisions
  until decisions
  expect(number % 2 == 0 and "approve" or "reject", decisions, "the decision that is a message")
end

local WAYS = { "ask", "receive", "checkpoint" }

-- Two agents wait for each other, each in its way: one of them is told so.
function DO.ring(agent, number)
  local first, second = pair(agent, { order = WAYS[number % 3 + 1] })
  local ended = ask(agent, second, { order = WAYS[number // 3 % 3 + 1], to = first }).ended
  expect(true, ended == "deadlock" or ended == "answered", "a wait in a ring: " .. ended)
end

-- A parent that waits for its child's task, and the child for its parent.
function DO.spawn_ring(agent)
  local ended = ask(agent, spawn(agent, "-helper"), { order = "spawn" }).ended
  expect(true, ended == "deadlock" or ended == "answered", "a spawn in a ring: " .. ended)
end

function DO.forged(agent)
  local other = spawn(agent, "-other")
  local asked = spawn(agent, "-asked", other)
  expect("own", ask(agent, asked, { order = "be_slow", to = other }).text, "the reply")
  expect(true, ask(agent, other, { order = "state" }).forged ~= nil, "a forged reply was tried")
end

-- A turn that may be rolled back at its end: it is the last one.
local function do_last(agent, helper)
  local late = agent.id .. "-late"
  assert(agent:create_role { id = late .. "-role", name = "l", prompt = "p", behaviour = "helper" })
  assert(agent:spawn_agent(late .. "-role", BRIEF, { id = late }))
  tell(agent, spawn(agent, "-friend", helper), { order = "forget", to = helper })
  assert(agent:pause(helper)) -- and it keeps what is left for it
  local sent = tell(agent, helper, { order = "note", tag = "d" }, { dedupe_key = late })
  expect(nil, sent.duplicate, "a duplicate of a message that was rolled back")
end

function DO.much(agent)
  local helper = spawn(agent, "-helper")
  assert(agent:create_role {
    id = agent.id .. "-role", name = "made", prompt = "p", behaviour = "helper",
  })
  local made = agent.id .. "-made"
  assert(agent:spawn_agent(agent.id .. "-role", BRIEF, { id = made }))
  agent:remove_contact("root")
  agent:add_contact { id = "root" }
  tell(agent, helper, { order = "note", tag = "a" }, { dedupe_key = agent.id })
  tell(agent, made, { order = "note", tag = "b" }, { delay_ms = 100 })
  agent:broadcast { payload = { text = "hello" } }
  assert(agent:pause(helper))
  agent.state.did = (agent.state.did or 0) + 1
  agent:sleep(200)
  assert(agent:resume(helper))
  local barrier = assert(agent:checkpoint { agents = { helper, made }, timeout_ms = LONG_MS })
  expect(0, #barrier.missing, "missing at the checkpoint")
  agent:remove_contact(made)
  agent:add_contact { id = made }
  local gone = spawn(agent, "-gone")
  tell(agent, gone, { order = "note", tag = "c" })
  agent:terminate(gone)
  agent:sleep(10)
  local last = { order = "note", tag = "!" }
  expect("a!", ask(agent, helper, last, { priority = "low" }).seen, "what the helper saw")
  expect("b!", ask(agent, made, last, { delay_ms = 200 }).seen, "what the other saw")
  do_last(agent, helper)
end

-- A task on its way keeps two agents from waiting in a ring, until it is cancelled.
function DO.late_ring(agent)
  local first, second = pair(agent, { order = "promise", task_id = agent.id })
  tell(agent, second, { order = "receive", to = first, any = true })
  repeat
    agent:sleep(60000)
  until agent:cancel(agent.id, "no")
  expect_ends(agent, first, second, { deadlock = true, answered = true })
end

-- The answer to a checkpoint is on its way, so whoever sent it may ask back.
function DO.late_answer(agent)
  local first, second = pair(agent, { order = "checkpoint", is_late = true })
  agent:sleep(600000)
  expect_ends(agent, first, second, { answered = true })
end

-- Agents that end while somebody waits for them.
function DO.stopped(agent)
  local asked, heard = spawn(agent, "-asked"), spawn(agent, "-heard")
  tell(agent, asked, { order = "stop" }, { delay_ms = 5000 }) -- before it has answered
  local _, err = agent:request { to = asked, payload = { text = "later" }, timeout_ms = LONG_MS }
  expect("receiver_failed", err and err.error, "a request to an agent that ends")
  tell(agent, heard, { order = "stop" })
  _, err = agent:receive { from = heard, type = "status_report", timeout_ms = LONG_MS }
  expect("agent_stopped", err and err.error, "a wait for an agent that ends")
  local gone = spawn(agent, "-gone")
  tell(agent, gone, { order = "note", tag = "x" }, { delay_ms = LONG_MS }) -- never comes
  agent:terminate(gone, { force = true })
end

-- An agent outside that is held gets nothing, and its mail expires.
function DO.expired(agent)
  local id = agent.id .. "-far"
  assert(agent:spawn_agent("far", BRIEF, { id = id }))
  assert(agent:pause(id))
  tell(agent, id, { text = "too late" }, { ttl_seconds = 5, requires_ack = true })
  local notice = assert(agent:receive { type = "delivery_failed", timeout_ms = LONG_MS })
  expect("expired", notice.payload.error, "a letter to an agent that is held")
  agent:terminate(id, { force = true })
end

function DO.lines(agent)
  local id = agent.id .. "-far"
  assert(agent:spawn_agent("far", BRIEF, { id = id }))
  tell(agent, id, { text = "write", lines = LINES }, { requires_ack = true })
  for _ = 1, LINES / 2 do
    expect("line", assert(agent:receive { from = id, timeout_ms = LONG_MS }).payload.text, "a line")
  end
  agent:sleep(600000) -- until what it read last is durable
  agent:terminate(id, { force = true })
end

local KINDS = { "ttl", "delay", "window", "decision", "ring", "spawn_ring", "forged", "much",
  "lines", "late_ring", "late_answer", "stopped", "expired" }
if ... then
  KINDS = { ... }
end

jobs.declare(DO, { broadcast = function() end })

society.root {
  broadcast = function() end,
  alert = function(root, message)
    if message.payload.alert_type == "unresponsive" then
      root:resolve(message.payload.agent, "restart")
    end
  end,
  general = function(root, message)
    if message.payload.text == "go" then
      jobs.give(root, KINDS, JOBS)
    end
    jobs.note(root, message)
  end,
}

society.main(function(user)
  local decided = {}
  -- Dates of delivery move away when the clock is set back.
  jobs.wait(user, JOBS, 60000, 2000, function()
    for _, item in ipairs(society.inbox()) do
      decide(user, item, decided)
    end
    jobs.expect_decided(user, decided)
  end)
end)
