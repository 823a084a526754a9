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
  program.complain(table.concat(lines, "\n"))
  return arguments.FAILED
end

local function complain(state, name, text)
  if name == "refused" then
    return complain_of_refusal(text)
  end
  if name == "no_such_file" then
    text = ("there is no society in %s; --state DIR names another"):format(state)
  end
  program.complain(text)
  return M.code_of(name)
end

local function ask_once(state, request, needs_running)
  local list, name, text = program.ask(state, request)
  if name ~= "no_such_file" then
    return list, name, text
  end
  if not needs_running then
    return program.ask_stopped(state, request)
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
-- patience_ms.
function M.ask(state, request, options)
  options = options or {}
  local tries = math.max(1, (options.patience_ms or PATIENCE_MS) // PAUSE_MS)
  for try = 1, tries do
    local list, name, text = ask_once(state, request, options.needs_running)
    if list then
      return list
    end
    if name ~= "state_locked" or try == tries then
      return nil, complain(state, name, text)
    end
    program.pause(PAUSE_MS)
  end
end

--- Asks for all rows of a list and calls `take(list)` with them. A running society gives
-- them a page at a time, so that no answer is large and nothing waits for it. Returns an
-- exit code if that failed, after a complaint.
function M.walk(state, op, members, take)
  local page = { after = 0, limit = PAGE_ROWS }
  for name, value in pairs(members) do
    page[name] = value
  end
  while page.after do
    local list, next_line, text = program.ask_page(state, M.request(op, page))
    if not list and next_line == "no_such_file" and page.after == 0 then
      local code
      list, code = M.ask(state, M.request(op, members))
      if not list then
        return code
      end
      next_line = 0
    elseif not list then
      return complain(state, next_line, text)
    end
    take(list)
    page.after = next_line > 0 and next_line or nil
  end
  return nil
end

return M
