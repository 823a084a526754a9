--- acked: societies in which root sends with `wait_ack`, for specs.

local scene = require("scene")

local M = {}

--- Root answers a message of user by act(root); the others behave as `acts` says. Returns the
-- society, before it has run, and a table that gets what the act returned as `sent` and `err`,
-- and `took_ms`.
function M.play(act, acts)
  local seen = {}
  acts.root = function(root, message)
    if message.from ~= "user" then
      return
    end
    local start = root:now()
    seen.sent, seen.err = act(root)
    seen.took_ms = root:now() - start
  end
  local s = scene.troupe(acts)
  assert(s:send("user", { to = "root", payload = "go" }))
  return s, seen
end

--- The messages that root has sent.
function M.sent_by_root(s)
  local list = {}
  for _, message in ipairs(s:messages()) do
    if message.from == "root" then
      list[#list + 1] = message
    end
  end
  return list
end

--- Sends to `a` unless `fields` say otherwise.
function M.send(root, fields)
  fields.to, fields.payload = fields.to or "a", fields.payload or "work"
  return root:send_message(fields)
end

return M
