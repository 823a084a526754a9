-- A script that does not repeat itself: its error says where to look.
--
-- Covers: core/kernel/turns/batch.c, core/script/history/recorder.c
-- Covers: core/script/policies/policy_log.c, core/script/turns/arguments.c
-- Covers: core/lualib/sources.c

local scene = require("scene")

-- A payload made of volatile values differs after a crash.
describe("the error of a script that does not repeat itself", function()
  after_each(scene.close)

  local function fail(before, after, config)
    local behaviour = before
    local s = scene.new({ config = config, app = function(s) s:root(behaviour) end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:step()
    behaviour = after
    s:crash()
    s:recover()
    s:run()
    return s:dead_letters()[1], s:transcript():match("turn_failed root: ([^\n]*)")
  end

  -- File and line of the send.
  local WHERE = "tests/spec/script/turns/nondeterministic_spec.lua:"
    .. debug.getinfo(1, "l").currentline + 4

  local function writes(payload)
    return function(root)
      root:send_message { to = "user", payload = payload }
      root:sleep(10)
    end
  end

  it("names the agent, the message and the arguments if only those differ", function()
    local letter, line = fail(writes({ n = 1 }), writes({ n = 2 }))
    assert.equal("nondeterministic: effect 1 of the script was send, and now its arguments differ "
      .. '{"index":0,"recorded":"send","now":"send","agent":"root","message_id":"' .. letter.id
      .. '","arguments":[{"payload":{"n":2},"to":"user"}],"tries":1,"where":"' .. WHERE .. '"}',
      line)
    assert.same({ error = "nondeterministic", index = 0, recorded = "send", now = "send",
      agent = "root", message_id = letter.id,
      arguments = { { payload = { n = 2 }, to = "user" } }, tries = 1, where = WHERE,
      message = "effect 1 of the script was send, and now its arguments differ" },
      letter.error)
  end)

  it("also has the recorded arguments if history is kept", function()
    local letter = fail(writes({ n = 1 }), writes({ n = 2 }), { history = "full" })
    assert.same({ { payload = { n = 1 }, to = "user" } }, letter.error.recorded_arguments)
    assert.same({ { payload = { n = 2 }, to = "user" } }, letter.error.arguments)
  end)

  it("shows the beginning of long arguments", function()
    local letter = fail(writes("a"), writes(("b"):rep(100000)))
    assert.matches('^%[{"payload":"b+… %(%d+ bytes%)$', letter.error.arguments)
    assert.is_true(#letter.error.arguments < 300)
  end)

  it("says which effect differs", function()
    local letter = fail(writes("a"), function(root) root:knows("user") end)
    assert.equal("effect 1 of the script was send, and now it is knows", letter.error.message)
    assert.same({ "user" }, letter.error.arguments)
  end)

  it("says which handler ended early, and before what", function()
    local letter = fail(writes("a"), function() end)
    assert.same({ "root", letter.id, "send" },
      { letter.error.agent, letter.error.message_id, letter.error.recorded })
  end)
end)
