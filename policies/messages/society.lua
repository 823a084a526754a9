--- Messages: the types of the Agent Society protocol.
--
-- A task_assignment carries a Task Brief: the payload itself, its task_brief or its
-- taskBrief. An introduction_response names the agent, or says why there is none.
-- Settings: `briefs` is how much of a brief must be there: "strict", "lenient" (""
-- counts, and a lone text is a list) or "any" (an object).

local json = require("society.json")
local brief_rules = require("society.brief")

local M = { kind = "messages", version = 1, defaults = { mode = "reject", briefs = "strict" } }

local function is_missing(value)
  return value == nil or value == json.null
    or (type(value) == "string" and brief_rules.is_blank(value))
end

local function is_null(value)
  return value == nil or value == json.null
end

-- A brief whose lone texts stand for lists.
local function with_lists(brief)
  local lists = {}
  for _, name in ipairs({ "constraints", "references" }) do
    lists[name] = type(brief[name]) == "string" and {} or nil
  end
  return next(lists) and setmetatable(lists, { __index = brief }) or brief
end

local function check_assignment(payload, settings, language)
  local brief = payload
  if not is_null(payload.task_brief) then
    brief = payload.task_brief
  elseif not is_null(payload.taskBrief) then
    brief = payload.taskBrief
  end
  if type(brief) ~= "table" then
    return false, "task_brief must be an object"
  end
  if settings.briefs == "any" then
    return true
  end
  local words = brief_rules.LANGUAGES[language] or brief_rules.WORDS
  if settings.briefs == "strict" then
    return brief_rules.check(brief, is_missing, words)
  end
  return brief_rules.check(with_lists(brief), is_null, words)
end

-- Where the id of the agent that is introduced may stand.
local ID_NAMES = { "id", "targetAgentId", "target_agent_id", "agentId", "agent_id" }

local function find_id(from, first)
  for index = first, #ID_NAMES do
    if not is_missing(from[ID_NAMES[index]]) then
      return from[ID_NAMES[index]]
    end
  end
  return nil
end

local function is_agent_id(value)
  if type(value) ~= "string" or #value > 129 then
    return false
  end
  local id, host = value:match("^(%w[%w_.-]*)@(%w[%w_.-]*)$")
  id = id or value:match("^%w[%w_.-]*$")
  return id ~= nil and #id <= 64 and (host == nil or #host <= 64)
end

local function check_introduction(payload)
  local target = payload.target_agent
  local id = find_id(payload, 2)
  if not is_null(target) then
    id = find_id(target, 1) or id
    if id == nil then
      return false, { missing_fields = { "target_agent.id" },
        details = { "target_agent.id is missing" } }
    end
  end
  if id ~= nil then
    return is_agent_id(id), "target_agent.id must be an agent's id"
  end
  if not is_missing(payload.reason) then
    return true
  end
  local name = target == nil and "target_agent" or "reason"
  return false, { missing_fields = { name }, details = {
    "name the agent in target_agent.id, or give target_agent = null and a reason",
  } }
end

M.types = {
  task_assignment = { fields = {}, check = check_assignment },
  status_report = {},
  introduction_request = {
    required = { "reason", "required_capability" },
    fields = { reason = "string", required_capability = "string" },
  },
  introduction_response = {
    fields = {
      target_agent = { kind = "object", fields = { role = "string", interface_spec = "object" } },
      usage_hint = "string",
      reason = "string",
    },
    check = check_introduction,
  },
  collaboration_request = {},
  collaboration_response = {},
  general = {},
  decision = {
    host_only = true,
    required = { "item_id", "decision" },
    fields = {
      item_id = "string", comment = "string", changes = "any", choice = "any",
      decision = { values = { "approve", "modify", "reject" } },
    },
  },
  delivery_failed = { host_only = true },
}

local BRIEF = {
  objective = "write the login page", constraints = { "静态网页" }, inputs = "a design",
  outputs = "one HTML file", completion_criteria = "it opens in a browser",
}

M.examples = {
  { type = "task_assignment", payload = BRIEF },
  { type = "task_assignment", payload = { task_brief = BRIEF, text = "please begin" } },
  { type = "task_assignment", payload = { taskBrief = BRIEF } },
  { type = "task_assignment", payload = { text = "please begin" }, expect = brief_rules.REQUIRED },
  { type = "task_assignment", expect = { "constraints", "completion_criteria" }, payload = {
    task_brief = { objective = "o", inputs = "i", outputs = "o", completion_criteria = "" },
  } },
  { type = "status_report", payload = { text = "half done" } },
  { type = "introduction_request", payload = {
    reason = "the page needs a database", required_capability = "SQL",
  } },
  { type = "introduction_request", payload = { reason = "" },
    expect = { "reason", "required_capability" } },
  { type = "introduction_response", payload = {
    target_agent = { id = "dba-1", role = "数据库管理员", interface_spec = {
      services = "queries", input_format = "SQL", output_format = "rows",
    } },
    usage_hint = "send one query at a time",
  } },
  { type = "introduction_response", payload = { targetAgentId = "dba-1" } },
  { type = "introduction_response", payload = { target_agent = { agent_id = "dba-1@north" } } },
  { type = "introduction_response", payload = { target_agent = json.null, reason = "nobody" } },
  { type = "introduction_response", payload = { target_agent = json.null }, expect = { "reason" } },
  { type = "introduction_response", payload = { usage_hint = "-" }, expect = { "target_agent" } },
  { type = "introduction_response", payload = { target_agent = { role = "r" } },
    expect = { "target_agent.id" } },
  { type = "introduction_response", payload = { agentId = "../x" }, expect = false },
  { type = "collaboration_request", payload = { text = "let us share the style sheet" } },
  { type = "collaboration_response", payload = { text = "yes" } },
  { type = "general", payload = "hello" },
  { type = "decision", payload = { item_id = "item-1", decision = "modify", changes = { n = 2 } } },
  { type = "decision", payload = { decision = "perhaps" }, expect = false },
  { type = "delivery_failed", payload = { error = "agent_not_found" } },
}

return M
