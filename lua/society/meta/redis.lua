---@meta

-- Types for editors: society.config{ redis = … }, the door for plain Redis clients.
-- docs/redis.md says what each setting does.

---@class society.Redis
---@field url? string
---@field password_env? string
---@field guest? string the outside agent as which clients without a name speak
---@field roles? string[] whose agents live behind Redis; all
---@field queue? boolean
---@field inbox? boolean
---@field status? boolean
---@field trim? boolean
---@field queue_max? integer
---@field inbox_max? integer
---@field reply_seconds? integer
---@field poll_ms? integer
---@field message_bytes? integer
