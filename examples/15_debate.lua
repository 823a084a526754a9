-- A debate with a judge: two agents speak in turn, each hears what the other said, and a
-- third decides. Who speaks when is plain Lua; what they say is a model's.
--
-- With a real model: OPENAI_BASE_URL and OPENAI_MODEL, as in 14_calculator_models.lua.

local society = require("society")

local ROUNDS = 2
local DAY_MS = 24 * 3600 * 1000 -- models may be slow, and the society down for a while

society.config {
  llm = {
    provider = "auto",
    verbs = {}, -- they only speak
    answers = {
      pro = { "Tabs let each reader choose the width.",
        { expect = "look the same", content = "The same for whom? My eyes are not yours." } },
      con = { { expect = "choose the width", content = "With spaces all files look the same." },
        { expect = "not yours", content = "One reading for all is worth more than comfort." } },
      judge = { { expect = "One reading for all", content = "The side of spaces wins, barely." } },
    },
  },
}

society.role { id = "debater", name = "debater", behaviour = "llm",
  prompt = "You argue your side in one sentence, and answer what was said before." }
society.role { id = "judge", name = "judge", behaviour = "llm",
  prompt = "You hear both sides and name the winner in one sentence." }

local function brief(objective)
  return { objective = objective, constraints = { "one sentence each time" },
    inputs = "what the other side said", outputs = "an argument",
    completion_criteria = "the judge has decided" }
end

society.root(function(root, message)
  local function hear(id, text)
    return assert(root:request { to = id, payload = { text = text },
      timeout_ms = DAY_MS }).payload.text
  end
  assert(root:spawn_agent("debater", brief("argue for tabs"), { id = "pro" }))
  assert(root:spawn_agent("debater", brief("argue for spaces"), { id = "con" }))
  assert(root:spawn_agent("judge", brief("decide"), { id = "judge" }))
  local said, protocol = message.payload.text, {}
  for _ = 1, ROUNDS do
    for _, id in ipairs({ "pro", "con" }) do
      said = hear(id, said)
      protocol[#protocol + 1] = id .. ": " .. said
    end
  end
  protocol[#protocol + 1] = "judge: " .. hear("judge", table.concat(protocol, "\n"))
  return { text = table.concat(protocol, "\n") }
end)

society.main(function(user)
  local answer = assert(user:request { to = "root", payload = "Tabs or spaces?",
    timeout_ms = DAY_MS })
  print(answer.payload.text)
end)
