-- Two agents outside this program that only know files. Start this, then each of them in
-- its own terminal:
--
--     society run examples/files/team.lua --fresh
--     sh examples/files/worker.sh .workflow agent_architecture
--     python3 examples/files/worker.py .workflow agent_cognitive
--
-- docs/files.md says what they read and write. For another directory, append `-- DIR`.

local society = require("society")

local directory = ... or ".workflow"
local TEAM = { "agent_architecture", "agent_cognitive" }

society.config({
  name = "team",
  files = { dir = directory, heartbeat = { timeout_ms = 60000 } },
})

for _, perspective in ipairs({ "architecture", "cognitive" }) do
  society.role({
    id = perspective,
    name = perspective,
    prompt = "Looks at a topic from one side.",
    behaviour = "external",
  })
end

local function hire(root)
  for _, id in ipairs(TEAM) do
    assert(root:spawn_agent(id:match("_(.*)"), {
      objective = "look at the topic from your side",
      constraints = { "one sentence" },
      inputs = "a topic",
      outputs = "a sentence",
      completion_criteria = "task_complete was sent",
    }, { id = id }))
  end
end

local function assign(root)
  for number, id in ipairs(TEAM) do
    assert(root:send_message({
      to = id,
      type = "task_assign",
      payload = { task_id = ("task_%03d"):format(number), topic = "user-auth-system" },
    }))
  end
  for _ = 1, #TEAM do
    local done = assert(root:receive({ type = "task_complete", timeout_ms = 60000 }))
    print(("%s: %s"):format(done.from, done.payload.output))
  end
end

society.root({
  progress_update = function() end,
  default = function(root, message)
    if message.from ~= "user" then
      return
    end
    hire(root)
    assign(root)
    local asked = assert(root:request({ to = TEAM[1], payload = "are you there?" }))
    print(("%s: %s"):format(asked.from, asked.payload.text))
    local point = assert(root:checkpoint({ agents = TEAM, timeout_ms = 30000 }))
    for _, id in ipairs(TEAM) do
      print(("%s at the checkpoint: %s"):format(id, point.responses[id].text))
    end
    assert(root:broadcast({ payload = "goodbye" }))
    return "all is done"
  end,
})

society.main(function(user)
  local answer = assert(user:request({ to = "root", payload = "begin", timeout_ms = 120000 }))
  print(answer.payload.text)
end)
