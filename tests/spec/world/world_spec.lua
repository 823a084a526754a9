-- society.new itself: what is left when something goes wrong.
--
-- Covers: core/world/world_mail.c

local scene = require("scene")
local society = require("society")

describe("an app that raises", function()
  after_each(scene.close)

  it("leaves a society that is not running, and recover() tries again", function()
    local is_bad = false
    local s = scene.new({ app = function(s)
      s:root(function() return "x" end)
      if is_bad then
        error("told so")
      end
    end })
    is_bad = true
    s:crash()
    for _ = 1, 2 do
      local ok, err = pcall(s.recover, s)
      assert.is_false(ok)
      assert.matches("told so", err, 1, true)
      for _, name in ipairs({ "run", "step", "dump", "now" }) do
        ok, err = pcall(s[name], s)
        assert.is_false(ok)
        assert.matches("not running", err, 1, true)
      end
    end
    is_bad = false
    s:recover()
    assert.equal("x", s:dispatch("root", "x").payload.text)
  end)

  it("does not keep its state directory from the next one", function()
    local folder = scene.folder() .. "/state"
    assert.is_false(pcall(society.new, { store = folder, app = function() error("no") end }))
    scene.new({ store = folder }):run()
  end)
end)

describe("a declaration outside an app", function()
  after_each(scene.close)

  it("is repeated by recover() only if it was accepted", function()
    local s = scene.new()
    s:root(function() return "x" end)
    assert.is_false(pcall(s.role, s, { id = 7 }))
    assert.is_false(pcall(s.config, s, { colour = 1 }))
    s:crash()
    s:recover()
    assert.equal("x", s:dispatch("root", "x").payload.text)
  end)
end)

describe("advance", function()
  after_each(scene.close)

  it("names the call in its errors", function()
    local s = scene.new()
    for _, bad in ipairs({ "x", -1, 0.5, 1e15, {}, true }) do
      local ok, err = pcall(s.advance, s, bad)
      assert.is_false(ok)
      assert.matches("s:advance needs ms from 0 to 10^14, not ", err, 1, true)
    end
    assert.is_false(pcall(s.advance, s))
  end)
end)

describe("a society made in a coroutine", function()
  after_each(scene.close)

  it("continues when the coroutine is gone", function()
    local s = coroutine.wrap(function()
      return scene.new({ app = function(s)
        s:root(function(root)
          root:sleep(10)
          return "x"
        end)
      end })
    end)()
    collectgarbage()
    collectgarbage()
    assert.equal("x", s:dispatch("root", "x").payload.text)
  end)
end)

describe("messages taken by receive", function()
  after_each(scene.close)

  it("leave no row behind in the table of takes", function()
    local s = scene.troupe({
      a = function(a)
        for _ = 1, 3 do
          a:receive() -- a message is there: it does not wait
        end
      end,
    })
    for _ = 1, 3 do
      for _ = 1, 4 do
        assert(s:send("user", { to = "a", payload = "x" }))
      end
      s:run()
    end
    assert.equal(0, s:stats().pending)
    assert.is_nil(s:dump():find('"table":"takes"', 1, true))
  end)
end)

describe("s:send to a list", function()
  after_each(scene.close)

  local function two()
    local got = {}
    local s = scene.troupe({
      a = function(_, message) got.a = message end,
      b = function(_, message) got.b = message end,
    })
    return s, got
  end

  it("returns the ids in the order of the receivers, as send_message does", function()
    local s, got = two()
    local answer = assert(s:send("user", { to = { "b", "a" }, payload = "x" }))
    s:run()
    assert.same({ messageIds = { got.b.id, got.a.id } }, answer)
    assert.equal("user", got.a.from)
  end)

  it("reports those it could not write to", function()
    local s, got = two()
    local answer = assert(s:send("user", { to = { "nobody", "a" }, payload = "x" }))
    s:run()
    assert.equal(got.a.id, answer.messageIds[2])
    assert.equal("nobody", answer.partialErrors[1].to)
  end)

  it("fails as a whole if every receiver fails, and sends nothing", function()
    local s = two()
    local sent = s:stats().sent
    local answer, err = s:send("user", { to = { "nobody", "none" }, payload = "x" })
    assert.is_nil(answer)
    assert.equal("all_recipients_failed", err.error)
    assert.equal(2, #err.partialErrors)
    assert.equal(sent, s:stats().sent)
  end)

  it("refuses a missing payload and an unknown sender for all", function()
    local s = two()
    assert.equal("missing_payload", select(2, s:send("user", { to = { "a" } })).error)
    assert.equal("agent_not_found",
      select(2, s:send("none", { to = { "a" }, payload = "x" })).error)
  end)
end)
