--- doors: says the same things through every door of a society and collects the answers.
--
--     local answers = doors.agent(cases)     -- send_message in virtual time
--     local answers = doors.outside(cases)   -- s:outside_send, the same
--     local place = doors.open()             -- a society that runs
--     local answers = place:socket(cases)    -- its control socket
--     local answers = place:file(cases)      -- its file door
--     place:close()
--
-- Cases are those of field_cases. An answer is { kind, text, code, row }: `taken` with the
-- stored message, `misuse` for a value that cannot be, or `refused`.

local cases_of = require("field_cases")
local json = require("society.json")
local program = require("program")
local scene = require("scene")
local tree = require("tree")

local M = {}

local Place = {}
Place.__index = Place

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.config { name = "doors", files = { dir = "w" }, mailbox_max = 1000000 }
society.policy("messages", { "any" })
society.role { id = "outsider", behaviour = "external" }
society.root(function(root, message)
  if message.type == "hire" then
    for _, id in ipairs { "out1", "out2" } do
      root:spawn_agent("outsider", BRIEF, { id = id })
    end
  end
  if message.wants_reply then
    root:reply(message, "done")
  end
end)
]]

-- A name of a field that is not its own is said by another agent: the same external_id from
-- the same agent would be the same message.
local function speaker(case)
  return (case.name == case.field.name or case.name == "payload") and "out1" or "out2"
end

-- The rows of the view `messages` by id.
local function rows_of(db)
  local pipe = assert(io.popen(("sqlite3 -readonly -json %s 'SELECT * FROM messages'"):format(
    program.quote(db))))
  local rows, text = {}, pipe:read("a")
  pipe:close()
  for _, row in ipairs(text == "" and {} or assert(json.decode(text))) do
    rows[row.id] = row
  end
  return rows
end

local function taken(id)
  return { kind = "taken", id = id }
end

local function refused(err)
  return { kind = "refused", text = err.message, code = err.error }
end

-- The id in a receipt; a reply is none.
local function id_of(receipt)
  return receipt.messageId or receipt.messageIds and receipt.messageIds[1]
end

local function add_rows(answers, db)
  local rows = rows_of(db)
  for _, answer in ipairs(answers) do
    if answer.id then
      answer.row = assert(rows[answer.id], answer.id)
    end
  end
  return answers
end

local function answer_of_call(ok, result, err)
  if not ok then
    return { kind = "misuse", text = tostring(result):gsub("^[^:]*:%d+: ", "") }
  end
  return result and taken(id_of(result)) or refused(err)
end

-- A society in virtual time whose app is APP and more.
local function open_virtual(main)
  local folder = scene.folder()
  local s = scene.new({ store = folder .. "/st", quiet = true, app = function(s)
    s:config({ mailbox_max = 1000000 })
    s:role({ id = "outsider", behaviour = "external" })
    s:root(function(root, message)
      if message.type == "hire" then
        for _, id in ipairs({ "out1", "out2" }) do
          assert(root:spawn_agent("outsider", scene.brief(), { id = id }))
        end
      end
      return message.wants_reply and "done" or nil
    end)
    if main then
      s:main(main)
    end
  end })
  return s, folder .. "/st/society.db"
end

local function close_virtual(s, db, answers)
  s:messages() -- which folds the journal into the tables
  add_rows(answers, db)
  scene.close()
  return answers
end

--- Sends as `user` by a method of the agent's handle.
function M.agent(cases, method)
  local answers = {}
  local s, db = open_virtual(function(user)
    for i, case in ipairs(cases) do
      local options = cases_of.options(case, method == "broadcast")
      answers[i] = answer_of_call(pcall(user[method], user, options))
    end
  end)
  s:run()
  return close_virtual(s, db, answers)
end

--- Says it as an agent outside.
function M.outside(cases)
  local answers = {}
  local s, db = open_virtual()
  assert(s:send("user", { to = "root", type = "hire", payload = "go" }))
  s:run()
  for i, case in ipairs(cases) do
    answers[i] = answer_of_call(pcall(s.outside_send, s, speaker(case), cases_of.options(case)))
  end
  return close_virtual(s, db, answers)
end

--- Starts a society with two agents outside.
function M.open()
  local place = setmetatable({ place = program.place() }, Place)
  place.place:write("doors.lua", APP)
  place.running = place.place:start_ready("run doors.lua --state st --quiet", "st")
  assert(place.place:run("send --state st --to root --type hire --wait go").code == 0)
  return place
end

function Place:close()
  self.running:kill("KILL")
  self.running:wait()
  self.place:remove()
end

function Place:rows(answers)
  self.place:wait_until_folded("st")
  return add_rows(answers, self.place.path .. "/st/society.db")
end

--- Says it at the control socket; `op` is send or request.
function Place:socket(cases, op)
  local lines, answers = {}, {}
  for i, case in ipairs(cases) do
    lines[i] = cases_of.line(case, ('"op":"%s","id":%d'):format(op, i)) .. "\n"
  end
  self.place:write("requests", table.concat(lines))
  local result = self.place:shell(("python3 %s st/socket < requests"):format(
    program.quote(tree.path("tests/support/socket_client.py"))))
  assert(result.code == 0, result.err)
  for line in result.out:gmatch("[^\n]+") do
    local answer = json.decode(line)
    if answer.ok then
      answers[#answers + 1] = taken(id_of(answer.ok[1]))
    elseif answer.error == "invalid_argument" and answer.member then
      answers[#answers + 1] = { kind = "misuse", text = answer.message, member = answer.member }
    else
      answers[#answers + 1] = refused(answer)
    end
  end
  return self:rows(answers)
end

local function answer_of_event(event)
  local reason = event.detail.reason
  if event.event == "accepted" then
    return taken(event.message_id)
  elseif event.event == "refused" then
    return refused(reason)
  elseif reason == "a message needs a payload" then
    return refused({ message = reason, error = "missing_payload" })
  end
  assert(event.event == "malformed_line", json.encode(event))
  return { kind = "misuse", text = reason }
end

-- What the log says of the lines of an agent, in their order.
function Place:events(agent)
  local list = {}
  for line in (self.place:read("w/logs/events.jsonl") or ""):gmatch("([^\n]*)\n") do
    local event = json.decode(line)
    if event.agent == agent and event.event ~= "registered" and event.event ~= "delivered" then
      list[#list + 1] = event
    end
  end
  return list
end

--- Says it in the files of the agents outside.
function Place:file(cases)
  local lines, answers = { out1 = {}, out2 = {} }, {}
  local counts = { out1 = #self:events("out1"), out2 = #self:events("out2") }
  for _, case in ipairs(cases) do
    local list = lines[speaker(case)]
    list[#list + 1] = cases_of.line(case) .. "\n"
  end
  for agent, list in pairs(lines) do
    local file = assert(io.open(("%s/w/channel/agents/%s.out.jsonl"):format(self.place.path, agent),
      "ab"))
    file:write(table.concat(list))
    file:close()
  end
  local events = {}
  for agent, list in pairs(lines) do
    events[agent] = program.wait_for("the lines of " .. agent, function()
      local found = self:events(agent)
      return #found >= counts[agent] + #list and found
    end)
    assert(#events[agent] == counts[agent] + #list)
  end
  for i, case in ipairs(cases) do
    local agent = speaker(case)
    counts[agent] = counts[agent] + 1
    answers[i] = answer_of_event(events[agent][counts[agent]])
  end
  return self:rows(answers)
end

return M
