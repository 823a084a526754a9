--- Thinking agents, with models that are busy, break off, return nonsense and are slow.
--
-- Root lets three of them think in turn, each about what the one before said, and calls a
-- model itself. The models' answers are scripted: an extra call, or one that does not
-- match, fails the run.

local society = require("society")

local ROUNDS = 4
local LONG_MS = 1000000000
local NAMES = { "ann", "bob", "cid" }

local answers = { root = {} }
for number, name in ipairs(NAMES) do
  answers[name] = {}
  for round = 1, ROUNDS do
    local last = number == 1 and (round == 1 and "begin" or "cid " .. round - 1)
      or NAMES[number - 1] .. " " .. round
    answers[name][round] = { expect = last, content = name .. " " .. round }
  end
end
for round = 1, ROUNDS do
  answers.root[round] = { expect = "round " .. round, content = "so be it" }
end

society.config { llm = { provider = "scripted", verbs = {}, answers = answers } }
society.role { id = "thinker", name = "thinker", behaviour = "llm", prompt = "Think." }

local function brief(name)
  return { objective = "think as " .. name, constraints = { "be brief" }, inputs = "a word",
    outputs = "a word", completion_criteria = "none" }
end

local function ask(root, name, text)
  return assert(root:request { to = name, payload = { text = text }, timeout_ms = LONG_MS })
    .payload.text
end

society.root(function(root)
  local said = "begin"
  for _, name in ipairs(NAMES) do
    assert(root:spawn_agent("thinker", brief(name), { id = name }))
  end
  for round = 1, ROUNDS do
    for _, name in ipairs(NAMES) do
      said = ask(root, name, said)
    end
    local verdict = assert(root:chat { timeout_ms = LONG_MS,
      messages = { { role = "user", content = "round " .. round } } })
    assert(verdict.content == "so be it")
  end
  return { text = said }
end)

society.main(function(user)
  local answer = assert(user:request { to = "root", payload = "go", timeout_ms = LONG_MS })
  assert(answer.payload.text == "cid " .. ROUNDS)
  for _, row in ipairs(society.usage()) do
    assert(row.calls == ROUNDS, "a call was paid twice")
  end
end)
