-- A worker whose turns keep failing, and its supervisor. Root pauses its fetcher while the
-- source is being moved: messages queue, nothing is lost. Later the parser gets a page that
-- it cannot read: its turns raise, and that page becomes a dead letter after four attempts.
-- At the sixth failure in a minute the parser has failed and is held with its queue. Root
-- receives an alert, fixes the cause and resumes it: it continues with the same page. One
-- correlation id finds everything that a page led to.

local society = require("society")

local BRIEF = {
  objective = "bring in the pages", constraints = { "lose none" }, inputs = "names",
  outputs = "pages", completion_criteria = "all are there",
}

society.role {
  id = "fetcher", name = "Fetcher",
  behaviour = {
    default = function(agent, message)
      print(("%s: fetches %s"):format(agent.id, message.payload.text))
      agent:send_message { to = "parser", payload = message.payload.text }
    end,
  },
}

society.role {
  id = "parser", name = "Parser",
  behaviour = {
    general = function(agent, message)
      local page = message.payload.text
      local root = society.agent("root")
      if page:find("broken") and not (root.state or {}).is_mended then
        error(page .. " cannot be read")
      end
      print(("%s: reads %s"):format(agent.id, page))
    end,
  },
}

society.root {
  open = function(root)
    assert(root:spawn_agent("parser", BRIEF, { id = "parser" }))
    local brief = { collaborators = { {
      agentId = "parser", role = "Parser", description = "reads pages",
    } } }
    for name, value in pairs(BRIEF) do
      brief[name] = value
    end
    assert(root:spawn_agent("fetcher", brief, { id = "fetcher" }))
    return "the archive is open"
  end,
  move = function(root)
    print("root: pauses the fetcher, it is " .. root:pause("fetcher", { reason = "moving" }).status)
    return "moving"
  end,
  moved = function(root)
    print("root: resumes the fetcher, with "
      .. society.agent("fetcher").queue_length .. " pages in its mailbox")
    assert(root:resume("fetcher"))
    return "moved"
  end,
  alert = function(root, message)
    local alert = message.payload
    print(("root: is told that %s has %s after %d failures, it is %s"):format(alert.agent,
      alert.alert_type, alert.failures, society.agent(alert.agent).status))
    root:send_message { to = "root", type = "mend", payload = { agent = alert.agent } }
    root.state.is_mended = true
  end,
  mend = function(root, message)
    print("root: has it mended and resumes " .. message.payload.agent)
    assert(root:resume(message.payload.agent))
  end,
}

society.policy("messages", { "society", "helix", "any" })

-- Waits longer than the source is ever down.
local function tell_root(user, what, text)
  local answer = assert(user:request {
    to = "root", type = what, payload = text, timeout_ms = 24 * 3600 * 1000,
  })
  return answer.payload.text
end

society.main(function(user)
  print(tell_root(user, "open", "please"))
  tell_root(user, "move", "now")
  local first = user:send_message { to = "fetcher", payload = "page one" }
  user:send_message { to = "fetcher", payload = "broken page" }
  user:send_message { to = "fetcher", payload = "broken cover" }
  user:sleep(1000)
  tell_root(user, "moved", "now")
  user:sleep(4000)
  for _, letter in ipairs(society.dead_letters()) do
    print(("given up: %s (%s)"):format(letter.payload.text, letter.reason))
  end
  print("the chain of page one:")
  for _, row in ipairs(society.activity { correlation_id = first.messageId }) do
    print(("  %s %s"):format(row.agent, row.event))
  end
end)
