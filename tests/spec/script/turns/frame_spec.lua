-- core/script/turns/frame.c: a policy's function that acts while a call is open leaves the
-- call's own payload, answer and error alone.

local scene = require("scene")
local society = require("society")

local OURS = "what the outer call sends"
local OTHER = ("x"):rep(#OURS)

describe("a policy's function that acts while a call is open", function()
  after_each(scene.close)

  -- Runs `behave(root)`. The check of each message of type `note` calls `act(root)` inside
  -- that turn. Returns the texts that root sent, as they are stored, and the reply.
  local function run(behave, act)
    local held
    local s = scene.keep(society.new({ app = function(app)
      app:root(function(root, message)
        if message.from == "user" then
          held = root
          return behave(root)
        end
      end)
      app:policy("messages", { kind = "messages", version = 1, types = { note = {
        check = function()
          act(held)
          return true
        end,
      } } })
    end }))
    local reply = assert(s:dispatch("root", "go"))
    s:run()
    assert.same({}, s:activity({ type = "policy_failed" }))
    local sent = {}
    for _, message in ipairs(s:messages()) do
      if message.from == "root" then
        sent[#sent + 1] = message.payload.text
      end
    end
    table.sort(sent)
    return sent, reply.payload
  end

  -- Fails because there is no message to reply to, but only after reading the payload.
  local function fail_to_reply(agent)
    assert.is_false(pcall(agent.reply, agent, nil, { text = OTHER }))
  end

  it("does not change the payload of a send", function()
    local sent = run(function(root)
      assert(root:send_message({ to = "root", type = "note", payload = { text = OURS } }))
      return {}
    end, fail_to_reply)
    assert.same({ OURS }, sent)
  end)

  it("does not change the payload or the answer of a send to a list", function()
    local sent, reply = run(function(root)
      return root:send_message({ to = { "root", "user" }, type = "note",
        payload = { text = OURS } })
    end, fail_to_reply)
    assert.same({ OURS, OURS }, sent)
    assert.equal(2, #reply.messageIds)
  end)

  it("does not change the payload of the reply that a behaviour returns", function()
    local sent, reply = run(function()
      return { message_type = "note", text = OURS }
    end, function(root)
      assert(root:send_message({ to = "root", payload = { text = OTHER } }))
    end)
    assert.same({ OURS, OTHER }, sent)
    assert.equal(OURS, reply.text)
  end)
end)
