--- Messages: the types of the Helix task protocol.
--
-- A result that says `failed` must say the error.

local json = require("society.json")

local M = { kind = "messages", version = 1, defaults = { mode = "reject" } }

local function check_result(payload)
  local err = payload.error
  if payload.status == "failed" and (err == nil or err == json.null or err == "") then
    return false, {
      missing_fields = { "error" }, details = { "error is missing: status is failed" },
    }
  end
  return true
end

M.types = {
  task = {
    required = { "task_id" },
    fields = {
      task_id = "id", action = "string", payload = "any", requirement = "string", spec = "list",
      deadline = "time", reason = "string",
      priority = { values = { "P0", "P1", "P2", "P3", "urgent", "high", "normal", "low" } },
    },
  },
  result = {
    required = { "task_id", "status" },
    fields = {
      task_id = "id", output = "any", error = { kind = { "string", "object" } },
      retryable = "boolean", duration_minutes = "number",
      status = { values = { "done", "completed", "failed", "cancelled" } },
    },
    check = check_result,
  },
  query = {
    required = { "query" },
    fields = { query = "string", code = "string", context = { kind = { "string", "object" } } },
  },
  response = {
    required = { "query_id", "answer" },
    fields = { query_id = "string", answer = "any", severity = "string", suggestion = "string" },
  },
  alert = {
    required = { "alert_type" },
    fields = {
      alert_type = "string", reason = "string", agent = "string", task_id = "id",
      duration_minutes = "number",
    },
  },
  sync = {
    required = { "status" },
    fields = {
      status = "string", load = "string", active_tasks = "integer", agent = "string",
      current_task = "id", queue_length = "integer", estimated_free = "time",
    },
  },
}

M.examples = {
  { type = "task", payload = { task_id = "TASK-001", action = "execute", payload = {} } },
  { type = "task", payload = {
    task_id = "TASK-001", requirement = "实现用户登录", spec = { "JWT", "bcrypt" }, priority = "P0",
    deadline = "2026-02-21T20:00:00Z",
  } },
  { type = "task", payload = { task_id = "TASK-002", action = "cancel", reason = "优先级调整" } },
  { type = "task", payload = { requirement = "实现用户登录" }, expect = { "task_id" } },
  { type = "task", payload = { task_id = "T", deadline = "tomorrow" }, expect = false },
  { type = "result", payload = {
    task_id = "TASK-001", status = "done", output = {}, duration_minutes = 15,
  } },
  { type = "result", payload = {
    task_id = "TASK-001", status = "failed", error = "API rate limit exceeded", retryable = true,
  } },
  { type = "result", payload = { task_id = "TASK-001", status = "failed" }, expect = { "error" } },
  { type = "result", payload = {}, expect = { "task_id", "status" } },
  { type = "query", payload = {
    query = "这段代码有安全风险吗?", code = "...", context = "用户登录",
  } },
  { type = "query", payload = { code = "..." }, expect = { "query" } },
  { type = "response", payload = {
    query_id = "msg-xxx", answer = "有 SQL 注入风险", severity = "high",
    suggestion = "使用参数化查询",
  } },
  { type = "response", payload = {}, expect = { "query_id", "answer" } },
  { type = "alert", payload = {
    alert_type = "blocked", reason = "需要 API key", task_id = "TASK-002",
  } },
  { type = "alert", payload = {
    alert_type = "timeout", agent = "Codex", task_id = "TASK-001", duration_minutes = 35,
  } },
  { type = "alert", payload = { reason = "需要 API key" }, expect = { "alert_type" } },
  { type = "sync", payload = { status = "idle", load = "40%", active_tasks = 1 } },
  { type = "sync", payload = { load = "40%" }, expect = { "status" } },
}

return M
