-- What the program says about itself: help, and the documents that must agree.

local program = require("program")
local shells = require("shells")

describe("the program", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  it("explains itself", function()
    assert.matches("^society %d+%.%d+%.%d+\n$", place:run("version").out)
    local help = place:run("help")
    assert.equal(0, help.code)
    for _, name in ipairs({ "run", "sim", "test", "check", "inspect", "policy", "send",
      "export", "init" }) do
      assert.matches("\n  " .. name .. " ", help.out)
      local one = place:run("help " .. name)
      assert.same({ code = 0, out = one.out, err = "" }, place:run(name .. " --help"))
      assert.matches("usage: society " .. name .. " ", one.out, 1, true)
      assert.matches("\nexample:\n", one.out, 1, true)
    end
    assert.equal(2, place:run("help fly").code)
    assert.equal(2, place:shell("society").code)
  end)

  it("guesses what was meant by a word with a slip", function()
    assert.equal("society: unknown command 'decied'; did you mean 'decide'? see: society help\n",
      place:run("help decied").err)
    assert.equal("society: unknown command 'sned'; did you mean 'send'? see: society help\n",
      place:run("sned hello").err)
    assert.equal("society: unknown command 'qqqq'; see: society help\n", place:run("qqqq").err)
    assert.matches("unknown subject 'mesages'; did you mean 'messages'? the subjects are agents, ",
      place:run("inspect mesages").err, 1, true)
  end)

  it("explains every command in lines that fit a terminal", function()
    for name in place:run("help").out:gmatch("\n  (%l+) ") do
      local text = place:run("help " .. name).out
      for line in text:gmatch("[^\n]+") do
        assert.is_true(utf8.len(line) <= 96, line)
      end
      for line in text:match("usage: (.-)\n\n"):gmatch("[^\n]+") do
        assert.equal(select(2, line:gsub("%[", "")), select(2, line:gsub("%]", "")), line)
      end
    end
  end)

  local function complete(...)
    return shells.bash(place, ...)
  end

  it("inspects every subject it offers, running or stopped", function()
    place:write("app.lua", "require('society').main(function(user) user:receive {} end)")
    local running = place:start_ready("run app.lua --quiet")
    local id = place:run("send --to root x").out:match("msg_%S+")
    local count = 0
    for round = 1, 2 do
      for subject in complete("inspect", ""):gmatch("%S+") do
        local more = { agent = " root", message = " " .. id, conversation = " --agent root" }
        local result = place:run("inspect " .. subject .. (more[subject] or ""))
        assert.same({ 0, "" }, { result.code, result.err }, subject)
        assert.matches("\n  " .. subject .. " ", place:run("help inspect").out, 1, true)
        count = count + 1
      end
      if round == 1 then
        running:kill("TERM")
        running:wait()
      end
    end
    assert.equal(2 * 17, count)
  end)

  it("documents every subject and option", function()
    local docs = place.program:match("^(.*)/[^/]+/society$") .. "/docs/"
    local page = place:shell("cat " .. docs .. "command-line.md").out
    local man = place:shell("cat " .. docs .. "society.1").out:gsub("\\%-", "-")
    for subject in complete("inspect", ""):gmatch("%S+") do
      assert.matches("\n| `" .. subject .. "` | ", page, 1, true)
      assert.matches("\n.BR " .. subject .. " ", man, 1, true)
    end
    for command in complete(""):gmatch("%S+") do
      assert.matches("\nsociety " .. command .. "[ \n]", page)
      for option in complete(command, "-"):gmatch("%S+") do
        assert.matches(option, page, 1, true)
        assert.matches(option, man, 1, true)
      end
    end
  end)

  it("has the same exit codes in its man page and its documents", function()
    local docs = place.program:match("^(.*)/[^/]+/society$") .. "/docs/"
    local man = place:shell("cat " .. docs .. "society.1").out:match("EXIT STATUS\n(.-)%.SH")
    local page = place:shell("cat " .. docs .. "command-line.md").out
    local count = 0
    for code, text in man:gmatch("%.B (%d+)\n([^.]*)%.") do
      text = text:gsub("\n", " "):gsub("^%u", string.lower)
      assert.matches(("| %s | %s |"):format(code, text), page, 1, true)
      count = count + 1
    end
    assert.equal(5, count)
  end)
end)
