-- Exports over HTTP, and that the command writes the same.
--
-- Covers: core/kernel/operations/exports.c, core/kernel/operations/diagrams.c

local json = require("society.json")
local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role { id = "worker", name = "wor\"ker", behaviour = function(agent, message)
  if message.payload.text == "ask" then
    return agent:escalate { title = "may I?" }
  end
  return { text = "done; with <that>" }
end }
society.root(function(root, message)
  root:spawn_agent("worker", BRIEF, { id = "gone" })
  root:spawn_agent("worker", BRIEF, { id = "w1" })
  root:request { to = "w1", payload = "go" }
  root:terminate("gone")
  root:request { to = "w1", payload = "ask" }
end)
]]

describe("an export over HTTP", function()
  local place, door

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
    door:post("/api/v1/intake", { text = "begin" })
    program.wait_for("the question", function()
      return #door:curl("/api/v1/inbox").json.items == 1
    end)
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  local function export(format, query)
    local answer = door:curl("/api/v1/export/" .. format .. (query or ""))
    assert.equal(200, answer.status, answer.body)
    return answer.body, answer.headers["content-type"]
  end

  -- The rows for people; the command adds those that are stored, for `society import`.
  local function lines(text)
    local rows, counts = {}, {}
    for line in text:gmatch("[^\n]+") do
      local row = json.decode(line)
      if row.table then
        rows[#rows + 1] = row
        counts[row.table] = (counts[row.table] or 0) + 1
      end
    end
    return rows, counts
  end

  it("draws agents and waits for Graphviz", function()
    local text, type = export("dot")
    assert.equal("text/vnd.graphviz; charset=utf-8", type)
    assert.equal(place:run("export dot").out, text)
    assert.matches("^digraph society {\n", text)
    assert.matches('"w1" [label="w1\\nwor\\"ker\\nblocked_user", fillcolor=gold];', text, 1, true)
    assert.matches('"root" -> "w1" [style=bold, label="reply"];', text, 1, true)
    assert.not_matches("gone", text, 1, true)
  end)

  it("draws messages for Mermaid, all of them or some", function()
    local text, type = export("mermaid")
    assert.equal("text/plain; charset=utf-8", type)
    assert.equal(place:run("export mermaid").out, text)
    assert.matches("-->>p2: general done#59; with #60;that#62;\n", text, 1, true)
    assert.equal("sequenceDiagram\n  participant p1 as user\n  participant p2 as root\n"
      .. "  p1->>p2: general begin\n", (export("mermaid", "?agent=user")))
    assert.equal(400, door:curl("/api/v1/export/mermaid?limit=no").status)
  end)

  it("writes every row, and the command the same", function()
    local text, type = export("jsonl")
    assert.equal("application/jsonl; charset=utf-8", type)
    assert.equal(text, place:run("export jsonl").out:match('^(.-){"stored":'))
    local rows, counts = lines(text)
    local order = {}
    for _, row in ipairs(rows) do
      if order[#order] ~= row.table then
        order[#order + 1] = row.table
      end
    end
    assert.same({ "roles", "agents", "contacts", "messages", "inbox", "activity" }, order)
    assert.equal(4, counts.agents) -- user, root, w1, and the one that has ended
    assert.equal(1, counts.inbox)
    assert.equal(#program.rows(place:run("inspect messages --json")), counts.messages)
    assert.equal(#program.rows(place:run("inspect activity --json")), counts.activity)
  end)

  it("writes one table, or the rows of a time", function()
    local _, counts = lines((export("jsonl", "?table=messages")))
    assert.same({ "messages" }, { next(counts) == "messages" and next(counts) or nil })
    assert.equal("", (export("jsonl", "?since=2100-01-01T00:00:00Z")))
    local answer = door:curl("/api/v1/export/jsonl?table=secrets")
    assert.same({ 400, "table" }, { answer.status, answer.json.member })
  end)

  it("has no other format", function()
    assert.equal(404, door:curl("/api/v1/export/poem").status)
  end)

  it("is the same of the society when it is stopped", function()
    local running = place:run("export jsonl").out
    door:stop()
    local stopped = place:run("export jsonl").out
    door = web.start(place, "run app.lua --http 0 --log none")
    local seen = lines(running)
    local kept = lines(stopped)
    for index, row in ipairs(seen) do
      assert.same(row, kept[index])
    end
  end)
end)
