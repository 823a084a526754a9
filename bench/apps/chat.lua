-- Chat: many agents ask a model once each, all at once; or remember a conversation.
--
--     chat.lua AGENTS PORT        they ask the server on that port
--     chat.lua AGENTS 0           they remember 50 messages instead

local society = require("society")

local agents, port = tonumber(arg[1]), tonumber(arg[2])

society.config {
  agents_max = 100000000, children_max = 100000000, mailbox_max = 100000000,
  llm = {
    provider = "openai", base_url = "http://127.0.0.1:" .. port .. "/v1", model = "bench",
    key_env = "NO_SUCH_KEY", concurrency = 100000,
    limits = { agent_tokens = 0, task_tokens = 0, society_tokens = 0 },
  },
}

local QUESTION = ("what do you think of this, and of that? "):rep(5)

society.role {
  id = "thinker", name = "Thinker", prompt = "Thinks.",
  behaviour = function(agent)
    if port > 0 then
      assert(agent:chat { messages = { { role = "user", content = QUESTION } } })
      return
    end
    for n = 1, 50 do
      agent:remember { role = n % 2 == 1 and "user" or "assistant", content = QUESTION }
    end
  end,
}

local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }

society.root(function(root, message)
  for n = 1, agents do
    assert(root:spawn_agent("thinker", BRIEF, { id = "a" .. n }))
  end
  for n = 1, agents do
    root:send_message { to = "a" .. n, payload = message.payload }
  end
end)

society.main(function(user)
  user:send_message { to = "root", payload = "go" }
end)
