--- Messages: every type, with any payload.
--
-- In force behind the others it takes the types they do not know; alone it takes
-- all mail unread.

local M = { kind = "messages", version = 1, defaults = { mode = "reject" } }

M.types = {}

M.default = {}

M.examples = {
  { type = "news", payload = { headline = "it rains" } },
  { type = "task", payload = { 1, 2, 3 } },
}

return M
