--- society send: a message from the user.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local json = require("society.json")
local offers = require("society.cli.offers")
local program = require("society.program")

local M = {
  summary = "send a message as the user",
  words = "TEXT",
  min = 1, max = 1,
  options = {
    { "to", value = "ID", text = "the receiver; without it the gatekeeper decides",
      completes = ids.completing("agent") },
    arguments.state,
    { "type", value = "T", text = "the message type (default general)",
      completes = offers.values("messages", { "type" }) },
    { "json-payload", text = "TEXT is the payload as JSON" },
    { "wait", text = "wait for the reply and print it" },
    { "timeout", value = "MS", kind = "number", default = 30000,
      text = "how long to wait (default 30000)" },
  },
  rest = "words",
  example = 'society send --to root --wait "how far are you?"',
}

local function check_texts(given)
  return arguments.check_text(M, "--to", given.to) or arguments.check_text(M, "--type", given.type)
    -- JSON is checked as such.
    or (not given.json_payload and arguments.check_text(M, "the text", given.words[1]))
end

-- The payload as JSON; or nil and an exit code. A plain text means { text = … }.
local function make_payload(given)
  local text = given.words[1]
  if not given.json_payload then
    return json.encode({ text = text })
  end
  local code = arguments.check_json(M, "the payload", text)
  if code then
    return nil, code
  end
  return type(json.decode(text)) == "string" and ('{"text":%s}'):format(text) or text
end

-- The id of what was sent, or what the reply says: its text, else its payload.
local function print_answer(list)
  local answer = program.rows(list)()
  local id = program.member(answer, "messageId")
  local payload = id or program.member(answer, "payload")
  local shown = not id and program.member(payload, "text") or payload
  local value = json.decode(shown)
  print(type(value) == "string" and value or shown)
end

function M.run(given)
  if given.timeout < 1 then
    return arguments.complain(M, "--timeout needs 1 or more")
  end
  local payload, list
  local code = check_texts(given)
  if code then
    return code
  end
  payload, code = make_payload(given)
  if not payload then
    return code
  end
  code = ids.find_all(M, given.state, given, { to = "agent" })
  if code then
    return code
  end
  local members = { to = given.to, type = given.type, timeout_ms = given.wait and given.timeout }
  local request = ask.request(given.wait and "request" or "send", members, { payload = payload })
  local options = given.wait and { needs_running = true, patience_ms = given.timeout }
  list, code = ask.ask(given.state, request, options or nil)
  if not list then
    return code
  end
  print_answer(list)
  return arguments.DONE
end

return M
