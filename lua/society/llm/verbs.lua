--- verbs: what the society lets an agent do, as tools of a model.
--
-- Names and arguments are those of the protocol; nowhere is there a `from`. Each verb
-- has a schema and run(agent, arguments, talk), which returns what the call answers, or
-- nil and an error.

local json = require("society.json")

local M = {}

local function text(description)
  return { type = "string", description = description }
end

local function object(properties, required, description)
  return { type = "object", description = description, properties = properties,
    required = json.array(required or {}) }
end

local INTERFACE_SPEC = object({
  services = text("提供的服务"), input_format = text("输入格式"), output_format = text("输出格式"),
  examples = { type = "array" },
}, { "services", "input_format", "output_format" }, "接口规格说明")

local TASK_BRIEF = object({
  objective = text("目标描述"),
  constraints = { type = "array", items = { type = "string" },
    description = "技术约束（如：使用HTML+JS、Python等）" },
  inputs = text("输入说明"), outputs = text("输出要求"),
  completion_criteria = text("完成标准"),
  collaborators = {
    type = "array", description = "预设协作联系人",
    items = object({ agentId = text("智能体ID"), role = text("角色"),
      description = text("协作说明"), interfaceSpec = INTERFACE_SPEC },
      { "agentId", "role", "description" }),
  },
  references = { type = "array", items = { type = "string" }, description = "参考资料" },
  priority = text("urgent、high、normal 或 low"),
}, { "objective", "constraints", "inputs", "outputs", "completion_criteria" },
  "任务委托书，包含任务的完整说明")

local PAYLOAD = { description = "消息内容：对象或文本" }

local function verb(name, description, parameters, run)
  M[#M + 1] = { name = name, description = description, parameters = parameters, run = run }
end

verb("create_role", "设立岗位。", object({
  name = text("岗位名称"), prompt = text("岗位提示词"), interface_spec = INTERFACE_SPEC,
}, { "name", "prompt" }), function(agent, given)
  return agent:create_role({ name = given.name, prompt = given.prompt,
    interface_spec = given.interface_spec, behaviour = "llm" })
end)

verb("spawn_agent", "在指定岗位上创建智能体实例，必须提供任务委托书（Task Brief）。", object({
  roleId = text("岗位ID"), taskBrief = TASK_BRIEF,
}, { "roleId", "taskBrief" }), function(agent, given)
  return agent:spawn_agent(given.roleId, given.taskBrief)
end)

verb("send_message", "给联系人发消息，不等待答复。", object({
  to = text("智能体ID"), type = text("消息类型，省略时为 general"), payload = PAYLOAD,
}, { "to", "payload" }), function(agent, given, talk)
  local question = talk:open_question(given.to)
  if question then
    talk:close_question(question)
    return agent:reply(question, given.payload, { type = given.type })
  end
  return agent:send_message({ to = given.to, type = given.type, payload = given.payload })
end)

verb("request", "给联系人发消息并等待答复。", object({
  to = text("智能体ID"), type = text("消息类型"), payload = PAYLOAD,
  timeout_ms = { type = "integer", description = "最长等待的毫秒数" },
}, { "to", "payload" }), function(agent, given)
  local answer, err = agent:request({ to = given.to, type = given.type, payload = given.payload,
    timeout_ms = given.timeout_ms })
  return answer and { from = answer.from, type = answer.type, payload = answer.payload }, err
end)

verb("list_contacts", "列出联系人及其接口规格。", object({}), function(agent)
  return agent:contacts()
end)

verb("request_introduction", "请联系人介绍具备某种能力的智能体。", object({
  to = text("联系人的智能体ID"), reason = text("原因"), required_capability = text("所需能力"),
}, { "to", "reason", "required_capability" }), function(agent, given)
  return agent:request_introduction({ to = given.to, reason = given.reason,
    required_capability = given.required_capability })
end)

verb("introduce", "答复 introduction_request，介绍一位自己的联系人。", object({
  target = text("被介绍者的智能体ID"), usage_hint = text("合作建议"),
}, { "target" }), function(agent, given, talk)
  local request = talk:find("introduction_request")
  if not request then
    return nil, { error = "no_request", message = "no introduction_request is being handled" }
  end
  talk:close_question(request)
  return agent:introduce(request, { target = given.target, usage_hint = given.usage_hint })
end)

verb("decline", "拒绝 introduction_request，说明原因。", object({ reason = text("原因") },
  { "reason" }), function(agent, given, talk)
  local request = talk:find("introduction_request")
  if not request then
    return nil, { error = "no_request", message = "no introduction_request is being handled" }
  end
  talk:close_question(request)
  return agent:decline(request, given.reason)
end)

verb("escalate", "把需要用户拍板的事提交给用户并等待决定。", object({
  title = text("标题"), body = { description = "说明" },
  options = { type = "array", description = "选项" },
  priority = text("urgent、high、normal 或 low"),
}, { "title" }), function(agent, given)
  return agent:escalate({ title = given.title, body = given.body, options = given.options,
    priority = given.priority })
end)

verb("complete", "任务达到完成标准后交付结果。", object({ output = { description = "交付内容" } },
  { "output" }), function(agent, given, talk)
  local task = talk:find_task()
  if not task then
    return nil, { error = "no_task", message = "no task is being handled; use send_message" }
  end
  talk:close_question(task)
  return agent:complete(task, given.output)
end)

verb("fail", "任务无法完成时说明原因。", object({
  error = text("原因"), retryable = { type = "boolean", description = "稍后重试是否可能成功" },
}, { "error" }), function(agent, given, talk)
  local task = talk:find_task()
  if not task then
    return nil, { error = "no_task", message = "no task is being handled; use send_message" }
  end
  talk:close_question(task)
  return agent:fail(task, given.error, { retryable = given.retryable })
end)

return M
