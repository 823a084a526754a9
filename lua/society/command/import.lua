--- society import: a state directory made of what `society export jsonl` has written.

local arguments = require("society.cli.arguments")
local program = require("society.program")
local report = require("society.cli.report")
local rows = require("society.cli.rows")

local M = {
  summary = "make a state directory of what `society export jsonl` has written",
  words = "FILE",
  min = 1, max = 1,
  options = { arguments.state, arguments.json },
  notes = "What was imported is exported again and compared with FILE line by line before it "
    .. "counts. A directory that already has a society is refused.",
  completes = { "<file>" },
  example = "society import society.jsonl --state elsewhere",
}

local STORED = '{"stored":'

-- The lines of the file that are stored rows, and a function that tells the number of the last.
local function stored_lines(file)
  local number = 0
  local lines = file:lines()
  local function next_line()
    local line
    repeat
      line = lines()
      number = number + 1
      if line and not line:find("^{") then
        return line -- it is refused with its number
      end
    until not line or line:sub(1, #STORED) == STORED
    return line
  end
  return next_line, function() return number end
end

-- Exports the draft and compares it with the file. Returns nil, or the number of the first line
-- that differs.
local function compare(draft, file)
  local number, differs = 0, nil
  file:seek("set")
  local lines = file:lines()
  local code = rows.walk(draft, function(line)
    number = number + 1
    if not differs and lines() ~= line then
      differs = number
    end
  end)
  if not differs and lines() then
    differs = number + 1
  end
  return differs, code
end

local function make_draft(name, file, draft)
  local next_line, number = stored_lines(file)
  local done, error_name, text = program.read_rows(draft, next_line)
  if done then
    done, error_name, text = program.verify_state(draft)
    text = text and "these rows make no society: " .. text:gsub("; restore a backup.*", "")
    error_name = error_name == "state_damaged" and "invalid_argument" or error_name
  end
  if done then
    return nil
  end
  if error_name ~= "invalid_argument" then
    return rows.complain(error_name, text)
  end
  return rows.complain(error_name, ("%s:%d: %s; nothing was imported"):format(name, number(),
    text))
end

local function check_draft(name, file, draft)
  local differs, code = compare(draft, file)
  if code or not differs then
    return code
  end
  return rows.complain("invalid_argument",
    ("%s:%d: the line is not what these rows make of it, so the file was changed or cut; "
    .. "nothing was imported"):format(name, differs))
end

local function publish(given, path)
  local found, error_name, text = program.backup(path .. "/state", path .. "/backup", false)
  if found then
    found, error_name, text = program.restore(path .. "/backup", given.state)
  end
  report.warn_of_peers(found, given.state)
  return report.finish(given, ("%s is imported and verified"):format(given.state), given.state,
    found, error_name, text)
end

function M.run(given)
  local name = given.words[1]
  local file, reason = io.open(name, "rb")
  if not file then
    program.complain(reason)
    return arguments.FAILED
  end
  local code = rows.with_directory(function(path)
    local draft = path .. "/state"
    return make_draft(name, file, draft) or check_draft(name, file, draft) or publish(given, path)
  end)
  file:close()
  return code
end

return M
