-- What the file door guarantees about its files while somebody else interferes with them.

local desk = require("desk")
local json = require("society.json")
local program = require("program")

local QUEUE = "channel/agents/a.jsonl"
local ACK = "channel/agents/a.ack"
local OUT = "channel/agents/a.out.jsonl"
local ERRORS = "logs/errors.jsonl"

describe("the file door", function()
  local d

  local function open(settings, prepare, environment)
    d = desk.open_with_agent(settings, prepare, environment)
  end

  local function shell(command)
    local result = d.place:shell(command)
    assert.equal(0, result.code, result.err)
  end

  after_each(function()
    d:close()
  end)

  it("recognises the same bytes in the same place, after truncation or removal", function()
    open()
    local line = '{"payload":"one"}\n'
    d:append(OUT, line)
    d:await_heard(1)
    shell(": > w/" .. OUT)
    d:await_event("file_truncated", ERRORS)
    d:append(OUT, line)
    local told = d:await_event("duplicate", ERRORS)
    assert.same({ OUT, 0 }, { told.detail.file, told.detail.offset })
    shell("rm w/" .. OUT)
    d:await_event("file_removed", ERRORS)
    d:append("back", line)
    shell("mv w/back w/" .. OUT) -- in one step: a file is empty before it is written
    d:await_event("file_returned", ERRORS)
    d:append(OUT, line)
    assert.equal("one", d:await_heard(2)[2].payload.text) -- in another place it is another line
    d:append("channel/orchestrator.jsonl", '{"from":"a","payload":"one"}\n')
    d:await_heard(3)
    assert.equal(3, #d:heard())
  end)

  it("reports a line that has become too long immediately, once", function()
    open()
    d:append(OUT, ("x"):rep(8 << 20))
    assert.same({ OUT, 0 }, { d:await_event("line_too_long", ERRORS).detail.file,
      d:await_event("line_too_long", ERRORS).detail.offset })
    d:append(OUT, ("x"):rep(8 << 20))
    d:append(OUT, '\n{"payload":"after"}\n')
    assert.equal("after", d:await_heard(1)[1].payload.text)
    assert.equal(1, #d:lines(ERRORS))
  end)

  for _, name in ipairs({ "w/channel/agents", "w" }) do
    it("continues when " .. name .. " is moved away", function()
      open({ polling = { interval_ms = 50, max_interval_ms = 100 } })
      d:assign(1)
      local first = d:await(QUEUE, 1)[1]
      shell("mv " .. name .. " away")
      local told = program.wait_for("the note", function()
        return d:read(ERRORS) and d:await_event("directory_replaced", ERRORS)
      end)
      assert.matches("moved", told.detail.reason, 1, true)
      assert.equal(first.id, d:await(QUEUE, 1)[1].id)
      d:await_status("a", "active")
      d:put(ACK, { msg_id = first.id, status = "processed" })
      d:put(OUT, { payload = "here" })
      assert.equal("here", d:await_heard(1)[1].payload.text)
      d:await_event("acked")
      d:assign(2)
      assert.equal("t2", d:await(QUEUE, 2)[2].task_id)
    end)
  end

  it("removes what retention does not keep from its archive, and nothing else", function()
    d = desk.open(nil, "mkdir -p w/archive/flow.1/logs && cd w/archive && "
      .. "echo old > flow.1/logs/events.jsonl && echo new > new.jsonl && "
      .. "touch -d '3 days ago' flow.1/logs/events.jsonl", nil, "--set retention_days=2")
    program.wait_for("the old file to be removed", function()
      return d.place:shell("ls w/archive").out == "new.jsonl\n"
    end)
    assert.equal(1, d:await_event("archive_pruned").detail.files)
  end)

  it("removes the oldest of an archive that is larger than retention lets it be", function()
    d = desk.open(nil, "mkdir -p w/archive && cd w/archive && for name in old middle new; do "
      .. "head -c 2000000 /dev/zero > $name.jsonl; done && touch -d '3 hours ago' old.jsonl && "
      .. "touch -d '2 hours ago' middle.jsonl", nil, "--set retention_mb=5")
    program.wait_for("the oldest file to be removed", function()
      return d.place:shell("ls w/archive").out == "middle.jsonl\nnew.jsonl\n"
    end)
    assert.equal(1, d:await_event("archive_pruned").detail.files)
    assert.equal("middle.jsonl\nnew.jsonl\n", d.place:shell("ls w/archive").out)
  end)

  it("leaves its archive alone without retention", function()
    d = desk.open(nil, "mkdir -p w/archive && touch -d '99 days ago' w/archive/old.jsonl")
    d:tell({ command = "hire", id = "a" })
    d:await_event("registered")
    assert.equal("old.jsonl\n", d.place:shell("ls w/archive").out)
  end)

  it("locks its directory until it is killed", function()
    open()
    d:assign(1)
    local first = d:await(QUEUE, 1)[1]
    local other = d.arguments:gsub("--state st", "--state st2")
    local result = d.place:run(other)
    assert.equal(1, result.code)
    local _, lines = result.err:gsub("\n", "")
    assert.equal(1, lines, result.err)
    assert.matches("files: w: another society uses it %(process %d+ since [%d-]+T[^)]+%); " ..
      "choose another directory by files%.dir", result.err)
    assert.equal("", d.place:shell("ls w/archive").out)
    assert.equal(first.id, d:lines(QUEUE)[1].id)
    assert.equal("600\n", d.place:shell("stat -c %a w/.lock").out)
    d:put(OUT, { payload = "still here" })
    d:await_heard(1)
    d:kill("KILL", true)
    local second = d.place:start(other)
    program.wait_for("the second to run", function()
      return d.place:shell("test -S st2/socket").code == 0
    end)
    result = d.place:run(d.arguments)
    assert.matches("another society uses it", result.err, 1, true)
    second:kill("KILL")
    second:wait()
    d:start()
  end)

  it("locks the directory that replaces its own", function()
    open({ polling = { interval_ms = 50, max_interval_ms = 100 } })
    shell("mv w away")
    program.wait_for("the note", function()
      return d:read(ERRORS) and d:await_event("directory_replaced", ERRORS)
    end)
    local other = d.arguments:gsub("--state st", "--state st2")
    assert.matches("another society uses it", d.place:run(other).err, 1, true)
    shell("rm w/.lock")
    program.wait_for("another lock", function()
      return d.place:shell("test -s w/.lock").code == 0
    end)
    assert.matches("another society uses it", d.place:run(other).err, 1, true)
  end)

  it("reports a lost directory, and uses it again when it is back", function()
    open({ polling = { force = true, interval_ms = 300, max_interval_ms = 300 } })
    d:at_once(function() -- in between the society would create another directory
      shell("mv w/channel/agents away && ln -s /tmp w/channel/agents")
    end)
    assert.matches("not a directory",
      d:await_event("directory_lost", ERRORS).detail.reason, 1, true)
    d:pass(400)
    d:at_once(function()
      shell("rm w/channel/agents && mv away w/channel/agents")
    end)
    d:put(OUT, { payload = "here" })
    d:await_heard(1)
    assert.equal(1, d:count("directory_lost"))
  end)

  it("skips a byte order mark", function()
    open()
    d:append(OUT, '\239\187\191{"payload":"first"}\r\n')
    assert.equal("first", d:await_heard(1)[1].payload.text)
    d:append("channel/orchestrator.jsonl", '\239\187\191\n{"from":"a","payload":"second"}\n')
    assert.equal("second", d:await_heard(2)[2].payload.text)
    assert.is_nil(d:read(ERRORS))
  end)

  it("warns about a directory that lets others in", function()
    open({}, "mkdir w && chmod 777 w")
    assert.matches("0777", d:await_event("open_directory", ERRORS).detail.reason, 1, true)
    d:close()
    open({ directory_mode = "0777" }, "mkdir w && chmod 777 w")
    assert.equal(0, d:count("open_directory"))
  end)

  it("lets everybody ack a broadcast, also after a restart", function()
    open()
    d:tell({ command = "shout", text = "hello" })
    local id = d:await("channel/broadcast.jsonl", 1)[1].id
    d:put(ACK, { msg_id = id, status = "processed" })
    d:await_event("acked")
    d:kill()
    d:put(ACK, { msg_id = id, status = "processed" })
    program.wait_for("the second ack", function()
      return d:count("acked", "logs/events.jsonl") == 2
    end)
    assert.is_nil(d:read(ERRORS))
  end)

  it("rotates when acks have made room, without another message", function()
    open({ cleanup = { max_messages = 10, keep_ms = 0 } })
    for i = 1, 12 do
      d:assign(i)
    end
    local lines = d:await(QUEUE, 12)
    assert.equal("", d.place:shell("ls w/archive").out)
    for _, line in ipairs(lines) do
      d:put(ACK, { msg_id = line.id, status = "processed" })
    end
    d:await_event("rotated")
    assert.is_true(#d:lines(QUEUE) < 12)
  end)

  it("shows that it has heard an agent that only acks", function()
    open({ heartbeat = { interval_ms = 600000 } }) -- nothing is written without a cause
    assert.is_not_string(d:await_status("a", "active").last_heartbeat)
    d:assign(1)
    d:put(ACK, { msg_id = d:await(QUEUE, 1)[1].id, status = "received" })
    program.wait_for("last_heartbeat", function()
      return type(d:await_status("a", "active").last_heartbeat) == "string"
    end)
  end)

  it("accepts a heartbeat that a shell writes, which is briefly empty", function()
    open({ heartbeat = { interval_ms = 600000 } }) -- nothing is written without a cause
    shell(": > w/state/heartbeat/a.ts; sleep 0.3; date -u +%FT%TZ >> w/state/heartbeat/a.ts")
    program.wait_for("last_heartbeat", function()
      return type(d:await_status("a", "active").last_heartbeat) == "string"
    end)
    assert.is_nil(d:read(ERRORS))
    shell("echo soon > w/state/heartbeat/a.ts")
    d:await_event("malformed_heartbeat", ERRORS)
  end)

  it("shows nothing in state/ before it is durable", function()
    local nap_ms = 3600000
    open({ heartbeat = { interval_ms = 50 } }, nil, function(place)
      return "FAULT_KIND=enospc FAULT_DIR=$PWD/st FAULT_WHEN=$PWD/full "
        .. place:clock(place:preload("disk_faults"))
    end)
    d:ask({ command = "nap_and_hire", ms = nap_ms, id = "c", role = "clerk" })
    program.wait_for("the nap", function()
      return d.place:run("inspect waits --state st --json").out:find('"sleep"', 1, true)
    end)
    shell("touch full")
    d:advance(nap_ms)
    d.running:expect("the disk is full") -- when it was hired
    d:pass(300)
    assert.is_nil(json.decode(d:read("state/status.json")).c)
    shell("rm full")
    program.wait_for("c in status.json", function()
      return json.decode(d:read("state/status.json")).c
    end)
  end)
end)
