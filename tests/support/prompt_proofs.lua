--- prompt_proofs: tries the examples of the prompt texts in a society.

local assert = require("luassert")
local json = require("society.json")
local scene = require("scene")

local AGENTS = { "agent-ui-designer", "agent-tester", "agent-programmer" }

-- Every send is checked against the default vocabularies.
local POLICIES = { introductions = "agent", messages = { "society", "workflow", "helix" } }

--- A society with the agents that examples name, where agent `who` runs act(agent, message)
-- once; returns its results. All others answer what they are asked.
local function play(who, act, options)
  local results
  local function behave(agent, message)
    if agent.id == who and message.from == (options and options.from or "user") then
      results = table.pack(act(agent, message))
    elseif options and options.on then
      return options.on(agent, message)
    elseif message.from ~= "user" then
      return "answer"
    end
    return nil
  end
  local s = scene.new({ policies = POLICIES, app = function(s)
    s:role({ id = "programmer", name = "programmer", behaviour = behave })
    s:root(function(root, message)
      if message.payload.text == "enter" then
        for _, id in ipairs(AGENTS) do
          assert(root:spawn_agent("programmer", scene.brief(), { id = id }))
        end
        return nil
      end
      return behave(root, message)
    end)
  end })
  scene.tell(s, "root", "enter")
  scene.tell(s, options and options.told or who)
  assert(results, "the turn failed: " .. json.encode(s:dead_letters()))
  return table.unpack(results, 1, results.n)
end

local function send(arguments)
  local from = arguments.to == "root" and "agent-programmer" or "root"
  return assert(play(from, function(agent) return agent:send_message(arguments) end))
end

local function check_keys(arguments, required, optional)
  for _, name in ipairs(required) do
    assert(arguments[name] ~= nil, name .. " is missing")
  end
  for name in pairs(arguments) do
    local is_known = false
    for _, each in ipairs(required) do is_known = is_known or each == name end
    for _, each in ipairs(optional or {}) do is_known = is_known or each == name end
    assert(is_known, name .. " is no argument")
  end
end

local prove = {}

function prove.taskBrief(brief)
  assert(play("root", function(root) return root:spawn_agent("programmer", brief) end))
end

function prove.spawn_agent(arguments)
  check_keys(arguments, { "roleId", "taskBrief" })
  assert(play("root", function(root)
    return root:spawn_agent(arguments.roleId, arguments.taskBrief)
  end))
end

function prove.create_role(arguments)
  assert(play("root", function(root) return root:create_role(arguments) end))
end

function prove.send_message(arguments)
  check_keys(arguments, { "to", "payload" })
  send(arguments)
end

function prove.request(arguments)
  local answer = assert(play("root", function(root) return root:request(arguments) end))
  assert.equal("answer", answer.payload.text)
end

function prove.list_contacts(arguments)
  check_keys(arguments, {})
end

function prove.request_introduction(arguments)
  local contact = assert(play("agent-programmer", function(agent)
    return agent:request_introduction(arguments)
  end, { on = function(agent, message)
    agent:introduce(message, { target = "agent-tester" })
  end }))
  assert.equal("introduction", contact.source)
end

--- Runs act(root, request) for a request that the programmer has put to root.
local function when_asked(act)
  return assert(play("root", act, { from = "agent-programmer", told = "agent-programmer",
    on = function(agent, message)
      if message.from == "user" then
        agent:send_message({ to = "root", type = "introduction_request",
          payload = { reason = "r", required_capability = "c" } })
      end
    end }))
end

function prove.introduce(arguments)
  when_asked(function(root, message) return root:introduce(message, arguments) end)
end

function prove.decline(arguments)
  check_keys(arguments, { "reason" })
  when_asked(function(root, message) return root:decline(message, arguments.reason) end)
end

function prove.introduction_response(arguments)
  assert.equal("agent-programmer", arguments.to)
  when_asked(function(root) return root:send_message(arguments) end)
end

function prove.escalate(arguments)
  check_keys(arguments, { "title" }, { "body", "options", "priority", "timeout_ms", "wait" })
  arguments.wait = false
  local asked = assert(play("root", function(root) return root:escalate(arguments) end))
  assert.is_string(asked.item_id)
end

-- The end of a task that an agent ends this way.
local function end_task(act)
  return assert(play("agent-programmer", act, { from = "root", told = "root",
    on = function(root, message)
      if message.from == "user" then
        root:send_message({ to = "agent-programmer", type = "task_assignment",
          payload = scene.brief() })
      end
    end }))
end

function prove.complete(arguments)
  check_keys(arguments, { "output" })
  assert.equal("completed", end_task(function(agent, message)
    return agent:complete(message, arguments.output)
  end).state)
end

function prove.fail(arguments)
  check_keys(arguments, { "error" }, { "retryable" })
  local task = end_task(function(agent, message)
    return agent:fail(message, arguments.error, { retryable = arguments.retryable })
  end)
  assert(task.state == "failed" or task.state == "pending", task.state)
end

-- What an agent's own call with these arguments gives.
local function root_calls(name, ...)
  local given = table.pack(...)
  return assert(play("root", function(root)
    return root[name](root, table.unpack(given, 1, given.n))
  end))
end

function prove.reply(arguments)
  check_keys(arguments, { "message_id", "payload" })
  assert(play("root", function(root, message) return root:reply(message, arguments.payload) end))
  assert.matches("^msg_%d+_%d+_", arguments.message_id)
end

function prove.receive(arguments)
  check_keys(arguments, {}, { "sender", "type", "timeout_ms" })
  local _, err = play("root", function(root)
    return root:receive({ from = arguments.sender, type = arguments.type, timeout_ms = 0 })
  end)
  assert.equal("timeout", err.error)
end

function prove.broadcast(arguments)
  assert.equal(4, root_calls("broadcast", arguments).count)
end

function prove.checkpoint(arguments)
  assert.is_table(root_calls("checkpoint", arguments).responses)
end

function prove.run_lua(arguments)
  assert.equal(18, root_calls("run_lua", arguments).result)
end

function prove.cancel(arguments)
  check_keys(arguments, { "task_id" }, { "reason" })
  assert.equal("cancelled", assert(play("root", function(root)
    root:send_message({ to = "agent-tester", type = "task", payload =
      { task_id = arguments.task_id }, delay_ms = 1000 })
    return root:cancel(arguments.task_id, arguments.reason)
  end)).state)
end

-- Calls that take an id and options.
for _, name in ipairs({ "terminate", "pause", "resume" }) do
  prove[name] = function(arguments)
    local options = { reason = arguments.reason, force = arguments.force,
      subtree = arguments.subtree }
    check_keys(arguments, { "id" }, { "reason", "force", "subtree" })
    root_calls(name, arguments.id, options)
  end
end

-- Calls that take an id alone.
for _, name in ipairs({ "knows", "can_send", "load" }) do
  prove[name] = function(arguments)
    check_keys(arguments, { "id" })
    assert.is_nil(root_calls(name, arguments.id).error)
  end
end

function prove.resolve(arguments)
  check_keys(arguments, { "id", "action" })
  local _, err = play("root", function(root)
    return root:resolve("agent-tester", arguments.action)
  end)
  assert.equal("refused", err.error) -- it is well
end

function prove.stop(arguments)
  check_keys(arguments, {}, { "reason" })
  assert(play("agent-tester", function(agent) return agent:stop(arguments) end))
end

function prove.add_contact(arguments)
  root_calls("add_contact", arguments)
end

function prove.remove_contact(arguments)
  check_keys(arguments, { "id" })
  assert(play("agent-programmer", function(agent)
    agent:request_introduction({ to = "root", reason = "r", required_capability = "c" })
    return agent:remove_contact(arguments.id)
  end, { on = function(agent, message)
    agent:introduce(message, { target = arguments.id })
  end }))
end

function prove.wait(arguments)
  check_keys(arguments, { "ms" })
  assert.equal("done", (play("root", function(root)
    root:sleep(arguments.ms)
    return "done"
  end)))
end

for _, name in ipairs({ "task_assignment", "status_report", "introduction_request",
  "collaboration_request", "collaboration_response", "general" }) do
  prove[name] = function(arguments)
    assert.equal(name, arguments.type)
    send(arguments)
  end
end

return { prove = prove, send = send }
