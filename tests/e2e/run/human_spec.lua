-- The person: at the terminal, and by commands.
--
-- Covers: core/bridge/terminal/terminal.c

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "-", constraints = {}, inputs = "-", outputs = "-",
  completion_criteria = "-" }
society.role { id = "clerk", behaviour = function(agent, message)
  if message.type == "decision" then
    print("later", message.payload.decision)
  else
    local answer, err = agent:escalate(message.payload)
    answer = answer or { decision = err.error }
    print(agent.id, answer.decision, answer.comment, answer.changes and answer.changes.limit)
    if answer.choice then print("chosen", answer.choice) end
  end
end }
society.root(function(root, message)
  if message.payload.text then
    print("root heard", message.payload.text)
    return
  end
  root:spawn_agent("clerk", BRIEF, { id = message.payload.id })
  root:send_message { to = message.payload.id, payload = message.payload.item }
end)
]]

local MAIN = [[
society.main(function(user)
  for i, item in ipairs({
    { title = "first", body = "line one\nline \27[31mtwo\u{9B}\u{202E}!", options = { "a", "b" } },
    { title = "second", priority = "urgent" },
    { title = "third\n[9] c9: forged", options = { "x\n[8] c8: forged" } },
  }) do
    user:send_message { to = "root", payload = { id = "c" .. i, item = item } }
  end
end)
]]

local rows = program.rows

describe("the person at the terminal", function()
  local place

  before_each(function() place = program.place() end)
  after_each(function() place:remove() end)

  -- Runs the app on a terminal of its own; each step is { what must be shown before, what is
  -- typed then }. Returns what was shown.
  local function talk(steps, app)
    place:write("app.lua", app or APP .. MAIN)
    local lines = { "seen() { timeout 300 sh -c 'until grep -qF \"$0\" shown; do sleep 0.01; done'"
      .. " \"$1\" || { echo \"$1\" > unseen; exit 1; }; }", ": > shown", ": > unseen" }
    lines[#lines + 1] = "{"
    for _, step in ipairs(steps) do
      lines[#lines + 1] = ("seen %s; echo %s"):format(program.quote(step[1]),
        program.quote(step[2]))
    end
    if steps.last then
      lines[#lines + 1] = "seen " .. program.quote(steps.last)
    end
    lines[#lines + 1] = "} | timeout 300 script -qefc " ..
      program.quote(place.program .. " run app.lua --log none") .. " shown > out"
    local result = place:shell(table.concat(lines, "\n"))
    assert.equal("", place:read("unseen"))
    return place:read("out"):gsub("\r", ""), result.code
  end

  it("decides by number, in any order, with confirmation", function()
    local shown, code = talk({
      { "third", "inbox" }, { "(urgent): second", "2 approve" },
      { "notified", "nonsense in between" },
      { "to root", "1 reject too expensive" },
      { "[1] reject", "3 modify not json" },
      { "as JSON", [[3 modify {"limit":10}]] },
    })
    assert.equal(0, code, shown)
    assert.matches("[1] c1: first\n    line one\n    line  [31mtwo  !\n    options: 1. a, 2. b",
      shown, 1, true)
    assert.matches("[3] c3: third [9] c9: forged\n    options: 1. x [8] c8: forged\n", shown, 1,
      true)
    assert.matches("c2\tapprove\tnil\tnil", shown, 1, true)
    assert.matches("c1\treject\ttoo expensive\tnil", shown, 1, true)
    assert.matches("c3\tmodify\tnil\t10", shown, 1, true)
    assert.matches("root heard\tnonsense in between", shown, 1, true)
  end)

  it("chooses an option by its number or its text", function()
    local shown, code = talk({
      { "third", "2 choose a" }, { "has no options", "1 choose" },
      { "or its number", "1 choose c" },
      { "one of the item's options", "1 choose 2" }, { "[1] approve b", "2 reject" },
      { "[2] reject", "3 reject" },
    })
    assert.equal(0, code, shown)
    assert.matches("c1\tapprove\tnil\tnil\nchosen\tb", shown, 1, true)
  end)

  it("is told what is not possible, and gets help", function()
    local shown, code = talk({
      { "third", "help" }, { "gatekeeper chooses", "9 approve" }, { "no item has", "1 approve" },
      { "[1] approve", "1 reject" }, { "already_decided", "1" },
      { "is already decided or", "2 approve" }, { "[2] approve", "3 approve" },
    })
    assert.equal(0, code, shown)
    assert.matches("N modify", shown, 1, true)
  end)

  it("does not send a mistyped decision as mail", function()
    local shown, code = talk({
      { "third", "1 aprove" }, { "nothing was sent; decide item 1", "2 approve" },
      { "[2] approve", "2 apples" }, { "to root", "7 pears" },
      { "root heard\t7 pears", "1 approve" }, { "[1] approve", "3 approve" },
    })
    assert.equal(0, code, shown)
    assert.matches("decide item 1 with approve, choose, reject or modify, for example: 1 approve",
      shown, 1, true)
    assert.is_nil(shown:find("root heard\t1 aprove", 1, true))
    assert.matches("root heard\t2 apples", shown, 1, true)
  end)

  it("sees the open items after a restart, and may end the input", function()
    place:write("app.lua", APP)
    local running = place:start_ready("run app.lua --quiet")
    place:run([[send --json-payload '{"id":"c1","item":{"title":"old one"}}']])
    running:expect("[inbox] c1 (normal): old one")
    running:kill("KILL")
    running:wait()
    local shown, code = talk({ { "[1] c1: old one", "1 approve still good" },
      last = "is notified" },
      APP .. [[
        society.main(function(user) user:sleep(100) end)
      ]])
    assert.equal(0, code, shown)
    assert.matches("c1\tapprove\tstill good", shown, 1, true)
  end)
end)

describe("the person by commands", function()
  local place, running

  local function start()
    running = place:start_ready("run app.lua --quiet --json")
  end

  local function stop()
    running:kill("INT")
    running:wait()
    running = nil
  end

  local function order(id, item)
    assert.equal(0, place:run("send --json-payload " ..
      program.quote(json.encode({ id = id, item = item }))).code)
  end

  local function inbox()
    return rows(place:run("inbox --json"))
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    start()
  end)

  after_each(function()
    if running then
      stop()
    end
    place:remove()
  end)

  it("is shown titles without bidirectional control characters", function()
    stop()
    running = place:start_ready("run app.lua --quiet")
    order("a", { title = "pay\u{202E}100\u{2066}\u{9B}1" })
    running:expect("[inbox] a (normal): pay 100  1")
    assert.matches("  pay 100  1  ", place:run("inbox").out, 1, true)
  end)

  it("lists the same items running and stopped, urgent ones first", function()
    order("a", { title = "one", priority = "low" })
    order("b", { title = "two", priority = "urgent", timeout_ms = 1, body = { n = 1 } })
    order("c", { title = "three", options = { "x" }, wait = false })
    program.wait_for("three items", function()
      local items = inbox()
      return #items == 3 and items[1].overdue
    end)
    local first = inbox()
    assert.same({ "two", "three", "one" }, { first[1].title, first[2].title, first[3].title })
    assert.is_true(first[1].overdue)
    assert.same({ n = 1 }, first[1].body)
    local text = place:run("inbox").out
    assert.matches("^ID +AGENT +PRIORITY +OVERDUE +TITLE", text)
    assert.equal(1, #rows(place:run("inspect inbox --agent a --json")))
    stop()
    assert.same(first, inbox())
    assert.equal(text, place:run("inbox").out)
    assert.equal(1, #rows(place:run("inbox --agent a --json")))
    assert.equal(2, #rows(place:run("inspect inbox --limit 2 --json")))
  end)

  it("decides once, running and stopped, and the agent continues", function()
    order("a", { title = "one" })
    order("b", { title = "two" })
    local items = program.wait_for("two items", function()
      local list = inbox()
      return #list == 2 and list
    end)
    local done = place:run(("decide %s approve --comment 'go on'"):format(items[1].id))
    assert.equal("approve: a has its answer\n", done.out)
    running:expect([["a\tapprove\tgo on\tnil"]])
    local again = place:run(("decide %s reject"):format(items[1].id))
    assert.equal(1, again.code)
    assert.matches("^society: already_decided: [^\n]+%(approve%)\n$", again.err)
    stop()
    local modify = ("decide %s modify"):format(items[2].id)
    assert.equal(1, place:run(modify).code)
    done = place:run(modify .. " --changes '{\"limit\":7}' --json")
    assert.same({ agent = "b", decision = "modify", delivered = true, item_id = items[2].id },
      rows(done)[1])
    assert.equal(1, place:run(("decide %s reject"):format(items[2].id)).code)
    assert.equal(1, place:run(("decide %s reject"):format(items[1].id)).code)
    assert.same({}, inbox())
    start()
    running:expect([["b\tmodify\tnil\t7"]])
  end)

  it("sends a decision nobody waits for as a message, even while the society is stopped", function()
    order("a", { title = "one", wait = false })
    local item = program.wait_for("an item", function() return inbox()[1] end)
    stop()
    assert.matches("^reject: sent to a as msg_%d+_%d+_%x+\n$",
      place:run(("decide %s reject"):format(item.id)).out)
    start()
    running:expect([["later\treject"]])
  end)

  it("reports errors in a decision", function()
    assert.equal(2, place:run("decide item_1 maybe").code)
    assert.equal(2, place:run("decide item_1 modify --changes '{'").code)
    assert.equal(2, place:run("decide item_1").code)
    local unknown = place:run("decide item_1 approve")
    assert.equal(1, unknown.code)
    assert.matches("^society: item_not_found: [^\n]+\n$", unknown.err)
    assert.equal(1, place:run("inbox --state none").code)
    assert.equal(1, place:run("decide item_1 approve --state none").code)
  end)

  it("keeps input without an address until a gatekeeper runs", function()
    assert.matches("^msg_", place:run("send hello").out)
    running:expect([["root heard\thello"]])
    stop()
    assert.matches("^msg_", place:run("send later").out)
    assert.matches("^msg_", place:run("send --to root directly").out)
    start()
    running:expect([["root heard\tlater"]])
    running:expect([["root heard\tdirectly"]])
  end)

  it("shows items as JSON and prints the number of open ones at the end", function()
    order("a", { title = "one" })
    running:expect([[{"inbox":{"agent":"a"]])
    stop()
    local other = place:start_ready("run app.lua")
    other:kill("INT")
    assert.matches("society: 1 undecided in the inbox; see: society inbox --state .society",
      other:wait().err, 1, true)
  end)
end)
