-- The file door when files are damaged, in the way, or full.

local desk = require("desk")
local json = require("society.json")
local program = require("program")

local QUEUE = "channel/agents/a.jsonl"
local OUT = "channel/agents/a.out.jsonl"

describe("the file door", function()
  local d

  local function open(settings)
    d = desk.open(settings)
    d:tell({ command = "hire", id = "a" })
  end

  after_each(function()
    d:close()
  end)

  it("skips invalid lines and logs their position", function()
    open({ buffers = { line_bytes = 1000 } })
    d:append(OUT, "not JSON\n[1]\n{\"to\":\"root\"}\n")
    d:append(OUT, '{"to":"root","payload":"' .. ("x"):rep(1000) .. '"}\n')
    d:append(OUT, '{"to":"root","payload":"after"}\r\n')
    assert.equal("after", d:await_heard(1)[1].payload.text)
    local errors = d:lines("logs/errors.jsonl")
    local seen = {}
    for i, line in ipairs(errors) do
      seen[i] = line.event .. " " .. line.detail.offset
      assert.equal(OUT, line.detail.file)
    end
    assert.same({ "malformed_line 0", "malformed_line 9", "malformed_line 13", "line_too_long 27" },
      seen)
  end)

  it("accepts a line of several writes, and after a while one without a newline", function()
    open({ polling = { max_wait_ms = 60000, interval_ms = 50, max_interval_ms = 100 } })
    d:append(OUT, '{"to":"root",')
    d:pass(200) -- it looks in between
    d:append(OUT, '"payload":"one"}\n{"to":"root","payload":"two"}')
    assert.equal("one", d:await_heard(1)[1].payload.text)
    program.wait_for("the line without a newline", function()
      d:advance(60000)
      return #d:heard() == 2
    end)
    assert.equal("two", d:heard()[2].payload.text)
    d:append(OUT, '\n{"to":"root","payload":"three"}\n')
    assert.equal("three", d:await_heard(3)[3].payload.text)
    assert.equal(3, #d:heard())
  end)

  it("notices a truncated, replaced or removed file, and loses and repeats nothing", function()
    open()
    local path = program.quote(d.place.path .. "/w/" .. OUT)
    d:put(OUT, { id = "1", to = "root", payload = "one" })
    d:put(OUT, { to = "root", payload = "two" })
    d:await_heard(2)
    os.execute(": > " .. path)
    d:await_event("file_truncated", "logs/errors.jsonl")
    d:put(OUT, { id = "1", to = "root", payload = "one" })
    d:put(OUT, { id = "3", to = "root", payload = "three" })
    assert.equal("three", d:await_heard(3)[3].payload.text)
    os.execute("rm " .. path)
    d:await_event("file_removed", "logs/errors.jsonl")
    d:put(OUT, { id = "4", to = "root", payload = "four" })
    d:await_heard(4)
    local line = json.encode({ id = "5", to = "root", payload = ("five "):rep(100) })
    os.execute(("echo %s > %s.new && mv %s.new %s"):format(program.quote(line), path, path, path))
    d:await_event("file_replaced", "logs/errors.jsonl")
    assert.equal("5", d:await_heard(5)[5].external_id)
    assert.equal(5, #d:heard())
  end)

  it("follows no link", function()
    open()
    os.execute(("ln -s /etc/hostname %s"):format(program.quote(d.place.path .. "/w/" .. OUT)))
    local line = d:await_event("file_unreadable", "logs/errors.jsonl")
    assert.matches("a link", line.detail.reason)
  end)

  it("takes nothing from a file with a second name", function()
    open()
    d.place:write("other", '{"to":"root","payload":"somebody else\'s"}\n')
    d.place:shell("ln other w/" .. OUT)
    local line = d:await_event("file_unreadable", "logs/errors.jsonl")
    assert.matches("a hard link", line.detail.reason)
    assert.equal(0, #d:heard())
    d.place:shell("rm other")
    assert.equal(1, #d:await_heard(1))
  end)

  it("creates private files by default", function()
    open()
    d:put(OUT, { to = "root", payload = "x" })
    d:await_heard(1)
    local modes = d.place:shell("find w -type d ! -perm 700; find w/channel w/state w/logs -type f "
      .. "! -name '*.out.jsonl' ! -perm 600")
    assert.equal("", modes.out)
    d:close()
    open({ directory_mode = "0750", file_mode = "0640" })
    d:await_status("a", "active")
    modes = d.place:shell("stat -c %a w w/channel w/channel/agents/a.jsonl w/state/agents.json")
    assert.equal("750\n750\n640\n640\n", modes.out)
  end)

  it("rotates a full queue and keeps unacked messages", function()
    open({ cleanup = { max_messages = 10, keep_ms = 0 } })
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    for i = 1, 12 do
      d:tell({ command = "send", message = { to = "a", payload = "m" .. i } })
    end
    d:await_event("rotated")
    d:kill("KILL")
    local lines = program.wait_for("the last line", function() -- perhaps of the second run
      local all = d:lines(QUEUE)
      return #all > 0 and all[#all].payload.text == "m12" and all
    end)
    assert.is_true(#lines < 13)
    assert.equal("task_assign", lines[1].type)
    assert.equal(10, #d:lines("archive/" .. d.place:shell("ls w/archive").out:match("%S+")))
  end)

  it("rotates after a restart and keeps messages acked as received before it", function()
    open({ cleanup = { max_messages = 10, keep_ms = 0 } })
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    d:put("channel/agents/a.ack", { msg_id = d:await(QUEUE, 1)[1].id, status = "received" })
    d:await_event("acked")
    d:kill("KILL")
    for i = 1, 12 do
      d:tell({ command = "send", message = { to = "a", payload = "m" .. i } })
    end
    d:await_event("rotated")
    local lines = d:await(QUEUE, 1)
    assert.equal("task_assign", lines[1].type)
    assert.is_true(#lines < 13)
  end)

  it("leaves a burst in the files for a while, and each broadcast once", function()
    open({ cleanup = { max_messages = 10 } })
    d:tell({ command = "hire", id = "b" })
    d:tell({ command = "hire", id = "c" })
    d:tell({ command = "flood", to = "a", count = 50 })
    assert.equal(50, #d:await(QUEUE, 50))
    local lines = d:await("channel/broadcast.jsonl", 50)
    d:tell({ command = "send", message = { to = "a", payload = "last" } })
    d:await(QUEUE, 51)
    assert.equal(50, #d:lines("channel/broadcast.jsonl"))
    for i, line in ipairs(lines) do
      assert.equal("all " .. i, line.payload.text)
    end
    assert.equal("", d.place:shell("ls w/archive").out)
  end)

  it("rotates broadcasts and writes none of them twice", function()
    open({ cleanup = { max_messages = 10, keep_ms = 0 } })
    d:tell({ command = "hire", id = "b" })
    d:tell({ command = "hire", id = "c" })
    d:tell({ command = "flood", to = "a", count = 50 })
    d:await_event("rotated")
    d:tell({ command = "send", message = { to = "c", payload = "last" } })
    d:await("channel/agents/c.jsonl", 1)
    local seen = {}
    for _, line in ipairs(d:lines("logs/events.jsonl")) do
      local is_new = line.event ~= "delivered" or not seen[line.message_id]
      seen[line.message_id or ""] = line.event == "delivered" or nil
      assert.is_true(is_new)
    end
  end)

  it("keeps pending messages: written once, and again if the file is gone", function()
    open()
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    local first = d:await(QUEUE, 1)[1]
    d:kill()
    d:tell({ command = "send", message = { to = "a", payload = "x" } })
    assert.equal(2, #d:await(QUEUE, 2))
    d:kill("KILL", true)
    os.execute("rm " .. program.quote(d.place.path .. "/w/" .. QUEUE))
    d:start()
    assert.equal(first.id, d:await(QUEUE, 1)[1].id)
    d:put("channel/agents/a.ack", { msg_id = first.id, status = "received" })
    d:await_event("acked")
    d:kill("KILL", true)
    os.execute("rm " .. program.quote(d.place.path .. "/w/" .. QUEUE))
    d:start()
    assert.equal(first.id, d:await(QUEUE, 1)[1].id) -- received does not mean processed
  end)

  it("writes pending messages again if somebody truncates or removes a queue", function()
    open({ polling = { interval_ms = 50, max_interval_ms = 100 } })
    local queue = program.quote(d.place.path .. "/w/" .. QUEUE)
    for i = 1, 2 do
      d:tell({ command = "send", message = {
        to = "a", type = "task_assign", payload = { task_id = "t" .. i } } })
    end
    local first = d:await(QUEUE, 2)
    d:put("channel/agents/a.ack", { msg_id = first[1].id, status = "received" })
    d:await_event("acked")
    os.execute("truncate -s 40 " .. queue)
    d:await_event("file_truncated", "logs/errors.jsonl")
    local lines = d:await(QUEUE, 3)
    assert.same({ false, first[1].id, first[2].id }, { lines[1], lines[2].id, lines[3].id })
    os.execute("truncate -s 40 " .. queue)
    d:tell({ command = "send", message = { to = "a", payload = "x" } })
    assert.equal(4, #d:await(QUEUE, 4))
    os.execute("rm " .. queue)
    d:await_event("file_replaced", "logs/errors.jsonl")
    lines = d:await(QUEUE, 2)
    assert.same({ first[1].id, first[2].id }, { lines[1].id, lines[2].id })
  end)

  it("retries a write that fails", function()
    open({ polling = { interval_ms = 50, max_interval_ms = 100 } })
    d:await_event("registered")
    local queue = program.quote(d.place.path .. "/w/" .. QUEUE)
    -- In one step: a queue that is missing for a moment could be recreated meanwhile.
    local link = program.quote(d.place.path .. "/link")
    os.execute(("ln -s /dev/null %s && mv -T %s %s"):format(link, link, queue))
    d:tell({ command = "send", message = { to = "a", payload = "one" } })
    d:tell({ command = "send", message = { to = "a", payload = "two" } })
    d:await_event("write_failed", "logs/errors.jsonl")
    os.execute("rm " .. queue)
    local lines = d:await(QUEUE, 2)
    assert.same({ "one", "two" }, { lines[1].payload.text, lines[2].payload.text })
  end)

  it("holds back a line, and those behind it, while a mailbox is full", function()
    open({ mailbox_max = 2, polling = { interval_ms = 20, max_interval_ms = 40 } })
    d:await_event("registered")
    d:pause_root()
    for i = 1, 6 do
      d:put(OUT, { payload = tostring(i), to = i % 2 == 0 and { "root" } or nil })
    end
    local entry = d:await_event("waiting", "logs/errors.jsonl")
    assert.matches("mailbox is full", entry.detail.reason, 1, true)
    d:resume_root()
    local texts = {}
    for i, message in ipairs(d:await_heard(6)) do
      texts[i] = message.payload.text
    end
    assert.equal("1 2 3 4 5 6", table.concat(texts, " "))
    for _, line in ipairs(d:lines("logs/errors.jsonl")) do
      assert.equal("waiting", line.event)
    end
    d:kill("KILL")
    d:put(OUT, { payload = "7" })
    assert.equal("7", d:await_heard(7)[7].payload.text)
  end)

  it("also holds back a last line without a newline while a mailbox is full", function()
    open({ mailbox_max = 2,
      polling = { interval_ms = 20, max_interval_ms = 40, max_wait_ms = 100 } })
    d:pause_root()
    d:append(OUT, '{"payload":"1"}\n{"payload":"2"}\n{"payload":"3"}')
    d:await_event("waiting", "logs/errors.jsonl")
    d:resume_root()
    assert.equal("3", d:await_heard(3)[3].payload.text)
    assert.equal(3, #d:heard())
  end)

  it("does not count retries of a line held back as signs of life", function()
    open({ mailbox_max = 2, polling = { interval_ms = 20, max_interval_ms = 40 },
      heartbeat = { timeout_ms = 300 } })
    d:pause_root()
    for i = 1, 4 do
      d:put(OUT, { payload = tostring(i) })
    end
    d:await_event("waiting", "logs/errors.jsonl")
    d:await_status("a", "unresponsive")
  end)

  it("moves what an earlier society left into the archive", function()
    open()
    d:put(OUT, { payload = "old" })
    d:await_heard(1)
    d:kill("KILL", true)
    os.execute("rm -rf " .. program.quote(d.place.path .. "/st"))
    d:start()
    d:tell({ command = "hire", id = "a" })
    d:put(OUT, { payload = "new" })
    local heard = d:await_heard(2)
    assert.equal("new", heard[2].payload.text)
    assert.equal(1, #d:lines(OUT))
  end)

  it("refuses an id that would share another's file", function()
    open()
    local answer = d:tell({ command = "hire", id = "a.out" })
    assert.equal("invalid_id", answer.error)
    assert.matches("must not end with .out", answer.message, 1, true)
    assert.is_nil(d:tell({ command = "hire", id = "a.out", role = "clerk" }).error)
  end)
end)
