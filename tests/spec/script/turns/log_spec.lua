-- What the log shows of scripts' output and errors.

local scene = require("scene")

local function longest_line(text)
  local longest = 0
  for line in text:gmatch("[^\n]+") do
    longest = math.max(longest, #line)
  end
  return longest
end

describe("the log", function()
  after_each(scene.close)

  it("cuts long output of a script; the activity keeps it complete", function()
    local s = scene.troupe({
      a = function(a)
        a:log("info", ("L"):rep(100000), { more = ("F"):rep(100000) })
      end,
      b = function()
        error(("E"):rep(100000))
      end,
    })
    scene.tell(s, "a")
    scene.tell(s, "b")
    assert.matches("L… (100000 bytes)", s:transcript(), 1, true)
    assert.is_true(longest_line(s:transcript()) < 16384)
    assert.matches(("L"):rep(100000), s:activity({ type = "log" })[1].detail, 1, true)
    assert.matches(("E"):rep(100000), s:activity({ type = "turn_failed" })[1].detail, 1, true)
  end)

  it("refuses a printed line of more than 1 MB", function()
    local s = scene.new({ app = scene.app([[
      require("society").root(function()
        print(("x"):rep((1 << 20) - 1))
        return { told = select(2, pcall(print, ("x"):rep(1 << 19), ("x"):rep(1 << 19))) }
      end)
    ]]) })
    local reply = assert(s:dispatch("root", "go"))
    assert.matches("print: a line can have 1 MB at most", reply.payload.told, 1, true)
  end)

  it("keeps the beginning of an error that is a huge text", function()
    local s = require("society").new({ quiet = true, app = function(app)
      app:root(function() error("x" .. ("é"):rep(1000000), 0) end)
    end })
    finally(function() s:close() end)
    s:send("user", { to = "root", payload = "go" })
    s:run()
    local message = s:dead_letters()[1].error.message
    assert.matches("é… (2000001 bytes)", message, 1, true)
    assert.is_true(#message > 250000 and #message < 300000)
    assert.is_truthy(utf8.len(message))
  end)

  it("describes a failure in words, with its traceback on separate lines", function()
    local s = scene.new({ app = scene.app([[
      local function inner() error("the \"quoted\" one") end
      require("society").root(function() inner() end)
    ]]) })
    scene.tell(s, "root")
    local text = s:transcript()
    assert.matches('turn_failed root: script_error: [^\n]*app%.lua:1: the "quoted" one', text)
    assert.matches("\n    stack traceback:\n", text, 1, true)
    assert.matches("\n    \t[^\n]*app%.lua:1: in [^\n]*inner", text)
    assert.is_nil(text:find('"traceback"', 1, true))
  end)

  it("cuts long output printed while an app loads", function()
    local s = scene.new({ app = scene.app("print(('P'):rep(100000))") })
    assert.matches("P… (100000 bytes)", s:transcript(), 1, true)
    assert.is_true(longest_line(s:transcript()) < 16384)
  end)
end)
