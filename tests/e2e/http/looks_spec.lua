-- What looks over HTTP show, and the answers of a society that cannot go on.
--
-- Covers: core/script/policies/policy_names.c

local json = require("society.json")
local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.config { web = { body_bytes = 12000000 } }
society.role { id = "worker", name = "worker", behaviour = function(agent, message)
  if message.type == "task" then
    agent:escalate { title = "may I?" }
    return
  end
  agent:send_message { to = "root", payload = { text = "by the way" } }
  return { text = "done" }
end }
society.root(function(root, message)
  if message.from ~= "user" or message.payload.text == "nothing" then
    return
  end
  root.state.worker = root.state.worker
    or assert(root:spawn_agent("worker", BRIEF, { id = "w1" })).id
  if message.payload.text == "ask" then
    root:send_message { to = "w1", type = "task", payload = { task_id = "T1" } }
    return
  end
  root:request { to = "w1", payload = message.payload }
end)
]]

local RIVAL = [[
return { kind = "contacts", name = "rival", version = 1,
  may_send = function() return true end, examples = {} }
]]

-- It lets everybody write to everybody, and says that it does not.
local LIAR = [[
return { kind = "contacts", name = "liar", version = 1,
  may_send = function() return true end,
  examples = { { ask = "may_send", given = { { from = { id = "a", role = "r" },
    to = { id = "b", role = "r" }, is_known = false } }, expect = false } } }
]]

describe("a look over HTTP", function()
  local place, door

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    place:shell("mkdir -p policies/contacts")
    place:write("policies/contacts/rival.lua", RIVAL)
    place:write("policies/contacts/liar.lua", LIAR)
    place:write("policies/contacts/notes.txt", "no policy")
    door = web.start(place, "run app.lua --http 0 --log none", nil,
      ("FAULT_DIR=%s FAULT_SLOW=%s LD_PRELOAD=%s"):format(
        program.quote(place.path .. "/.society"), program.quote(place.path .. "/slow"),
        program.quote(place:preload("disk_faults"))))
  end)

  teardown(function()
    place:shell("rm -f slow")
    door:stop()
    place:remove()
  end)

  local function get(path, token)
    local answer = door:curl("/api/v1" .. path, token)
    assert.equal(200, answer.status, answer.body)
    return answer.json
  end

  it("at a message names the one in whose turn it was sent, whatever it answers", function()
    local first = door:post("/api/v1/intake", { text = "go" }).json.messageId
    local rows = program.wait_for("the chain", function()
      local items = get("/messages").items
      return #items >= 4 and items
    end)
    local by_text = {}
    for _, row in ipairs(rows) do
      by_text[row.from .. " " .. tostring(row.payload.text)] = row
    end
    assert.is_nil(get("/messages/" .. first).cause)
    local request = get("/messages/" .. by_text["root go"].id)
    assert.same({ first, first, "go" },
      { request.caused_by, request.cause.id, request.cause.payload.text })
    local aside = get("/messages/" .. by_text["w1 by the way"].id)
    assert.is_nil(aside.reply_to)
    assert.same({ request.id, request.id }, { aside.caused_by, aside.cause.id })
    local reply = get("/messages/" .. by_text["w1 done"].id)
    assert.same({ request.id, request.id, request.id },
      { reply.caused_by, reply.cause.id, reply.reply_to })
    assert.matches("cause +" .. first .. " from user: ",
      place:run("inspect message " .. request.id).out)
  end)

  it("at a kind of policy names those that can be put in force", function()
    local kind = get("/policies/contacts")
    local known = {}
    for index, name in ipairs(kind.names) do
      known[name] = true
      assert.is_true(index == 1 or kind.names[index - 1] < name)
    end
    assert.is_true(known.rival and known[kind.active[1].name] and not known.notes)
    assert.equal(400, door:curl("/api/v1/policies/..%2Fcontacts").status)
  end)

  it("is answered with 422 by a policy that fails its example", function()
    place:write("liar.json", json.encode { name = "liar" })
    local answer = door:curl("-X PUT -H 'Content-Type: application/json' --data-binary @liar.json "
      .. "/api/v1/policies/contacts")
    assert.same({ 422, "policy_refused" }, { answer.status, answer.json.error })
    assert.matches("contacts/liar.lua:%d+: example 1: expected false, got true$",
      answer.json.message)
  end)

  it("is answered with 410 by an item that was withdrawn", function()
    door:post("/api/v1/intake", { text = "ask" })
    local item = program.wait_for("the question", function()
      return get("/inbox").items[1]
    end)
    assert.equal(200, door:post("/api/v1/tasks/T1/cancel", { reason = "no need" }).status)
    local answer = door:post(("/api/v1/inbox/%s/decision"):format(item.id),
      { decision = "approve" })
    assert.same({ 410, "item_withdrawn" }, { answer.status, answer.json.error })
    assert.equal("withdrawn", get("/inbox/" .. item.id).state)
  end)

  it("goes on while orders are answered with 503, because the disk is too slow", function()
    local before = get("/stats").sent
    place:write("large", json.encode({ payload = { text = "nothing", x = ("x"):rep(11000000) } }))
    place:write("slow", "")
    place:shell(([[for i in 1 2 3 4 5 6 7; do
      curl -sS -o answer -w '%%{http_code}\n' -H 'Authorization: Bearer %s' \
        -H 'Content-Type: application/json' --data-binary @large %s/api/v1/intake >> codes & done
      true]]):format(door.token, door.url))
    local refused = program.wait_for("a refusal", function()
      local answer = door:curl("-X POST /api/v1/agents/nobody/pause")
      assert.is_true(answer.status == 404 or answer.status == 503, answer.body)
      return answer.status == 503 and answer
    end)
    assert.same({ "saturated", "1" }, { refused.json.error, refused.headers["retry-after"] })
    assert.equal(200, door:curl("/healthz", false).status)
    assert.equal(200, door:curl("/api/v1/activity?limit=5").status) -- what is durable

    place:shell("rm slow")
    local codes = program.wait_for("the answers", function()
      local text = place:read("codes") or ""
      return select(2, text:gsub("\n", "")) == 7 and text
    end)
    local taken = select(2, codes:gsub("202\n", ""))
    assert.equal(7, taken + select(2, codes:gsub("503\n", "")))
    assert.is_true(taken >= 6) -- the limit is beyond the fifth
    assert.equal(before + taken, get("/stats").sent)
    assert.equal(404, door:curl("-X POST /api/v1/agents/nobody/pause").status)
  end)
end)
