-- Agents that do one thing after another at random, of everything agents can do: nothing is
-- expected of them but the laws of the checkers.

local society = require("society")

society.config { name = "mixed" }

local BRIEF = {
  objective = "o", constraints = { "c" }, inputs = "i", outputs = "o", completion_criteria = "c",
}

local DEPTH = 3 -- so many agents pass it on one after the other

-- All of these may fail.
local DEEDS = {
  function(agent) agent:broadcast { payload = { depth = DEPTH } } end,
  function(agent) agent:checkpoint { payload = { depth = DEPTH }, timeout_ms = 500 } end,
  function(agent) agent:spawn_agent("worker", BRIEF) end,
  function(agent, peer, mail)
    local reply, err = agent:request { to = peer, payload = mail, timeout_ms = 2000 }
    agent.state.heard = reply and reply.id or err.error
  end,
  function(agent) agent:sleep(agent:random(1, 3000)) end,
  function(agent, peer, mail)
    agent:send_message { to = peer, payload = mail, delay_ms = agent:random(1, 5000) }
  end,
  function(agent, peer, mail)
    agent:send_message { to = peer, payload = mail, ttl_seconds = 1, priority = "high" }
  end,
  function(agent, peer)
    agent:request_introduction { to = peer, reason = "r", required_capability = "work",
      timeout_ms = 800 }
  end,
  function(agent, peer, mail) agent:send_message { to = { peer, "root" }, payload = mail } end,
  function(agent, peer) agent:terminate(peer, { force = agent:random(2) == 1 }) end,
  function(agent) agent:escalate { title = "q", timeout_ms = 700 } end,
  function(agent, peer)
    local message = agent:receive { from = peer, timeout_ms = 400 }
    agent.state.taken = message and message.id
  end,
  function() error("unlucky") end,
  function(agent, peer)
    agent:send_message { to = peer, type = "task_assignment", payload = { objective = "o" } }
  end,
  function(agent, peer, mail)
    agent:send_message { to = peer, payload = mail, dedupe_key = "k" .. agent:random(3) }
  end,
  function(agent, peer) agent:remove_contact(peer) end,
  function(agent) agent:add_contact { id = "root", role = "root" } end,
  function(agent) print(agent.id, agent.state.count, os.time()) end,
  function(agent) agent:stop() end,
}

local function act(agent, message)
  local depth = message.payload.depth or DEPTH
  local contacts = agent:contacts()
  agent.state.count = (agent.state.count or 0) + 1
  if depth < DEPTH and #contacts > 0 then
    local peer = contacts[agent:random(1, #contacts)].id
    DEEDS[agent:random(1, #DEEDS)](agent, peer, { depth = depth + 1 })
  end
  return { depth = DEPTH, count = agent.state.count }
end

society.role {
  id = "worker", name = "worker", prompt = "works",
  interface_spec = { services = "work", input_format = "i", output_format = "o", examples = {} },
  behaviour = {
    default = act,
    task_assignment = function(agent, message)
      agent:sleep(agent:random(50))
      if agent:random(2) == 1 then
        agent:complete(message, { ok = true })
      else
        agent:fail(message, "no", { retryable = agent:random(2) == 1 })
      end
    end,
    introduction_request = function(agent, message)
      local contacts = agent:contacts()
      if #contacts > 0 and agent:random(2) == 1 then
        agent:introduce(message, { target = contacts[agent:random(1, #contacts)].id })
      else
        agent:decline(message, "no")
      end
    end,
  },
}

local function ignore() end

society.root {
  alert = ignore, delivery_failed = ignore, status_report = ignore, task_completion = ignore,
  default = function(root, message)
    if message.from == "user" then
      for i = 1, 4 do
        root:spawn_agent("worker", BRIEF, { id = "w" .. i }) -- refused except the first time
        root:send_message { to = "w" .. i, payload = { depth = 0 } }
      end
    end
    return act(root, message)
  end,
}

society.main(function(user)
  for _ = 1, 4 do
    user:request { to = "root", payload = { depth = 1 }, timeout_ms = 4000 }
    user:sleep(user:random(2000))
  end
end)
