-- docs/files.md as printed: its program and worker, and each line it says to write.

local desk = require("desk")
local json = require("society.json")
local program = require("program")
local tree = require("tree")

local OUT = "channel/agents/a.out.jsonl"

local function page()
  return tree.read("docs/files.md")
end

local function block(language)
  return assert(page():match("\n```" .. language .. "\n(.-)\n```\n"), language) .. "\n"
end

describe("docs/files.md", function()
  it("shows a society and a worker that work", function()
    local place = program.place()
    place:write("research.lua", block("lua"))
    place:write("worker.sh", block("sh"))
    local command, shown = block("console"):match("^%$ ([^\n]*)\n(.*)$")
    local result = place:shell("timeout 300 "
      .. command:gsub("society run", place.program .. " run"):gsub("& sh", "& timeout 300 sh")
      .. "; wait")
    assert.equal(shown, result.out)
    assert.equal("", result.err)
    place:remove()
  end)

  it("shows lines that are accepted as they are", function()
    local d = desk.open({ ack = { timeout_ms = 60000 } }) -- acks come last here
    local function start(payload)
      return d.place:start("send --state st --to root --wait --json-payload "
        .. program.quote(json.encode(payload)))
    end
    d:tell({ command = "hire", id = "a" })
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    local task = d:await("channel/agents/a.jsonl", 1)[1].id
    local asked = start({ command = "ask", message = { to = "a", payload = "well?" } })
    local request = d:await("channel/agents/a.jsonl", 2)[2].id
    local values = { ["THE ID"] = request, ["THEIR ID"] = "root" }
    local check
    local count = 0
    for line in page():match("\n| to | write |.-\n\n"):gmatch("`({[^`]*})`") do
      if line:find("THE CHECKPOINT'S", 1, true) then
        check = start({ command = "check", agents = { "a" } })
        local message = d:await("channel/agents/a.jsonl", 3)[3]
        values["THE CHECKPOINT'S"] = message.payload.checkpoint_id
      end
      d:append(OUT, line:gsub("\"([A-Z' ]+)\"", function(name)
        return json.encode(values[name])
      end) .. "\n")
      count = count + 1
    end
    assert.equal("ready", json.decode(check:wait().out).responses.a.text)
    assert.equal(7, count)
    assert.equal("yes", json.decode(asked:wait().out).payload.text)
    for _, status in ipairs({ "received", "processed" }) do
      d:append("channel/agents/a.ack", ('{"msg_id":"%s","status":"%s"}\n'):format(task, status))
    end
    d:await_event("acked")
    assert.is_nil(d:read("logs/errors.jsonl"))
    d:close()
  end)
end)
