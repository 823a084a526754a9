--- society repl: Lua at the prompt, with a `society` that speaks to a running society.

local arguments = require("society.cli.arguments")
local json = require("society.json")
local names = require("society.cli.names")
local program = require("society.program")
local remote = require("society.cli.remote")
local shown = require("society.cli.shown")

local M = {
  summary = "look at and steer a running society in Lua",
  options = {
    { "eval", short = "e", value = "LUA", kind = "list",
      text = "run this instead of reading lines; repeatable; also -e LUA" },
    arguments.state,
  },
  notes = "`society` has a function for each operation (society call lists them), as in\n"
    .. "society.agents(), society.messages{ agent = \"root\" }, society.pause(\"planner\").\n"
    .. "Values of expressions are printed. Tab completes names and ids. The history is kept in\n"
    .. "$XDG_STATE_HOME/society/history (~/.local/state). Lines of a script may come from stdin.",
  example = "society repl -e 'for _, a in ipairs(society.agents()) do print(a.id) end'",
}

local PROMPT, MORE = "> ", ">> "

-- The chunk as an expression if it is one, else as statements.
local function compile(text, environment)
  return load("return " .. text, "=repl", "t", environment)
    or load(text, "=repl", "t", environment)
end

local function is_unfinished(text, environment)
  local chunk, err = load(text, "=repl", "t", environment)
  return not chunk and not load("return " .. text, "=repl", "t", environment)
    and err:find("near <eof>", 1, true) ~= nil
end

local function show_results(session, results)
  if results.n >= 2 and results[1] == nil and type(results[2]) == "table" and results[2].error then
    program.complain(("%s: %s"):format(results[2].error, results[2].message or ""))
    return false
  end
  for index = 1, results.n do
    if index == 1 or results[index] ~= nil then
      shown.print(results[index], session.shown[results[index] or 0])
    end
  end
  return true
end

-- Runs a chunk and prints its values. Returns whether it went well.
local function run_text(session, text)
  local chunk, err = compile(text, session.environment)
  if not chunk then
    local _, why = load(text, "=repl", "t", session.environment)
    program.complain(why or err)
    return false
  end
  local results = table.pack(pcall(chunk))
  io.stdout:flush()
  if not results[1] then
    local fault = results[2]
    program.complain(type(fault) == "table" and fault.message or tostring(fault))
    return false
  end
  return show_results(session, table.pack(table.unpack(results, 2, results.n)))
end

local function make_session(given)
  local session = { shown = {} }
  local own = { society = remote.new(given.state, session.shown), json = json }
  session.environment = setmetatable(own, { __index = _G })
  return session
end

-- Where the history is kept, or nil.
local function find_history()
  local home = os.getenv("HOME")
  local base = os.getenv("XDG_STATE_HOME") or (home and home .. "/.local/state")
  if not base or base == "" then
    return nil
  end
  if home and not os.getenv("XDG_STATE_HOME") then
    program.make_directory(home .. "/.local")
  end
  program.make_directory(base)
  program.make_directory(base .. "/society")
  return base .. "/society/history"
end

-- Reads a chunk, which may span lines; nil at the end of the input. An empty line ends one
-- that is not finished.
local function read_chunk(session, read)
  local text
  while true do
    local line = read(text and MORE or PROMPT)
    if not line then
      return text
    end
    text = text and text .. "\n" .. line or line:match("^.*%S.*$")
    if text and (line == "" or not is_unfinished(text, session.environment)) then
      return text
    end
  end
end

-- Reads and runs lines until the input ends. `read(prompt)` gives a line, `remember(text)` is
-- told what was run. Returns whether all went well.
local function run_lines(session, read, remember)
  local is_fine = true
  local text = read_chunk(session, read)
  while text do
    remember(text)
    is_fine = run_text(session, text) and is_fine
    text = read_chunk(session, read)
  end
  return is_fine
end

local function run_terminal(session, state)
  local editor, why = program.open_editor(find_history())
  if not editor then
    program.complain(why)
    return arguments.FAILED
  end
  local function complete(before)
    return names.complete(session.environment, before)
  end
  print(("society %s: Lua for the society in %s; Ctrl-D ends"):format(program.version,
    state))
  run_lines(session, function(prompt)
    return editor:read(prompt, complete)
  end, function(text)
    editor:remember(text)
  end)
  editor:close()
  print()
  return arguments.DONE
end

-- An exit code if no society answers, which is said at once and not at the first call.
local function check_running(state)
  local _, trouble, text = program.ask(state, require("society.cli.ask").request("stats"))
  if trouble == "no_such_file" then
    text = ("no society is running in %s, and repl needs one; --state DIR names another")
      :format(state)
  end
  if trouble and trouble ~= "refused" then
    program.complain(text)
    return arguments.FAILED
  end
  return nil
end

function M.run(given)
  local code = check_running(given.state)
  if code then
    return code
  end
  local session = make_session(given)
  for _, text in ipairs(given.eval) do
    if not run_text(session, text) then
      return arguments.FAILED
    end
  end
  if #given.eval > 0 then
    return arguments.DONE
  end
  if program.is_terminal(0) and program.is_terminal(1) then
    return run_terminal(session, given.state)
  end
  local is_fine = run_lines(session, function()
    return io.read("l")
  end, function() end)
  return is_fine and arguments.DONE or arguments.FAILED
end

return M
