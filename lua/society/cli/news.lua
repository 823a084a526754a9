--- society.cli.news: the rows of a list as they come.
--
-- Rows are read by the numbers of their lines from a cursor, so none is shown twice and none is
-- left out, also where the society ends and starts again meanwhile. Where there is none yet, the
-- activity waits in the society; other lists are asked again.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local json = require("society.json")
local program = require("society.program")

local M = {}

local PAUSE_MS = 200 -- between tries while the society is down
local WAIT_MS = 60000 -- of the society for a line
local PAGE = 1000

-- Whether a society has answered, or was said to be missing.
local is_known = false

--- Asks until the society answers: a list, the next line and the last one there is; or nil and
-- an exit code if that can never be. Lines that retention has removed are skipped: a list of
-- none, and the line before the first one left.
function M.ask(state, request)
  while true do
    local list, next_line, as_of = program.ask_page(state, request)
    if list then
      is_known = true
      return list, next_line, as_of
    elseif next_line == "refused" then
      local refusal = json.decode(as_of)
      if refusal.error == "gone" and refusal.first then
        return "[]", refusal.first - 1, refusal.first - 1
      end
      program.complain(("%s: %s"):format(refusal.error, refusal.message))
      return nil, arguments.FAILED
    elseif next_line ~= "no_such_file" and next_line ~= "closed" then
      program.complain(as_of)
      return nil, ask.code_of(next_line)
    end
    if not is_known then
      is_known = true
      program.complain(("no society runs in %s; waiting for one"):format(state))
    end
    program.pause(PAUSE_MS) -- it is down, or starts
  end
end

--- Calls `take(list)` with all rows of the list `op` behind the line `cursor`, for ever. Returns
-- an exit code if that fails, after a complaint.
function M.follow(state, op, members, cursor, take)
  local page = { limit = PAGE, wait_ms = op == "activity" and WAIT_MS or nil }
  for name, value in pairs(members) do
    page[name] = value
  end
  while true do
    page.after = cursor
    local list, next_line, as_of = M.ask(state, ask.request(op, page))
    if not list then
      return next_line
    end
    take(list)
    io.stdout:flush()
    local following = next_line > 0 and next_line or math.max(as_of, cursor)
    if following == cursor then
      program.pause(PAUSE_MS) -- a list that does not wait
    end
    cursor = following
  end
end

return M
