-- The prompt texts: the society accepts every example in them, and they say what the
-- protocol requires. Every shipped policy has examples as well.

local json = require("society.json")
local proofs = require("prompt_proofs")
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
        assert(proofs.prove[example.name], "nothing proves an example of " .. example.name)(value)
      end)
    end
  end)
end

describe("the prompts", function()
  local FIELDS = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }
  local TOOLS = { "spawn_agent", "send_message", "create_role", "list_contacts", "request",
    "request_introduction", "introduce", "decline", "escalate", "complete",
    "fail", "reply", "receive", "broadcast", "checkpoint", "run_lua", "cancel", "terminate",
    "pause", "resume", "resolve", "stop", "knows", "can_send", "add_contact", "remove_contact",
    "load", "wait" }
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
      assert.is_false(pcall(proofs.send, arguments))
    end
  end)
end)
