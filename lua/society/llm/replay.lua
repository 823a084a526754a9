--- replay: returns recorded answers of a real model.
--
--     society.config { llm = { provider = "openai", record = "answers.jsonl" } }   -- once
--     society.config { llm = { provider = "replay", replay = "answers.jsonl" } }   -- always
--
-- A recording has one line of JSON per answer: the agent, the number of its call, the last
-- message it saw, and the answer. A call with another last message, or without a recording,
-- fails and shows both. Ids and times that the host creates in each run are not compared.

local answers = require("society.llm.answer")
local json = require("society.json")
local quoted = require("society.llm.texts").quoted

local M = { name = "replay", environment = {}, defaults = { model = "replay" }, is_written = true }

local function last_text(chat)
  local last = chat.messages[#chat.messages]
  return last and (last.content or "") or ""
end

-- The ids of the host after their prefix: a time and a counter.
local ID = "_" .. ("%d"):rep(8) .. "_" .. ("%d"):rep(6) .. "_" .. ("%d"):rep(5) .. ("%x"):rep(10)

local SECOND = "%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.?%d*"

-- Values the host generates, and their placeholders when messages are compared.
local MADE = {
  { ID, "_ID" }, { SECOND .. "Z", "TIME" }, { SECOND .. "[+-]%d%d:%d%d", "TIME" },
  { "00%-" .. ("%x"):rep(32) .. "%-" .. ("%x"):rep(16) .. "%-%x%x", "TRACE" },
  { '(duration_minutes\\*":)[%d.eE+-]+', "%1TIME" },
}

-- A text without values that differ between runs.
local function lasting(text)
  for _, made in ipairs(MADE) do
    text = text:gsub(made[1], made[2])
  end
  return text
end

local function key_of(agent, turn)
  return agent .. "#" .. turn
end

--- The line of the recording for an answer.
function M.line(call, message)
  return json.encode({ agent = call.agent, turn = call.turn, last = last_text(call.chat),
    answer = message })
end

local function mismatch(call, expected)
  return nil, {
    error = "script_mismatch", retryable = false,
    message = ("call %d of %s does not fit the recording:\nexpected: %s\nfound:    last = %s")
      :format(call.turn, call.agent, expected, quoted(last_text(call.chat))),
  }
end

-- Describes what is wrong with a line; nil if it is valid.
local function fault_of(entry)
  if type(entry) ~= "table" then
    return "it is no JSON object"
  elseif type(entry.agent) ~= "string" or math.type(entry.turn) ~= "integer" then
    return "it does not say whose call it was: agent, a text, and turn, a whole number"
  elseif type(entry.last) ~= "string" then
    return "last, the last message of the call, is no text"
  end
  return answers.fault(entry.answer)
end

-- The recording by agent and turn. Of repeated recordings the last one counts.
local function load(text)
  local entries, number = {}, 0
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    local entry = line:find("%S") and json.decode(line)
    local fault = line:find("%S") and fault_of(entry)
    if fault then
      return nil, ("line %d of the recording cannot be used: %s"):format(number, fault)
    elseif entry then
      entries[key_of(entry.agent, entry.turn)] = entry
    end
  end
  return entries
end

local function entries_of(settings, host)
  if not settings.entries then
    local text, err = host.read()
    if not text then
      return nil, { error = "no_recording", message = err, retryable = false }
    end
    settings.entries, err = load(text)
    if not settings.entries then
      return nil, { error = "bad_recording", message = err, retryable = false }
    end
  end
  return settings.entries
end

-- Maps the ids of a recorded message to those of the current one.
local function pair_ids(names, recorded, shown)
  local next_id = shown:gmatch(ID)
  for id in recorded:gmatch(ID) do
    local now = next_id()
    names[id] = names[id] or now
  end
end

-- Maps recorded ids to current ones by what the model was shown: the message at hand and, as
-- far as they match the recording, the messages of its earlier answers.
local function ids_now(entries, call)
  local names, messages, turn = {}, call.chat.messages, call.turn
  for index = #messages, 1, -1 do
    local follower, content = messages[index + 1], messages[index].content or ""
    if not follower or follower.role == "assistant" then
      local entry = entries[key_of(call.agent, turn)]
      if not entry or lasting(entry.last) ~= lasting(content) then
        break
      end
      pair_ids(names, entry.last, content)
      turn = turn - 1
    end
  end
  return names
end

-- An answer with the recorded ids replaced by those of this run: a model names tasks and
-- messages that it was shown.
local function with_ids_now(answer, entries, call)
  local text = json.encode(answer)
  return text:find(ID) and json.decode((text:gsub(ID, ids_now(entries, call)))) or answer
end

function M.answer(call, settings, host)
  local entries, err = entries_of(settings, host)
  if not entries then
    return nil, err
  end
  local entry = entries[key_of(call.agent, call.turn)]
  if not entry then
    return mismatch(call, "no such call was recorded")
  elseif lasting(entry.last) ~= lasting(last_text(call.chat)) then
    return mismatch(call, ("last = %s"):format(quoted(entry.last)))
  end
  return with_ids_now(entry.answer, entries, call)
end

return M
