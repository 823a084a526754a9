---@meta society
-- Types of the Lua API for editors (LuaLS). Nothing here is ever run.
-- luacheck: ignore 212 241 (bodies are empty: arguments are unused, tables only filled)

---@alias society.Json nil|boolean|number|string|table
---@alias society.Priority "urgent"|"high"|"normal"|"low"|"P0"|"P1"|"P2"|"P3"
---@alias society.Status
---| "idle"|"working"|"blocked_internal"|"blocked_user"|"paused"|"unresponsive"|"failed"
---| "ending"|"stopped"
---@alias society.Handler fun(agent: society.Agent, message: society.Message): society.Json
-- In a table, `default` takes what no other handler names and `system` what the host sends.
---@alias society.Behaviour string|society.Handler|table<string, function>
---@alias society.PolicyKind
---| "contacts"|"briefs"|"context"|"deadlock"|"delivery"|"gatekeeper"|"hosts"|"introductions"
---| "messages"|"presentation"|"prompts"|"supervision"|"tasks"
---@alias society.PolicyInfo table<"kind"|"name"|"version"|"hash"|"path"|"settings", any>

---@class society.Error
---@field error string the code
---@field message string a sentence that says what to do
---@field [string] any further fields, as the call says

---@class society.Message
---@field id string
---@field timestamp string RFC 3339
---@field from string
---@field to string
---@field type string
---@field payload any
---@field text string as the presentation policy shows it
---@field priority society.Priority
---@field requires_ack boolean
---@field attempt integer
---@field hops integer
---@field task_id? string
---@field correlation_id? string
---@field reply_to? string id of the message it answers
---@field wants_reply? boolean whether the sender waits for a reply: it was sent by a request
---@field ttl_seconds? number
---@field deliver_at? string
---@field deadline? string
---@field external_id? string
---@field traceparent? string

---@class society.StoredMessage: society.Message
---@field status "pending"|"processed"|"expired"|"dead"|"dropped"|"cancelled"|"handed_over"
---@field finished_at? string
---@field reason? string the code of the error that ended it
---@field error? table the whole error object; `tries` counts the turns that raised

---@class society.SendOptions
---@field to string|string[]
---@field payload any a string means { text = … }
---@field type? string
---@field priority? society.Priority
---@field ttl_seconds? number
---@field delay_ms? number
---@field deliver_at? string|integer
---@field deadline? string|integer
---@field requires_ack? boolean
---@field task_id? string
---@field correlation_id? string
---@field dedupe_key? string
---@field wait_ack? "received"|"processed" waits for the ack; for one receiver
---@field timeout_ms? number with wait_ack, or of a request
---@field traceparent? string handed on by what the message causes

---@class society.ReplyOptions
---@field type? string
---@field priority? society.Priority
---@field ttl_seconds? number
---@field delay_ms? number

---@class society.RequestOptions: society.SendOptions
---@field to string

---@class society.Sent
---@field messageId? string
---@field ack? "received"|"processed" with wait_ack
---@field duplicate? boolean it was sent before, under the same key
---@field messageIds? any[] for a list of receivers; json.null where it failed
---@field partialErrors? society.Error[] of a list, or of a broadcast: whose mailbox is full

---What require("society.json") gives.
---@class society.JsonModule
---@field encode fun(value: any): string?, society.Error?
---@field decode fun(text: string): any, society.Error?
---@field array fun(list: table): table marks it as a list: an empty one is [], not {}
---@field null lightuserdata stands for JSON null

---@class society.Filter
---@field agent? string
---@field task? string
---@field type? string
---@field correlation_id? string
---@field since? string|integer
---@field until? string|integer
---@field limit? integer

---@class society.LetterFilter: society.Filter
---@field from? string
---@field to? string
---@field reason? string the code of the error, such as "expired"

---@alias society.Letters string|society.LetterFilter the id of one, or all that fit

---@class society.Expected
---@field expected? integer how many must fit, else nothing is done

---@class society.TaskFilter: society.Filter
---@field state? society.TaskState

---@alias society.TaskState "pending"|"processing"|"completed"|"failed"|"cancelled"

---@class society.Task
---@field task_id string
---@field agent string who does it
---@field assigner string who gave it
---@field state society.TaskState
---@field priority "P0"|"P1"|"P2"|"P3"
---@field type "task"|"task_assign"|"task_assignment"
---@field tries integer
---@field message_id string
---@field correlation_id string
---@field opened_at string
---@field started_at? string
---@field ended_at? string
---@field deadline? string
---@field parent? string id of the task in whose handling it was opened
---@field reason? any why it failed or was cancelled
---@field retry_at? string when it is tried again
---@field cancelled? integer how many tasks end with it

---@class society.Load
---@field agent string
---@field status "idle"|"busy"|"unresponsive"|"failed"|"stopped"
---@field current_task? string
---@field queue_length integer
---@field active_tasks integer
---@field load string a percentage, "40%"
---@field estimated_free string RFC 3339

---@class society.Queue
---@field queue_name string
---@field pending { task_id: string, priority: string }[]
---@field processing? { task_id: string }
---@field completed string[] newest last

---@class society.AgentInfo
---@field id string
---@field role { id: string, name: string }
---@field parent? string
---@field status society.Status
---@field queue_length integer
---@field contacts integer
---@field children integer
---@field created_at string
---@field brief? society.TaskBrief
---@field state? table

---@alias society.HoldOptions { reason?: string, subtree?: boolean }
---@alias society.WaitKind "reply"|"receive"|"human"|"task"|"checkpoint"|"call"|"sleep"|"look"
---|"ack"|"order"|"retry"

---@class society.Wait
---@field agent string
---@field kind society.WaitKind
---@field waits_for string[]
---@field type? string
---@field since? string
---@field deadline? string
---@field correlation_id? string of the chain it belongs to
---@field message_id? string the request, what opened the task, or what is to be acked
---@field ack? "received"|"processed" the awaited one
---@field to? string who is to give it
---@field item_id? string of what the person is to decide
---@field where? string file and line of the script where it waits; not of isolated agents

---What an app requires; the methods of society.new as well.
---@class society.Module
---@field version string
---@field role fun(options: society.RoleOptions)
---@field root fun(behaviour: society.Behaviour)
---@field main fun(story: fun(user: society.Agent))
---@field policy fun(kind: society.PolicyKind, policy: string|function|table, settings?: table)
---@field config fun(settings: society.Config)
---@field agents fun(): society.AgentInfo[]
---@field agent fun(id: string): society.AgentInfo?
---@field contacts fun(id: string): society.Contact[]?
---@field context fun(id: string): string? what agent:context() tells it
---@field messages fun(filter?: society.Filter): society.StoredMessage[]
---@field activity fun(filter?: society.Filter): table[]
---@field dead_letters fun(filter?: society.LetterFilter): society.StoredMessage[]
---@field tasks fun(filter?: society.TaskFilter): society.Task[]
---@field queue fun(id: string): society.Queue?
---@field load fun(id: string): society.Load?
---@field redeliver fun(which: society.Letters, options?: society.Expected): any, society.Error?
---@field drop fun(which: society.Letters, options?: society.Expected): any, society.Error?
---@field inbox fun(): society.Item[] urgent ones first, then the oldest
---@field dispatch fun(id: string?, payload: any, options?: table): society.Message?, society.Error?
---@field decide fun(item_id: string, verdict: society.Verdict): society.Decided?, society.Error?
---@field pause fun(id: string, options?: society.HoldOptions): society.Held?, society.Error?
---@field resume fun(id: string, options?: society.HoldOptions): society.Held?, society.Error?
---@field waits fun(): society.Wait[]
---@field policies fun(): society.PolicyInfo[] what is in force
---@field usage fun(filter?: { agent?: string, task?: string }): society.Usage[]
---@field stats fun(): table<string, any>
---@field new fun(options?: society.NewOptions): society.World|society.Fleet in specs only
local society = {}

---@class society.NewOptions
---@field app? string|fun(s: society.World)
---@field seed? integer
---@field store? string a directory; in memory by default
---@field policies? table<society.PolicyKind, string|table>
---@field config? society.Config
---@field hosts? table<string, string|fun(s: society.World)|society.NewOptions> makes a fleet
---@field quiet? boolean
---@field faults? string|string[] what goes wrong, by the seed; a checker watches
---@field http? fun(request: table): table?, table? what servers answer
---@field unexpected_calls? boolean model calls nobody thought of do not raise
---@field telemetry? boolean it has spans: s:spans()

---@alias society.SendAs
---| fun(self, from: string, options: society.SendOptions): society.Sent?, society.Error?
---@alias society.Dispatch
---| fun(self, id: string?, payload: any, options?: table): society.Message?, society.Error?

---@alias society.Decide
---| fun(self, item_id: string, verdict: society.Verdict): society.Decided?, society.Error?

---@alias society.Ack "received"|"processed"

---A scripted answer of a model that no call has had.
---@class society.UnusedAnswer
---@field of? string the agent or role whose list it is in
---@field turn integer its place in the list
---@field answer any as it is written

---A message that was handed out to an agent that lives outside.
---@class society.Handed: society.Message
---@field at integer ms
---@field warning? boolean
---@field broadcast? boolean
---@field again? boolean after a restart

---@alias society.AckAs
---| fun(self, id: string, ack: string|table, status?: society.Ack): boolean?, society.Error?
---@alias society.OutsideSend
---| fun(self, id: string, message: table): society.Sent?, society.Error?

---A society on a virtual clock. The functions of the module are methods here.
---@class society.World
---@field role fun(self: society.World, options: society.RoleOptions)
---@field root fun(self: society.World, behaviour: society.Behaviour)
---@field main fun(self: society.World, story: fun(user: society.Agent))
---@field policy fun(self: society.World, kind: society.PolicyKind, policy: any, settings?: table)
---@field config fun(self: society.World, settings: society.Config)
---@field agents fun(self: society.World): society.AgentInfo[]
---@field agent fun(self: society.World, id: string): society.AgentInfo?
---@field contacts fun(self: society.World, id: string): society.Contact[]?
---@field context fun(self: society.World, id: string): string?
---@field messages fun(self: society.World, filter?: society.Filter): society.StoredMessage[]
---@field activity fun(self: society.World, filter?: society.Filter): table[]
---@field dead_letters fun(self: society.World, filter?: society.LetterFilter): table[]
---@field tasks fun(self: society.World, filter?: society.TaskFilter): society.Task[]
---@field queue fun(self: society.World, id: string): society.Queue?
---@field load fun(self: society.World, id: string): society.Load?
---@field redeliver fun(self: society.World, which: society.Letters, how?: society.Expected): any
---@field drop fun(self: society.World, which: society.Letters, how?: society.Expected): any
---@field inbox fun(self: society.World): society.Item[]
---@field decide society.Decide
---@field pause fun(self: society.World, id: string, options?: society.HoldOptions): society.Held?
---@field resume fun(self: society.World, id: string, options?: society.HoldOptions): society.Held?
---@field waits fun(self: society.World): society.Wait[]
---@field policies fun(self: society.World): society.PolicyInfo[]
---@field usage fun(self: society.World, filter?: table): society.Usage[]
---@field stats fun(self: society.World): table<string, any>
---@field run fun(self: society.World): society.World until nothing is ready and no timer is open
---@field step fun(self: society.World): boolean whether anything was done
---@field advance fun(self: society.World, ms: integer): society.World
---@field now fun(self: society.World): integer
---@field send society.SendAs as that agent
---@field dispatch society.Dispatch a request from the person
---@field outside fun(self: society.World, id: string): society.Handed[]
---@field acks fun(self: society.World, id: string): table[] acks an outside agent got
---@field outside_send society.OutsideSend a message from an outside agent
---@field ack society.AckAs its ack of a message
---@field heartbeat fun(self: society.World, id: string): boolean?, society.Error?
---@field position fun(self: society.World, name: string): string? where a door stood last
---@field check fun(self: society.World): boolean?, string? with faults: is all as it must be?
---@field unused_answers fun(self: society.World): society.UnusedAnswer[] of llm.answers
---@field crash fun(self: society.World): society.World
---@field recover fun(self: society.World): society.World
---@field transcript fun(self: society.World): string
---@field dump fun(self: society.World): string
---@field spans fun(self: society.World): table[] spans of OTLP, with the option telemetry
---@field close fun(self: society.World)

return society
