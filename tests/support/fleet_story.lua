--- fleet_story: what each of three hosts does in a fleet under faults.
--
-- Its root asks, tells, assigns, hires, meets, broadcasts and asks all at once, at agents of the
-- next host. Whatever is refused or late is an answer; it must only come.

local NEXT = { alpha = "beta", beta = "gamma", gamma = "alpha" }

local brief = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }

local function tell(root, host)
  local to = "root@" .. host
  for n = 1, 40 do -- while faults strike
    root:send_message { to = to, type = "note", payload = { n = n } }
    root:sleep(n % 4 * 200)
  end
  root:request { to = to, type = "echo", payload = "x", timeout_ms = 20000 }
  root:send_message { to = to, type = "note", payload = { n = 41 }, wait_ack = "processed",
    timeout_ms = 5000 }
end

-- What is refused there, and payloads that only look as if they named agents.
local function stray(root, host)
  root:send_message { to = "nobody@" .. host, payload = "x" }
  root:send_message { to = "nobody@" .. host, type = "task_assignment", task_id = "T2",
    payload = { n = 1 } }
  root:send_message { to = "root@" .. host, type = "letter",
    payload = { via = { "email" }, target_agent = { id = "root" } } }
  root:send_message { to = "root@" .. host, type = "task_assignment", task_id = "T3",
    payload = { n = 1, collaborators = { { agentId = "root", role = "r" } } } }
  root:sleep(500)
  root:cancel("T3")
end

local function hire(root, host)
  local child = root:spawn_agent("worker", brief, { host = host, timeout_ms = 15000 })
  if child then
    root:request { to = child.id, payload = "hello", timeout_ms = 10000 }
    root:send_message { to = child.id, type = "task_assignment", payload = { n = 1 },
      task_id = "T1" }
    root:pause(child.id)
    root:resume(child.id)
    root:sleep(500)
    root:terminate(child.id)
  end
  root:spawn_agent("worker", brief, { host = host, message = { n = 2 }, wait = true,
    timeout_ms = 15000 })
end

--- The app of the host with that name.
return function(own)
  return function(s)
    s.role { id = "worker", name = "Worker", behaviour = {
      task_assignment = function(agent, message)
        agent:complete(message, { n = message.payload.n })
      end,
      default = function(agent, message)
        agent.state.count = (agent.state.count or 0) + 1
        return { text = message.payload.text }
      end,
      system = function() end,
    } }

    -- Ends many short turns while faults strike: one that raises is taken back.
    s.role { id = "ticker", name = "Ticker", behaviour = { default = function(agent, message)
      agent.state.ticks = (agent.state.ticks or 0) + 1
      agent:sleep(100)
      if message.payload.n < 40 then
        agent:send_message { to = agent.id, payload = { n = message.payload.n + 1 } }
      end
    end } }

    s.root {
      begin = function(root, message)
        root:spawn_agent("ticker", brief, { id = "ticker" })
        root:send_message { to = "ticker", payload = { n = 1 } }
        local host = NEXT[message.payload.host]
        tell(root, host)
        stray(root, host)
        hire(root, host)
        root:request_introduction { to = "root@" .. host, reason = "r",
          required_capability = "Worker", timeout_ms = 8000 }
        root:send_message { to = "All@*", type = "broadcast", payload = "all" }
        root:checkpoint { agents = { "root@" .. host }, timeout_ms = 8000 }
        root.state.is_done = true
        return { text = "done" }
      end,
      note = function(root, message)
        root.state.notes = root.state.notes or {}
        table.insert(root.state.notes, message.payload.n)
      end,
      echo = function(_, message) return message.payload end,
      checkpoint_request = function() return { ok = true } end,
      default = function() end,
      system = function() end,
    }

    s.main(function(user)
      assert(user:request { to = "root", type = "begin", timeout_ms = 86400000,
        payload = { host = own } })
    end)
  end
end
