-- Replay needs the script to do again what it did: a change is noticed, not guessed.

local scene = require("scene")

describe("a script that changed while an activation waited", function()
  after_each(scene.close)

  local function change(before, after)
    local version = 1
    local s = scene.troupe({
      a = function(a)
        return (version == 1 and before or after)(a)
      end,
      b = function() end,
    })
    assert(s:send("user", { to = "a", payload = "x" }))
    s:advance(10)
    version = 2
    s:crash()
    s:recover()
    s:run()
    return s
  end

  local function sends(options)
    return function(a)
      local copy = { to = "b", payload = "x" }
      for name, value in pairs(options or {}) do
        copy[name] = value
      end
      a:send_message(copy)
      a:sleep(100)
    end
  end

  local function is_noticed(after, before)
    local s = change(before or sends(), after)
    local letters = s:dead_letters()
    assert.equal(1, #letters, "nobody noticed")
    assert.equal("nondeterministic", scene.reason(letters[1]).error)
    assert.is_string(scene.reason(letters[1]).message)
    assert.equal(3, s:stats().sent)
  end

  it("goes on if it does the same as far as it had come", function()
    local s = change(sends(), function(a)
      sends()(a)
      a:send_message({ to = "b", payload = "new" })
    end)
    assert.same({}, s:dead_letters())
    assert.equal(4, s:stats().processed)
  end)

  it("is parked if another effect comes", function()
    is_noticed(function(a)
      a:now()
      a:sleep(100)
    end)
  end)

  it("is parked if the same effect has another payload", function()
    is_noticed(sends({ payload = "y" }))
  end)

  it("is parked if it writes to another", function()
    is_noticed(sends({ to = "root" }))
  end)

  it("is parked if it writes to another list", function()
    is_noticed(sends({ to = { "root" } }), sends({ to = { "b" } }))
  end)

  it("is parked if it writes with other options", function()
    is_noticed(sends({ priority = "high" }))
  end)

  it("is parked if it sleeps for another time", function()
    is_noticed(function(a)
      a:send_message({ to = "b", payload = "x" })
      a:sleep(50)
    end)
  end)
end)

describe("a role that the restarted script no longer has", function()
  after_each(scene.close)

  it("lets its agents' mail wait, and that is reported once", function()
    local has_role, handled = true, 0
    local s = scene.new({ app = function(s)
      if has_role then
        s:role({ id = "temp", name = "temp", behaviour = function() handled = handled + 1 end })
      end
      s:root(function(root) root:spawn_agent("temp", scene.brief(), { id = "t" }) end)
    end })
    scene.tell(s, "root")
    has_role = false
    s:crash()
    s:recover()
    scene.tell(s, "t")
    scene.tell(s, "t")
    assert.equal(2, s:agent("t").queue_length)
    assert.equal(1, scene.count(s:transcript(), "warn unknown_role"))
    has_role = true
    s:crash()
    s:recover()
    s:run()
    assert.equal(2, handled)
  end)
end)
