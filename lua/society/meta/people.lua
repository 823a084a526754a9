---@meta
-- Types of roles and births for editors (LuaLS). Nothing here is ever run.

---@class society.InterfaceSpec
---@field services string
---@field input_format string
---@field output_format string
---@field examples? table

---@class society.Grants what isolated agents of a role may reach; nothing else
---@field http? string[] the URLs that agent:http may begin with
---@field secrets? string[] the secrets that agent:http may send
---@field chat? boolean whether they may ask models

---@class society.RoleOptions
---@field id? string
---@field name? string
---@field prompt? string
---@field rolePrompt? string instead of prompt
---@field behaviour? society.Behaviour
---@field interface_spec? society.InterfaceSpec
---@field reply_timeout_ms? integer of requests to its agents that do not say; at load only
---@field isolated? boolean|society.Grants its agents run in worker processes; at load only

---@class society.Collaborator
---@field agentId string
---@field role string
---@field description string
---@field interfaceSpec? society.InterfaceSpec

---@class society.TaskBrief
---@field objective string
---@field constraints string[]
---@field inputs any
---@field outputs any
---@field completion_criteria any
---@field collaborators? society.Collaborator[]
---@field [string] any

---@class society.SpawnOptions
---@field id? string
---@field message? any sent to it as a task_assignment
---@field wait? boolean until the task of that message has ended
---@field timeout_ms? integer of the wait
---@field behaviour? "external" it lives outside, whatever its role says
---@field isolated? boolean it runs in a worker process, and so does whatever it spawns
---@field host? string where it is born; the policy `hosts` chooses otherwise
