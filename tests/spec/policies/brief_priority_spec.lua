-- The priority of a Task Brief, wherever the brief stands.

local scene = require("scene")

describe("the priority of a brief", function()
  after_each(scene.close)

  local function sent(message)
    local s = scene.troupe({ a = function() end })
    s:policy("messages", { "society" })
    message.to, message.type = "a", "task_assignment"
    local answer, err = s:send("root", message)
    return answer and s:messages({ agent = "a", type = "task_assignment" })[1].priority, err
  end

  it("is that of the message, wherever the brief stands", function()
    assert.equal("high", sent({ payload = scene.brief({ priority = "high" }) }))
    for _, name in ipairs({ "task_brief", "taskBrief" }) do
      assert.equal("high", sent({ payload = { [name] = scene.brief({ priority = "P1" }) } }))
    end
  end)

  it("gives way to that of the payload, and that to the envelope's", function()
    local brief = scene.brief({ priority = "low" })
    assert.equal("high", sent({ payload = { task_brief = brief, priority = "high" } }))
    assert.equal("high", sent({ payload = { priority = "high", taskBrief = brief } }))
    assert.equal("urgent", sent({ priority = "urgent",
      payload = { task_brief = brief, priority = "high" } }))
  end)

  it("must be known there as well", function()
    for _, payload in ipairs({ scene.brief({ priority = "soon" }),
      { task_brief = scene.brief({ priority = "soon" }) } }) do
      local _, err = sent({ payload = payload })
      assert.equal("invalid_message_format", err.error)
      assert.same({ "priority 必须是 urgent、high、normal、low 或 P0 至 P3" }, err.details)
    end
  end)

  it("is that of the first message of a spawn", function()
    local s = scene.troupe({ root = function(root)
      assert(root:spawn_agent("actor", scene.brief({ priority = "urgent" }),
        { id = "c", message = "begin" }))
    end })
    scene.tell(s, "root")
    assert.equal("urgent", s:messages({ agent = "c", type = "task_assignment" })[1].priority)
  end)
end)
