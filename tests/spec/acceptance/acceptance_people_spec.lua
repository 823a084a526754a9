-- The acceptance criteria of requirements 1, 2, 4 and 7, one test each, under their
-- numbers: Task Briefs, contacts, Interface Specs, collaborators. All policies are the
-- defaults.

local scene = require("scene")
local society = require("society")

local REQUIRED = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }
local SPEC = { services = "测试", input_format = "文件路径", output_format = "报告",
  examples = { "请测试 /a.html" } }

local open = {}

local function close()
  for _, s in ipairs(open) do
    s:close()
  end
  open = {}
end

-- A default society in which root runs act(root); returns it and the results.
local function play(act)
  local results
  local s = society.new({ app = function(s)
    s:role({ id = "coder", name = "程序员", behaviour = function() end })
    s:role({ id = "tester", name = "测试员", interface_spec = SPEC, behaviour = function() end })
    s:root(function(root) results = table.pack(act(root)) end)
  end })
  open[#open + 1] = s
  assert(s:send("user", { to = "root", payload = "go" }))
  s:run()
  assert(results, s:transcript())
  return s, table.unpack(results, 1, results.n)
end

local function spawn(brief, id)
  return play(function(root) return root:spawn_agent("coder", brief, { id = id or "c1" }) end)
end

local function contact(s, owner, id)
  for _, entry in ipairs(s:contacts(owner)) do
    if entry.id == id then
      return entry
    end
  end
end

local function ids(s, owner)
  local list = {}
  for index, entry in ipairs(s:contacts(owner)) do
    list[index] = entry.id
  end
  return list
end

local HELPER = { agentId = "t1", role = "测试员", description = "完成后请他测试" }

-- A tester t1, and a coder c1 whose brief names the collaborators.
local function with_helper(collaborators)
  return play(function(root)
    assert(root:spawn_agent("tester", scene.brief(), { id = "t1" }))
    return root:spawn_agent("coder", scene.brief({ collaborators = collaborators }), { id = "c1" })
  end)
end

describe("Requirement 1, the Task Brief:", function()
  after_each(close)

  it("1.1 spawn_agent requires a Task Brief", function()
    local s, child, err = spawn(nil)
    assert.is_nil(child)
    assert.equal("invalid_task_brief", err.error)
    assert.is_nil(s:agent("c1"))
  end)

  it("1.2 a brief has objective, constraints, inputs, outputs and completion_criteria", function()
    local _, child, err = spawn({})
    assert.is_nil(child)
    assert.same(REQUIRED, err.missing_fields)
    _, child = spawn({ objective = "o", constraints = { "c" }, inputs = "i", outputs = "u",
      completion_criteria = "c" })
    assert.equal("c1", child.id)
  end)

  it("1.3 it may have collaborators, references and priority", function()
    local more = { collaborators = { { agentId = "root", role = "root", description = "d" } },
      references = { "a book" }, priority = "high" }
    local s = spawn(scene.brief(more))
    for name, value in pairs(more) do
      assert.same(value, s:agent("c1").brief[name])
    end
    assert.is_table((spawn(scene.brief()):agent("c1")))
  end)

  it("1.4 without a required field no agent is spawned, and the field is named", function()
    for _, name in ipairs(REQUIRED) do
      local brief = scene.brief()
      brief[name] = nil
      local s, child, err = spawn(brief)
      assert.is_nil(child)
      assert.same({ name }, err.missing_fields)
      assert.equal("缺少必填字段: " .. name, err.details[1])
      assert.equal(2, s:stats().agents)
    end
  end)

  it("1.5 the whole brief is in the child's first context", function()
    local s = spawn(scene.brief({ objective = "计算器", constraints = { "静态网页", "不需要后端" },
      references = { "现有的计算器" } }))
    local context = s:context("c1")
    for _, part in ipairs({ "计算器", "- 静态网页\n- 不需要后端", "a text", "it is done",
      "现有的计算器" }) do
      assert.matches(part, context, 1, true)
    end
  end)
end)

describe("Requirement 2, the Contact Registry:", function()
  after_each(close)

  it("2.1 every agent has one when it is spawned", function()
    local s = spawn(scene.brief())
    for _, agent in ipairs(s:agents()) do
      assert.is_true(#s:contacts(agent.id) > 0)
    end
  end)

  it("2.2 it contains the parent", function()
    local entry = contact(spawn(scene.brief()), "c1", "root")
    assert.equal("parent", entry.source)
  end)

  it("2.3 root's contains only the user", function()
    local s = society.new()
    open[1] = s
    assert.same({ "user" }, ids(s, "root"))
  end)

  it("2.4 the user's contains only root", function()
    local s = society.new()
    open[1] = s
    assert.same({ "root" }, ids(s, "user"))
  end)

  it("2.5 the parent's gains the child", function()
    local s = spawn(scene.brief())
    assert.same({ "user", "c1" }, ids(s, "root"))
    assert.equal("child", contact(s, "root", "c1").source)
  end)

  it("2.6 a message to an agent that is not in it is refused with unknown_contact", function()
    local s = with_helper()
    local sent, err = s:send("c1", { to = "t1", payload = "hi" })
    assert.is_nil(sent)
    assert.equal("unknown_contact", err.error)
    assert.equal("t1", err.to)
    assert.same({ "root" }, ids(s, "t1"))
    assert.equal(1, s:stats().sent)
  end)

  it("2.7 an entry has id, role, Interface Spec and source", function()
    local s = with_helper({ HELPER })
    assert.same({ id = "t1", role = "测试员", interfaceSpec = SPEC, source = "preset",
      reason = "完成后请他测试", addedAt = "2026-01-01T00:00:00.000Z" }, contact(s, "c1", "t1"))
    assert.same({ id = "root", role = "root", source = "parent",
      addedAt = "2026-01-01T00:00:00.000Z" }, contact(s, "c1", "root"))
  end)

  it("2.8 the brief's collaborators are added to the child's", function()
    assert.equal("preset", contact(with_helper({ HELPER }), "c1", "t1").source)
  end)
end)

describe("Requirement 4, the Interface Spec:", function()
  after_each(close)

  it("4.1 create_role accepts an optional interface_spec", function()
    local _, with, without = play(function(root)
      return root:create_role({ name = "a", prompt = "p", interface_spec = SPEC }),
        root:create_role({ name = "b", prompt = "p" })
    end)
    assert.equal("a", with.name)
    assert.equal("b", without.name)
  end)

  it("4.2 it has services, input_format, output_format and examples", function()
    local s = with_helper({ HELPER })
    assert.same(SPEC, contact(s, "c1", "t1").interfaceSpec)
    for _, name in ipairs({ "services", "input_format", "output_format" }) do
      local spec = { services = "s", input_format = "i", output_format = "o", [name] = false }
      local _, role, err = play(function(root)
        return root:create_role({ name = "bad", prompt = "p", interface_spec = spec })
      end)
      assert.is_nil(role)
      assert.equal("invalid_interface_spec", err.error)
      assert.matches(name, err.message, 1, true)
    end
  end)

  it("4.3 an introduction includes the target's Interface Spec", function()
    local s = with_helper()
    assert(s:send("c1", { to = "root", type = "introduction_request",
      payload = { reason = "done", required_capability = "测试" } }))
    s:run()
    assert.same(SPEC, contact(s, "c1", "t1").interfaceSpec)
  end)

  it("4.4 an agent is shown the formats of whom it writes to, and told to follow them", function()
    local s = with_helper({ HELPER })
    local context = s:context("c1")
    assert.matches("输入格式（input_format）：文件路径", context, 1, true)
    assert.matches("输出格式（output_format）：报告", context, 1, true)
    assert.matches("按它的 input_format 组织消息内容", context, 1, true)
  end)
end)

describe("Requirement 7, collaborators:", function()
  after_each(close)

  it("7.1 a brief accepts a list of collaborators", function()
    local _, child = with_helper({ HELPER, { agentId = "root", role = "r", description = "d" } })
    assert.equal("c1", child.id)
  end)

  it("7.2 they are the child's contacts from the start", function()
    assert.same({ "root", "t1" }, ids(with_helper({ HELPER }), "c1"))
  end)

  it("7.3 each has agentId, role and description, and may have an interfaceSpec", function()
    local own = { services = "s", input_format = "i", output_format = "o" }
    local s = with_helper({ { agentId = "t1", role = "r", description = "d",
      interfaceSpec = own } })
    assert.same(own, contact(s, "c1", "t1").interfaceSpec)
    for _, name in ipairs({ "agentId", "role", "description" }) do
      local bad = { agentId = "t1", role = "r", description = "d", [name] = false }
      local _, child, err = with_helper({ bad })
      assert.is_nil(child)
      assert.equal("invalid_task_brief", err.error)
    end
    local _, child, err = with_helper({ { agentId = "t1", role = "r", description = "d",
      interfaceSpec = "free text" } })
    assert.is_nil(child)
    assert.equal("invalid_task_brief", err.error)
  end)

  it("7.4 the child writes to them without an introduction", function()
    local s = with_helper({ HELPER })
    assert(s:send("c1", { to = "t1", payload = "/a.html" }))
    s:run()
    assert.equal(0, #s:messages({ type = "introduction_request" }))
    assert.equal("c1", s:contacts("t1")[2].id)
  end)

  -- A coder of a role made in a turn, whose prompt names t1 and nobody.
  local function guided(field)
    return play(function(root)
      assert(root:spawn_agent("tester", scene.brief(), { id = "t1" }))
      assert(root:create_role({ id = "guided", name = "g",
        [field] = "测试找 t1；数据库找 dba-9。" }))
      return assert(root:spawn_agent("guided", scene.brief(), { id = "g1" }))
    end)
  end

  it("7.5 a role's prompt may say whom to ask, by id; the agent reads it unchanged", function()
    local s = guided("prompt")
    assert.matches("测试找 t1；数据库找 dba-9。", s:context("g1"), 1, true)
  end)

  it("7.6 such guidance may come with create_role as rolePrompt, and adds no contact", function()
    local s = guided("rolePrompt")
    assert.matches("测试找 t1；数据库找 dba-9。", s:context("g1"), 1, true)
    assert.same({ "root" }, ids(s, "g1"))
  end)
end)
