---@meta
-- Types of what a person is asked and decides, for the Lua language server. Never loaded.

---@class society.Escalation
---@field title string what is to be decided
---@field body? any
---@field options? string[] choices the person sees
---@field priority? society.Priority
---@field timeout_ms? number
---@field wait? boolean false: the decision comes as a message `decision`

---@class society.Verdict
---@field decision? "approve"|"modify"|"reject" default with a choice: approve
---@field choice? any one of the item's options
---@field changes? table the changes; required by modify
---@field comment? string

---@class society.Decided
---@field agent string who asked
---@field decision "approve"|"modify"|"reject"
---@field delivered boolean false: the agent has ended
---@field item_id string
---@field messageId? string it went as a message
---@field note? string
