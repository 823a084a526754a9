-- The built program as an attacker finds it: how it was built, and what it leaves behind.

local program = require("program")

describe("the program", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  local function read_elf(options, path)
    local result = place:shell(("LC_ALL=C readelf -W %s %s"):format(options,
      program.quote(path or place.program)))
    assert.equal(0, result.code, result.err)
    return result.out
  end

  it("is position-independent, with full RELRO and no executable stack", function()
    assert.matches("Type:%s+DYN", read_elf("-h"))
    assert.matches("GNU_RELRO", read_elf("-l"))
    assert.matches("GNU_STACK[^\n]* RW ", read_elf("-l"))
    assert.matches("BIND_NOW", read_elf("-d"))
  end)

  -- The path of an object file: a library linked into the program may be built otherwise.
  local function object(name)
    return place.program:gsub("[^/]*$", "") .. "core/" .. name .. ".o"
  end

  it("checks its stack and its buffers", function()
    local symbols = read_elf("-s", object("store/sqlite/sqlite")) -- it prints into an array
    assert.matches("__stack_chk_fail", symbols, 1, true)
    assert.matches("__v?snprintf_chk", symbols)
  end)

  it("can have a shadow stack, on processors that know one", function()
    if place:shell("uname -m").out ~= "x86_64\n" then
      return
    end
    assert.matches("SHSTK", read_elf("-n", object("base/buf")), 1, true)
  end)

  it("leaves no core file, whatever the shell allows", function()
    place:write("app.lua", 'require("society").root(function() end)')
    local running = place:start("run app.lua --quiet", "ulimit -c unlimited;")
    program.wait_for("the socket", function()
      return place:shell("test -S .society/socket").code == 0
    end)
    local limits = place:shell("cat /proc/" .. running.pid .. "/limits").out
    assert.matches("Max core file size%s+[01]%s", limits)
    running:kill("TERM")
    running:wait()
  end)

  it("says that it may open no more files, and does not abort", function()
    place:write("app.lua", 'require("society").main(function() print("done") end)')
    local ends = {}
    for limit = 8, 64 do
      local result = place:shell(
        ("rm -rf .society; ulimit -n %d; society run app.lua"):format(limit))
      ends[#ends + 1] = result.code
      assert.is_true(result.code == 0 or result.code == 1, ("%d: %d"):format(limit, result.code))
      if result.code == 1 then
        assert.matches("[Tt]oo many open files", result.err)
      end
    end
    assert.equal(1, ends[1])
    assert.equal(0, ends[#ends])
  end)

  it("shows escape sequences of a print on a terminal, and passes them to a pipe", function()
    place:write("app.lua", [[
      require("society").main(function() print("a\27]0;title\7\194\155b\tc\nd") end)
    ]])
    local running = place:start_terminal("run app.lua")
    assert.equal("a\\x1b]0;title\\x07\\xc2\\x9bb\tc\r\nd\r\n", running:wait().out)
    assert.equal("a\27]0;title\7\194\155b\tc\nd\n", place:run("run app.lua --fresh").out)
  end)
end)
