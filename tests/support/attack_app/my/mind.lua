--- mind: a provider of the app's own, with a key of its own.

local openai = require("society.llm.openai")

return {
  name = "mind", request = openai.request, reader = openai.reader,
  environment = { key = "MIND_API_KEY", base_url = "MIND_BASE_URL" },
  defaults = { base_url = "https://mind.test/v1", model = "mind" },
}
