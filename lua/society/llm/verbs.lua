--- verbs: what the society lets an agent do, as tools of a model.
--
-- Names and arguments are those of the protocol; nowhere is there a `from`. Each verb
-- has a schema, worded in the language of the agent's prompt (society.llm.words), and
-- run(agent, arguments, talk), which returns what the call answers, or nil and an error.

local json = require("society.json")

local WORDS = { zh = require("society.llm.words.zh"), en = require("society.llm.words.en") }

-- list: { name, run, parameters(words) }
local M = { list = {} }

local function text(description)
  return { type = "string", description = description }
end

local function object(properties, required, description)
  return { type = "object", description = description, properties = properties,
    required = json.array(required or {}) }
end

local function interface_spec(w)
  return object({
    services = text(w.services), input_format = text(w.input_format),
    output_format = text(w.output_format),
    examples = { type = "array", description = w.examples },
  }, { "services", "input_format", "output_format" }, w.interface_spec)
end

local function task_brief(w)
  return object({
    objective = text(w.objective),
    constraints = { type = "array", items = { type = "string" }, description = w.constraints },
    inputs = text(w.inputs), outputs = text(w.outputs),
    completion_criteria = text(w.completion_criteria),
    collaborators = {
      type = "array", description = w.collaborators,
      items = object({ agentId = text(w.agent_id), role = text(w.role),
        description = text(w.collaboration), interfaceSpec = interface_spec(w) },
        { "agentId", "role", "description" }),
    },
    references = { type = "array", items = { type = "string" }, description = w.references },
    priority = text(w.priority),
  }, { "objective", "constraints", "inputs", "outputs", "completion_criteria" }, w.task_brief)
end

local function verb(name, parameters, run)
  M.list[#M.list + 1] = { name = name, parameters = parameters, run = run }
end

-- A message counts as answered once the answer was accepted.
local function closing(talk, message, result, err)
  if result then
    talk:close_question(message)
  end
  return result, err
end

verb("create_role", function(w) return object({
  name = text(w.role_name), prompt = text(w.role_prompt), interface_spec = interface_spec(w),
}, { "name", "prompt" }) end, function(agent, given)
  return agent:create_role({ name = given.name, prompt = given.prompt,
    interface_spec = given.interface_spec, behaviour = "llm" })
end)

verb("spawn_agent", function(w) return object({
  roleId = text(w.role_id), taskBrief = task_brief(w),
}, { "roleId", "taskBrief" }) end, function(agent, given)
  -- The brief is checked before the role, even without one.
  return agent:spawn_agent(type(given.roleId) == "string" and given.roleId or "", given.taskBrief)
end)

verb("send_message", function(w) return object({
  to = text(w.agent_id), type = text(w.type), payload = { description = w.payload },
  priority = text(w.priority), ttl_seconds = { type = "number", description = w.ttl_seconds },
  delay_ms = { type = "integer", description = w.delay_ms },
  wait_ack = text(w.wait_ack), timeout_ms = { type = "integer", description = w.timeout_ms },
}, { "to", "payload" }) end, function(agent, given, talk)
  local question = talk:open_question(given.to)
  if question then
    return closing(talk, question, agent:reply(question, given.payload, { type = given.type,
      priority = given.priority, ttl_seconds = given.ttl_seconds, delay_ms = given.delay_ms }))
  end
  return agent:send_message({ to = given.to, type = given.type, payload = given.payload,
    priority = given.priority, ttl_seconds = given.ttl_seconds, delay_ms = given.delay_ms,
    wait_ack = given.wait_ack, timeout_ms = given.timeout_ms })
end)

verb("request", function(w) return object({
  to = text(w.agent_id), type = text(w.type), payload = { description = w.payload },
  timeout_ms = { type = "integer", description = w.timeout_ms },
}, { "to", "payload" }) end, function(agent, given)
  local answer, err = agent:request({ to = given.to, type = given.type, payload = given.payload,
    timeout_ms = given.timeout_ms })
  return answer and { from = answer.from, type = answer.type, payload = answer.payload }, err
end)

verb("list_contacts", function() return object({}) end, function(agent)
  return agent:contacts()
end)

verb("request_introduction", function(w) return object({
  to = text(w.contact_id), reason = text(w.reason),
  required_capability = text(w.required_capability),
}, { "to", "reason", "required_capability" }) end, function(agent, given)
  return agent:request_introduction({ to = given.to, reason = given.reason,
    required_capability = given.required_capability })
end)

verb("introduce", function(w) return object({
  target = text(w.target), usage_hint = text(w.usage_hint),
}, { "target" }) end, function(agent, given, talk)
  local request = talk:find("introduction_request")
  if not request then
    return nil, { error = "no_request", message = "no introduction_request is being handled" }
  end
  return closing(talk, request, agent:introduce(request, { target = given.target,
    usage_hint = given.usage_hint }))
end)

verb("decline", function(w) return object({ reason = text(w.reason) },
  { "reason" }) end, function(agent, given, talk)
  local request = talk:find("introduction_request")
  if not request then
    return nil, { error = "no_request", message = "no introduction_request is being handled" }
  end
  return closing(talk, request, agent:decline(request, given.reason))
end)

verb("escalate", function(w) return object({
  title = text(w.title), body = { description = w.body },
  options = { type = "array", description = w.options },
  priority = text(w.priority),
}, { "title" }) end, function(agent, given)
  return agent:escalate({ title = given.title, body = given.body, options = given.options,
    priority = given.priority })
end)

-- The task that a model ends: the one it names, or else the latest.
local function task_at_hand(talk, id)
  if id == nil or id == "" then
    local task = talk:find_task()
    return task, not task
      and { error = "no_task", message = "no task is being handled; use send_message" } or nil
  end
  for index = #talk.messages, 1, -1 do -- one of that id may have ended before
    local message = talk.messages[index]
    if talk.is_task(message) and (message.task_id == id or message.id == id) then
      return message
    end
  end
  return nil, { error = "no_task", message = ("no task %s is being handled"):format(id) }
end

verb("complete", function(w) return object({
  output = { description = w.output }, task_id = text(w.task_id),
}, { "output" }) end, function(agent, given, talk)
  local task, err = task_at_hand(talk, given.task_id)
  if not task then
    return nil, err
  end
  return closing(talk, task, agent:complete(task, given.output))
end)

verb("fail", function(w) return object({
  error = text(w.reason), retryable = { type = "boolean", description = w.retryable },
  task_id = text(w.task_id),
}, { "error" }) end, function(agent, given, talk)
  local task, err = task_at_hand(talk, given.task_id)
  if not task then
    return nil, err
  end
  return closing(talk, task, agent:fail(task, given.error, { retryable = given.retryable }))
end)

for _, entry in ipairs(require("society.llm.more_verbs")) do
  M.list[#M.list + 1] = entry
end

--- The descriptions of the verbs in a language.
-- @tparam string? language "zh" (default) or "en"
function M.words(language)
  return WORDS[language] or WORDS.zh
end

--- The names of the verbs that the app gives to models in a role.
-- @tparam table? given `llm.verbs`: one list for all, or lists by role and as `default`
-- @tparam string role_id
-- @treturn table? nil: all but the extra ones
function M.chosen(given, role_id)
  if given == nil or given[1] ~= nil or next(given) == nil then
    return given
  end
  return given[role_id] or given.default
end

local made = {}

--- The verbs with their descriptions.
-- @tparam string? language "zh" (default) or "en"
-- @treturn table list of { name, description, parameters, run, is_verb, is_extra? }
function M.of(language)
  language = WORDS[language] and language or "zh"
  if not made[language] then
    local words, list = M.words(language), {}
    for index, entry in ipairs(M.list) do
      list[index] = { name = entry.name, description = words.verbs[entry.name],
        parameters = entry.parameters(words), run = entry.run, is_verb = true,
        is_extra = entry.is_extra }
    end
    made[language] = list
  end
  return made[language]
end

return M
