--- society init: a folder with a first app and its spec.

local arguments = require("society.cli.arguments")
local output = require("society.cli.output")
local program = require("society.program")

local ID_BYTES_MAX = 64

local M = {
  summary = "create a folder with a first app and its spec",
  words = "NAME",
  min = 1, max = 1,
  example = "society init greetings",
}

local APP = [[
-- A first app: the user asks root, and root has a greeter answer.

local society = require("society")

society.config {
  name = "%s", -- the state directory belongs to this app
  language = "%s", -- of prompts and refusals: "en" or "zh"
}

society.role {
  id = "greeter", name = "greeter",
  prompt = "Greets people.",
  behaviour = function(agent, message)
    agent.state.count = (agent.state.count or 0) + 1 -- durable, survives a crash
    return { text = "hello, " .. message.payload.text, count = agent.state.count }
  end,
}

society.root(function(root, message)
  root.state.greeter = root.state.greeter or assert(root:spawn_agent("greeter", {
    objective = "greet", constraints = {}, inputs = "a name", outputs = "a greeting",
    completion_criteria = "a greeting was sent",
  })).id
  local answer, err = root:request { to = root.state.greeter, payload = message.payload,
    timeout_ms = 86400000 } -- a day: the society may be down meanwhile
  return answer and answer.payload or err
end)

society.main(function(user)
  local name = arg[1] or "world"
  local answer = assert(user:request { to = "root", payload = { text = name },
    timeout_ms = 86400000 })
  print(answer.payload.text)
end)
]]

local SPEC = [[
-- Run with: society test

local society = require("society")

describe("the app", function()
  local s

  before_each(function()
    s = society.new { app = "app.lua" }
    s:run()
  end)

  after_each(function()
    s:close()
  end)

  it("greets by name", function()
    local answer = assert(s:dispatch("root", { text = "Ada" }))
    assert.equal("hello, Ada", answer.payload.text)
  end)

  it("keeps its count through a crash", function()
    s:crash()
    s:recover()
    local answer = assert(s:dispatch("root", { text = "Ada" }))
    assert.equal(2, answer.payload.count) -- main's was the first
  end)
end)
]]

local README = [[
# %s

    society run app.lua              run it; the state is kept in .society
    society run app.lua -- Ada       with an argument
    society sim app.lua --seed 1     the same in virtual time
    society test                     run spec/
    society inspect messages         look at what happened
]]

-- The app's name: an id like the name of its directory. It tells two apps apart that share a
-- state directory, since the file of each is called app.lua.
local function make_name(directory)
  local name = directory:gsub("[^%w_.%-]", "-"):gsub("^[^%w]+", ""):sub(1, ID_BYTES_MAX)
  return name == "" and "app" or name
end

-- The language of the locale, as far as prompts are written in it.
local function find_language()
  for _, variable in ipairs({ "LC_ALL", "LC_MESSAGES", "LANG" }) do
    local locale = os.getenv(variable) or ""
    if locale ~= "" then
      return locale:lower():find("^zh%f[^%a]") and "zh" or "en"
    end
  end
  return "en"
end

local function make_directory(path)
  local is_made, why, is_there = program.make_directory(path)
  if is_made or (is_there and program.is_empty_directory(path)) then
    return true
  end
  return nil, is_there and path .. " already exists and is not an empty directory"
    or path .. ": " .. why
end

-- Creates the project; or nil and why not.
local function make_project(path)
  local is_made, why = make_directory(path)
  if is_made then
    is_made, why = make_directory(path .. "/spec")
  end
  if not is_made then
    return nil, why
  end
  -- The path may have been given as `.`, or with a slash at its end.
  local directory = (program.complete_path(path) or path):match("[^/]*$")
  for _, file in ipairs({
    { "app.lua", APP:format(make_name(directory), find_language()) },
    { "README.md", README:format(directory) },
    { "spec/app_spec.lua", SPEC },
    { ".gitignore", ".society/\n" },
  }) do
    local name = path .. "/" .. file[1]
    is_made, why = program.write_new(name, file[2])
    if not is_made then
      return nil, name .. ": " .. why
    end
  end
  return true
end

function M.run(given)
  local path = given.words[1]
  local is_made, why = make_project(path)
  if not is_made then
    program.complain(why)
    return arguments.FAILED
  end
  print(("created %s; now: cd %s && society run app.lua"):format(path, output.quote(path)))
  return arguments.DONE
end

return M
