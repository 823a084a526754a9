-- What bash, zsh and fish offer, with and without a society that runs.
--
-- Covers: lua/society/cli/completion.lua, lua/society/cli/offers.lua, docs/completion.bash

local program = require("program")
local shells = require("shells")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role { id = "clerk", name = "clerk", behaviour = { task = function(clerk, message)
  clerk:escalate { title = "?", options = { "deep red", "blue", "$(touch hacked)" } }
  clerk:complete(message, {})
end, default = function() error("too much") end } }
society.role { id = "outsider", name = "outsider", behaviour = "external" }
society.policy("supervision", function() return nil end)
society.root(function(root)
  root:spawn_agent("clerk", BRIEF, { id = "clerk_1" })
  root:spawn_agent("clerk", BRIEF, { id = "walker" })
  root:send_message { to = "clerk_1", payload = "no" }
  root:send_message { to = "clerk_1", type = "task", payload = { task_id = "T1" } }
end)
society.main(function(user)
  user:send_message { to = "root", payload = "go" }
  user:receive { from = "root" }
end)
]]

describe("completion", function()
  local place

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    place:write("other.txt", "")
  end)

  teardown(function()
    place:remove()
  end)

  -- Words by what they are behind; in order of the alphabet.
  local function check(shell, cases)
    for _, case in ipairs(cases) do
      local words = {}
      for word in shell(place, table.unpack(case, 1, #case - 1)):gmatch("%S+") do
        words[#words + 1] = word
      end
      table.sort(words)
      assert.equal(case[#case], table.concat(words, " "), table.concat(case, " "))
    end
  end

  local PLAIN = {
    { "sim", "app.lua", "--faults", "de", "dead default delay" },
    { "re", "redeliver repl replay restore resume" },
    { "sim", "app.lua", "--se", "--seed --seeds --set" },
    { "decide", "item", "mo", "modify" },
    { "policy", "contex", "context= context=all context=recent" },
    { "run", "app.lua", "--set", "dep", "depth_max=" },
    { "fly", "", "" },
  }

  it("knows commands, options, their values and files in bash", function()
    check(shells.bash, PLAIN)
    check(shells.bash, { { "run", "", "app.lua" }, { "verify", "ot", "other.txt" },
      { "policy", "contacts=", "open strict" }, { "run", "--policy", "contacts=o", "open" } })
  end)

  it("knows the same in zsh and fish", function()
    local some
    for _, name in ipairs({ "zsh", "fish" }) do
      if shells.has(place, name) then
        some = true
        check(shells[name], PLAIN)
        check(shells[name], { { "policy", "contacts=o", "contacts=open" } })
      end
    end
    if not some then
      pending("neither zsh nor fish is installed")
    end
  end)

  describe("of a society that runs", function()
    local running, item, letter, chain

    local function first(subject, member)
      return program.wait_for(subject, function()
        local row = program.rows(place:run("inspect " .. subject .. " --json"))[1]
        return row and row[member]
      end)
    end

    setup(function()
      running = place:start_ready("run app.lua --quiet")
      item, letter = first("inbox", "id"), first("dead-letters", "id")
      chain = first("dead-letters", "correlation_id")
      assert.equal(0, place:run("token add grafana --scope read").code)
    end)

    teardown(function()
      running:kill("KILL")
      running:wait()
    end)

    local function cases()
      return {
        { "terminate", "wa", "walker" },
        { "cancel", "T", "T1" },
        { "decide", "item_", item },
        { "decide", item, "--choice", "bl", "blue" },
        { "inspect", "message", letter, letter },
        { "redeliver", letter, letter },
        { "inspect", "tasks", "--type", "proc", "processing" },
        { "inspect", "dead-letters", "--reason", "", "script_error" },
        { "inspect", "messages", "--correlation", "msg_", chain },
        { "watch", "--type", "esc", "escalation" },
        { "token", "remove", "gr", "grafana" },
      }
    end

    for _, name in ipairs({ "bash", "zsh", "fish" }) do
      it("knows what is there, in " .. name, function()
        if not shells.has(place, name) then
          pending(name .. " is not installed")
          return
        end
        check(shells[name], cases())
      end)
    end

    it("puts in only what bash has not", function()
      check(shells.bash, {
        { "drop", "--filter", "to=", "clerk_1" },
        { "drop", "--filter", "reason=s", "script_error" },
      })
    end)

    it("runs nothing of what agents say", function()
      assert.equal("deep\\ red blue \\$\\(touch\\ hacked\\)",
        shells.bash(place, "decide", item, "--choice", ""))
      assert.not_equal(0, place:shell("test -e hacked").code)
    end)
  end)
end)
