-- state/ and logs/ of the file door, while somebody else interferes with them.
--
-- Covers: core/bridge/files/report.c

local desk = require("desk")
local json = require("society.json")
local program = require("program")

local AGENTS = "state/agents.json"
local STATUS = "state/status.json"
local EVENTS = "logs/events.jsonl"
local ERRORS = "logs/errors.jsonl"
local BEAT = "state/heartbeat/a.ts"
local OUT = "channel/agents/a.out.jsonl"

describe("the file door", function()
  local d

  -- Polls often, and writes nothing without a cause by default.
  local function open(interval_ms)
    d = desk.open({ heartbeat = { interval_ms = interval_ms or 600000 },
      polling = { force = true, interval_ms = 10, max_interval_ms = 10 } })
    d:tell({ command = "hire", id = "a" })
    d:await_status("a", "active")
    d:put(OUT, { payload = "hello" })
    d:await_heard(1)
    program.wait_for("last_heartbeat", function()
      return type(json.decode(d:read(AGENTS)).agents.a.last_heartbeat) == "string"
    end)
  end

  local function shell(command)
    local result = d.place:shell(command)
    assert.equal(0, result.code, result.err)
  end

  -- The files named in entries of that event, and how often each is.
  local function told(event)
    local count = {}
    for _, line in ipairs(d:lines(EVENTS)) do
      if line and line.event == event then
        count[line.detail.file] = (count[line.detail.file] or 0) + 1
      end
    end
    return count
  end

  local function await_whole()
    program.wait_for("both files", function()
      local agents, status = json.decode(d:read(AGENTS) or ""), json.decode(d:read(STATUS) or "")
      return agents and agents.agents and agents.agents.a and status and status.a
    end)
  end

  after_each(function()
    d:close()
  end)

  it("logs the first of many malformed lines in a row, and how many there were", function()
    open()
    d:append(OUT, ("x\n"):rep(250) .. '{"to":"root","payload":"after"}\n')
    d:await_heard(2)
    local one_by_one, together
    program.wait_for("the log of errors", function()
      one_by_one, together = 0, {}
      for _, line in ipairs(d:lines(ERRORS)) do
        one_by_one = one_by_one + (line.event == "malformed_line" and 1 or 0)
        together[#together + 1] = line.event == "malformed_lines" and line.detail.reason or nil
      end
      return #together == 2
    end)
    assert.equal(100, one_by_one)
    assert.equal("250 lines in a row were malformed and skipped", together[2])
  end)

  it("writes agents.json and status.json again when they are removed or replaced", function()
    open()
    shell("rm w/" .. AGENTS .. " w/" .. STATUS)
    await_whole()
    assert.same({ [AGENTS] = 1, [STATUS] = 1 }, program.wait_for("the note", function()
      local count = told("file_removed")
      return count[STATUS] and count
    end))
    d:at_once(function() -- a file is empty before it is written, and would count as truncated
      shell("echo '{}' > x && mv x w/" .. AGENTS .. " && tr a-z A-Z < w/" .. STATUS .. " > y"
        .. " && cat y > w/" .. STATUS)
    end)
    await_whole()
    program.wait_for("the note", function()
      local count = told("file_replaced")
      return count[AGENTS] and count[STATUS]
    end)
  end)

  it("writes agents.json and status.json again wherever they were truncated", function()
    open()
    local length = #d:read(AGENTS)
    for at = 0, length - 1 do
      shell(("truncate -s '<%d' w/%s && truncate -s '<%d' w/%s"):format(at, AGENTS, at, STATUS))
      await_whole()
    end
    local count = program.wait_for("the notes", function()
      local count = told("file_truncated")
      return count[AGENTS] == length and count
    end)
    assert.is_true(count[STATUS] > 50)
  end)

  it("registers an agent that a corrupt agents.json already listed", function()
    open()
    d:kill("KILL", true)
    local registry = json.decode(d:read(AGENTS))
    registry.agents.z = { perspective = "x", status = "active" }
    d.place:write("w/" .. AGENTS, json.encode(registry))
    d:start()
    assert.is_nil(d:tell({ command = "hire", id = "z" }).error)
    d:tell({ command = "send", message = { to = "z", payload = "hello" } })
    assert.equal("hello", d:await("channel/agents/z.jsonl", 1)[1].payload.text)
    d:put("channel/agents/z.out.jsonl", { payload = "here" })
    assert.equal("here", d:await_heard(2)[2].payload.text)
    program.wait_for("what it is like", function()
      local shown = d:await_status("z", "active")
      return shown.perspective == "architecture" and type(shown.last_heartbeat) == "string"
    end)
  end)

  it("writes status.json when what an agent does has changed, before its interval", function()
    open()
    assert.equal("idle", json.decode(d:read(STATUS)).root.status)
    local result = d.place:run("send --state st --to root --json-payload " ..
      program.quote('{"command":"nap","ms":100000}'))
    assert.equal(0, result.code, result.err)
    program.wait_for("root to be busy", function()
      return json.decode(d:read(STATUS)).root.status == "busy"
    end)
    d:advance(100000)
    program.wait_for("root to be idle again", function()
      return json.decode(d:read(STATUS)).root.status == "idle"
    end)
  end)

  it("retries what it could not write", function()
    open()
    d:at_once(function() -- in between the society would write it again
      shell("rm w/" .. STATUS .. " && mkdir w/" .. STATUS .. " && touch w/" .. STATUS .. "/x")
    end)
    d:await_event("write_failed", ERRORS)
    d:pass(300)
    shell("rm -r w/" .. STATUS)
    program.wait_for("status.json", function()
      return (json.decode(d:read(STATUS) or "") or {}).a
    end)
    assert.same({ [STATUS] = 1 }, told("write_failed"))
  end)

  it("starts a new line in a log that was truncated at any byte", function()
    open()
    d:append(OUT, "no JSON\n")
    d:await_event("malformed_line", ERRORS)
    local length = #d:read(ERRORS)
    for cut = 1, length do
      shell(("truncate -s -%d w/%s && truncate -s -%d w/%s"):format(
        1 + cut % 40, EVENTS, math.min(cut, #d:read(ERRORS)), ERRORS))
      d:append(OUT, ('{"id":"%d","to":"ghost","payload":"x"}\n'):format(cut))
      program.wait_for("the line", function()
        local lines = d:lines(ERRORS)
        for i = #lines, 1, -1 do
          if lines[i] and lines[i].detail.id == tostring(cut) then
            return true
          end
        end
      end)
    end
    program.wait_for("the notes", function()
      local count = told("file_truncated")
      return count[EVENTS] and count[ERRORS]
    end)
  end)

  it("keeps the lines of a log that cannot be written now", function()
    open()
    -- In one step: between two the society would create a new log.
    shell("ln -s /dev/null link && mv -fT link w/" .. EVENTS)
    d:put(OUT, { id = "m1", payload = "while it is in the way" })
    d:await_heard(2)
    d:pass(200)
    shell("rm w/" .. EVENTS)
    program.wait_for("the line", function()
      return (d:read(EVENTS) or ""):find('"external_id":"m1"', 1, true)
    end)
  end)

  it("accepts a heartbeat that was truncated at any byte once it is complete again", function()
    open(50)
    local whole = os.date("!%Y-%m-%dT%H:%M:%SZ\n", os.time() + 3600) -- later than all others
    for at = 0, #whole - 2 do
      shell(("printf '%%s' '%s' > w/%s"):format(whole:sub(1, at), BEAT))
      d:pass(100)
    end
    d:await_event("malformed_heartbeat", ERRORS)
    shell(("printf '%%s' '%s' > w/%s"):format(whole, BEAT))
    program.wait_for("last_heartbeat", function()
      return d:await_status("a", "active").last_heartbeat:sub(1, 19) == whole:sub(1, 19)
    end)
  end)
end)
