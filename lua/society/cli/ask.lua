--- society.cli.ask: one request to a society, whether it runs or not.
--
-- A society that runs is asked through its socket; one that does not is opened for the
-- moment. Another command may hold it meanwhile, so that is tried again.

local arguments = require("society.cli.arguments")
local json = require("society.json")
local program = require("society.program")

local M = {}

local PAUSE_MS = 50
local PATIENCE_MS = 3000
local PAGE_ROWS = 1000

local DISK = { storage_failed = true, storage_full = true, state_damaged = true }

--- The exit code for an error of the store or a script.
function M.code_of(name)
  return DISK[name] and arguments.DISK or arguments.FAILED
end

--- Makes a request of an operation and its members. `raw` has members that are JSON already.
function M.request(op, members, raw)
  local all = { id = 1, op = op }
  for name, value in pairs(members or {}) do
    all[name] = value
  end
  local text = assert(json.encode(all))
  for name, value in pairs(raw or {}) do
    text = ('%s,"%s":%s}'):format(text:sub(1, -2), name, (value:gsub("\n", " ")))
  end
  return text
end

--- A value as people read it: a text as it is, anything else as JSON.
function M.as_text(value)
  return type(value) == "string" and value or json.encode(value)
end

-- "society: agent_not_found: no agent has that id", with the details below.
local function complain_of_refusal(refusal)
  local object = json.decode(refusal)
  local lines = { ("%s: %s"):format(object.error, object.message) }
  for _, name in ipairs({ "missing_fields", "details", "options" }) do
    local texts = {}
    for index, text in ipairs(object[name] or {}) do
      texts[index] = M.as_text(text):gsub("%c", " ") -- a policy's words may have line breaks
    end
    if #texts > 0 then
      lines[#lines + 1] = ("  %s: %s"):format(name, table.concat(texts, "; "))
    end
  end
  local reason = object.reason
  if type(reason) == "table" and reason.error then
    lines[#lines + 1] = "  reason: " .. table.concat({ reason.error, reason.message }, ": ")
  end
  program.complain(table.concat(lines, "\n"))
  return arguments.FAILED
end

--- Says on stderr why there is no answer and returns the exit code.
function M.complain(state, name, text)
  if name == "refused" then
    return complain_of_refusal(text)
  end
  if name == "no_such_file" then
    text = ("there is no society in %s; --state DIR names another"):format(state)
  end
  program.complain(text)
  return M.code_of(name)
end

local function ask_once(state, request, options)
  local needs_running, take = options.needs_running, options.take
  local list, name, text = program.ask(state, request)
  if list and take then
    take(list)
  end
  if name ~= "no_such_file" then
    return list, name, text
  end
  if not needs_running then
    return program.ask_stopped(state, request, take, options.is_plain)
  end
  if program.is_held(state) then
    return nil, "state_locked",
      ("a process holds %s, but its society does not answer yet"):format(state)
  end
  return nil, "not_running", ("no society is running in %s, %s"):format(state,
    needs_running == true and "so there is nobody to wait for" or needs_running)
end

--- Asks and returns the answer, a JSON list; or nil and an exit code, after a complaint.
-- `options`: needs_running, if a stopped society cannot do it: true, or what to say then;
-- patience_ms; may_refuse, if a refusal is an answer, too: nil without a code or complaint;
-- take, a function that gets the list instead, in parts if it is long: the result is true then;
-- is_plain, with `take`, if agents of a stopped society are wanted as they are stored.
function M.ask(state, request, options)
  options = options or {}
  local tries = math.max(1, (options.patience_ms or PATIENCE_MS) // PAUSE_MS)
  for try = 1, tries do
    local list, name, text = ask_once(state, request, options)
    if list then
      return list
    end
    if name == "refused" and options.may_refuse then
      return nil
    end
    if name ~= "state_locked" or try == tries then
      return nil, M.complain(state, name, text)
    end
    program.pause(PAUSE_MS)
  end
end

-- The first line that is left, if retention has removed those that were asked for.
local function first_left(name, text)
  local refusal = name == "refused" and json.decode(text)
  return refusal and refusal.error == "gone" and refusal.first or nil
end

-- One page: the list, the next line and the last one there is. A list that is nil has lost its
-- first lines, or `take` has all of it: go on with the next. Without a next line: nil, nil and
-- an exit code.
local function read_page(state, op, members, page, take)
  local list, next_line, text = program.ask_page(state, M.request(op, page))
  if list then
    return list, next_line, text
  end
  if next_line == "no_such_file" and page.after == 0 then
    local whole, code = M.ask(state, M.request(op, members), { take = take })
    return nil, whole and 0, code
  end
  local first = first_left(next_line, text)
  if not first then
    return nil, nil, M.complain(state, next_line, text)
  end
  return nil, first - 1
end

-- Lists whose cursor is a line of the activity log. That of others is a key of their own.
local BY_LINE = { activity = true, dead_letters = true, messages = true, tasks = true }

-- Tells whether there is a page after that line, of those that there were at first.
local function follows(op, next_line, last)
  return next_line > 0 and (not BY_LINE[op] or not last or next_line < last)
end

--- Asks for all rows of a list and calls `take(list)` with them, a page at a time: no answer
-- is large, and nothing in a running society waits for it. It ends with the last line there was
-- at the first answer: a busy society adds rows faster than they are read. Returns an exit code
-- if that failed, after a complaint.
function M.walk(state, op, members, take)
  local page, last = { after = 0, limit = PAGE_ROWS }, nil
  for name, value in pairs(members) do
    page[name] = value
  end
  while page.after do
    local list, next_line, rest = read_page(state, op, members, page, take)
    if not next_line then
      return rest
    end
    if list then
      last = last or rest
      take(list)
    end
    page.after = follows(op, next_line, last) and next_line or nil
  end
  return nil
end

return M
