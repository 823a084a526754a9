--- barriers: agents that open and answer checkpoints, for their specs.

local scene = require("scene")

local M = {}

--- Answers a checkpoint; ignores other messages.
function M.ready(_, message)
  if message.type == "checkpoint_request" then
    return { ready = true, round = message.payload.round }
  end
end

--- Like scene.tell, but the clock advances only a little.
function M.begin(s, id)
  assert(s:send("user", { to = id, payload = "go" }))
  s:advance(1)
end

--- A society whose root opens a checkpoint with `options`; also returns the list of what it
-- got.
function M.troupe(options, acts, settings)
  local got = {}
  acts.root = acts.root or function(root)
    got[#got + 1] = table.pack(root:checkpoint(options))
  end
  return scene.troupe(acts, settings), got
end

return M
