-- Tools that a person approves: the model may ask for a payment, but each one waits in
-- the person's inbox first. The decision may take a week and survive kill -9.
--
-- With a real model: OPENAI_BASE_URL and OPENAI_MODEL, as in 14_calculator_models.lua.

local society = require("society")

society.policy("prompts", "en")
society.policy("presentation", "en")

local function pay(given)
  return { paid = given.amount, to = given.to }
end

-- Wraps a tool: it runs only if the person approves, with the person's changes.
local function approved(run)
  return function(agent, given)
    local verdict, err = agent:escalate {
      title = ("%s wants to pay %d to %s"):format(agent.id, given.amount, given.to), body = given,
    }
    if not verdict then
      return nil, err
    elseif verdict.decision == "reject" then
      return nil, { error = "rejected", message = verdict.comment or "the person said no" }
    end
    return run(verdict.changes or given)
  end
end

society.config {
  llm = {
    provider = "auto",
    answers = {
      { expect = "bills", tool_calls = {
        { name = "pay", arguments = { to = "baker", amount = 12 } },
        { name = "pay", arguments = { to = "stranger", amount = 900 } },
      } },
      { expect = "rejected", content = "The baker is paid; the stranger is not." },
    },
    tools = { {
      name = "pay", description = "Pays somebody.", run = approved(pay),
      parameters = { type = "object", required = { "to", "amount" },
        properties = { to = { type = "string" }, amount = { type = "integer" } } },
    } },
  },
}

society.root("llm")

-- Here the person is a few lines of Lua: small sums are fine.
local function decide(user)
  local item = society.inbox()[1]
  while not item do
    user:sleep(10)
    item = society.inbox()[1]
  end
  local decision = item.body.amount <= 100 and "approve" or "reject"
  print(item.title, decision)
  user:decide(item.id, { decision = decision })
end

society.main(function(user)
  user:send_message { to = "root", payload = "Pay my bills." }
  decide(user)
  decide(user)
  print(assert(user:receive { from = "root", timeout_ms = 600000 }).payload.text)
end)
