-- What a thinking agent reads when a policy refuses one of its calls.

local json = require("society.json")
local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask = thinkers.think, thinkers.call, thinkers.ask

-- What the model of ann reads about one call, and its society.
local function told(name, arguments, options)
  local result
  local s = think(function(request)
    local entry = thinkers.last(request.messages)
    if entry.role ~= "tool" then
      return call(name, arguments)
    end
    result = entry.content
    return "done"
  end, options)
  ask(s)
  return json.decode(result), s
end

describe("a brief from a model", function()
  after_each(scene.close)

  local function spawn(brief, options)
    return told("spawn_agent", { roleId = "thinker", taskBrief = brief }, options)
  end

  it("is refused by the policy, which names what is missing", function()
    local err, s = spawn({ objective = "o", constraints = "x", inputs = " " })
    assert.equal("invalid_task_brief", err.error)
    assert.same({ "inputs", "outputs", "completion_criteria" }, err.missing_fields)
    assert.same({ "缺少必填字段: inputs", "缺少必填字段: outputs",
      "缺少必填字段: completion_criteria", "constraints 必须是数组" }, err.details)
    assert.equal(3, s:stats().agents)
  end)

  for name, brief in pairs({ ["no brief"] = json.null, ["a text"] = "do it", ["a list"] = { "x" },
    ["a number"] = 7 }) do
    it("lacks every field if it is " .. name, function()
      assert.equal(5, #spawn(brief).missing_fields)
    end)
  end

  it("is checked before the role", function()
    assert.equal("invalid_task_brief", told("spawn_agent", {}).error)
    assert.equal("invalid_task_brief", told("spawn_agent", { roleId = 7, taskBrief = {} }).error)
    assert.equal("unknown_role", told("spawn_agent", { taskBrief = scene.brief() }).error)
  end)

  it("is repaired by the policy lenient", function()
    local options = { policies = { briefs = "lenient" } }
    local lone = { objective = "o", constraints = "static page", inputs = "", outputs = "o",
      completionCriteria = "done" }
    for _, brief in ipairs({ lone, json.encode(lone) }) do
      local child, s = spawn(brief, options)
      assert.is_string(child.id)
      local kept = s:agent(child.id).brief
      assert.same({ "static page" }, kept.constraints)
      assert.equal("done", kept.completion_criteria)
    end
  end)

  it("is judged by a policy of the app", function()
    local function policy(brief)
      return brief.constraints ~= nil, { error = "invalid_task_brief", message = "say please",
        missing_fields = { "courtesy" } }
    end
    local err = spawn({ objective = "o" }, { policies = { briefs = policy } })
    assert.equal("say please", err.message)
    assert.same({ "courtesy" }, err.missing_fields)
  end)
end)

describe("a call of a model", function()
  after_each(scene.close)

  it("is refused by the vocabulary, which names what is missing", function()
    local options = { policies = { messages = { "society" } } }
    local err = told("request_introduction", { to = "root", reason = "r" }, options)
    assert.equal("invalid_message_format", err.error)
    assert.equal("introduction_request", err.message_type)
    assert.same({ "required_capability" }, err.missing_fields)
    err = told("send_message", { to = "root", type = "task_assignment", payload = {
      objective = "o" } }, options)
    assert.equal("invalid_message_format", err.error)
    assert.equal(4, #err.missing_fields)
  end)

  it("is refused by the contacts policy, with its hint", function()
    local err = told("send_message", { to = "bob", payload = "hello" }, { ids = { "ann", "bob" } })
    assert.equal("unknown_contact", err.error)
    assert.is_string(err.hint)
  end)

  it("is refused for a bad Interface Spec", function()
    assert.equal("invalid_interface_spec", told("create_role", { name = "poet", prompt = "p",
      interface_spec = { services = 7 } }).error)
  end)

  it("that names no receiver or one of the wrong kind reads how it is called", function()
    local err = told("send_message", { payload = "x" })
    assert.equal("invalid_arguments", err.error)
    assert.same({ "to is missing" }, err.details)
    err = told("request", { to = "root", payload = "x", timeout_ms = "soon" })
    assert.equal("invalid_arguments", err.error)
    assert.same({ "timeout_ms must be of type integer" }, err.details)
  end)

  it("reads what the society says where the schema finds nothing", function()
    local err = told("request", { to = "root", payload = "x", timeout_ms = -1 })
    assert.equal("invalid_arguments", err.error)
    assert.matches("timeout_ms", err.message, 1, true)
    assert.is_nil(err.message:find(".lua:", 1, true))
  end)

  it("takes null for an argument that is not given, and 5.0 for 5", function()
    local answer = told("request", { to = "root", type = json.null, payload = "x",
      timeout_ms = 5.0 }, { root = function() return "yes" end })
    assert.equal("root", answer.from)
  end)
end)
