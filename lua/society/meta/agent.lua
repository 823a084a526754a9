---@meta
-- Types of an agent and what it does, for the Lua language server. Never loaded.
-- luacheck: ignore 212

---@class society.Contact
---@field id string
---@field role string
---@field source "system"|"parent"|"child"|"preset"|"introduction"|"first_message"|"manual"
---@field addedAt string
---@field interfaceSpec? society.InterfaceSpec
---@field introducedBy? string
---@field usageHint? string how to work with it, from whoever introduced it
---@field via? string[] the way the introduction took
---@field reason? string why it was sought

---@class society.Agent
---@field id string
---@field role { id: string, name: string }
---@field parent? string
---@field brief? society.TaskBrief
---@field status society.Status
---@field state table lasts; JSON values
---@field recall fun(self): society.ChatMessage[], integer entries, number of the first
---@field progress fun(self) says that something came of this, which the host cannot see
---@field idle_talk fun(self): integer messages in a row in which nobody made progress
---@field effects_left fun(self): integer, integer for this message; and how many at most
---@field begin_tool fun(self, name: string, id?: string, arguments?: string) for telemetry
---@field choose fun(self, units: society.Unit[], tokens_max: integer): integer[] numbers of units
---@field end_tool fun(self, result?: string, failed?: boolean)
local Agent = {}

---Sends a message, or one to each of a list.
---@param options society.SendOptions
---@return society.Sent? sent
---@return society.Error? err
function Agent:send_message(options) end

---@param options society.RequestOptions
---@return society.Message? reply
---@return society.Error? err
function Agent:request(options) end

---Answers a message, or an open request by its id or correlation id.
---@param message society.Message|string
---@param payload any
---@param options? society.ReplyOptions
---@return society.Sent? sent
---@return society.Error? err
function Agent:reply(message, payload, options) end

---Takes the next message that fits, or waits for one.
---@param options? { from?: string, type?: string, timeout_ms?: integer }
---@return society.Message? message
---@return society.Error? err
function Agent:receive(options) end

---@param role_id string
---@param task_brief society.TaskBrief
---@param options? society.SpawnOptions
---@return { id: string, roleId: string, roleName: string, result?: table }? child
---@return society.Error? err
function Agent:spawn_agent(role_id, task_brief, options) end

---@param options society.RoleOptions its behaviour must be a string
---@return { id: string, name: string }? role
---@return society.Error? err
function Agent:create_role(options) end

---@return society.Contact[]
function Agent:contacts() end

---@return string text rules, role, whole brief, contacts and tools, worded by policies
---@return string? language "zh" or "en", if the policy `prompts` names it
function Agent:context() end

---@param id string
---@return society.Contact? contact
---@return society.Error? err
function Agent:contact(id) end

---@param id string
---@return { inRegistry: boolean, error?: string }
function Agent:knows(id) end

---@param id string
---@return { allowed: boolean, error?: string }
function Agent:can_send(id) end

---@param entry { id: string, interfaceSpec?: society.InterfaceSpec }
---@return society.Contact? contact
---@return society.Error? err
function Agent:add_contact(entry) end

---@param id string
---@return { removed: boolean }? removed
---@return society.Error? err
function Agent:remove_contact(id) end

---Asks a contact for somebody, and waits for the answer.
---@param options { to: string, reason: string, required_capability: string, timeout_ms?: integer }
---@return society.Contact? contact
---@return society.Error? err
function Agent:request_introduction(options) end

---Answers an introduction_request with somebody this agent knows.
---@param request society.Message|string
---@param options { target: string, usage_hint?: string }
---@return society.Sent? sent
---@return society.Error? err
function Agent:introduce(request, options) end

---Answers an introduction_request: nobody fits.
---@param request society.Message|string
---@param reason? string
---@return society.Sent? sent
---@return society.Error? err
function Agent:decline(request, reason) end

---Completes a task: its assigner gets the result.
---@param message society.Message|string the message that opened it, or its id
---@param output? any
---@return society.Task? task
---@return society.Error? err
function Agent:complete(message, output) end

---Ends a task as failed, or has it tried again if it is retryable.
---@param message society.Message|string
---@param error string|table
---@param options? { retryable?: boolean }
---@return society.Task? task
---@return society.Error? err
function Agent:fail(message, error, options) end

---Cancels a task this agent gave, or somebody below it, with all that descends from it.
---@param task_id string
---@param reason? string
---@return society.Task? task
---@return society.Error? err
function Agent:cancel(task_id, reason) end

---@param id? string
---@return society.Load? load
---@return society.Error? err
function Agent:load(id) end

---Decides about an unresponsive outside agent.
---@param id string
---@param action "restart"|"skip"|"abort"
---@return { agent: string, action: string, messages?: integer, tasks?: integer }? done
---@return society.Error? err
function Agent:resolve(id, action) end

---Has a child end: when its mailbox is empty, or at once by force.
---@param id string
---@param options? { force?: boolean, reason?: string }
---@return { id: string, status: "ending"|"stopped" }? ended
---@return society.Error? err
function Agent:terminate(id, options) end

---Has this agent itself end, when it has worked through its mailbox.
---@param options? { reason?: string }
---@return { id: string, status: "ending" }? ended
---@return society.Error? err
function Agent:stop(options) end

---@class society.Held
---@field id string as it was given
---@field count integer agents whose state changed
---@field status? string of the agent now; not for "All"

---Lets no turn of an agent start until it is resumed. `id` "All": everybody else.
---@param id string
---@param options? { reason?: string, subtree?: boolean }
---@return society.Held? held
---@return society.Error? err
function Agent:pause(id, options) end

---Resumes a paused or failed agent.
---@param id string
---@param options? { reason?: string, subtree?: boolean }
---@return society.Held? held
---@return society.Error? err
function Agent:resume(id, options) end

---@class society.Item
---@field id string
---@field agent string who asks
---@field title string
---@field body? any
---@field options? string[]
---@field priority society.Priority
---@field created_at string
---@field deadline? string
---@field overdue? boolean
---@field task_id? string
---@field correlation_id? string

---Puts something before the person and waits for the decision.
---@param options society.Escalation
---@return society.Verdict|{ item_id: string }|nil answer
---@return society.Error? err
function Agent:escalate(options) end

---Decides as the person: for `user`, inside main.
---@param item_id string
---@param verdict society.Verdict
---@return society.Decided? decided
---@return society.Error? err
function Agent:decide(item_id, verdict) end

---@class society.Broadcast
---@field payload any
---@field type? string `broadcast` if left out
---@field priority? society.Priority
---@field ttl_seconds? number
---@field task_id? string
---@field correlation_id? string
---@field requires_ack? boolean

---Sends a message to every agent.
---@param options society.Broadcast
---@return { messageId: string, count: integer }? sent
---@return society.Error? err
function Agent:broadcast(options) end

---@class society.Checkpoint
---@field payload? any
---@field agents? string[] ids; all but this one and `user` if left out
---@field timeout_ms? number 30000 if left out

---@class society.CheckpointResult
---@field checkpoint_id string
---@field responses table<string, any> payloads by agent
---@field missing string[] who has not answered

---Asks several agents and waits until all have answered or the time is over.
---@param options? society.Checkpoint
---@return society.CheckpointResult? result
---@return society.Error? err
function Agent:checkpoint(options) end

---Asks a server.
---@param request society.Request
---@return society.Response? response
---@return society.Error? err
function Agent:http(request) end

---@class society.RunLua
---@field script string a text of Lua 5.4
---@field values? table JSON values; the script's `values`
---@field cpu_ms? integer CPU time; 1000 if left out
---@field memory_bytes? integer 64 MB if left out
---@field timeout_ms? number 30000 if left out
---@class society.RunLuaResult
---@field result? any what the script returned
---@field printed? string what it printed

---Runs a script that is not trusted in a worker process.
---@param options society.RunLua
---@return society.RunLuaResult? result
---@return society.Error? err
function Agent:run_lua(options) end

---Asks a model.
---@param chat society.Chat
---@return society.ChatAnswer? message
---@return society.Error? err
function Agent:chat(chat) end

---Appends to the agent's conversation, which lasts.
---@param message society.ChatMessage
---@return integer? number
---@return society.Error? err
function Agent:remember(message) end

---@param ms integer
function Agent:sleep(ms) end

---@return integer ms since 1970 UTC
function Agent:now() end

---@param m? integer
---@param n? integer
---@return number
function Agent:random(m, n) end
---@param level "debug"|"info"|"warn"|"error"
---@param text string
---@param fields? table
function Agent:log(level, text, fields) end

---@param text string
function Agent:milestone(text) end

---@param name string
---@param default? integer
---@param current? integer
---@return integer version where the script was changed: docs/upgrading.md
function Agent:version(name, default, current) end

return Agent
