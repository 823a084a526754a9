-- The prompt texts: the society accepts every example in them, and they say what the
-- protocol requires. Every shipped policy has examples as well.

local json = require("society.json")
local scene = require("scene")
local tree = require("tree")


local function list(command)
  local pipe = assert(io.popen(("cd %q && %s"):format(tree.path("."), command)))
  local lines = {}
  for line in pipe:lines() do
    lines[#lines + 1] = line
  end
  pipe:close()
  return lines
end

local read = tree.read

--- The fenced JSON blocks of a text: { name = heading's first word, line, text }.
local function examples_of(path)
  local examples, name, block, number = {}, nil, nil, 0
  for line in read(path):gmatch("([^\n]*)\n") do
    number = number + 1
    if block and line == "```" then
      examples[#examples + 1] = { name = name, line = block.line,
        text = table.concat(block, "\n") }
      block = nil
    elseif block then
      block[#block + 1] = line
    elseif line:find("^```") then
      assert(line == "```json", path .. ":" .. number .. ": a block that is not json")
      block = { line = number }
    end
    name = line:match("^### ([%w_]+)") or name
  end
  assert(not block, path .. ": a block is not closed")
  return examples
end

local AGENTS = { "agent-ui-designer", "agent-tester", "agent-programmer" }

-- Every send is checked against the default vocabularies.
local POLICIES = { introductions = "agent", messages = { "society", "workflow", "helix" } }

--- A society with the agents that examples name, where agent `who` runs act(agent, message)
-- once; returns its results. All others answer what they are asked.
local function play(who, act, options)
  local results
  local function behave(agent, message)
    if agent.id == who and message.from == (options and options.from or "user") then
      results = table.pack(act(agent, message))
    elseif options and options.on then
      return options.on(agent, message)
    elseif message.from ~= "user" then
      return "answer"
    end
    return nil
  end
  local s = scene.new({ policies = POLICIES, app = function(s)
    s:role({ id = "programmer", name = "programmer", behaviour = behave })
    s:root(function(root, message)
      if message.payload.text == "enter" then
        for _, id in ipairs(AGENTS) do
          assert(root:spawn_agent("programmer", scene.brief(), { id = id }))
        end
        return nil
      end
      return behave(root, message)
    end)
  end })
  scene.tell(s, "root", "enter")
  scene.tell(s, options and options.told or who)
  assert(results, "the turn failed: " .. json.encode(s:dead_letters()))
  return table.unpack(results, 1, results.n)
end

local function send(arguments)
  local from = arguments.to == "root" and "agent-programmer" or "root"
  return assert(play(from, function(agent) return agent:send_message(arguments) end))
end

local function check_keys(arguments, required, optional)
  for _, name in ipairs(required) do
    assert(arguments[name] ~= nil, name .. " is missing")
  end
  for name in pairs(arguments) do
    local is_known = false
    for _, each in ipairs(required) do is_known = is_known or each == name end
    for _, each in ipairs(optional or {}) do is_known = is_known or each == name end
    assert(is_known, name .. " is no argument")
  end
end

local prove = {}

function prove.taskBrief(brief)
  assert(play("root", function(root) return root:spawn_agent("programmer", brief) end))
end

function prove.spawn_agent(arguments)
  check_keys(arguments, { "roleId", "taskBrief" })
  assert(play("root", function(root)
    return root:spawn_agent(arguments.roleId, arguments.taskBrief)
  end))
end

function prove.create_role(arguments)
  assert(play("root", function(root) return root:create_role(arguments) end))
end

function prove.send_message(arguments)
  check_keys(arguments, { "to", "payload" })
  send(arguments)
end

function prove.request(arguments)
  local answer = assert(play("root", function(root) return root:request(arguments) end))
  assert.equal("answer", answer.payload.text)
end

function prove.list_contacts(arguments)
  check_keys(arguments, {})
end

function prove.request_introduction(arguments)
  local contact = assert(play("agent-programmer", function(agent)
    return agent:request_introduction(arguments)
  end, { on = function(agent, message)
    agent:introduce(message, { target = "agent-tester" })
  end }))
  assert.equal("introduction", contact.source)
end

--- Runs act(root, request) for a request that the programmer has put to root.
local function when_asked(act)
  return assert(play("root", act, { from = "agent-programmer", told = "agent-programmer",
    on = function(agent, message)
      if message.from == "user" then
        agent:send_message({ to = "root", type = "introduction_request",
          payload = { reason = "r", required_capability = "c" } })
      end
    end }))
end

function prove.introduce(arguments)
  when_asked(function(root, message) return root:introduce(message, arguments) end)
end

function prove.decline(arguments)
  check_keys(arguments, { "reason" })
  when_asked(function(root, message) return root:decline(message, arguments.reason) end)
end

function prove.introduction_response(arguments)
  assert.equal("agent-programmer", arguments.to)
  when_asked(function(root) return root:send_message(arguments) end)
end

function prove.escalate(arguments)
  check_keys(arguments, { "title" }, { "body", "options", "priority", "timeout_ms", "wait" })
  arguments.wait = false
  local asked = assert(play("root", function(root) return root:escalate(arguments) end))
  assert.is_string(asked.item_id)
end

-- What becomes of a task that an agent ends so.
local function end_task(act)
  return assert(play("agent-programmer", act, { from = "root", told = "root",
    on = function(root, message)
      if message.from == "user" then
        root:send_message({ to = "agent-programmer", type = "task_assignment",
          payload = scene.brief() })
      end
    end }))
end

function prove.complete(arguments)
  check_keys(arguments, { "output" })
  assert.equal("completed", end_task(function(agent, message)
    return agent:complete(message, arguments.output)
  end).state)
end

function prove.fail(arguments)
  check_keys(arguments, { "error" }, { "retryable" })
  local task = end_task(function(agent, message)
    return agent:fail(message, arguments.error, { retryable = arguments.retryable })
  end)
  assert(task.state == "failed" or task.state == "pending", task.state)
end

for _, name in ipairs({ "task_assignment", "status_report", "introduction_request",
  "collaboration_request", "collaboration_response", "general" }) do
  prove[name] = function(arguments)
    assert.equal(name, arguments.type)
    send(arguments)
  end
end

local function has_from(value)
  if type(value) ~= "table" then
    return false
  end
  for name, each in pairs(value) do
    if name == "from" or has_from(each) then
      return true
    end
  end
  return false
end

local TEXTS = list("find policies -name '*.txt' | sort")

for _, path in ipairs(TEXTS) do
  describe(path, function()
    after_each(scene.close)

    for _, example in ipairs(examples_of(path)) do
      it(("has a good example of %s in line %d"):format(example.name, example.line), function()
        local value = assert(json.decode(example.text))
        assert.is_false(has_from(value))
        assert(prove[example.name], "nothing proves an example of " .. example.name)(value)
      end)
    end
  end)
end

describe("the prompts", function()
  local FIELDS = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }
  local TOOLS = { "spawn_agent", "send_message", "create_role", "list_contacts", "request",
    "request_introduction", "introduce", "decline", "escalate", "complete",
    "fail" }
  local TYPES = { "task_assignment", "status_report", "introduction_request",
    "introduction_response", "collaboration_request", "collaboration_response", "general" }

  local function has_all(path, parts)
    local text = read("policies/prompts/" .. path)
    for _, part in ipairs(parts) do
      assert(text:find(part, 1, true), path .. " does not say " .. part)
    end
  end

  it("exist in both languages", function()
    assert.same({
      "policies/prompts/en/base.txt", "policies/prompts/en/root.txt",
      "policies/prompts/en/tools.txt", "policies/prompts/zh/base.txt",
      "policies/prompts/zh/root.txt", "policies/prompts/zh/tools.txt",
    }, TEXTS)
  end)

  it("name the required fields and say that constraints are passed on in full", function()
    for _, path in ipairs({ "zh/root.txt", "zh/base.txt", "en/root.txt", "en/base.txt" }) do
      has_all(path, FIELDS)
      has_all(path, path:find("zh") and { "静态网页", "Python", "原样" }
        or { "static page", "Python", "word for word" })
    end
  end)

  it("say how to meet others, how to be met and how to write to them", function()
    for _, path in ipairs({ "zh/base.txt", "en/base.txt" }) do
      has_all(path, { "Contact Registry", "request_introduction", "reason", "required_capability",
        "introduction_request", "introduce", "decline", "self_introduction", "input_format", "from",
        "{{contact_rules}}", "usage_hint", "collaborators" })
    end
  end)

  it("have an example of every tool and every message type", function()
    for _, path in ipairs({ "zh/tools.txt", "en/tools.txt" }) do
      local found = {}
      for _, example in ipairs(examples_of("policies/prompts/" .. path)) do
        found[example.name] = true
      end
      for _, names in ipairs({ TOOLS, TYPES }) do
        for _, name in ipairs(names) do
          assert(found[name], path .. " has no example of " .. name)
        end
      end
    end
  end)
end)

describe("an example that does not fit its type", function()
  after_each(scene.close)

  it("would be detected", function()
    for _, arguments in ipairs({
      { to = "agent-tester", type = "task_assignment", payload = { text = "no brief" } },
      { to = "agent-tester", type = "no_such_type", payload = { text = "t" } },
    }) do
      assert.is_false(pcall(send, arguments))
    end
  end)
end)
