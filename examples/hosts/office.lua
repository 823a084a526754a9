-- Two hosts: the office has a lab on another machine count words for it.
--
-- Root asks the lab, hires a clerk there for one task, and meets somebody through an introduction.
-- Start it beside lab.lua, or run both with ./two.sh.

local society = require("society")
society.config { name = "institute", language = "en" }

local DAY_MS = 24 * 60 * 60 * 1000 -- waits outlast a host that is down for an hour

local brief = { objective = "count the words of a text", constraints = {}, inputs = "a text",
  outputs = "a number", completion_criteria = "the number is right" }

society.root(function(root, message)
  root:add_contact { id = "root@lab" }
  -- A request to an agent elsewhere is like any other.
  local answer = assert(root:request { to = "root@lab", payload = message.payload,
    timeout_ms = DAY_MS })
  print("the lab counts " .. answer.payload.words)
  -- A child on the other host, with its first task; spawn_agent waits for the result.
  local clerk = assert(root:spawn_agent("clerk", brief,
    { id = "clerk", host = "lab", message = message.payload, wait = true,
      timeout_ms = DAY_MS }))
  print(clerk.id .. " counts " .. clerk.result.output.words)
  -- The lab introduces somebody it knows; the contact is an address.
  local archive = assert(root:request_introduction { to = "root@lab", reason = "it must be kept",
    required_capability = "Archive", timeout_ms = DAY_MS })
  print("meets " .. archive.id .. " through " .. archive.introducedBy)
  local kept = assert(root:request { to = archive.id, payload = { text = "14 words" },
    timeout_ms = DAY_MS })
  print("kept as " .. kept.payload.text)
  root:terminate(clerk.id)
  return { text = "done" }
end)

society.main(function(user)
  assert(user:request { to = "root", timeout_ms = DAY_MS,
    payload = { text = "the hosts of one society talk as if there were no space between them" } })
end)
