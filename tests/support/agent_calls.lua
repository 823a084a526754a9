--- agent_calls: a good call of each method of an agent, and what bad.try() needs to know
-- about its arguments. A new method is entered here.

local scene = require("scene")

local SPEC = { services = "s", input_format = "i", output_format = "o" }

-- An id that was accepted by mistake must not collide with the next.
local made = 0
local function new_id()
  made = made + 1
  return "new" .. made
end

return {
  send_message = {
    good = function() return { { to = "root", payload = { n = 1 } } } end,
    places = { "" }, fields = { {
      to = "", payload = "payload text empty", content = "payload text empty null ?",
      type = "null ?", priority = "null ?", ttl_seconds = "ms null ?", delay_ms = "ms null ?",
      requires_ack = "flag null ?", deliver_at = "ms null ?", deadline = "ms null ?",
      task_id = "null ?", taskId = "null ?", correlation_id = "key null ?", wait_ack = "null ?",
      dedupe_key = "key null ?", traceparent = "key null ?", timeout_ms = "null ?",
    } },
  },
  request = {
    good = function() return { { to = "root", payload = { n = 1 }, timeout_ms = 5 } } end,
    places = { "" }, fields = { {
      to = "", payload = "payload text empty", type = "null ?", priority = "null ?",
      timeout_ms = "ms null ?", task_id = "null ?", correlation_id = "key null ?",
    } },
  },
  reply = { good = function(message) return { message, { n = 1 }, { type = "general" } } end,
    places = { "", "payload text empty", "options null ?" }, fields = { [3] = { type = "null ?",
      priority = "null ?", ttl_seconds = "ms null ?", delay_ms = "ms null ?" } },
  },
  receive = {
    good = function() return { { from = "root", type = "general", timeout_ms = 5 } } end,
    places = { "options ?" }, fields = { { from = "?", type = "?", timeout_ms = "ms ?" } },
  },
  spawn_agent = {
    good = function()
      return { "actor", scene.brief(), { id = new_id(), message = "begin" } }
    end,
    places = { "", "", "options ?" },
    fields = { nil, {
      objective = "payload text empty log function", constraints = "options payload",
      collaborators = "options null ?",
    }, { id = "?", message = "payload text empty ?" } },
  },
  create_role = {
    good = function()
      return { { id = new_id(), name = "n", interface_spec = SPEC } }
    end,
    places = { "" }, fields = { {
      id = "?", name = "text ?", prompt = "text empty ?", rolePrompt = "text empty ?",
      behaviour = "?", interface_spec = "?",
    } },
  },
  contact = { good = function() return { "root" } end, places = { "" }, },
  add_contact = {
    good = function() return { { id = "root", role = "r", interfaceSpec = SPEC } } end,
    places = { "" },
    fields = { { id = "", role = "text empty ?", interfaceSpec = "open options ?" } },
  },
  remove_contact = { good = function() return { "b" } end, places = { "" } },
  request_introduction = {
    good = function()
      return { { to = "root", reason = "r", required_capability = "c", timeout_ms = 5 } }
    end,
    places = { "" }, fields = { {
      to = "", reason = "text log", required_capability = "text log", timeout_ms = "ms ?",
    } },
  },
  introduce = {
    good = function(message) return { message, { target = "root", usage_hint = "h" } } end,
    places = { "", "" }, fields = { nil, { target = "", usage_hint = "text empty log ?" } },
  },
  decline = {
    good = function(message) return { message, "no" } end, places = { "", "text log number" },
  },
  terminate = {
    good = function() return { "kid", { reason = "r" } } end, places = { "", "options ?" },
    fields = { nil, { force = "flag ?", reason = "short empty ?" } },
  },
  stop = {
    good = function() return { { reason = "r" } } end, places = { "options ?" },
    fields = { { reason = "short empty ?" } },
  },
  pause = {
    good = function() return { "kid", { subtree = true } } end, places = { "", "options ?" },
    fields = { nil, { subtree = "flag ?", reason = "short empty ?" } },
  },
  resume = {
    good = function() return { "kid", { reason = "r" } } end, places = { "", "options ?" },
    fields = { nil, { subtree = "flag ?", reason = "short empty ?" } },
  },
  escalate = {
    good = function() return { { title = "t", timeout_ms = 5, wait = false } } end,
    places = { "" }, fields = { {
      title = "text", body = "payload text empty log null ?", options = "list ?",
      priority = "?", timeout_ms = "ms ?", wait = "flag ?",
    } },
  },
  broadcast = {
    good = function() return { { payload = { n = 1 } } } end,
    places = { "" }, fields = { {
      payload = "payload text empty", type = "null ?", priority = "null ?", task_id = "null ?",
      ttl_seconds = "ms null ?", requires_ack = "flag null ?", correlation_id = "key null ?",
    } },
  },
  checkpoint = {
    good = function() return { { agents = { "root" }, payload = { n = 1 }, timeout_ms = 5 } } end,
    places = { "options ?" }, fields = { {
      agents = "options ?", payload = "payload text empty ?", timeout_ms = "ms ?",
    } },
  },
  http = {
    good = function()
      return { { url = "http://a.test/", method = "GET", headers = { a = "b" }, body = "x",
        timeout_ms = 5, idempotent = true, connect_ms = 5, answer_bytes_max = 5 } }
    end,
    places = { "" }, fields = { {
      url = "", method = "?", headers = "options ?", body = "payload text empty log ?",
      timeout_ms = "ms ?", idempotent = "flag ?", connect_ms = "count ?",
      first_byte_ms = "count ?", idle_ms = "count ?", answer_bytes_max = "count ?", secret = "?",
    } },
  },
  chat = {
    good = function()
      return { { messages = { { role = "user", content = "x" } }, system = "s",
        tools = { { name = "f" } }, model = "m", provider = "scripted", temperature = 1,
        max_tokens = 5, timeout_ms = 5, interruptible = true } }
    end,
    places = { "" }, fields = { {
      messages = "options list", system = "text empty payload log ?", tools = "options list ?",
      model = "text empty payload log ?", provider = "text empty payload log ?",
      temperature = "number payload ms ?", max_tokens = "count payload ?", timeout_ms = "ms ?",
      interruptible = "flag ?",
    } },
  },
  run_lua = {
    good = function()
      return { { script = "return 1", values = { n = 1 }, cpu_ms = 5, memory_bytes = 1000000,
        timeout_ms = 5000 } }
    end,
    places = { "" }, fields = { {
      script = "text empty log", values = "options list payload ?", cpu_ms = "count ?",
      memory_bytes = "count ?", timeout_ms = "ms ?",
    } },
  },
  remember = {
    good = function() return { { role = "user", content = "x" } } end,
    places = { "" }, fields = { { role = "", content = "text empty payload log" } },
  },
  choose = { good = function() return { { { first = 1, last = 1, tokens = 5 } }, 100 } end,
    places = { "", "count" } },
  decide = {
    good = function() return { "item", { decision = "approve" } } end, places = { "", "" },
    fields = { nil, { decision = "", changes = "payload text empty log null ?", choice = "?",
      comment = "text empty ?" } },
  },
  complete = {
    good = function(_, task) return { task, { n = 1 } } end,
    places = { "", "payload text empty log null ?" },
  },
  fail = {
    good = function(_, task) return { task, "why", { retryable = false } } end,
    places = { "", "payload text empty log null", "options ?" },
    fields = { nil, nil, { retryable = "flag ?" } },
  },
  resolve = { good = function() return { "b", "skip" } end, places = { "", "" } },
  cancel = { good = function() return { "task", "why" } end,
    places = { "", "text empty log number ?" } },
  load = { good = function() return { "root" } end, places = { "?" } },
  sleep = { good = function() return { 0 } end, places = { "" } },
  version = { good = function() return { "name", 0, 1 } end,
    places = { "text empty log", "?", "count ?" } },
  milestone = { good = function() return { "half of it" } end, places = { "text empty log" } },
  log = { good = function() return { "info", "text", { n = 1 } } end,
    places = { "", "text empty log number", "payload text empty open log null ?" } },
  random = { good = function() return { 1, 2 } end, places = { "payload ?", "payload ?" } },
}
