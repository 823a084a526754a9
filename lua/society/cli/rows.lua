--- society.cli.rows: a whole society as lines of JSON.
--
-- First come the rows that people read, as `society inspect` shows them, with a member `table`;
-- then every row that is stored, with a member `stored`. The latter make a society again; the
-- former follow from them, which is how an import is checked.
--
-- All lines show one moment: of a society that runs, they are taken from a copy.

local ask = require("society.cli.ask")
local json = require("society.json")
local program = require("society.program")

local M = {}

local TABLES = {
  { "roles" }, { "agents" }, { "contacts" }, { "tasks" }, { "messages" },
  { "inbox", { state = "all" } }, { "activity" },
}

-- Calls `take` with every line of a society that no process holds.
local function walk_stopped(state, take)
  for _, table in ipairs(TABLES) do
    local name, members = table[1], table[2]
    local list, code = ask.ask(state, ask.request(name, members), { is_plain = true,
      take = function(list)
        for row in program.rows(list) do
          take('{"table":"' .. name .. '",' .. row:sub(2))
        end
      end })
    if not list then
      return code
    end
  end
  local done, name, text = program.write_rows(state, take)
  return not done and M.complain(name, text) or nil
end

--- Prints a sentence about an error and returns the exit code.
function M.complain(name, text)
  program.complain(text)
  return ask.code_of(name)
end

--- Calls `act(path)` with a temporary directory, which is removed again, and returns what it
-- returns.
function M.with_directory(act)
  local path, reason = program.make_private_directory()
  if not path then
    return M.complain("io", "no temporary directory can be made: " .. reason)
  end
  local results = table.pack(pcall(act, path))
  program.remove_directory(path)
  if not results[1] then
    error(results[2], 0)
  end
  return table.unpack(results, 2, results.n)
end

--- The stored rows of one table, as tables; or nil and an exit code, after a complaint.
function M.stored(state, name)
  local list = {}
  local done, code, text = program.write_rows(state, function(line)
    list[#list + 1] = json.decode(line).row
  end, name)
  if not done then
    return nil, M.complain(code, text)
  end
  return list
end

-- A copy of a society that runs, as a stopped one. Returns nil, or an exit code.
local function copy(state, path)
  local done, name, text = program.backup(state, path .. "/backup", false)
  if done then
    done, name, text = program.restore(path .. "/backup", path .. "/state")
  end
  return not done and M.complain(name, text) or nil
end

--- Calls `take(line)` with every line. Returns an exit code if that failed, after a complaint.
function M.walk(state, take)
  if not program.is_held(state) then
    return walk_stopped(state, take)
  end
  return M.with_directory(function(path)
    return copy(state, path) or walk_stopped(path .. "/state", take)
  end)
end

return M
