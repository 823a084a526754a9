-- Jobs of a scenario: agents of the role `job` that each come to a fixed end, whatever faults
-- strike. Root gives them out and counts what is done; main fails if one does not come to it.

local society = require("society")
local helpers = require("laws_helpers")

local M = {}

--- Declares the role. `list` has the functions by kind, called with the agent and a number;
-- `handlers` are for messages of other types.
function M.declare(list, handlers)
  handlers = handlers or {}
  function handlers.general(agent, message)
    if message.payload.kind then
      list[message.payload.kind](agent, message.payload.number)
      return { done = true }
    end
  end
  society.role { id = "job", name = "job", prompt = "does a job", behaviour = handlers }
end

--- Gives out `count` jobs: every kind once, then some at random.
function M.give(root, kinds, count)
  for i = 1, count do
    local kind = kinds[i] or kinds[root:random(#kinds)]
    local id = ("job%d-%s"):format(i, kind)
    assert(root:spawn_agent("job", helpers.BRIEF, { id = id }))
    assert(root:send_message { to = id, payload = { kind = kind, number = root:random(1000) } })
  end
end

--- Counts a job that is done.
function M.note(root, message)
  if message.payload.done then
    helpers.expect(nil, root.state[message.from], message.from .. " was done before")
    root.state[message.from] = true
    root.state.done = (root.state.done or 0) + 1
  end
end

--- What was decided, by item, stays so.
function M.expect_decided(user, decided)
  for id, decision in pairs(decided) do
    local _, err = user:decide(id, { decision = "approve" })
    helpers.expect("already_decided", err and err.error, "a second decision")
    helpers.expect(decision, err.decision, "the first decision")
  end
end

--- Starts root and waits until all jobs are done. The person looks every `pause_ms`, at most
-- `looks` times, and does what `look` says.
function M.wait(user, count, pause_ms, looks, look)
  user:send_message { to = "root", payload = "go" }
  for _ = 1, looks do
    user:sleep(pause_ms)
    if look then
      look()
    end
    if (society.agent("root").state or {}).done == count then
      return
    end
  end
  error("jobs that came to their end: " .. tostring((society.agent("root").state or {}).done))
end

return M
