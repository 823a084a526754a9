--- Messages: the types of the file queue with acknowledgements.
--
-- Those of the protocol's table that need an acknowledgement ask for one; the
-- setting `requires_ack`, a table of types, changes that.

local M = { kind = "messages", version = 1, defaults = { mode = "reject", requires_ack = {} } }

M.types = {
  task_assign = {
    requires_ack = true,
    required = { "task_id" },
    fields = { task_id = "id", perspective = "string", topic = "string" },
  },
  task_complete = {
    requires_ack = true,
    required = { "task_id" },
    fields = {
      task_id = "id", output = "any", error = { kind = { "string", "object" } },
      retryable = "boolean", duration_minutes = "number",
      status = { values = { "done", "completed", "failed", "cancelled" } },
    },
  },
  progress_update = { fields = { task_id = "id" } },
  checkpoint_request = {
    requires_ack = true,
    required = { "checkpoint_id" },
    fields = { checkpoint_id = "id" },
  },
  checkpoint_response = {
    requires_ack = true,
    required = { "checkpoint_id" },
    fields = { checkpoint_id = "id" },
  },
  broadcast = {},
  heartbeat = {},
  abort = {
    requires_ack = true,
    required = { "task_id" },
    fields = { task_id = "id", reason = "string" },
  },
}

M.examples = {
  { type = "task_assign", payload = {
    task_id = "task_001", perspective = "architecture", topic = "user-auth-system",
  } },
  { type = "task_assign", payload = { topic = "user-auth-system" }, task_id = "task_001" },
  { type = "task_assign", payload = { topic = "user-auth-system" }, expect = { "task_id" } },
  { type = "task_assign", payload = { task_id = "../task" }, expect = false },
  { type = "task_complete", payload = { task_id = "task_001", status = "done", output = {} } },
  { type = "task_complete", payload = {}, expect = { "task_id" } },
  { type = "progress_update", payload = { task_id = "task_001", percent = 40 } },
  { type = "checkpoint_request", payload = { checkpoint_id = "cp_1", question = "go on?" } },
  { type = "checkpoint_request", payload = { question = "go on?" }, expect = { "checkpoint_id" } },
  { type = "checkpoint_response", payload = { checkpoint_id = "cp_1", answer = "yes" } },
  { type = "checkpoint_response", payload = { answer = "yes" }, expect = { "checkpoint_id" } },
  { type = "broadcast", payload = "the plan has changed" },
  { type = "heartbeat", payload = {} },
  { type = "abort", payload = { task_id = "task_001", reason = "no longer wanted" } },
  { type = "abort", payload = "stop", expect = { "task_id" } },
}

return M
