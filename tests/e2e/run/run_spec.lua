-- Covers: core/embed/society.c, core/embed/assembly.c, core/main/cmd_run.c
-- Covers: core/main/options.c, core/main/main.c, core/parts/table.c

local program = require("program")

local HELLO = [[
local society = require("society")
society.root(function(root, message) return { text = "hello, " .. message.payload.text } end)
society.main(function(user)
  local answer = assert(user:request { to = "root", payload = { text = arg[1] or "world" } })
  print(answer.payload.text)
end)
]]

local SERVER = [[
local society = require("society")
society.root(function(root, message)
  root.state.count = (root.state.count or 0) + 1
  if message.payload.text == "print" then print("seen " .. root.state.count) end
  return { text = "number " .. root.state.count }
end)
]]

describe("society run", function()
  local place

  before_each(function()
    place = program.place()
    place:write("hello.lua", HELLO)
    place:write("server.lua", SERVER)
  end)

  after_each(function()
    place:remove()
  end)

  it("runs an app, prints only to stdout and exits with 0", function()
    local result = place:run("run hello.lua -- Ada")
    assert.equal(0, result.code)
    assert.equal("hello, Ada\n", result.out)
    assert.matches("info message: user → root", result.err, 1, true)
  end)

  it("waits for a command that holds the state briefly", function()
    place:run("run hello.lua")
    local lock = program.quote(place.path .. "/.society/lock")
    os.execute(("cd %s && flock %s sh -c 'touch held; sleep 0.4' &")
      :format(program.quote(place.path), lock))
    program.wait_for("the lock to be held", function() return place:read("held") end)
    assert.same({ code = 0, out = "hello, world\n", err = "" },
      place:run("run hello.lua --fresh --quiet"))
  end)

  it("prints nothing to stderr with --quiet", function()
    assert.same({ code = 0, out = "hello, world\n", err = "" }, place:run("run hello.lua --quiet"))
  end)

  it("prints JSON lines with --json", function()
    local result = place:run("run hello.lua --json")
    assert.equal('{"print":"hello, world","agent":"user"}\n', result.out)
    for line in result.err:gmatch("[^\n]+") do
      assert.matches('^{"timestamp":"', line)
    end
  end)

  it("reports that main has finished and names --fresh, which starts again", function()
    place:run("run hello.lua")
    local again = place:run("run hello.lua")
    assert.equal(0, again.code)
    assert.equal("", again.out)
    assert.matches("--fresh", again.err, 1, true)
    assert.equal("hello, world\n", place:run("run hello.lua --fresh").out)
    assert.is_truthy(place:read(".society/previous/society.db"))
  end)

  it("keeps the state with --fresh if the app cannot start", function()
    place:run("run hello.lua")
    for _ = 1, 2 do
      assert.equal(2, place:run("run hello.lua --fresh --policy contacts=none_such").code)
    end
    assert.is_nil(place:read(".society/previous/society.db"))
    assert.matches("main finished in an earlier run", place:run("run hello.lua").err, 1, true)
  end)

  it("keeps output out of the first file opened when stdout is closed", function()
    place:shell("society run hello.lua --quiet >&-")
    assert.is_nil((place:read(".society/lock") or ""):find("hello, world", 1, true))
  end)

  it("refuses the state of another app", function()
    place:run("run hello.lua")
    local result = place:run("run server.lua")
    assert.equal(1, result.code)
    assert.matches("^society: the state belongs to the app 'hello'[^\n]*\n$", result.err)
  end)

  it("exits with 1 when main raises, and retries it at the next start", function()
    place:write("bad.lua", [[
      local society = require("society")
      society.main(function() error("no luck") end)
    ]])
    for _ = 1, 2 do
      local result = place:run("run bad.lua")
      assert.equal(1, result.code)
      assert.matches("no luck", result.err, 1, true)
    end
  end)

  it("stops at Ctrl-C with 130 and prints how to continue", function()
    local running = place:start_ready("run server.lua --state here --policy contacts=open " ..
      "--set effects_max=50 -- A 'b c'", "here")
    running:kill("INT")
    local ended = running:wait()
    assert.equal(130, ended.code)
    assert.matches("society run server.lua --state here --policy contacts=open " ..
      "--set effects_max=50 -- A 'b c'", ended.err, 1, true)
    assert.not_equal(0, place:shell("test -e here/socket").code)
  end)

  it("stops at SIGTERM with 0 and prints how to continue", function()
    local running = place:start_ready("run server.lua --state here", "here")
    running:kill("TERM")
    local ended = running:wait()
    assert.equal(0, ended.code)
    assert.matches("stopped; resume with: society run server.lua --state here", ended.err, 1, true)
  end)

  it("names the tasks that are left open", function()
    place:write("tasks.lua", [[
      local society = require("society")
      society.role { id = "worker", behaviour = function() end }
      society.root { task = function(root)
        local child = assert(root:spawn_agent("worker", { objective = "o", constraints = {},
          inputs = "i", outputs = "o", completion_criteria = "c" }, { id = "eng1" }))
        for i = 1, tonumber(arg[1]) do
          root:send_message { to = child.id, type = "task", payload = { task_id = "T" .. i } }
        end
        root:complete("T0", "done")
      end }
      society.main(function(user)
        user:send_message { to = "root", type = "task", payload = { task_id = "T0" } }
      end)
    ]])
    local result = place:run("run tasks.lua --state one -- 1")
    assert.equal(0, result.code)
    assert.matches("1 task is left open: T1 (eng1); the run does not wait for its alerts",
      result.err, 1, true)
    assert.matches("12 tasks are left open: T1 %(eng1%), .* and 2 more; .* wait for their alerts",
      place:run("run tasks.lua --state many -- 12").err)
    assert.matches("T10 (eng1) and 2 more", place:run("sim tasks.lua -- 12").err, 1, true)
    assert.is_nil(place:run("sim tasks.lua -- 0").err:find("left open", 1, true))
    assert.equal(0, place:run("sim tasks.lua --seeds 1..2 -- 1").code)
    result = place:run("sim tasks.lua --seeds 1..2 --strict -- 1")
    assert.equal(1, result.code)
    assert.matches("1 task is left open: T1 (eng1)", result.err, 1, true)
    assert.matches("--strict", result.err, 1, true)
  end)

  it("prints its final status in JSON with --json, whatever it is", function()
    local running = place:start_ready("run server.lua --json")
    running:kill("INT")
    local refused = place:run("run server.lua --json --set nothing=1")
    for _, err in ipairs({ running:wait().err, refused.err }) do
      for line in err:gmatch("[^\n]+") do
        assert.matches('^{"timestamp":"[^\n]*}$', line)
      end
    end
    assert.matches('"ended","detail":{"text":"interrupted; resume with: society run server.lua',
      running:err(), 1, true)
    assert.matches('"event":"not_started"', refused.err, 1, true)
  end)

  it("lists all settings if one is unknown", function()
    local result = place:run("run hello.lua --set nothing=1")
    assert.equal(2, result.code)
    assert.matches("unknown setting 'nothing'; there are name, [^\n]* and [%l_]+\n$", result.err)
    assert.matches(" history_days,", result.err, 1, true)
  end)

  for raised, said in pairs({
    ["{ a = 1 }"] = 'the script raised {"a":1}',
    ["nil"] = "the script raised nil",
    ["print"] = "the script raised a function instead of a text",
    ["setmetatable({}, { __tostring = function() return 'my words' end })"] = "my words",
    ["setmetatable({}, { __tostring = function() return nil end })"] =
      "the script raised {}",
  }) do
    it("prints what an app raises while it loads: " .. raised, function()
      place:write("raises.lua", ("error(%s)"):format(raised))
      local result = place:run("run raises.lua")
      assert.equal(1, result.code)
      assert.equal("society: " .. said .. "\n", result.err)
    end)
  end

  it("keeps a second run out of the same state", function()
    local running = place:start_ready("run server.lua")
    for _, arguments in ipairs({ "run server.lua", "run server.lua --fresh" }) do
      local second = place:run(arguments)
      assert.equal(1, second.code)
      assert.matches("^society: process " .. running.pid .. " [^\n]*holds .society\n$", second.err)
    end
    running:kill("INT")
    running:wait()
  end)

  it("survives a reader that goes away", function()
    place:write("many.lua", [[
      local society = require("society")
      society.main(function() for i = 1, 2000 do print(i .. (" "):rep(200) .. "line") end end)
    ]]) -- more than a pipe holds
    local result = place:shell("society run many.lua --quiet | head -n 1")
    assert.matches("^1 +line\n$", result.out)
    assert.matches("^society: stdout: [^\n]*\n$", result.err)
  end)

  it("shows messages to the person", function()
    place:write("mail.lua", [[
      local society = require("society")
      society.root(function(root, message) root:send_message { to = "user", payload = "psst" } end)
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)
    ]])
    assert.equal("[mail] root: psst\n", place:run("run mail.lua --quiet").out)
    assert.matches('^{"mail":{.*"payload":{"text":"psst"}',
      place:run("run mail.lua --quiet --json --fresh").out)
  end)

  it("shows agents' text so that it cannot pass for anything else", function()
    place:write("sly.lua", [[
      local society = require("society")
      society.root(function(root)
        root:send_message { to = "user", payload = "one\n[inbox] root (urgent): two\27[2J\u{9b}2J" }
        root:escalate { title = "a\nb\27[2J" .. ("é"):rep(400), wait = false }
      end)
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)]])
    local out = place:run("run sly.lua --quiet").out
    assert.matches("[mail] root: one\n  [inbox] root (urgent): two [2J 2J\n", out, 1, true)
    assert.matches("[inbox] root (normal): a b [2J" .. ("é"):rep(146) .. "…  item_", out, 1, true)
  end)

  it("accepts policies and settings", function()
    assert.equal(0, place:run("run hello.lua --policy contacts=open --set name=other").code)
    assert.matches("the app 'other'", place:run("run hello.lua").err, 1, true)
    local result = place:run("run hello.lua --fresh --policy contacts=nothing")
    assert.equal(2, result.code)
    assert.matches("^society: [^\n]*\n$", result.err)
  end)

  for _, case in ipairs({
    { "a missing file", "run nothing.lua", 1, "nothing.lua" },
    { "a directory", "run .", 1, "directory" },
    { "no file at all", "run", 2, "usage: society run" },
    { "an unknown option", "run hello.lua --fast", 2, "'--fast'" },
    { "an option without its value", "run hello.lua --state", 2, "--state needs a value" },
    { "a policy that is no pair", "run hello.lua --policy open", 2, "KIND=NAME" },
    { "a log level that is none", "run hello.lua --log loud", 2, "--log" },
    { "an unknown command", "fly", 2, "'fly'" },
  }) do
    it("reports in one line " .. case[1], function()
      local result = place:run(case[2])
      assert.equal(case[3], result.code)
      assert.equal("", result.out)
      assert.matches("^society: [^\n]+\n$", result.err)
      assert.matches(case[4], result.err, 1, true)
      assert.not_equal(0, place:shell("test -e .society").code)
    end)
  end

  it("names file and line of a syntax error and creates no state", function()
    place:write("broken.lua", "local x =\nlocal y\n")
    local result = place:run("run broken.lua")
    assert.equal(1, result.code)
    assert.matches("^society: broken.lua:2: [^\n]+\n$", result.err)
    assert.not_equal(0, place:shell("test -e .society").code)
  end)

  it("names a compiled file", function()
    place:write("compiled.lua", string.dump(function() end))
    for _, command in ipairs({ "run", "sim", "check" }) do
      local result = place:run(command .. " compiled.lua")
      assert.equal(1, result.code)
      assert.equal("society: compiled.lua: precompiled code cannot be loaded\n", result.err)
    end
  end)

  it("reports a state directory that cannot be created", function()
    place:write("file", "")
    local result = place:run("run hello.lua --state file/state")
    assert.equal(1, result.code)
    assert.matches("^society: [^\n]+\n$", result.err)
  end)

  it("refuses a state written by a newer program", function()
    place:run("run hello.lua")
    place:shell("printf '\\377\\377' | dd of=.society/society.db bs=1 seek=62 conv=notrunc")
    local result = place:run("run hello.lua")
    assert.equal(1, result.code)
    assert.matches("^society: [^\n]*version[^\n]*\n$", result.err)
  end)
end)
