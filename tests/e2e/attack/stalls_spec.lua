-- No step of the loop but a Lua turn takes long, whatever comes from outside: files, servers
-- and clients of the socket that send as much as they can of what costs the most.
--
-- Covers: core/embed/step_watch.c
-- Slow: many inputs. Bounds are of CPU time, so it need not be alone.

local desk = require("desk")
local program = require("program")
local servers = require("server")
local stalls = require("stalls")
local tree = require("tree")

local OUT = "channel/agents/a.out.jsonl"
local COMMON = "channel/orchestrator.jsonl"
local QUEUES = { ["channel/agents/a.jsonl"] = true, ["channel/broadcast.jsonl"] = true }

describe("the loop is not held up by the file door", function()
  -- Opens a desk with an agent, lets `attack` do its worst, and waits until the society has
  -- answered and taken what another agent said meanwhile.
  local function try(name, attack, settings)
    it(name, function()
      local d = desk.open(settings, nil, function() return stalls.ENVIRONMENT end,
        stalls.OPTIONS)
      finally(function()
        d.running:kill("KILL")
        d.running:wait()
        d.place:remove()
      end)
      d:tell({ command = "hire", id = "a" })
      d:tell({ command = "hire", id = "other" })
      attack(d)
      d:put("channel/agents/other.out.jsonl", { to = "root", payload = "still here" })
      d.running:expect("still here")
      if d.until_event then
        d:await_event(d.until_event)
      end
      d.running:kill("INT")
      stalls.check(name, stalls.worst(d.running:wait().err))
    end)
  end

  local function shell(d, command)
    assert.equal(0, d.place:shell("cd w && " .. command).code)
  end

  for _, file in ipairs({ OUT, COMMON, "channel/agents/a.ack", "state/heartbeat/a.ts",
    "channel/agents/a.jsonl", "channel/broadcast.jsonl", "logs/events.jsonl" }) do
    try("a sparse file of 16 GB: " .. file, function(d)
      shell(d, "truncate -s 16G " .. file)
      d.until_event = QUEUES[file] and "file_replaced"
    end)
  end

  try("16 GB of hole between two lines", function(d)
    d:at_once(function()
      d:put(OUT, { to = "root", type = "heartbeat" })
      shell(d, ("truncate -s 16G %s && echo >> %s"):format(OUT, OUT))
      d:put(OUT, { to = "nobody", payload = "x" })
    end)
    d.until_event = "refused"
  end)

  try("a line of 300 MB that has no end", function(d)
    shell(d, "head -c 300M /dev/zero | tr '\\0' x > " .. OUT)
    d.until_event = "line_too_long"
  end)

  try("a million lines that are no JSON", function(d)
    shell(d, "yes x | head -n 1000000 > " .. OUT)
  end)

  try("ten million empty lines", function(d)
    shell(d, "yes '' | head -n 10000000 > " .. OUT)
  end)

  try("lines of 1 MB of brackets", function(d)
    shell(d, "head -c 1M /dev/zero | tr '\\0' '[' > one && echo >> one")
    shell(d, ("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat one >> %s; done"):format(OUT))
  end)

  try("lines of 1 MB of members", function(d)
    shell(d, [[{ printf '{"to":"root","payload":{'; seq 1 80000 | sed 's/.*/"k&":1,/' ]]
      .. [[| tr -d '\n'; printf '"b":1}}\n'; } > one]])
    shell(d, ("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat one >> %s; done"):format(OUT))
  end)

  try("a file that was read is replaced by a copy of 200 MB", function(d)
    shell(d, ("head -c 200M /dev/zero | tr '\\0' x > %s && echo >> %s"):format(OUT, OUT))
    d:await_event("line_too_long")
    shell(d, ("cp %s copy && mv copy %s"):format(OUT, OUT))
  end)

  try("200 agents whose files are all full", function(d)
    for i = 1, 200 do
      d:ask({ command = "hire", id = "m" .. i })
    end
    d:await_status("m200", "active")
    d:at_once(function()
      shell(d, "yes x | head -n 3000 > lines; for i in $(seq 1 200); do "
        .. "cp lines channel/agents/m$i.out.jsonl; done")
    end)
  end)
end)

describe("the loop is not held up by a server", function()
  local place, server

  setup(function()
    place = program.place()
    server = servers.start(place, nil, "hostile_server.py")
  end)

  teardown(function()
    server:stop()
    place:remove()
  end)

  -- What a turn may take is not looked at here: to hand over 24 MB may be more than 200 ms
  -- on a machine that is busy with other specs.
  local APP = [[
    local society = require("society")
    society.config { cpu_ms_max = 5000,
      llm = { model = "m", retries_max = 0, total_ms = 60000 } }
    society.main(function(user)
      %s
    end)]]

  local CHAT = [[
      local answer, err = user:chat { messages = { { role = "user", content = "hi" } } }
      print(answer and answer.content and #answer.content or err.error)]]

  local HTTP = [[
      local answer, err = user:http { url = "%s" }
      print(answer and answer.status or err.error)]]

  local function run(name, body, path)
    place:write("app.lua", APP:format(body))
    local result = place:shell(("%s OPENAI_API_KEY=sk-canary-5e1f0c1d9a OPENAI_BASE_URL=%s/%s " ..
      "society run app.lua --fresh %s"):format(stalls.ENVIRONMENT, server.url, path,
      stalls.OPTIONS))
    assert.equal(0, result.code, result.err:sub(1, 2000))
    stalls.check(name, stalls.worst(result.err))
    return result.out
  end

  for _, attack in ipairs({ "comments", "empty_lines", "unknown_fields", "empty_events",
    "data_lines", "one_event", "small_events", "words", "tool_names", "tool_arguments",
    "tool_empty", "lists_in_event", "lists_in_event_that_fit", "lists", "lists_that_fit",
    "numbers", "objects", "one_text", "text_that_fits", "nonsense",
    "binary", "control", "gzip", "gzips", "gzip_headers", "bomb", "usage", "text",
    "endless_headers", "endless_100", "endless_redirect", "drip" }) do
    local name = "a model's server sends " .. attack:gsub("_", " ")
    it(name, function()
      run(name, CHAT, attack)
    end)
  end

  for _, attack in ipairs({ "comments", "binary", "control", "lists", "gzips", "bomb",
    "endless_headers" }) do
    local name = "a server sends " .. attack:gsub("_", " ")
    it(name, function()
      run(name, HTTP:format(server.url .. "/" .. attack), attack)
    end)
  end
end)

describe("the loop is not held up by a client of the socket", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  for _, attack in ipairs({ "large_send", "large_junk", "endless_line", "brackets", "pipelined",
    "tiny_lines", "empty_lines", "many_clients", "inspects", "silent_reader" }) do
    local name = "a client of the socket: " .. attack:gsub("_", " ")
    it(name, function()
      place:write("app.lua", [[
        local society = require("society")
        society.root(function() end)]])
      local running = place:start("run app.lua " .. stalls.OPTIONS, stalls.ENVIRONMENT)
      program.wait_for("the socket", function()
        return place:shell("test -S .society/socket").code == 0
      end)
      local result = place:shell(("python3 %s .society/socket %s"):format(
        program.quote(tree.path("tests/support/hostile_client.py")), attack))
      assert.equal(0, result.code, result.err)
      assert.equal(0, place:run("inspect stats").code)
      running:kill("INT")
      stalls.check(name, stalls.worst(running:wait().err))
    end)
  end
end)
