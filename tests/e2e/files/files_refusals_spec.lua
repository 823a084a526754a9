-- What the file door refuses, and how it reports it.

local desk = require("desk")
local program = require("program")

local QUEUE = "channel/agents/a.jsonl"
local ACK = "channel/agents/a.ack"
local OUT = "channel/agents/a.out.jsonl"
local ERRORS = "logs/errors.jsonl"

describe("the file door", function()
  local d

  local function open(settings)
    d = desk.open_with_agent(settings)
  end

  after_each(function()
    d:close()
  end)

  it("refuses a whole line with too many receivers, or none", function()
    open()
    local many = {}
    for i = 1, 1001 do
      many[i] = "root"
    end
    d:put(OUT, { to = many, payload = "to many" })
    d:append(OUT, '{"to":[ ],"payload":"to nobody"}\n{"to":[],"payload":"to nobody"}\n')
    many[1001] = nil
    d:put(OUT, { to = many, payload = "last" })
    assert.equal("last", d:await_heard(1)[1].payload.text)
    local errors = d:lines(ERRORS)
    assert.equal(3, #errors)
    for _, line in ipairs(errors) do
      assert.equal("'to' must be an agent's id or a list of 1 to 1000 ids", line.detail.reason)
    end
  end)

  it("accepts any payload that a script may send, and refuses a line without one", function()
    open()
    d:append(OUT, '{"payload":null}\n{"id":"none"}\n')
    d:append(OUT, '{"payload":5}\n{"payload":[1,2]}\n{"payload":true}\n{"payload":"x"}\n')
    local heard = d:await_heard(4)
    assert.same({ 5, { 1, 2 }, true, { text = "x" } }, { heard[1].payload, heard[2].payload,
      heard[3].payload, heard[4].payload })
    assert.equal(2, d:count("malformed_line"))
    for _, line in ipairs(d:lines(ERRORS)) do
      assert.equal("a message needs a payload", line.detail.reason)
    end
  end)

  it("identifies the line it refuses", function()
    open()
    d:put("channel/orchestrator.jsonl", { id = "q1", from = "root", payload = "x" })
    local told = d:await_event("refused", ERRORS).detail
    assert.same({ "root", "q1" }, { told.from, told.id })
    d:put(OUT, { id = "q2", to = "nobody", payload = "x" })
    d:put(OUT, { id = "q3", priority = 7, payload = "x" })
    assert.equal("q3", d:await_event("malformed_line", ERRORS).detail.id)
    assert.equal("q2", d:lines(ERRORS)[2].detail.id)
  end)

  it("logs each condition once where the society runs", function()
    open()
    d:put(OUT, { to = "nobody", payload = "x" })
    d:append(OUT, "no JSON\n")
    d:await_event("malformed_line", ERRORS)
    d:await_event("refused", ERRORS)
    d.running:expect("agent_not_found")
    d.running:expect("malformed_line")
    local _, refused = d.running:err():gsub("agent_not_found", "")
    local _, malformed = d.running:err():gsub("malformed_line", "")
    assert.same({ 1, 1 }, { refused, malformed })
  end)

  it("logs once that a log is a link", function()
    open()
    d.place:shell("ln -s /tmp/nowhere w/" .. ERRORS)
    for i = 1, 3 do
      d:append(OUT, "no JSON\n")
      program.wait_for("the event", function()
        return d:count("malformed_line", "logs/events.jsonl") == i
      end)
    end
    local _, times = d.running:err():gsub("errors.jsonl: a link", "")
    assert.equal(1, times)
  end)

  it("refuses an ack of another agent's message", function()
    open()
    d:tell({ command = "hire", id = "b" })
    d:assign(1)
    local id = d:await(QUEUE, 1)[1].id
    d:kill()
    d:put("channel/agents/b.ack", { msg_id = id, status = "processed" })
    local told = d:await_event("refused", ERRORS)
    assert.same({ "b", "that message went to another agent" },
      { told.agent, told.detail.reason.message })
    d:put(ACK, { msg_id = id, status = "processed" })
    assert.equal(id, d:await_event("acked").message_id)
    d:put("channel/agents/b.ack", { msg_id = id, status = "processed" })
    program.wait_for("the second refusal", function()
      return d:count("refused") == 2
    end)
    d:kill() -- the files remember finished messages
    d:put("channel/agents/b.ack", { msg_id = id, status = "processed" })
    program.wait_for("the third refusal", function()
      return d:count("refused") == 3
    end)
    assert.equal(1, d:count("acked", "logs/events.jsonl"))
  end)

  it("does not report an unknown ack as accepted", function()
    open()
    d:assign(1)
    d:tell({ command = "hire", id = "b" })
    d:assign(2)
    local first, later = table.unpack(d:await(QUEUE, 2)) -- correlated to what user told root
    d:kill()
    d:put("channel/agents/b.ack", { msg_id = first.correlation_id, status = "processed" })
    assert.matches("no message with that id went to this agent",
      d:await_event("refused", ERRORS).detail.reason.message, 1, true)
    d:put("channel/agents/b.ack", { msg_id = later.correlation_id, status = "processed" })
    assert.equal(later.correlation_id, d:await_event("ack_unknown").message_id)
    assert.equal(0, d:count("acked", "logs/events.jsonl"))
  end)

  it("refuses a reply to a message the agent never got", function()
    open()
    d:tell({ command = "hire", id = "b" })
    d:assign(1)
    local id = d:await(QUEUE, 1)[1].id
    d:put(OUT, { reply_to = "msg_none", payload = "x" })
    d:put(OUT, { reply_to = "msg_20260101_000000_000000000fffffff", payload = "x" })
    d:put("channel/agents/b.out.jsonl", { reply_to = id, payload = "x" })
    local reasons = {}
    for i, line in ipairs(d:await(ERRORS, 3)) do
      reasons[i] = line.detail.reason.message
    end
    table.sort(reasons)
    assert.same({ "no message with that id went to this agent",
      "no message with that id went to this agent",
      "that message went to another agent" }, reasons)
    assert.same({}, d:heard())
  end)

  -- Only root can act as two users.
  local function may_chown()
    local probe = program.place()
    local is_root = probe:shell("touch x && chown nobody x").code == 0
    probe:remove()
    return is_root
  end

  it("protects the name of an agent whose file belongs to another user", function()
    open({ directory_mode = "0711", file_mode = "0644" })
    if not may_chown() then
      return
    end
    local function shell(command)
      assert.equal(0, d.place:shell(command).code)
    end
    shell("touch w/" .. OUT .. " && chown nobody w/" .. OUT)
    d:assign(1)
    local id = d:await(QUEUE, 1)[1].id
    d:put("channel/orchestrator.jsonl", { from = "a", id = "i1", payload = "not a" })
    d:put("channel/orchestrator.jsonl", { from = "a", msg_id = id, status = "processed" })
    d:put(ACK, { msg_id = id, status = "processed" })
    d:put(OUT, { payload = "a itself" })
    assert.equal("a itself", d:await_heard(1)[1].payload.text)
    program.wait_for("three refusals", function()
      return d:count("refused") == 3
    end)
    local told = d:lines(ERRORS)[1].detail
    assert.same({ "channel/orchestrator.jsonl", "i1" }, { told.file, told.id })
    assert.matches("another user", told.reason, 1, true)
    assert.equal(0, d:count("acked", "logs/events.jsonl"))
    shell("cp w/" .. OUT .. " x && rm w/" .. OUT .. " && mv x w/" .. OUT)
    d:put(OUT, { payload = "put in its place" })
    program.wait_for("another refusal", function()
      return d:count("refused") == 4
    end)
    shell("rm w/" .. ACK .. " && touch w/" .. ACK .. " && chown nobody w/" .. ACK)
    -- Other bytes than those that were refused: the same ones in the same place are the
    -- same line.
    d:put(ACK, { msg_id = id, status = "processed", detail = "by a itself" })
    d:await_event("acked")
    assert.equal(1, #d:heard())
  end)

  it("lets agents of several users trust each other where all may write", function()
    open({ directory_mode = "0777", file_mode = "0666" })
    if not may_chown() then
      return
    end
    d.place:shell("touch w/" .. OUT .. " && chown nobody w/" .. OUT)
    d:assign(1)
    d:put("channel/orchestrator.jsonl", { from = "a", payload = "hello" })
    d:put(ACK, { msg_id = d:await(QUEUE, 1)[1].id, status = "processed" })
    d:await_heard(1)
    d:await_event("acked")
    assert.is_nil(d:read(ERRORS))
  end)

  it("skips a line whose requires_ack is not a boolean", function()
    open()
    d:append(OUT, '{"id":"1","payload":"x","requires_ack":"yes"}\n')
    d:append(OUT, '{"id":"2","payload":"x","requires_ack":1}\n')
    d:append(OUT, '{"id":"3","payload":"last","requires_ack":true}\n')
    assert.equal("last", d:await_heard(1)[1].payload.text)
    assert.same({ 2, "1" }, { d:count("malformed_line"), d:lines(ERRORS)[1].detail.id })
    assert.matches("'requires_ack'", d:lines(ERRORS)[1].detail.reason, 1, true)
  end)

  it("accepts the trace that a line names, and no other value for one", function()
    open()
    local trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    d:put(OUT, { payload = "x", traceparent = 7 })
    d:put(OUT, { payload = "y", traceparent = trace })
    local heard = d:await_heard(1)[1]
    assert.same({ "y", trace }, { heard.payload.text, heard.traceparent })
    assert.matches("'traceparent'", d:await_event("malformed_line", ERRORS).detail.reason, 1, true)
  end)

  it("accepts integers beyond 64 bits, and refuses a number that no double can hold", function()
    open()
    d:append(OUT, '{"payload":{"n":18446744073709551616,"text":"large"}}\n'
      .. '{"payload":{"n":1e999}}\n{"payload":"last"}\n')
    local heard = d:await_heard(2)
    assert.equal("large", heard[1].payload.text)
    assert.equal(2.0 ^ 64, heard[1].payload.n)
    assert.equal("last", heard[2].payload.text)
    assert.equal(1, d:count("malformed_line"))
  end)

  it("accepts the content of a line whose payload is null", function()
    open()
    d:append(OUT, '{"payload":null,"content":"hello"}\n')
    assert.equal("hello", d:await_heard(1)[1].payload.text)
  end)

  it("refuses and logs what a terminated agent says", function()
    open()
    d:tell({ command = "end_agent", id = "a" })
    d:await_status("a", "stopped")
    d:put(OUT, { id = "q1", payload = "am I still there?" })
    local told = d:await_event("refused", ERRORS)
    assert.same({ "a", OUT, "q1" }, { told.agent, told.detail.file, told.detail.id })
    assert.matches("has ended", told.detail.reason, 1, true)
    assert.equal(0, #d:heard())
  end)
end)
