-- A token with --as speaks as an outside agent: it has that agent's contacts and sees what is
-- that agent's, and nothing else.

local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.role { id = "worker", name = "worker", behaviour = "external" }
society.role { id = "clerk", name = "clerk", behaviour = function() end }
local BRIEF = { objective = "help", constraints = {}, inputs = "any", outputs = "any",
  completion_criteria = "done" }
society.root(function(root, message)
  if message.payload.text == "hire" then
    local worker = assert(root:spawn_agent("worker", BRIEF))
    local clerk = assert(root:spawn_agent("clerk", BRIEF))
    root:send_message { to = worker.id, payload = { text = "sort these" } }
    return { worker = worker.id, clerk = clerk.id }
  end
  return { text = "thanks" }
end)
society.main(function() end)
]]

describe("a token of an agent", function()
  local place, door, worker, clerk, token

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
    local ids = door:post("/api/v1/intake", { text = "hire", wait_ms = 60000 }).json.reply.payload
    worker, clerk = ids.worker, ids.clerk
    token = place:run("token add hand --scope read,write --as " .. worker).out:match("%S+")
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  it("reads its mail and acknowledges it", function()
    local path = ("/api/v1/agents/%s/mail"):format(worker)
    local mail = program.wait_for("mail", function()
      local items = door:curl(path, token).json.items
      return #items > 0 and items
    end)
    local letter = mail[#mail]
    assert.equal("sort these", letter.payload.text)
    local answer = door:post(("/api/v1/messages/%s/ack"):format(letter.id),
      { status = "processed" }, token)
    assert.equal(200, answer.status, answer.body)
    for _, item in ipairs(door:curl(path, token).json.items) do
      assert.is_not.equal(letter.id, item.id)
    end
  end)

  it("writes to its contacts, as itself", function()
    local sent = door:post("/api/v1/messages", { to = "root", payload = { text = "done" } }, token)
    assert.equal(202, sent.status, sent.body)
    assert.equal(worker, door:curl("/api/v1/messages/" .. sent.json.messageId).json.from)
    local stranger = door:post("/api/v1/messages", { to = clerk, payload = { text = "hi" } }, token)
    assert.equal(403, stranger.status)
    assert.equal("unknown_contact", stranger.json.error)
  end)

  it("sees what is its own, and nothing else", function()
    for _, row in ipairs(door:curl("/api/v1/messages", token).json.items) do
      assert.is_true(row.from == worker or row.to == worker)
    end
    for _, row in ipairs(door:curl("/api/v1/contacts", token).json.items) do
      assert.equal(worker, row.owner)
    end
    for _, path in ipairs({ "/api/v1/agents", "/api/v1/activity", "/api/v1/events", "/metrics",
      "/api/v1/inbox", "/api/v1/messages?agent=root", "/api/v1/agents/root/mail",
      "/api/v1/agents/root/contacts", "/api/v1/policies" }) do
      assert.equal(403, door:curl(path, token).status, path)
    end
    assert.equal(403, door:post("/api/v1/intake", { text = "as user" }, token).status)
  end)
end)
