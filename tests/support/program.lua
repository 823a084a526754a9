--- program: runs the built program as a user would, for the end-to-end specs.
--
--     local program = require("program")
--     local place = program.place()                  -- a directory of its own
--     local result = place:run("run app.lua")        -- { code, out, err }
--     local running = place:start("run server.lua")  -- in the background
--     running:kill("INT"); local ended = running:wait()
--     place:remove()

local json = require("society.json")

local M = {}

local Place = {}
Place.__index = Place

local Running = {}
Running.__index = Running

-- Long enough for any working machine. Only a failure takes as long.
local WAIT_SECONDS_MAX = 300

local function read(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local text = file:read("a")
  file:close()
  return text
end

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  pipe:close()
  return (text:gsub("\n$", ""))
end

-- The program's absolute path: specs run it in other directories.
local function program_path()
  local path = os.getenv("SOCIETY") or "build/society"
  return path:sub(1, 1) == "/" and path or output_of("pwd") .. "/" .. path
end

--- Quotes a text as one word of the shell.
function M.quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- Calls `attempt` until it returns a true value, and returns that. Raises after
-- WAIT_SECONDS_MAX.
function M.wait_for(what, attempt)
  for _ = 1, WAIT_SECONDS_MAX * 100 do
    local value = attempt()
    if value then
      return value
    end
    os.execute("sleep 0.01")
  end
  error("waited in vain for " .. what, 2)
end

--- The rows that a command has printed with --json.
function M.rows(result)
  local list = {}
  for line in result.out:gmatch("[^\n]+") do
    list[#list + 1] = assert(json.decode(line))
  end
  return list
end

--- Makes a temporary directory to work in.
function M.place()
  local path = output_of("mktemp -d")
  return setmetatable({ path = path, program = program_path(), count = 0 }, Place)
end

--- Writes a file into the place and returns its name.
function Place:write(name, text)
  local file = assert(io.open(self.path .. "/" .. name, "wb"))
  file:write(text)
  file:close()
  return name
end

function Place:read(name)
  return read(self.path .. "/" .. name)
end

--- Runs a shell command there; "society" in it is the program.
function Place:shell(command)
  local out, err = self.path .. "/.out", self.path .. "/.err"
  local _, _, code = os.execute(("cd %s && society() { %s \"$@\"; } && { %s; } >%s 2>%s </dev/null")
    :format(M.quote(self.path), M.quote(self.program), command, M.quote(out), M.quote(err)))
  return { code = code, out = read(out), err = read(err) }
end

--- Runs the program there with these arguments, as the shell reads them.
function Place:run(arguments)
  return self:shell("society " .. arguments)
end

--- Starts the program there in the background; `environment` is "NAME=VALUE …" as the shell
-- reads it, or nil.
function Place:start(arguments, environment)
  self.count = self.count + 1
  local base = ("%s/.job%d"):format(self.path, self.count)
  os.execute(([[cd %s && { %s %s %s >%s.out 2>%s.err </dev/null & echo $! >%s.pid
    wait $!; echo $? >%s.tmp; mv %s.tmp %s.code; } >/dev/null 2>&1 &]]):format(
    M.quote(self.path), environment or "", M.quote(self.program), arguments, base, base, base,
    base, base, base))
  local pid = M.wait_for("a process id", function()
    return (read(base .. ".pid") or ""):match("%d+")
  end)
  return setmetatable({ base = base, pid = pid }, Running)
end

--- Starts the program on a terminal of its own; out() is all that the terminal shows.
function Place:start_terminal(arguments, environment)
  local command = M.quote(self.program) .. " " .. arguments
  local program = self.program
  self.program = "script"
  local running = self:start(("-qefc %s /dev/null"):format(M.quote(command)), environment)
  self.program = program
  return running
end

--- Starts a society, "run …", and waits until its socket accepts connections. `state` as in
-- --state.
function Place:start_ready(arguments, state)
  local socket = (state or ".society") .. "/socket"
  self:shell("rm -f " .. socket) -- one that was left by a kill is no sign of life
  local running = self:start(arguments)
  M.wait_for("the socket", function()
    return self:shell("test -S " .. socket).code == 0
  end)
  return running
end

--- Waits until the journal of the society that runs in `state` is folded into its tables.
function Place:wait_until_folded(state)
  M.wait_for("a journal that is folded", function()
    local rows = ("sqlite3 -readonly %s/society.db 'SELECT count(*) FROM journal'"):format(state)
    return self:shell(rows).out == "0\n"
  end)
end

--- The path of a library that `make e2e` builds for LD_PRELOAD.
function Place:preload(name)
  local path = ("%s/preload/%s.so"):format(self.program:match("^(.*)/[^/]*$"), name)
  assert(io.open(path, "rb"), path .. " is missing; `make e2e` builds it"):close()
  return path
end

--- Runs the program as if it were a day later.
function Place:run_next_day(arguments)
  return self:shell(("CLOCK_DAYS=1 LD_PRELOAD=%s society %s"):format(
    M.quote(self:preload("clock")), arguments))
end

--- The environment of a program whose clocks advance() sets forward; the shell reads it.
-- `more` is the path of another library to preload.
function Place:clock(more)
  if not self:read("clock") then
    self:write("clock", ("<i8"):pack(0))
  end
  return ("CLOCK_FILE=%s LD_PRELOAD=%s"):format(M.quote(self.path .. "/clock"),
    M.quote(self:preload("clock") .. (more and ":" .. more or "")))
end

--- Sets the clocks of programs that run with clock() forward. A sleeping program must be
-- sent something before it notices.
function Place:advance(ms)
  local file = assert(io.open(self.path .. "/clock", "r+b"))
  local before = ("<i8"):unpack(file:read(8))
  file:seek("set", 0)
  file:write(("<i8"):pack(before + ms))
  file:close()
end

function Place:remove()
  os.execute("rm -rf " .. M.quote(self.path))
end

function Running:out()
  return read(self.base .. ".out") or ""
end

function Running:err()
  return read(self.base .. ".err") or ""
end

--- Waits until stdout or stderr contains `text`.
function Running:expect(text)
  M.wait_for(("%q in the output"):format(text), function()
    return (self:out() .. self:err()):find(text, 1, true)
  end)
end

--- Sends a signal, unless the program has ended: its number may be another process's by then.
function Running:kill(signal)
  if not self:code() then
    os.execute(("kill -%s %s 2>/dev/null"):format(signal, self.pid))
  end
end

--- The exit code, or nil while it runs. A signal's number is above 128.
function Running:code()
  return tonumber(read(self.base .. ".code") or "")
end

--- Waits for the end: { code, out, err }.
function Running:wait()
  local code = M.wait_for("the end of the program", function()
    return self:code()
  end)
  return { code = code, out = self:out(), err = self:err() }
end

return M
