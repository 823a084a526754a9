--- more_verbs: verbs that a model has only if the app names them in `verbs`.
--
-- Each calls the agent's method of the same name; `wait` sleeps. They have the form of
-- society.llm.verbs.

local json = require("society.json")

local M = {}

local function text(description)
  return { type = "string", description = description }
end

local function object(properties, required)
  return { type = "object", properties = properties, required = json.array(required or {}) }
end

local function integer(description)
  return { type = "integer", description = description }
end

local function verb(name, parameters, run)
  M[#M + 1] = { name = name, parameters = parameters, run = run, is_extra = true }
end

verb("reply", function(w) return object({
  message_id = text(w.message_id), payload = { description = w.payload }, type = text(w.type),
}, { "message_id", "payload" }) end, function(agent, given)
  return agent:reply(given.message_id, given.payload, { type = given.type })
end)

verb("receive", function(w) return object({
  sender = text(w.agent_id), type = text(w.type_wanted), timeout_ms = integer(w.timeout_ms),
}) end, function(agent, given, talk)
  local message, err = agent:receive({ from = given.sender, type = given.type,
    timeout_ms = given.timeout_ms })
  return message and talk:take(message), err
end)

verb("broadcast", function(w) return object({
  payload = { description = w.payload }, type = text(w.type), priority = text(w.priority),
}, { "payload" }) end, function(agent, given)
  return agent:broadcast({ payload = given.payload, type = given.type,
    priority = given.priority })
end)

verb("checkpoint", function(w) return object({
  payload = { description = w.payload },
  agents = { type = "array", items = { type = "string" }, description = w.agents },
  timeout_ms = integer(w.timeout_ms),
}) end, function(agent, given)
  return agent:checkpoint({ payload = given.payload, agents = given.agents,
    timeout_ms = given.timeout_ms })
end)

verb("run_lua", function(w) return object({
  script = text(w.lua_script), values = { type = "object", description = w.lua_values },
}, { "script" }) end, function(agent, given)
  return agent:run_lua({ script = given.script, values = given.values })
end)

verb("cancel", function(w) return object({
  task_id = text(w.cancelled_task), reason = text(w.reason),
}, { "task_id" }) end, function(agent, given)
  return agent:cancel(given.task_id, given.reason)
end)

verb("terminate", function(w) return object({
  id = text(w.agent_id), reason = text(w.reason),
  force = { type = "boolean", description = w.force },
}, { "id" }) end, function(agent, given)
  return agent:terminate(given.id, { force = given.force, reason = given.reason })
end)

verb("pause", function(w) return object({
  id = text(w.agent_id), reason = text(w.reason),
  subtree = { type = "boolean", description = w.subtree },
}, { "id" }) end, function(agent, given)
  return agent:pause(given.id, { reason = given.reason, subtree = given.subtree })
end)

verb("resume", function(w) return object({
  id = text(w.agent_id), reason = text(w.reason),
  subtree = { type = "boolean", description = w.subtree },
}, { "id" }) end, function(agent, given)
  return agent:resume(given.id, { reason = given.reason, subtree = given.subtree })
end)

verb("resolve", function(w) return object({
  id = text(w.agent_id),
  action = { type = "string", enum = json.array({ "restart", "skip", "abort" }),
    description = w.action },
}, { "id", "action" }) end, function(agent, given)
  return agent:resolve(given.id, given.action)
end)

verb("stop", function(w) return object({ reason = text(w.reason) }) end, function(agent, given)
  return agent:stop({ reason = given.reason })
end)

verb("knows", function(w) return object({ id = text(w.agent_id) },
  { "id" }) end, function(agent, given)
  return agent:knows(given.id)
end)

verb("can_send", function(w) return object({ id = text(w.agent_id) },
  { "id" }) end, function(agent, given)
  return agent:can_send(given.id)
end)

verb("add_contact", function(w) return object({
  id = text(w.agent_id), interfaceSpec = { type = "object", description = w.interface_spec },
}, { "id" }) end, function(agent, given)
  return agent:add_contact({ id = given.id, interfaceSpec = given.interfaceSpec })
end)

verb("remove_contact", function(w) return object({ id = text(w.contact_id) },
  { "id" }) end, function(agent, given)
  return agent:remove_contact(given.id)
end)

verb("load", function(w) return object({ id = text(w.agent_id) }) end, function(agent, given)
  return agent:load(given.id)
end)

verb("wait", function(w) return object({ ms = integer(w.wait_ms) },
  { "ms" }) end, function(agent, given)
  agent:sleep(given.ms)
  return { waited_ms = given.ms }
end)

return M
