-- What the program says about itself: help, completion, and the documents that must agree.

local program = require("program")

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

  -- What bash offers after `words`, the last of which is incomplete.
  local function complete(...)
    local docs = place.program:match("^(.*)/[^/]+/society$") .. "/docs/"
    local words = {}
    for index, word in ipairs({ place.program, ... }) do
      words[index] = program.quote(word)
    end
    place:write("complete", (". %scompletion.bash; COMP_WORDS=(%s) COMP_CWORD=%d; _society; "
      .. 'echo "${COMPREPLY[@]}"'):format(docs, table.concat(words, " "), #words - 1))
    return place:shell("bash complete").out:gsub("\n$", "")
  end

  it("completes commands, options, their values and files in bash", function()
    place:write("app.lua", "require('society').main(function() end)")
    place:write("other.txt", "")
    local there = place:run("sim app.lua --faults zork").err:match("names from (.*)\n")
    assert.equal("none default " .. there:gsub(",", ""), complete("sim", "app.lua", "--faults", ""))
    assert.equal("default delay dead", complete("sim", "app.lua", "--faults", "de"))
    assert.equal("resume redeliver replay restore repl", complete("re"))
    assert.equal("--seed --seeds --set", complete("sim", "app.lua", "--se"))
    assert.equal("app.lua", complete("run", ""))
    assert.equal("contacts= context=", complete("policy", "con"))
    assert.equal("modify", complete("decide", "item", "mo"))
    assert.equal("", complete("fly", ""))
  end)

  -- Their completion runs inside an editor; compadd and _files are what it calls there.
  it("completes the same in zsh", function()
    if place:shell("zsh -c true").code ~= 0 then
      pending("zsh is not installed")
      return
    end
    local function zsh(...)
      local docs = place.program:match("^(.*)/[^/]+/society$") .. "/docs/"
      local words = {}
      for index, word in ipairs({ place.program, ... }) do
        words[index] = program.quote(word)
      end
      place:write("complete", ([=[
        compdef() { : }
        source %scompletion.zsh
        compadd() { local name=$@[-1] each
          for each in ${(P)name}; do
            [[ $each == ${words[CURRENT]}* ]] && print -r -- $each
          done
          true
        }
        _files() { print -r -- "$@" }
        words=(%s) CURRENT=%d
        _society]=]):format(docs, table.concat(words, " "), #words))
      return (place:shell("zsh -f complete").out:gsub("\n$", ""):gsub("\n", " "))
    end
    place:write("app.lua", "require('society').main(function() end)")
    assert.equal("resume redeliver replay restore repl", zsh("re"))
    assert.equal("default delay dead", zsh("sim", "app.lua", "--faults", "de"))
    assert.equal("--seed --seeds --set", zsh("sim", "app.lua", "--se"))
    assert.equal("-g *.lua", zsh("run", ""))
    assert.equal("contacts= context=", zsh("policy", "con"))
  end)

  it("completes the same in fish", function()
    if place:shell("fish -c true").code ~= 0 then
      pending("fish is not installed")
      return
    end
    local function fish(line)
      local docs = place.program:match("^(.*)/[^/]+/society$") .. "/docs/"
      place:write("complete", ("source %scompletion.fish\nset PATH %s $PATH\ncomplete -C %s\n")
        :format(docs, program.quote(place.program:match("^(.*)/society$")), program.quote(line)))
      local list = {}
      for word in place:shell("HOME=$PWD fish complete").out:gmatch("[^\n]+") do
        list[#list + 1] = word:match("^[^\t]+")
      end
      table.sort(list)
      return table.concat(list, " ")
    end
    place:write("app.lua", "require('society').main(function() end)")
    place:write("other.txt", "")
    assert.equal("redeliver repl replay restore resume", fish("society re"))
    assert.equal("dead default delay", fish("society sim app.lua --faults de"))
    assert.equal("--seed --seeds --set", fish("society sim app.lua --se"))
    assert.equal("app.lua", fish("society run "))
    assert.equal("contacts= context=", fish("society policy con"))
  end)

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
