--- society token: who may use the HTTP door.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

local M = {
  summary = "add, list and remove tokens for HTTP",
  words = "add NAME | list | remove NAME",
  min = 1, max = 2,
  options = {
    arguments.state,
    { "scope", value = "SCOPES", text = "a comma-separated list of read, write, decide, operate",
      completes = { "read", "write", "decide", "operate", "read,write,decide,operate" } },
    { "as", value = "AGENT",
      text = "the outside agent whose messages the token sends and sees",
      completes = ids.completing("outside") },
    arguments.json,
  },
  notes = "A token is printed once, by add; only its hash is kept.",
  completes = { { "add", "list", "remove" }, arguments.offer("tokens") },
  example = "society token add grafana --scope read",
}

local function finish(text, name, sentence)
  if text then
    return text
  end
  program.complain(sentence)
  return nil, ask.code_of(name)
end

local function add(given)
  local name = given.words[2]
  if not name or not given.scope then
    return arguments.complain(M, "add needs a NAME and --scope, as in: %s", M.example)
  end
  local as, code, token
  if given.as then
    as, code = ids.find_if_there(M, given.state, "outside", given.as)
    if not as then
      return code
    end
  end
  token, code = finish(program.token_add(given.state, name, given.scope, as))
  if not token then
    return code
  end
  print(given.json and json.encode({ name = name, token = token }) or token)
  return arguments.DONE
end

local function print_row(row)
  print(("%-24s %-28s %-24s %s"):format(row.name, table.concat(row.scopes, ","),
    row.as and "as " .. row.as or "", row.created_at or "in http.token"))
end

local function list(given)
  local rows, code = finish(program.token_list(given.state))
  if not rows then
    return code
  end
  if given.json then
    output.print_lines(rows)
    return arguments.DONE
  end
  for _, row in ipairs(json.decode(rows)) do
    print_row(row)
  end
  return arguments.DONE
end

local function remove(given)
  if not given.words[2] then
    return arguments.complain(M, "remove needs a NAME")
  end
  local done, code = finish(program.token_remove(given.state, given.words[2]))
  return done and arguments.DONE or code
end

function M.run(given)
  local action = ({ add = add, list = list, remove = remove })[given.words[1]]
  if not action then
    return arguments.complain(M, "'%s' is not add, list or remove", given.words[1])
  end
  if given.words[1] ~= "add" and (given.scope or given.as) then
    return arguments.complain(M, "--scope and --as go with add")
  end
  if given.words[1] == "list" and given.words[2] then
    return arguments.complain(M, "list takes no NAME")
  end
  return action(given)
end

return M
