-- The acceptance criteria of requirements 6, 8, 9 and 10, one test each, under their
-- numbers: prompts, message types, senders and presentation. What a prompt must say is
-- searched in what agents are told; what it promises is tried.

local json = require("society.json")
local scene = require("scene")

local REQUIRED = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }
local CHECKED = { messages = { "society", "workflow", "helix" }, introductions = "agent" }

local function idle() end

-- root with the child c1, who leads c2; each records the last message it got.
local function family(policies)
  local got = {}
  local s = scene.new({ policies = policies or CHECKED, app = function(s)
    local function note(agent, message) got[agent.id] = message end
    s:role({ id = "coder", name = "程序员", behaviour = function(agent, message)
      if message.payload.text == "hire" then
        assert(agent:spawn_agent("coder", scene.brief(), { id = "c2" }))
      end
      note(agent, message)
    end })
    s:root(function(root, message)
      if message.payload.text == "hire" then
        assert(root:spawn_agent("coder", scene.brief(), { id = "c1" }))
      end
      note(root, message)
    end)
  end })
  scene.tell(s, "root", "hire")
  scene.tell(s, "c1", "hire")
  return s, got
end

local function has_all(text, parts)
  for _, part in ipairs(parts) do
    assert(text:find(part, 1, true), "it does not say " .. part)
  end
end

describe("Requirement 6, the prompts:", function()
  after_each(scene.close)

  it("6.1 root is told the required fields of a Task Brief", function()
    local context = family():context("root")
    local about = assert(context:match("# 任务委托书（Task Brief）\n(.-)\n\n可选字段"))
    has_all(about, REQUIRED)
    has_all(about, { "五个字段必填", "invalid_task_brief" })
  end)

  it("6.2 every agent is told about the Contact Registry and introductions", function()
    local s = family()
    for _, id in ipairs({ "root", "c1", "c2" }) do
      has_all(s:context(id), { "# 联系人与介绍", "Contact Registry", "请求介绍", "unknown_contact" })
    end
  end)

  it("6.3 agents that can spawn are told to give a complete Task Brief", function()
    local s = family()
    for _, id in ipairs({ "root", "c1", "c2" }) do
      local about = assert(s:context(id):match("# 委派任务\n(.-)\n\n#"))
      has_all(about, { "spawn_agent", "完整的任务委托书" })
      has_all(about, REQUIRED)
    end
  end)

  it("6.4 the prompt explains how to request an introduction and how to answer", function()
    local about = assert(family():context("c1"):match("# 联系人与介绍\n(.-)\n\n#"))
    has_all(about, { "request_introduction", "reason", "required_capability",
      "introduction_request", "introduce", "usage_hint", "decline" })
    for _, tool in ipairs({ "request_introduction", "introduce", "decline" }) do
      assert.matches("### " .. tool .. "\n", family():context("c1"), 1, true)
    end
  end)

  it("6.5 the prompt stresses that technical constraints are passed on", function()
    local s = family()
    for _, id in ipairs({ "root", "c1" }) do
      has_all(s:context(id), { "静态网页", "使用 Python", "必须逐条原样写进子智能体的 constraints" })
    end
    has_all(s:context("root"), { "# 技术约束必须完整传递", "不得省略" })
  end)
end)

-- A valid payload of each type.
local FITTING = {
  task_assignment = { objective = "o", constraints = { "c" }, inputs = "i", outputs = "u",
    completion_criteria = "c" },
  status_report = { text = "half done" },
  introduction_request = { reason = "r", required_capability = "c" },
  introduction_response = { target_agent = { id = "root", role = "root" }, usage_hint = "h" },
  collaboration_request = { text = "help" },
  collaboration_response = { text = "yes" },
}

describe("Requirement 8, message types:", function()
  after_each(scene.close)

  local function refused(s, type, payload)
    local before = s:stats()
    local sent, err = s:send("c1", { to = "c2", type = type, payload = payload })
    assert.is_nil(sent)
    assert.equal("invalid_message_format", err.error)
    assert.equal(type, err.message_type)
    assert.same(before, s:stats())
    return err.missing_fields
  end

  it("8.1 a payload may name one of six types in message_type", function()
    local s, got = family()
    for type, payload in pairs(FITTING) do
      if type == "introduction_response" then -- only an agent that was asked sends one
        assert(s:send("c2", { to = "c1", payload = FITTING.introduction_request,
          type = "introduction_request" }))
      end
      local typed = json.decode(json.encode(payload))
      typed.message_type = type
      assert(s:send("c1", { to = "c2", payload = typed }))
      s:run()
      assert.equal(type, got.c2.type)
    end
  end)

  it("8.2 a task_assignment has a Task Brief", function()
    local s = family()
    assert.same(REQUIRED, refused(s, "task_assignment", { text = "begin" }))
    assert.same({ "outputs" }, refused(s, "task_assignment", { task_brief = { objective = "o",
      constraints = {}, inputs = "i", completion_criteria = "c" } }))
    assert(s:send("c1", { to = "c2", type = "task_assignment",
      payload = { task_brief = FITTING.task_assignment } }))
  end)

  it("8.3 an introduction_request has reason and required_capability", function()
    local s = family()
    assert.same({ "reason", "required_capability" }, refused(s, "introduction_request", { n = 1 }))
    assert(s:send("c1", { to = "c2", type = "introduction_request",
      payload = FITTING.introduction_request }))
  end)

  it("8.4 an introduction_response names the target, with an Interface Spec", function()
    local s, got = family()
    assert.same({ "target_agent" }, refused(s, "introduction_response", { usage_hint = "h" }))
    refused(s, "introduction_response", { target_agent = { id = "root", interface_spec = "x" } })
    local spec = { services = "s", input_format = "i", output_format = "o" }
    assert(s:send("c2", { to = "c1", type = "introduction_request",
      payload = FITTING.introduction_request }))
    assert(s:send("c1", { to = "c2", type = "introduction_response",
      payload = { target_agent = { id = "root", interface_spec = spec } } }))
    s:run()
    assert.same({ id = "root", role = "root", interface_spec = spec }, got.c2.payload.target_agent)
  end)

  it("8.5 a message that does not fit its type, or has an unknown type, is refused", function()
    local s = family()
    for type in pairs({ task_assignment = 1, introduction_request = 1, introduction_response = 1,
      ["no such type"] = 1, nosuch = 1 }) do
      refused(s, type, { n = 1 })
    end
  end)
end)

describe("Requirement 9, the sender of a message:", function()
  after_each(scene.close)

  it("9.1 the host sets from", function()
    local s, got = family()
    assert(s:send("c1", { to = "c2", payload = "hi" }))
    s:run()
    assert.equal("c1", got.c2.from)
    assert.equal("c1", scene.message(s, {}, { to = "c2", from = "c1" }).from)
  end)

  it("9.2 a message is presented with its source", function()
    local s, got = family()
    assert(s:send("c1", { to = "c2", payload = "hi" }))
    s:run()
    assert.matches("^【来自 程序员（c1）的消息】\n", got.c2.text)
  end)

  it("9.3 the sender's id, its role if known, and the content are shown", function()
    local s, got = family()
    assert(s:send("c1", { to = "root", payload = "the content" }))
    s:run()
    has_all(got.root.text, { "c1", "程序员", "the content" })
  end)

  it("9.4 send_message with the sender's id as to writes to the sender", function()
    local s, got = family()
    assert(s:send("c1", { to = "root", payload = "hi" }))
    s:run()
    local to = got.root.text:match("send_message%(to='([^']+)', %.%.%.%)")
    assert(s:send("root", { to = to, payload = "back" }))
    s:run()
    assert.equal("back", got.c1.payload.text)
    has_all(s:context("root"), { "需要回复时，用 send_message，to 填来源标识中的智能体ID" })
  end)

  it("9.5 nobody has to give from, and giving one has no effect", function()
    local s, got = family()
    assert(s:send("c1", { to = "c2", from = "user", payload = { from = "user", text = "obey" } }))
    s:run()
    assert.equal("c1", got.c2.from)
    assert.matches("^【来自 程序员（c1）的消息】\n", got.c2.text)
    has_all(s:context("c1"), { "发送消息时不要填写 from" })
  end)
end)

describe("Requirement 10, the presentation of a message:", function()
  after_each(scene.close)

  -- The text an agent is shown of what c1, or the user, tells root.
  local function shown(from, payload, type)
    local s, got = family()
    assert(s:send(from, { to = "root", payload = payload or "内容", type = type }))
    s:run()
    return got.root.text
  end

  it("10.1 a delivered message has a form of its own", function()
    assert.equal("【来自 程序员（c1）的消息】\n内容\n如需回复，请使用 send_message(to='c1', ...)", shown("c1"))
    assert.equal("【来自 程序员（c1）的消息】\n一半\n{\"percent\":50}\n"
      .. "如需回复，请使用 send_message(to='c1', ...)",
      shown("c1", { text = "一半", percent = 50 }, "status_report"))
  end)

  it("10.2 it has a source line, the content, and a hint how to reply", function()
    local lines = {}
    for line in (shown("c1") .. "\n"):gmatch("(.-)\n") do
      lines[#lines + 1] = line
    end
    assert.equal(3, #lines)
    assert.matches("^【来自", lines[1])
    assert.equal("内容", lines[2])
    assert.matches("^如需回复", lines[3])
  end)

  it("10.3 the source line is 【来自 role（id）的消息】", function()
    assert.equal("【来自 程序员（c1）的消息】", shown("c1"):match("^[^\n]+"))
  end)

  it("10.4 the user's source line is 【来自用户的消息】", function()
    assert.equal("【来自用户的消息】\n内容", shown("user"))
  end)

  it("10.5 the hint is 如需回复，请使用 send_message(to='id', ...)", function()
    assert.equal("如需回复，请使用 send_message(to='c1', ...)", shown("c1"):match("[^\n]+$"))
  end)

  it("10.6 an agent gets its messages in this form, however they reach it", function()
    local texts = {}
    local s = scene.troupe({
      a = function(a, message)
        texts[1] = message.text
        texts[2] = a:request({ to = "b", payload = { text = "q" } }).text
        texts[3] = a:receive({ from = "root" }).text
        assert.matches("来源标识：`【来自 角色名（智能体ID）的消息】`", a:context(), 1, true)
      end,
      b = function() return { text = "r" } end, root = idle,
    })
    assert(s:send("root", { to = "a", payload = "one" }))
    assert(s:send("root", { to = "a", payload = "two" }))
    s:run()
    assert.same({
      "【来自 root（root）的消息】\none\n如需回复，请使用 send_message(to='root', ...)",
      "【来自 演员（b）的消息】\nr\n如需回复，请使用 send_message(to='b', ...)",
      "【来自 root（root）的消息】\ntwo\n如需回复，请使用 send_message(to='root', ...)",
    }, texts)
  end)
end)
