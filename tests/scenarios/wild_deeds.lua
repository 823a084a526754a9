-- What the agents of wild.lua do at random, one deed after another: a list of functions
-- that take the agent, one it knows, and what to write to others so that they continue in
-- turn.

local society = require("society")
local json = require("society.json")

local DEPTH = 3 -- with which nobody continues
local PRIORITIES = { "urgent", "high", "normal", "low" }
local BRIEF = {
  objective = "o", constraints = { "c" }, inputs = "i", outputs = "o", completion_criteria = "c",
}

-- True once in `count` times.
local function once_in(agent, count)
  return agent:random(count) == 1
end

local function either(agent, list)
  return list[agent:random(#list)]
end

local function soon(agent, most_ms)
  return agent:random(0, most_ms or 3000)
end

-- Few, so that tasks of the same name meet.
local function task(agent)
  return "T" .. agent:random(12)
end

local function someone(agent)
  local contacts = agent:contacts()
  return #contacts > 0 and either(agent, contacts).id or "root"
end

-- BRIEF with more in it: an assignment, or the brief of an agent that has collaborators.
local function brief_with(name, value)
  local brief = { [name] = value }
  for key, each in pairs(BRIEF) do
    brief[key] = each
  end
  return brief
end

local function assign(agent, peer, mail)
  local kind = either(agent, { "task", "task_assign", "task_assignment" })
  local id = not once_in(agent, 3) and task(agent) or nil
  local payload = kind == "task_assignment" and brief_with("depth", mail.depth) or {
    task_id = id or "X" .. agent:random(4), requirement = "r", description = "d",
    depth = mail.depth,
  }
  agent:send_message {
    to = peer, type = kind, task_id = id, payload = payload,
    priority = either(agent, PRIORITIES),
    deadline = once_in(agent, 2) and agent:now() + soon(agent) or nil,
    delay_ms = once_in(agent, 4) and soon(agent) or nil,
    ttl_seconds = once_in(agent, 5) and agent:random(3) or nil,
  }
end

local function ask(agent, peer, mail)
  local reply, err = agent:request {
    to = peer, payload = mail, priority = either(agent, PRIORITIES),
    timeout_ms = once_in(agent, 2) and soon(agent) or 10000,
    delay_ms = once_in(agent, 6) and 500 or nil, ttl_seconds = once_in(agent, 6) and 1 or nil,
  }
  agent.state.heard = reply and reply.id or err.error
end

local function resume(agent, peer)
  agent:resume(peer, { subtree = once_in(agent, 2) })
end

local function resolve(agent, peer)
  agent:resolve(peer, either(agent, { "restart", "skip", "abort" }))
end

local function ask_for_contact(agent, peer)
  agent:request_introduction {
    to = peer, reason = "r", required_capability = either(agent, { "work", "nothing" }),
    timeout_ms = soon(agent, 5000),
  }
end

-- Lists are shortened and have holes: what is kept of them must be the same after a
-- restart.
local function write_state(agent)
  local list = {}
  for i = 1, agent:random(20) do
    list[i] = i * 1.5
  end
  agent.state.list = list
  agent.state.text = ("x"):rep(agent:random(0, 20000))
  for i = 2, #list, 2 do
    list[i] = nil
  end
  print(#list)
end

local function look(agent)
  print(agent.id, agent:now(), agent:load().load, #society.agents(), #society.waits())
  agent.state.seen = #society.messages { agent = agent.id, limit = 5 } +
    #society.activity { agent = agent.id, limit = 5 } + #society.tasks { agent = agent.id } +
    #society.dead_letters()
end

-- All of these may fail. What is listed twice is done more often.
local DEEDS = {
  -- Tasks, mostly of others.
  assign, assign,
  function(agent) agent:cancel(task(agent), "because") end,
  function(agent) agent:complete(task(agent), { ok = true }) end,
  function(agent) agent:fail(task(agent), "no", { retryable = once_in(agent, 2) }) end,
  function(agent, peer)
    agent:send_message { to = peer, type = "abort", payload = { task_id = task(agent) } }
  end,
  function(agent, peer)
    agent:send_message { to = peer, type = "task",
      payload = { action = "cancel", task_id = task(agent) } }
  end,
  function(agent, peer)
    agent:send_message { to = peer, type = "result", payload = { task_id = task(agent),
      status = either(agent, { "done", "failed" }), error = "e", retryable = once_in(agent, 2) } }
  end,

  -- Spawns and terminations.
  function(agent, _, mail)
    agent:spawn_agent("worker", BRIEF, { message = mail, wait = true,
      timeout_ms = once_in(agent, 2) and soon(agent) or 20000 })
  end,
  function(agent, _, mail) agent:spawn_agent("worker", BRIEF, { message = mail }) end,
  function(agent)
    agent:spawn_agent("thinker", BRIEF, { message = "think", wait = true, timeout_ms = 3000 })
  end,
  function(agent)
    agent:spawn_agent("far", BRIEF, { message = { depth = DEPTH }, wait = true,
      timeout_ms = 30000 })
  end,
  function(agent, peer, mail)
    agent:spawn_agent("worker", brief_with("collaborators", {
      { agentId = peer, role = "r", description = "d" },
    }), { message = mail })
  end,
  function(agent)
    agent:create_role { id = "made" .. agent:random(2), name = "made", prompt = "p",
      behaviour = "worker" }
    agent:spawn_agent("made" .. agent:random(2), BRIEF)
  end,
  function(agent, peer) agent:terminate(peer, { force = once_in(agent, 2) }) end,
  function(agent) agent:stop() end,

  -- Messages, and waiting for them.
  ask, ask,
  function(agent, peer, mail)
    local sent = agent:send_message { to = peer, payload = mail, delay_ms = soon(agent),
      dedupe_key = "k" .. agent:random(3) }
    agent.state.duplicate = sent and sent.duplicate
  end,
  function(agent, peer, mail)
    local sent, err = agent:send_message { to = peer, payload = mail,
      wait_ack = either(agent, { "received", "processed" }), timeout_ms = soon(agent, 10000),
      delay_ms = once_in(agent, 3) and soon(agent) or nil,
      ttl_seconds = once_in(agent, 4) and 1 or nil }
    agent.state.acked = sent and sent.ack or err.error
  end,
  function(agent, peer, mail)
    agent:request { to = peer, payload = mail, dedupe_key = "q" .. agent:random(3),
      timeout_ms = 2000 }
  end,
  function(agent, peer, mail)
    agent:send_message { to = { peer, "root", "nobody", "user" }, payload = mail,
      ttl_seconds = agent:random(3), delay_ms = soon(agent), requires_ack = once_in(agent, 2) }
  end,
  function(agent, _, mail)
    agent:send_message { to = agent.id, payload = mail, delay_ms = soon(agent) }
  end,
  function(agent, peer)
    agent:send_message { to = peer, type = "heartbeat", payload = { at = "now" } }
  end,
  function(agent, peer)
    agent:receive { from = once_in(agent, 2) and peer or nil, timeout_ms = soon(agent),
      type = once_in(agent, 2) and "general" or nil }
  end,
  function(agent)
    for _ = 1, 3 do
      local message = agent:receive { timeout_ms = agent:random(400) }
      if message then
        agent:reply(message, { depth = DEPTH })
      end
    end
  end,
  function(agent, _, mail)
    agent:broadcast { payload = mail, priority = either(agent, PRIORITIES),
      ttl_seconds = once_in(agent, 4) and 1 or nil }
  end,
  function(agent, peer, mail)
    local barrier, err = agent:checkpoint { payload = mail, timeout_ms = soon(agent),
      agents = once_in(agent, 2) and { peer } or nil }
    agent.state.missing = barrier and #barrier.missing or err.error
  end,
  function(agent) agent:sleep(soon(agent)) end,

  -- Questions to people and models.
  function(agent)
    agent:escalate { title = "q", priority = either(agent, PRIORITIES),
      timeout_ms = once_in(agent, 2) and soon(agent) or 15000 }
  end,
  function(agent)
    agent:escalate { title = "q", wait = false, priority = either(agent, PRIORITIES),
      body = { a = 1 }, options = { "x", "y" } }
  end,
  function(agent)
    agent:chat { messages = { { role = "user", content = "hm" } }, timeout_ms = soon(agent) + 1 }
  end,
  function(agent)
    agent:remember { role = "user", content = "c" }
    agent.state.recalled = #agent:recall()
  end,

  -- Holds.
  resume, resume, resolve,
  function(agent, peer) agent:pause(peer, { subtree = once_in(agent, 2) }) end,
  function(agent)
    agent:pause("All")
    agent:sleep(soon(agent))
    agent:resume("All")
  end,

  -- Introductions, and unsolicited answers.
  ask_for_contact, ask_for_contact,
  function(agent, peer)
    agent:send_message { to = peer, type = "introduction_request",
      payload = { reason = "r", required_capability = "work" } }
  end,
  function(agent, peer)
    agent:send_message { to = peer, type = "introduction_response",
      payload = { target_agent = { id = someone(agent) }, usage_hint = "h" } }
  end,
  function(agent, peer) agent:remove_contact(peer) end,
  function(agent) agent:add_contact { id = "root" } end,

  -- State, errors, and what leaves no trace except in the log.
  write_state, look,
  function(agent) agent.state.list = { [1] = 1, [3] = 2 } end, -- is refused: a hole
  function(agent)
    agent.state.odd = { json.array {}, json.null, { a = { b = { 1, 2, { c = "ü" } } } } }
  end,
  function() error("unlucky") end,
  function(agent)
    if not once_in(agent, 3) then
      error({ odd = true })
    end
  end,
  function(agent, peer, mail)
    pcall(function()
      agent:request { to = peer, payload = mail, timeout_ms = 800 }
      error("caught")
    end)
    agent:progress()
  end,
  function(agent)
    for i = 1, either(agent, { 3, 250 }) do
      agent:log("info", "line " .. i)
    end
  end,
}

return {
  list = DEEDS, DEPTH = DEPTH, either = either, once_in = once_in, resolve = resolve,
  someone = someone, soon = soon,
}
