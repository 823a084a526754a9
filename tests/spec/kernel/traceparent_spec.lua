-- traceparent: the id of an external trace, carried from cause to effect.

local scene = require("scene")

local TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
local OTHER = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-01"

describe("traceparent", function()
  after_each(scene.close)

  -- root passes the message on to a, which answers; returns what each got.
  local function carried(options)
    local got = {}
    local s = scene.troupe({
      root = function(root, message)
        got.root = message.traceparent
        local reply = assert(root:request({ to = "a", payload = "x", traceparent = options.own }))
        got.reply = reply.traceparent
      end,
      a = function(_, message)
        got.a = message.traceparent
        return "done"
      end,
    })
    assert(s:send("user", { to = "root", payload = "go", traceparent = options.given }))
    if options.crashes then
      s:crash()
      s:recover()
    end
    s:run()
    return got, s
  end

  it("is inherited by messages that a message causes, and by replies", function()
    assert.same({ root = TRACE, a = TRACE, reply = TRACE }, (carried({ given = TRACE })))
  end)

  it("is replaced where a sender gives its own", function()
    assert.same({ root = TRACE, a = OTHER, reply = OTHER },
      (carried({ given = TRACE, own = OTHER })))
  end)

  it("is absent where nobody gave one", function()
    assert.same({}, (carried({})))
  end)

  it("survives a crash and is kept in the history", function()
    local got, s = carried({ given = TRACE, crashes = true })
    assert.equal(TRACE, got.a)
    for _, message in ipairs(s:messages({ agent = "root" })) do
      if message.payload.text == "go" then
        assert.equal(TRACE, message.traceparent)
      end
    end
  end)

  it("must be a text, otherwise the send raises", function()
    assert.matches("'traceparent' must be a string", scene.raised(function(root)
      root:send_message({ to = "user", payload = "x", traceparent = 7 })
    end), 1, true)
  end)
end)
