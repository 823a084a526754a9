-- Covers: core/main/program_editor.c

local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "-", constraints = {}, inputs = "-", outputs = "-",
  completion_criteria = "-" }
society.role { id = "worker", behaviour = function(_, message)
  return { text = "hello, " .. message.payload.text }
end }
society.root(function(root)
  assert(root:spawn_agent("worker", BRIEF, { id = "planner" }))
  return { text = "ready" }
end)
]]

describe("society repl", function()
  local place, running

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    running = place:start_ready("run app.lua --quiet")
    assert.equal("ready\n", place:run("send --to root --wait go").out)
  end)

  teardown(function()
    running:kill("KILL")
    running:wait()
    place:remove()
  end)

  local function eval(...)
    local words = { "repl" }
    for _, text in ipairs({ ... }) do
      words[#words + 1] = "-e " .. program.quote(text)
    end
    return place:run(table.concat(words, " "))
  end

  it("runs what -e gives, and prints values of expressions", function()
    local result = eval("x = 20", "x + 1, 'two', nil, true", '{ b = { 1 }, a = "q\\"" }', "nil")
    assert.same({ 0, "" }, { result.code, result.err })
    assert.equal('21\n"two"\ntrue\n{\n  a = "q\\"",\n  b = {\n    1,\n  },\n}\nnil\n', result.out)
  end)

  it("looks through the operations, lists as tables", function()
    local result = eval("society.agents()", "#society.agents()",
      'society.agent("planner").parent', "#society.activity() > 5",
      'society.messages{ agent = "planner", limit = 5 }')
    assert.equal(0, result.code, result.err)
    assert.matches("^ID +ROLE +PARENT +STATUS.-\nplanner +worker +root +idle.-\n3\n\"root\"\ntrue\n"
      .. "{}\n$", result.out)
  end)

  it("gives orders through the operations", function()
    local result = eval('society.dispatch("planner", { text = "Ada" }).payload.text',
      'society.pause("planner", { reason = "tea" }).status', 'society.agent("planner").status',
      'society.resume{ agent = "planner" }.count')
    assert.same({ 0, '"hello, Ada"\n"paused"\n"paused"\n1\n' }, { result.code, result.out })
  end)

  it("ends with 1 at the first refusal or error, and says what it was", function()
    local function expect(message, ...)
      local result = eval(...)
      assert.same({ 1, "" }, { result.code, result.out })
      assert.matches(message, result.err, 1, true)
    end
    expect("society: agent_not_found: ", 'society.agent("nobody")', "print('not reached')")
    expect("no parameter 'foo'; its parameters are ", "society.agents{ foo = 1 }")
    expect("repl:1: unexpected symbol near <eof>", "x =")
    expect("repl:1: attempt to index a nil value (global 'y')", "y.z = 1")
    expect("oops", 'error("oops", 0)')
    local result = eval('local a, err = society.agent("nobody") print(a, err.error)')
    assert.same({ 0, "nil\tagent_not_found\n" }, { result.code, result.out })
  end)

  it("reads lines from stdin, statements over several lines too", function()
    local result = place:shell("printf 'a = 1\\nfor i = 1, 2 do\\n  print(i + a)\\nend\\na\\n' | "
      .. "society repl")
    assert.same({ 0, "2\n3\n1\n", "" }, { result.code, result.out, result.err })
    assert.equal(1, place:shell("printf 'a =\\n\\n' | society repl").code)
  end)

  it("needs a society that runs", function()
    local result = place:run("repl --state elsewhere -e 1")
    assert.equal(1, result.code)
    assert.matches("no society is running in elsewhere, and repl needs one", result.err, 1, true)
  end)

  -- Types at the prompt of a repl; steps are "WAIT=TEXT".
  local function type_in(...)
    local words = {}
    for index, step in ipairs({ ... }) do
      words[index] = program.quote(step)
    end
    local client = place.program:match("^(.*)/[^/]+/society$")
      .. "/tests/support/terminal_client.py"
    return place:shell(("LC_ALL=C.UTF-8 XDG_STATE_HOME=$PWD/kept python3 %s %s -- %s repl"):format(
      program.quote(client), table.concat(words, " "), program.quote(place.program)))
  end

  it("on a terminal completes names and ids, and keeps a history", function()
    local first = type_in([[> =society.sta\t().agents\n]],
      [[\n3\r=]], [[> =society.agent("pla\t").role.id\n]],
      [[\n"worker"=]], [[> =society.dea\t]], [[d_letters=\t\x15\x04]])
    assert.equal(0, first.code, first.out)
    assert.matches("\n3\r\n", first.out, 1, true)
    assert.matches('\n"worker"\r\n', first.out, 1, true)
    assert.matches("d_letters", first.out, 1, true)
    assert.matches("society.agent%(\"planner\"%)%.role%.id", place:read("kept/society/history")
      :gsub("\\040", " "))
    assert.equal("600\n", place:shell("stat -c %a kept/society/history").out)
    -- The line before the last one, and an interrupt that gives up a line only.
    local second = type_in([[> =\x10\x10\n]],
      [[\n3\r=]], [[> =nonsense(]],
      [[nonsense(=\x03]], [[> =#"你好"\n]], [[\n6\r=]], [[> =os.exit(0)\n]])
    assert.equal(0, second.code, second.out)
    assert.matches("\n6\r\n", second.out, 1, true)
  end)
end)
