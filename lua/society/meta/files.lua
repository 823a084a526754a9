---@meta

-- Types for editors: society.config{ files = … }, the file door. docs/files.md says what
-- each setting does.

---@class society.Files
---@field dir? string
---@field base_dir? string
---@field workflow_id? string
---@field perspectives? table<string, string>
---@field directory_mode? string
---@field file_mode? string
---@field polling? society.FilesPolling
---@field heartbeat? { interval_ms?: integer, timeout_ms?: integer }
---@field ack? society.FilesAck
---@field cleanup? society.FilesCleanup
---@field buffers? society.FilesBuffers

---@class society.FilesPolling
---@field interval_ms? integer
---@field max_interval_ms? integer
---@field max_wait_ms? integer
---@field backoff_multiplier? number
---@field force? boolean

---@class society.FilesAck
---@field required_types? string[]
---@field timeout_ms? integer
---@field retry_delay_ms? integer
---@field max_retries? integer

---@class society.FilesCleanup
---@field enabled? boolean
---@field max_messages? integer
---@field keep_ms? integer
---@field archive_after_workflow? boolean

---@class society.FilesBuffers
---@field message_buffer? integer
---@field ack_cache_ttl? integer
---@field heartbeat_cache? boolean
---@field line_bytes? integer
