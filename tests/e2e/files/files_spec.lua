-- The file door as outside agents see it: real files, a real process.
--
-- Covers: core/bridge/files/inlet.c, core/bridge/files/clients.c, core/bridge/files/state.c

local desk = require("desk")
local json = require("society.json")
local program = require("program")

local QUEUE = "channel/agents/a.jsonl"
local ACK = "channel/agents/a.ack"
local OUT = "channel/agents/a.out.jsonl"
local COMMON = "channel/orchestrator.jsonl"

describe("the file door", function()
  local d

  local function open(settings)
    d = desk.open(settings)
    d:tell({ command = "hire", id = "a" })
  end

  -- Lets root do something that takes a while; wait() of the result has its reply.
  local function begin(payload)
    return d.place:start("send --state st --to root --wait --json-payload "
      .. program.quote(json.encode(payload)))
  end

  local LADDER = { retry_delay_ms = 50 }

  after_each(function()
    d:close()
  end)

  it("registers an agent: its queue, agents.json, status.json", function()
    open({ workflow_id = "research_1", perspectives = { a = "structure" } })
    local registry = program.wait_for("agents.json", function()
      local text = d:read("state/agents.json")
      local all = text and json.decode(text)
      return all and all.agents.a and all
    end)
    assert.equal("research_1", registry.workflow_id)
    assert.matches("^%d%d%d%d%-%d%d%-%d%dT.*Z$", registry.created_at)
    assert.equal("structure", registry.agents.a.perspective)
    assert.equal("active", registry.agents.a.status)
    assert.matches("Z$", registry.agents.a.started_at)
    assert.equal("", d:read(QUEUE))
    local status = json.decode(d:read("state/status.json"))
    assert.equal("idle", status.a.status)
    assert.equal("0%", status.a.load)
    d:await_event("registered")
  end)

  it("hands out a task, accepts acks of both forms and the result", function()
    open({ ack = LADDER })
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1", topic = "auth" } } })
    local message = d:await(QUEUE, 1)[1]
    assert.same({ "root", "a", "task_assign", true, 1 },
      { message.from, message.to, message.type, message.requires_ack, message.attempt })
    assert.equal("auth", message.payload.topic)
    d:put(ACK, { msg_id = message.id, status = "received", at = "2025-01-25T14:30:25.123Z" })
    d:put(ACK, { id = "ack_1", ack_for = message.id, from = "a", status = "processed",
      timestamp = "2025-01-25T14:30:25.123Z" })
    d:put(COMMON, { id = "own-1", from = "a", to = "orchestrator", type = "task_complete",
      payload = { task_id = "t1", status = "done", output = "well" } })
    local heard = d:await_heard(1)[1]
    assert.same({ "a", "task_complete", "well", "own-1" },
      { heard.from, heard.type, heard.payload.output, heard.external_id })
    assert.is_nil(d:read("logs/errors.jsonl"))
    d:outwait_acks("a")
    assert.equal(1, d:deliveries("a", message.id))
  end)

  for _, form in ipairs({ "msg_id", "ack_for" }) do
    it("stops the ladder at an ack by " .. form, function()
      open({ ack = LADDER })
      d:tell({ command = "send", message = {
        to = "a", type = "task_assign", payload = { task_id = "t1" } } })
      local id = d:await(QUEUE, 1)[1].id
      d:put(ACK, { [form] = id, status = "received", from = "a" })
      assert.equal("received", d:await_event("acked").detail.status)
      d:outwait_acks("a")
      assert.equal(1, d:deliveries("a", id))
    end)
  end

  it("carries a request and its reply", function()
    open()
    local job = begin({ command = "ask", message = { to = "a", payload = "are you there?" } })
    local message = d:await(QUEUE, 1)[1]
    assert.equal("are you there?", message.payload.text)
    assert.is_nil(message.wants_reply) -- SPEC §2 has no such member
    d:put(OUT, { reply_to = message.id, payload = "yes" })
    assert.same({ from = "a", payload = { text = "yes" } }, json.decode(job:wait().out))
    job = begin({ command = "ask", message = { to = "a", payload = "and now?", timeout_ms = 200 } })
    assert.equal("timeout", json.decode(job:wait().out).error)
    d:put(OUT, { reply_to = d:await(QUEUE, 2)[2].id, payload = "too late" })
    d:await_event("refused", "logs/errors.jsonl")
    for _, said in ipairs(d:heard()) do
      assert.not_equal("too late", said.payload and said.payload.text)
    end
  end)

  it("carries checkpoints, whose answer counts as the ack", function()
    open({ ack = LADDER })
    local job = begin({ command = "check", agents = { "a" } })
    local message = d:await(QUEUE, 1)[1]
    assert.equal("checkpoint_request", message.type)
    d:put(COMMON, { from = "a", type = "checkpoint_response", payload = {
      checkpoint_id = message.payload.checkpoint_id, text = "ready" } })
    local result = json.decode(job:wait().out)
    assert.equal("ready", result.responses.a.text)
    assert.same({}, result.missing)
    d:outwait_acks("a")
    assert.equal(1, d:deliveries("a", message.id))
  end)

  it("writes a broadcast once, however many read it", function()
    open()
    d:tell({ command = "hire", id = "b" })
    d:tell({ command = "shout", text = "hello" })
    d:tell({ command = "shout", text = "again" })
    local lines = d:await("channel/broadcast.jsonl", 2)
    assert.same({ "hello", "again", "All" },
      { lines[1].payload.text, lines[2].payload.text, lines[1].to })
    d:kill()
    d:tell({ command = "shout", text = "later" })
    d:tell({ command = "send", message = { to = "b", payload = "last" } })
    d:await("channel/agents/b.jsonl", 1)
    assert.equal(3, #d:await("channel/broadcast.jsonl", 3))
  end)

  it("says from which broadcast on an agent is a reader", function()
    open()
    d:tell({ command = "shout_and_hire", id = "b" })
    d:tell({ command = "shout", text = "after" })
    local lines = d:await("channel/broadcast.jsonl", 2)
    local from = d:await_status("b", "active").broadcasts_from
    assert.same({ true, true }, { lines[1].id < from, from <= lines[2].id })
    assert.is_true(d:await_status("a", "active").broadcasts_from <= lines[1].id)
    d:kill()
    d:tell({ command = "hire", id = "c" })
    d:await_status("c", "active")
    assert.equal(from, d:await_status("b", "active").broadcasts_from)
  end)

  it("sends an abort to the agent at work", function()
    open()
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    d:tell({ command = "send", message = {
      to = "a", type = "abort", payload = { task_id = "t1", reason = "enough" } } })
    local message = d:await(QUEUE, 2)[2]
    assert.same({ "abort", true }, { message.type, message.requires_ack })
  end)

  it("accepts only names of outside agents in the shared file", function()
    open()
    d:tell({ command = "hire", id = "c", role = "clerk" })
    for _, name in ipairs({ "root", "user", "system", "c", "nobody", "../a", "orchestrator" }) do
      d:put(COMMON, { from = name, to = "root", payload = "forged" })
    end
    d:put(COMMON, { to = "root", payload = "nobody's" })
    d:put(COMMON, { from = "a", to = "root", payload = "mine" })
    assert.equal("mine", d:await_heard(1)[1].payload.text)
    local refused = d:lines("logs/errors.jsonl")
    assert.equal(8, #refused)
    for _, line in ipairs(refused) do
      assert.same({ "warn", "refused", COMMON }, { line.level, line.event, line.detail.file })
    end
    assert.equal(1, #d:heard())
  end)

  it("takes the owner of an agent's file as the sender", function()
    open()
    d:put(OUT, { from = "root", to = "root", payload = "mine" })
    assert.same({ "a", "mine" }, { d:await_heard(1)[1].from, d:heard()[1].payload.text })
  end)

  it("hears an agent of another user, who can speak for nobody else", function()
    local probe = program.place()
    local is_root = probe:shell("[ $(id -u) = 0 ] && setpriv --reuid nobody true").code == 0
    probe:remove()
    if not is_root then
      d = { close = function() end }
      return -- only root can act as two users
    end
    open({ directory_mode = "0711", file_mode = "0644" })
    d.place:shell("chmod 711 . && touch w/" .. OUT .. " && chown nobody w/" .. OUT)
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    local id = d:await(QUEUE, 1)[1].id
    local result = d.place:shell(([[setpriv --reuid nobody --clear-groups sh -c '
      grep -q task_assign w/%s || exit 1
      echo "{\"from\":\"a\",\"payload\":\"x\"}" >> w/%s && exit 2
      echo "{\"msg_id\":\"%s\",\"status\":\"received\"}" >> w/%s || exit 3
      echo "{\"payload\":\"mine\"}" >> w/%s']]):format(QUEUE, COMMON, id, OUT, OUT))
    assert.equal(0, result.code, result.err)
    assert.equal("mine", d:await_heard(1)[1].payload.text)
    assert.equal(id, d:await_event("acked").message_id)
  end)

  it("resends the messages of an unresponsive agent when told to restart it", function()
    open({ ack = { timeout_ms = 100, retry_delay_ms = 20, max_retries = 1 } })
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    d:await_status("a", "unresponsive")
    d:tell({ command = "resolve", id = "a", action = "restart" })
    local lines = d:await(QUEUE, 2)
    assert.same({ lines[1].id, 2 }, { lines[2].id, lines[2].attempt })
  end)

  it("lets an agent write only to its contacts", function()
    open()
    d:tell({ command = "hire", id = "c", role = "clerk" })
    d:put(OUT, { to = "c", payload = "hello" })
    local line = d:await_event("refused", "logs/errors.jsonl")
    assert.equal("unknown_contact", line.detail.reason.error)
  end)

  it("works by polling alone if told to", function()
    open({ polling = { force = true, interval_ms = 50, max_interval_ms = 200 } })
    d:tell({ command = "send", message = { to = "a", payload = "x" } })
    d:put(COMMON, { from = "a", payload = "one" })
    assert.equal("one", d:await_heard(1)[1].payload.text)
    d:pass(500)
    d:put(OUT, { payload = "two" })
    assert.equal("two", d:await_heard(2)[2].payload.text)
  end)

  it("climbs the ladder in real time, and stops at a heartbeat", function()
    open({ ack = { timeout_ms = 150, retry_delay_ms = 50 } })
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    local lines = d:await(QUEUE, 3)
    assert.same({ 1, 2, 3 }, { lines[1].attempt, lines[2].attempt, lines[3].attempt })
    assert.equal(lines[1].id, lines[3].id)
    assert.equal("alert", d:await_heard(1)[1].type)
    d:await_event("unresponsive", "logs/errors.jsonl")
    d:await_status("a", "unresponsive")
    d:append("state/heartbeat/a.ts", os.date("!%Y-%m-%dT%H:%M:%SZ\n"))
    d:await_event("responsive")
    d:await_status("a", "active")
    d:put(ACK, { msg_id = lines[1].id, status = "processed" })
    d:await_event("acked")
  end)

  it("delivers nothing after its time to live", function()
    open({ polling = { interval_ms = 50, max_interval_ms = 100 } })
    d:await_event("registered")
    local queue = program.quote(d.place.path .. "/w/" .. QUEUE)
    os.execute(("ln -s /dev/null %s.new && mv -T %s.new %s"):format(queue, queue, queue))
    d:tell({ command = "send", message = { to = "a", payload = "late", ttl_seconds = 0.2 } })
    d:tell({ command = "send", message = { to = "a", payload = "in time", ttl_seconds = 60 } })
    d:await_event("write_failed", "logs/errors.jsonl")
    d:pass(400)
    os.execute("rm " .. queue)
    assert.equal("in time", d:await(QUEUE, 1)[1].payload.text)
    d:tell({ command = "send", message = { to = "a", payload = "last" } })
    assert.equal("last", d:await(QUEUE, 2)[2].payload.text)
  end)

  it("accepts a list of receivers, and delivers to each once", function()
    open()
    d:put(OUT, { id = "1", to = { "root", "orchestrator", "nobody" }, payload = "hello" })
    d:put(OUT, { payload = "last" })
    local heard = d:await_heard(2)
    assert.same({ "hello", "last" }, { heard[1].payload.text, heard[2].payload.text })
    assert.equal("agent_not_found",
      d:await_event("refused", "logs/errors.jsonl").detail.reason.error)
  end)

  it("forgets a terminated agent", function()
    open()
    d:tell({ command = "end_agent", id = "a" })
    d:await_status("a", "stopped")
    d:kill()
    d:tell({ command = "hire", id = "b" })
    d:await_status("b", "active")
    d:await_status("a", "stopped")
    d:put(COMMON, { from = "a", payload = "am I still there?" })
    d:await_event("refused", "logs/errors.jsonl")
    assert.equal(0, #d:heard())
  end)
end)
