-- Who assigned a task that expires is told once.
--
-- Covers: core/parts/expiry/expiry.c

local scene = require("scene")

-- The boss runs `act` while "a" is busy; returns the society and what system told the boss.
local function told_after(act)
  local s = scene.troupe({
    boss = function(boss, message)
      if message.from == "user" then
        act(boss)
      end
    end,
    a = function(a) a:sleep(5000) end,
  })
  assert(s:send("user", { to = "a", payload = "keep busy" }))
  assert(s:send("user", { to = "boss", payload = "go" }))
  s:run()
  local told = {}
  for _, message in ipairs(s:messages({ agent = "boss" })) do
    told[#told + 1] = message.from == "system" and message or nil
  end
  return s, told
end

describe("a task that expires", function()
  after_each(scene.close)

  it("is reported to its assigner by one message, its result", function()
    local s, told = told_after(function(boss)
      boss:send_message({ to = "a", type = "task_assign", payload = { task_id = "T1" },
        ttl_seconds = 1, requires_ack = true })
    end)
    assert.equal(1, #told)
    assert.same({ "task_complete", "failed", "expired", "T1" }, { told[1].type,
      told[1].payload.status, told[1].payload.error, told[1].payload.task_id })
    assert.equal("failed", s:tasks()[1].state)
  end)

  it("is reported like any message if it only cancels one", function()
    local _, told = told_after(function(boss)
      boss:send_message({ to = "a", type = "task", payload = { task_id = "T1" } })
      boss:sleep(10)
      boss:send_message({ to = "a", type = "abort", payload = { task_id = "T1" },
        ttl_seconds = 1, requires_ack = true })
    end)
    assert.same({ 1, "delivery_failed" }, { #told, told[1].type })
  end)
end)
