-- Features that need the CEO: four clerks put theirs into the inbox at once, and what
-- is approved becomes part of the product. Decisions may come in any order; one of
-- them comes after its clerk has given up waiting.
--
-- The story decides by itself. To be the CEO, run it on a terminal and take your
-- time: `society run 10_approval.lua -- 60` gives you a minute, in which you type
-- `1 approve`, `2 reject WHY` or `3 modify {"budget":50}`.

local society = require("society")

local SECONDS = tonumber((...)) or 0

local FEATURES = {
  { name = "dark mode", why = "users ask for it", budget = 20 },
  { name = "own database", why = "it would be fun", budget = 900, priority = "high" },
  { name = "export to PDF", why = "sales asks for it", budget = 120 },
  { name = "a logo that moves", why = "marketing dreams of it", budget = 5, patience_ms = 50 },
}

local function brief(feature)
  return {
    objective = "see the feature '" .. feature.name .. "' through", constraints = {},
    inputs = feature.why, outputs = "a product item, or none", completion_criteria = "decided",
  }
end

-- What a decision means for a feature.
local function carry_out(agent, feature, verdict)
  if verdict.decision == "reject" then
    print(("%s: dropped (%s)"):format(feature.name, verdict.comment or "no reason given"))
    return
  end
  for field, value in pairs(verdict.changes or {}) do
    feature[field] = value
  end
  agent.state.product_item = feature
  print(("%s: in the product, for %d"):format(feature.name, feature.budget))
end

society.role {
  id = "clerk", name = "产品助理",
  behaviour = {
    general = function(agent, message)
      local feature = message.payload
      agent.state.feature = feature
      local verdict = agent:escalate {
        title = feature.name .. "?", body = feature.why, options = { "build it", "leave it" },
        priority = feature.priority, timeout_ms = feature.patience_ms,
      }
      if verdict then
        carry_out(agent, feature, verdict)
      else
        print(feature.name .. ": no answer yet; other work goes on")
      end
    end,
    -- A decision after the timeout arrives as a message.
    decision = function(agent, message)
      carry_out(agent, agent.state.feature, message.payload)
    end,
  },
}

society.root(function(root)
  for number, feature in ipairs(FEATURES) do
    local clerk = assert(root:spawn_agent("clerk", brief(feature), { id = "clerk" .. number }))
    assert(root:send_message { to = clerk.id, payload = feature })
  end
  root:send_message { to = "user", payload = "the features are in your inbox" }
end)

-- The CEO of the story; items may already be decided at the terminal.
local function judge(item)
  if item.title:find("database", 1, true) then
    return { decision = "reject", comment = "we have one" }
  elseif item.title:find("PDF", 1, true) then
    return { decision = "modify", changes = { budget = 50 } }
  end
  return { decision = "approve" }
end

society.main(function(user)
  user:send_message { to = "root", payload = "plan the next version" }
  user:receive { from = "root" }
  user:sleep(SECONDS * 1000 + 100)
  for _, item in ipairs(society.inbox()) do
    print(("%s (%s)%s"):format(item.title, item.priority, item.overdue and ", overdue" or ""))
    assert(user:decide(item.id, judge(item)))
  end
end)
