-- How long a request waits that does not say.

local scene = require("scene")

local function silence() end

-- The time-out of a request to an agent of `role`, which is paused. `made`: a role that is
-- created in a turn instead, before a crash.
local function waited(role, made)
  local got
  local s = scene.new({ app = function(s)
    s.role(role)
    s.root({ general = function(root, message)
      if message.payload.text == "hire" then
        local id = made and assert(root:create_role(made)).id or role.id
        assert(root:spawn_agent(id, scene.brief(), { id = "a" }))
        assert(root:pause("a"))
      else
        got = select(2, root:request({ to = "a", payload = "?" }))
      end
    end })
  end })
  s:send("user", { to = "root", payload = "hire" })
  s:run()
  if made then
    s:crash()
    s:recover()
  end
  s:send("user", { to = "root", payload = "ask" })
  s:run()
  return got.timeout_ms
end

describe("a request without timeout_ms", function()
  after_each(scene.close)

  it("waits for 30 s", function()
    assert.equal(30000, waited({ id = "mute", behaviour = silence }))
  end)

  it("waits as the receiver's role says", function()
    assert.equal(77, waited({ id = "mute", behaviour = silence, reply_timeout_ms = 77 }))
  end)

  it("waits for 10 minutes if the receiver thinks", function()
    assert.equal(600000, waited({ id = "thinker", behaviour = "llm" }))
  end)

  it("waits as long for a role that was created in a turn, also after a restart", function()
    local mute = { id = "mute", behaviour = silence }
    assert.equal(600000, waited(mute, { id = "made", behaviour = "llm" }))
    assert.equal(30000, waited(mute, { id = "made", behaviour = "mute" }))
  end)

  it("refuses a bad reply_timeout_ms", function()
    local _, err = pcall(waited, { id = "mute", behaviour = silence, reply_timeout_ms = -1 })
    assert.matches("'reply_timeout_ms' must be an integer from 1 to 10^14", err, 1, true)
    _, err = pcall(waited, { id = "mute", behaviour = silence, reply_timeout_ms = "soon" })
    assert.matches("reply_timeout_ms", err, 1, true)
  end)
end)
