-- society attach: a person plays an outside agent.
--
-- Covers: core/main/program_workflow.c

local desk = require("desk")
local json = require("society.json")
local program = require("program")

local OUT = "channel/agents/a.out.jsonl"

describe("society attach", function()
  local d

  before_each(function()
    d = desk.open()
    d:tell({ command = "hire", id = "a" })
    d:await_status("a", "active")
  end)

  after_each(function()
    d:close()
  end)

  -- Sends a message to `a` and waits until it is in the queue: attach looks there before it
  -- reads what is typed.
  local function send(message)
    local queue = "channel/agents/a.jsonl"
    local before = #d:lines(queue)
    message.to = "a"
    d:tell({ command = "send", message = message })
    d:await(queue, before + 1)
  end

  -- Runs it with what is typed, until the end of the input. `before_end` is a shell command
  -- that the end waits for.
  local function attach(typed, options, before_end)
    return d.place:shell(("{ printf %s; %s; } | society attach %s w a"):format(
      program.quote((typed:gsub("%%", "%%%%"):gsub("\\", "\\\\"))), before_end or ":",
      options or ""))
  end

  it("shows messages, acks them and sends what is typed", function()
    send({ payload = "how far are you?" })
    local result = attach("half way\n")
    assert.equal("[1] root general: how far are you?\n", result.out)
    assert.equal("", result.err)
    assert.equal(0, result.code)
    assert.equal("half way", d:await_heard(1)[1].payload.text)
    local said = d:lines(OUT)[1]
    assert.equal(d:lines("channel/agents/a.jsonl")[1].id, said.reply_to)
    assert.equal("processed", d:lines("channel/agents/a.ack")[1].status)
    assert.is_string(d:read("state/heartbeat/a.ts"))
  end)

  it("does not show a message twice", function()
    send({ payload = "one" })
    d:tell({ command = "shout", text = "to all" })
    d:await("channel/broadcast.jsonl", 1)
    assert.matches("to all", attach("").out)
    send({ payload = "two" })
    assert.equal("[1] root general: two\n", attach("").out)
  end)

  it("shows no broadcast from before the agent was spawned", function()
    d:tell({ command = "shout_and_hire", id = "b" })
    d:tell({ command = "shout", text = "after" })
    d:await("channel/broadcast.jsonl", 2)
    d:await_status("b", "active")
    assert.equal("[1] root broadcast: after\n", d.place:run("attach w b").out)
  end)

  it("ends tasks and answers checkpoints", function()
    send({ type = "task_assign", payload = { task_id = "t1", topic = "auth" } })
    local result = attach("on it\n/done 1 it has layers\n")
    assert.equal('[1] root task_assign t1: {"task_id":"t1","topic":"auth"}\n', result.out)
    local heard = d:await_heard(2)
    assert.same({ "progress_update", "on it" }, { heard[1].type, heard[1].payload.text })
    assert.same({ "task_complete", "it has layers" }, { heard[2].type, heard[2].payload.output })
    local job = d.place:start(
      [[send --state st --to root --wait --json-payload '{"command":"check","agents":["a"]}']])
    d:await("channel/agents/a.jsonl", 2)
    attach("ready\n")
    assert.equal("ready", json.decode(job:wait().out).responses.a.text)
  end)

  it("shows a task again until it is done", function()
    send({ type = "task_assign", payload = { task_id = "t1" } })
    local shown = '[1] root task_assign t1: {"task_id":"t1"}\n'
    assert.equal(shown, attach("").out)
    d:await_event("acked")
    assert.equal(shown, attach("on it\n").out)
    assert.equal(shown, attach("/done\n").out)
    assert.equal("task_complete", d:await_heard(2)[2].type)
    assert.equal("", attach("").out)
    send({ type = "task_assign", payload = { task_id = "t2" } })
    attach("/fail not today\n")
    d:await_heard(3)
    assert.equal("", attach("").out)
  end)

  it("ends a line that was left without its newline", function()
    local ACK = "channel/agents/a.ack"
    d:append(OUT, '{"payl')
    d:append(ACK, '{"msg_id":"')
    send({ payload = "go on" })
    attach("I do\n")
    assert.equal("I do", d:await_heard(1)[1].payload.text)
    local lines = d:lines(ACK)
    assert.same({ 2, false, "processed" }, { #lines, lines[1], lines[2].status })
    lines = d:lines(OUT)
    assert.same({ 2, false, "I do" }, { #lines, lines[1], lines[2].payload })
  end)

  it("writes to others and explains what can be typed", function()
    local result = attach("@root hello\n/dance\n/done 7\n/done\nto whom it may concern\n")
    local heard = d:await_heard(2)
    assert.same({ "hello", "to whom it may concern" },
      { heard[1].payload.text, heard[2].payload.text })
    assert.matches("attach: type TEXT, @ID TEXT, /reply N TEXT,", result.err, 1, true)
    assert.matches("attach: there is no message 7\n", result.err, 1, true)
    assert.matches("attach: no message has been shown yet\n", result.err, 1, true)
  end)

  it("reports refused lines, also at the end of the input", function()
    d:tell({ command = "hire", id = "inner", role = "clerk" })
    assert.equal("society: attach: refused: the sender does not know the receiver " ..
      "(unknown_contact, to inner)\n", attach("@inner hello\n", nil,
      "until [ -s w/logs/errors.jsonl ]; do sleep 0.01; done").err)
    assert.equal("", attach("@root hello\n").err) -- an old refusal is not reported again
  end)

  it("does not show an aborted task", function()
    send({ type = "task_assign", payload = { task_id = "t1" } })
    assert.matches("task_assign t1", attach("").out, 1, true)
    send({ type = "abort", payload = { task_id = "t1" } })
    send({ type = "task_assign", payload = { task_id = "t2" } })
    local out = attach("").out
    assert.matches('^%[1%] root abort t1: [^\n]*\n%[2%] root task_assign t2: [^\n]*\n$', out)
    assert.matches('^%[1%] root task_assign t2: [^\n]*\n$', attach("").out)
  end)

  it("sends nothing if there is nothing to say", function()
    send({ payload = "how far are you?" })
    local result = attach("/reply 1\n/reply 1  \n@ \n@root\n@ root hello\n")
    assert.is_nil(d:read(OUT))
    local _, replies = result.err:gsub("/reply N TEXT needs a text\n", "")
    local _, letters = result.err:gsub("@ID TEXT needs an id and a text\n", "")
    assert.same({ 2, 3 }, { replies, letters })
  end)

  it("strips terminal control sequences, and prints envelopes with --json", function()
    send({ payload = "\27[2Jred\194\155x\u{202E}y\nnext" })
    assert.equal("[1] root general: ?[2Jred?x?y\n    next\n", attach("").out)
    send({ payload = "two" })
    assert.equal("two", json.decode(attach("", "--json").out).payload.text)
  end)

  it("refuses unknown directories and agents", function()
    assert.matches("b is not registered in w/state/agents.json",
      d.place:run("attach w b").err, 1, true)
    assert.equal(1, d.place:run("attach nowhere a").code)
    assert.equal(1, d.place:run("attach w ../a").code)
    assert.equal(2, d.place:run("attach w").code)
  end)
end)
