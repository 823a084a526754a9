-- What every GET route answers has the shape that /openapi.json says, in a society with agents that
-- wait, that are outside and that have failed, a task, an item and a dead letter.
--
-- Covers: core/bridge/http/openapi.c, core/bridge/http/door_exchange.c

local host = require("society.program")
local json = require("society.json")
local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.policy("messages", { "any" })
society.role { id = "worker", name = "Worker", behaviour = function(me, message)
  if message.type == "fail" then
    error("broken on purpose")
  elseif message.type == "wait" then
    me:request { to = "root", type = "never", payload = "x", timeout_ms = 600000 }
  end
end }
society.role { id = "outsider", behaviour = "external" }
society.root(function(root, message)
  if message.type ~= "go" then
    return
  end
  root:spawn_agent("worker", BRIEF, { id = "ann" })
  root:spawn_agent("worker", BRIEF, { id = "bob" })
  root:spawn_agent("outsider", BRIEF, { id = "out" })
  root:send_message { to = "out", payload = "x" }
  root:send_message { to = "ann", type = "fail", payload = { n = 1 }, task_id = "t1" }
  root:send_message { to = "ann", type = "task", payload = { task_id = "T1", question = "?" } }
  root:send_message { to = "bob", type = "wait", payload = "x" }
  root:escalate { title = "may I?", body = { a = 1 }, options = { "yes", "no" }, wait = false }
end)
]]

local FORMATS = { ["date-time"] = "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.?%d*Z$" }

local function kind_of(value)
  if value == json.null then
    return "null"
  elseif type(value) == "table" then
    return (json.is_array and json.is_array(value) or #value > 0) and "array" or "object"
  elseif math.type(value) then
    return math.type(value) == "integer" and "integer" or "number"
  end
  return type(value)
end

-- An empty table may be either; an integer is a number.
local function fits(value, wanted)
  if type(wanted) == "table" then
    return fits(value, wanted[1]) or fits(value, wanted[2])
  end
  local kind = kind_of(value)
  return kind == wanted or (kind == "integer" and wanted == "number")
    or (type(value) == "table" and next(value) == nil and (wanted == "array" or wanted == "object"))
end

local function check(value, schema, place)
  if schema.type then
    assert(fits(value, schema.type), ("%s is no %s: %s"):format(place, json.encode(schema.type),
      json.encode(value)))
  end
  if schema.format then
    assert.matches(FORMATS[schema.format], value, nil, nil, place)
  end
  for _, name in ipairs(schema.required or {}) do
    assert(value[name] ~= nil, place .. " has no " .. name)
  end
  if schema.properties then
    for name, member in pairs(value) do
      check(member, assert(schema.properties[name], place .. " has " .. name .. " undescribed"),
        place .. "." .. name)
    end
  end
  if schema.items and kind_of(value) ~= "null" and type(value) == "table" then
    for index, item in ipairs(value) do
      check(item, schema.items, ("%s[%d]"):format(place, index))
    end
  end
end

describe("what a GET route answers", function()
  local place, door, document
  local ids = {}

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
    document = door:curl("/openapi.json").json
    assert.equal(202, door:post("/api/v1/messages",
      { to = "root", type = "go", payload = { a = 1 } }).status)
    local items = program.wait_for("an item, a dead letter and a waiting agent", function()
      local found = door:curl("/api/v1/inbox").json.items
      return #found > 0 and #door:curl("/api/v1/dead-letters").json.items > 0
        and #door:curl("/api/v1/waits").json.items > 0 and found
    end)
    ids.item = items[1].id
    ids.message = door:curl("/api/v1/messages").json.items[1].id
    ids.task = program.wait_for("a task", function()
      local task = door:curl("/api/v1/tasks").json.items[1]
      return task and task.task_id
    end)
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  -- By route: the address to get, true for the path itself, or false for what is no JSON
  -- answer, a stream or a login.
  local function addresses()
    return {
      ["/healthz"] = true, ["/openapi.json"] = true, ["/login"] = false, ["/metrics"] = true,
      ["/api/v1/events"] = false, ["/ws"] = false,
      ["/api/v1/messages"] = true, ["/api/v1/messages/{id}"] = "/api/v1/messages/" .. ids.message,
      ["/api/v1/agents"] = true, ["/api/v1/agents/tree"] = true,
      ["/api/v1/agents/{id}"] = "/api/v1/agents/ann",
      ["/api/v1/agents/{id}/contacts"] = "/api/v1/agents/ann/contacts",
      ["/api/v1/agents/{id}/context"] = "/api/v1/agents/ann/context",
      ["/api/v1/agents/{id}/load"] = "/api/v1/agents/ann/load",
      ["/api/v1/agents/{id}/queue"] = "/api/v1/agents/ann/queue",
      ["/api/v1/agents/{id}/conversation"] = "/api/v1/agents/ann/conversation",
      ["/api/v1/agents/{id}/mail"] = "/api/v1/agents/out/mail",
      ["/api/v1/agents/{id}/why"] = "/api/v1/agents/bob/why",
      ["/api/v1/roles"] = true, ["/api/v1/contacts"] = true, ["/api/v1/tasks"] = true,
      ["/api/v1/tasks/{id}"] = "/api/v1/tasks/" .. ids.task,
      ["/api/v1/inbox"] = "/api/v1/inbox?state=all",
      ["/api/v1/inbox/{id}"] = "/api/v1/inbox/" .. ids.item,
      ["/api/v1/dead-letters"] = true, ["/api/v1/activity"] = true,
      ["/api/v1/at"] = "/api/v1/at?line=5",
      ["/api/v1/waits"] = true, ["/api/v1/stats"] = true, ["/api/v1/usage"] = true,
      ["/api/v1/usage/budgets"] = true, ["/api/v1/policies"] = true,
      ["/api/v1/policies/{kind}"] = "/api/v1/policies/messages",
      ["/api/v1/replays/{id}"] = false, ["/api/v1/export/org-json"] = true,
      ["/api/v1/export/dot"] = true, ["/api/v1/export/mermaid"] = true,
      ["/api/v1/export/jsonl"] = true,
    }
  end

  it("is what /openapi.json says", function()
    local list = addresses()
    for _, route in ipairs(host.routes) do
      if route.method == "GET" then
        local address = list[route.path]
        assert(address ~= nil, route.path .. " is not in the list of this spec")
        if address then
          local answer = door:curl(address == true and route.path or address)
          assert.equal(200, answer.status, route.path .. ": " .. answer.body)
          local content = document.paths[route.path].get.responses["200"].content or {}
          local entry = content["application/json"]
          if entry and entry.schema then
            check(answer.json, entry.schema, route.path)
          end
        end
      end
    end
  end)
end)
