--- society attach: a person plays an outside agent through its files.

local arguments = require("society.cli.arguments")
local desk = require("society.cli.desk")
local program = require("society.program")

local LOOK_MS_MIN = 100 -- between two looks at the files, after something has come
local LOOK_MS_MAX = 500
local END_TRIES = 20 -- looks at what happens to the last lines after the input has ended
local END_MS = 50

local M = {
  summary = "play an outside agent through its files",
  words = "DIR ID",
  min = 2, max = 2,
  options = { arguments.json },
  lists = { {
    title = "what you type",
    { "TEXT", "answer the last message shown, or write to the orchestrator" },
    { "@ID TEXT", "write to ID" },
    { "/reply N TEXT", "answer message N" },
    { "/done [N] [TEXT]", "complete the task of message N, or mark message N as done" },
    { "/fail [N] [TEXT]", "fail the task of message N" },
    { "/quit", "leave, as the end of the input does" },
  } },
  example = "society attach .workflow agent_architecture",
}

local function registered_agents(words)
  local file = io.open(words[1] .. "/state/agents.json")
  local ids = {}
  for id in (file and file:read("a") or ""):gmatch('\n"([^"]*)":{"perspective"') do
    ids[#ids + 1] = id
  end
  return ids
end

M.completes = { "<directory>", registered_agents }

local function warn(text)
  io.stderr:write("society: attach: ", program.harmless(text, "\n    ", "?"), "\n")
end

-- A message for people: "[1] root general: how far are you?"
local function describe(number, envelope, line)
  local parts = { ("[%d]"):format(number) }
  for _, name in ipairs({ "from", "type", "task_id" }) do
    parts[#parts + 1] = type(envelope[name]) == "string" and envelope[name] or nil
  end
  local payload = type(envelope.payload) == "table" and envelope.payload or {}
  local text = type(payload.text) == "string" and payload.text
    or program.member(line, "payload") or ""
  return program.harmless(table.concat(parts, " ") .. ": " .. text, "\n    ", "?")
end

-- The message that a number at the start of `rest` names, else the last one, and what stands
-- behind it; or nil and why not.
local function pick(agent, rest)
  local number, behind = rest:match("^ *(%d%d?%d?%d?%d?%d?%d?%d?)%f[ \0] ?(.*)$")
  if number and not agent.shown[tonumber(number)] then
    return nil, ("there is no message %s"):format(number)
  end
  local shown = number and agent.shown[tonumber(number)] or agent:last_shown()
  if not shown then
    return nil, "no message has been shown yet"
  end
  return shown, number and behind or rest
end

local function is_blank(text)
  return not text:find("[^ ]")
end

-- Carries out /reply, /done or /fail; true, or nil and why not.
local function do_command(agent, word, rest)
  if word ~= "/reply" and word ~= "/done" and word ~= "/fail" then
    return nil, "type TEXT, @ID TEXT, /reply N TEXT, /done [N] [TEXT], /fail [N] [TEXT] or /quit"
  end
  local shown, text = pick(agent, rest)
  if not shown then
    return nil, text
  end
  if word == "/reply" then
    if is_blank(text) then
      return nil, "/reply N TEXT needs a text"
    end
    return agent:answer(shown, text)
  end
  if shown.task_id then
    return agent:end_task(shown, text, word == "/fail")
  end
  if word == "/fail" then
    return nil, "that message is not a task"
  end
  agent:ack(shown.id, "processed")
  return true
end

-- Does what a typed line says: true, or nil and why not; "quit" to leave.
local function do_line(agent, line)
  line = line:gsub("[ \r]+$", "")
  if line == "" then
    return true
  end
  if not utf8.len(line) then
    return nil, "that is not UTF-8"
  end
  local word, rest = line:match("^([^ ]*) ?(.*)$")
  if word == "/quit" then
    return "quit"
  end
  if word:sub(1, 1) == "/" then
    return do_command(agent, word, rest)
  end
  if word:sub(1, 1) == "@" then
    if #word == 1 or is_blank(rest) then
      return nil, "@ID TEXT needs an id and a text"
    end
    return agent:say({ to = word:sub(2), payload = rest })
  end
  local last = agent:last_shown()
  if last then
    return agent:answer(last, line)
  end
  return agent:say({ to = "orchestrator", payload = line })
end

-- Looks at the files; false when there is nothing more to look at, or nobody to show it to.
local function look(person)
  person.has_shown = false
  local goes_on = person.agent:look()
  if not goes_on and not person.is_json then
    print("the workflow is over")
  end
  return io.stdout:flush() and goes_on
end

-- Takes the whole lines that were typed; false after /quit.
local function take_lines(person)
  for line, after in person.typed:gmatch("([^\n]*)\n()") do
    local outcome, why = do_line(person.agent, line)
    if outcome == "quit" then
      return false
    end
    if not outcome then
      warn(why)
    end
    person.taken = after
  end
  person.typed = person.typed:sub(person.taken)
  person.taken = 1
  return true
end

-- Waits a moment for what happens to the last lines: nobody sees it later.
local function wait_for_end(person)
  for _ = 1, END_TRIES do
    if person.agent.unsettled == 0 then
      return
    end
    program.pause(END_MS)
    if not look(person) then
      return
    end
  end
end

local function converse(person)
  local wait_ms = LOOK_MS_MIN
  while look(person) do
    if person.is_ended then
      return wait_for_end(person)
    end
    wait_ms = person.has_shown and LOOK_MS_MIN or math.min(LOOK_MS_MAX, wait_ms * 3 // 2)
    local typed = program.input(wait_ms)
    if typed then
      person.is_ended = typed == ""
      -- At the end of the input the last line needs no newline.
      person.typed = person.typed .. (person.is_ended and "\n" or typed)
      if not take_lines(person) then
        return
      end
    end
  end
end

function M.run(given)
  local person = { is_json = given.json, typed = "", taken = 1 }
  local agent, why = desk.open(given.words[1], given.words[2], {
    warn = warn,
    show = function(number, envelope, line)
      person.has_shown = true
      io.write(given.json and line or describe(number, envelope, line), "\n")
    end,
  })
  if not agent then
    return arguments.complain(M, "%s", why) and arguments.FAILED
  end
  person.agent = agent
  program.ignore_closed_pipes()
  converse(person)
  return arguments.DONE
end

return M
