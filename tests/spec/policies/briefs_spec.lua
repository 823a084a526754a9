-- Task Briefs as spawn_agent checks them.

local json = require("society.json")
local scene = require("scene")

local REQUIRED = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }

describe("a bad brief", function()
  after_each(scene.close)

  local function spawn(brief, role)
    local answer, err
    local s = scene.troupe({
      root = function(root) answer, err = root:spawn_agent(role or "actor", brief) end,
    })
    scene.tell(s, "root")
    return answer, err, s
  end

  local function refused(brief)
    local answer, err, s = spawn(brief)
    assert.is_nil(answer)
    assert.equal("invalid_task_brief", err.error)
    assert.is_string(err.message)
    assert.equal(2, s:stats().agents)
    assert.matches("warn invalid_task_brief", s:transcript(), 1, true)
    return err, s
  end

  local function all_missing()
    local details = {}
    for i, name in ipairs(REQUIRED) do
      details[i] = "缺少必填字段: " .. name
    end
    return details
  end

  for name, brief in pairs({
    ["an empty table"] = {},
    ["a string"] = "do it",
    ["an empty string"] = "",
    ["a number"] = 7,
    ["a boolean"] = true,
    ["a list"] = { "objective" },
    ["JSON null"] = json.null,
    ["a function"] = function() end,
    ["empty strings"] = { objective = "", constraints = "", inputs = "", outputs = "",
      completion_criteria = "" },
    ["nulls"] = { objective = json.null, constraints = json.null, inputs = json.null,
      outputs = json.null, completion_criteria = json.null },
    ["other fields only"] = { priority = "high", title = "x" },
  }) do
    it("lacks all five fields, in order: " .. name, function()
      local err = refused(brief)
      assert.same(REQUIRED, err.missing_fields)
      if type(brief) ~= "table" then
        assert.equal("任务委托书必须是对象", table.remove(err.details, 1))
      end
      assert.same(all_missing(), err.details)
    end)
  end

  it("lacks all five fields if there is none at all", function()
    assert.same(REQUIRED, refused(nil).missing_fields)
  end)

  for _, name in ipairs(REQUIRED) do
    for what, value in pairs({ nothing = false, null = json.null, ["an empty string"] = "" }) do
      it(("lacks %s if it is %s"):format(name, what), function()
        local brief = scene.brief()
        brief[name] = value or nil
        local err = refused(brief)
        assert.same({ name }, err.missing_fields)
        assert.same({ "缺少必填字段: " .. name }, err.details)
      end)
    end
  end

  it("lists missing fields in the order of the brief, not of the table", function()
    local brief = scene.brief()
    brief.outputs, brief.objective, brief.completion_criteria = nil, nil, ""
    assert.same({ "objective", "outputs", "completion_criteria" }, refused(brief).missing_fields)
  end)

  for name, constraints in pairs({
    ["a string"] = "be brief", ["an object"] = { rule = "be brief" }, ["a number"] = 3,
    ["a boolean"] = true,
  }) do
    it("has constraints that are not a list: " .. name, function()
      local err = refused(scene.brief({ constraints = constraints }))
      assert.matches("请看 details", err.message, 1, true)
      assert.same({}, err.missing_fields)
      assert.same({ "constraints 必须是数组" }, err.details)
    end)
  end

  for name, case in pairs({
    ["a number for a text"] = { { objective = 7 }, "objective 必须是文本" },
    ["an object for a text"] = { { inputs = { a = 1 } }, "inputs 必须是文本" },
    ["false for a text"] = { { outputs = false }, "outputs 必须是文本" },
    ["a list for a text"] = { { completion_criteria = { "x" } }, "completion_criteria 必须是文本" },
    ["a constraint that is a number"] = { { constraints = { "x", 7 } },
      "constraints 必须是文本数组，每项不能为空" },
    ["a constraint that is blank"] = { { constraints = { " " } },
      "constraints 必须是文本数组，每项不能为空" },
    ["a text for references"] = { { references = "x" }, "references 必须是文本数组，每项不能为空" },
    ["a reference that is an object"] = { { references = { { a = 1 } } },
      "references 必须是文本数组，每项不能为空" },
    ["an unknown priority"] = { { priority = "soon" },
      "priority 必须是 urgent、high、normal、low 或 P0 至 P3" },
    ["a priority that is a number"] = { { priority = 1 },
      "priority 必须是 urgent、high、normal、low 或 P0 至 P3" },
  }) do
    it("has a field of another kind: " .. name, function()
      local err = refused(scene.brief(case[1]))
      assert.same({}, err.missing_fields)
      assert.same({ case[2] }, err.details)
    end)
  end

  for _, blank in ipairs({ " ", "\n\t ", "\u{3000}", "\u{A0} " }) do
    it("lacks a field that is blank: " .. json.encode(blank), function()
      assert.same({ "inputs" }, refused(scene.brief({ inputs = blank })).missing_fields)
    end)
  end

  it("is reported with both kinds of fault", function()
    local err = refused({ constraints = "x", inputs = "i", outputs = "o" })
    assert.same({ "objective", "completion_criteria" }, err.missing_fields)
    assert.same({ "缺少必填字段: objective", "缺少必填字段: completion_criteria",
      "constraints 必须是数组" }, err.details)
  end)

  for name, list in pairs({
    ["no list"] = "a", ["no entries"] = { "a" }, ["no agentId"] = { { role = "r",
      description = "d" } }, ["no role"] = { { agentId = "root", description = "d" } },
    ["no description"] = { { agentId = "root", role = "r" } },
    ["a blank role"] = { { agentId = "root", role = " ", description = "d" } },
    ["an Interface Spec without its formats"] = { { agentId = "root", role = "r",
      description = "d", interfaceSpec = { services = "s" } } },
    ["examples that are no list"] = { { agentId = "root", role = "r", description = "d",
      interfaceSpec = { services = "s", input_format = "i", output_format = "o",
        examples = "e" } } },
  }) do
    it("has bad collaborators: " .. name, function()
      refused(scene.brief({ collaborators = list }))
    end)
  end

  it("that is not a table is reported as such before its missing fields", function()
    local rules = require("society.brief")
    local function is_nil(value) return value == nil end
    for _, brief in ipairs({ "do it", 7, true }) do
      local is_whole, err = rules.check(brief, is_nil, rules.WORDS)
      assert.is_false(is_whole)
      assert.same(REQUIRED, err.missing_fields)
      assert.equal("任务委托书必须是对象", table.remove(err.details, 1))
      assert.same(all_missing(), err.details)
    end
    assert.same(all_missing(), select(2, rules.check({}, is_nil, rules.WORDS)).details)
  end)

  it("may be one that JSON cannot hold", function()
    refused(scene.brief({ inputs = function() end }))
  end)

  it("is reported before an unknown role", function()
    local _, err = spawn({}, "nosuch")
    assert.equal("invalid_task_brief", err.error)
  end)

  it("uses up no id", function()
    local first, second
    for _, is_bad in ipairs({ true, false }) do
      local s = scene.troupe({
        root = function(root)
          if is_bad then
            root:spawn_agent("actor", {})
          end
          first, second = root:spawn_agent("actor", scene.brief()).id, first
        end,
      })
      scene.tell(s, "root")
    end
    assert.equal(first, second)
  end)
end)

describe("a good brief", function()
  after_each(scene.close)

  local function brief_of(brief, options)
    local seen
    local s = scene.troupe({
      root = function(root)
        assert(root:spawn_agent("actor", brief, { id = "c", message = "start" }))
      end,
    }, options)
    scene.tell(s, "root")
    seen = s:agent("c").brief
    return seen
  end

  it("may have an empty list of constraints", function()
    assert.same({}, brief_of(scene.brief({ constraints = {} })).constraints)
  end)

  it("has optional fields, and keeps unknown ones of any kind", function()
    local brief = scene.brief({ priority = "high", references = { "x" }, colour = { r = 1 } })
    assert.same(brief, brief_of(brief))
    brief = scene.brief({ priority = json.null, references = json.null, collaborators = json.null })
    assert.same(brief, brief_of(brief))
  end)

  for _, priority in ipairs({ "urgent", "high", "normal", "low", "P0", "P3" }) do
    it("may have the priority " .. priority, function()
      assert.equal(priority, brief_of(scene.brief({ priority = priority })).priority)
    end)
  end

  it("has no constraints as an empty list, not as an object", function()
    local s = scene.troupe({
      root = function(root) root:spawn_agent("actor", scene.brief({ constraints = {} }),
        { id = "c" }) end,
    })
    scene.tell(s, "root")
    assert.matches('"constraints":[]', json.encode(s:agent("c").brief), 1, true)
  end)

  it("has empty collaborators and references as lists, not as objects", function()
    local s = scene.troupe({
      root = function(root) root:spawn_agent("actor",
        scene.brief({ collaborators = {}, references = {}, extra = {} }), { id = "c" }) end,
    })
    scene.tell(s, "root")
    local text = json.encode(s:agent("c").brief)
    assert.matches('"collaborators":[]', text, 1, true)
    assert.matches('"references":[]', text, 1, true)
    assert.matches('"extra":{}', text, 1, true)
  end)

  it("may not name the agent itself as its collaborator", function()
    local child, err
    local s = scene.troupe({
      root = function(root)
        child, err = root:spawn_agent("actor", scene.brief({
          collaborators = { { agentId = "c", role = "r", description = "d" } },
        }), { id = "c" })
      end,
    })
    scene.tell(s, "root")
    assert.is_nil(child)
    assert.equal("agent_not_found", err.error)
    assert.equal("c", err.agentId)
    assert.is_nil(s:agent("c"))
  end)

  it("survives a crash with the agent", function()
    local s = scene.troupe({
      root = function(root) root:spawn_agent("actor", scene.brief({ colour = "red" }),
        { id = "c" }) end,
    })
    scene.tell(s, "root")
    s:crash()
    s:recover()
    assert.equal("red", s:agent("c").brief.colour)
    assert.equal("root", s:agent("c").parent)
  end)

  it("is judged by the policy in force", function()
    local results = {}
    local s = scene.new({ app = function(s)
      s:role({ id = "r", name = "r", behaviour = function() end })
      s:policy("briefs", function(brief)
        if brief == "please" then
          return { objective = "asked nicely" }
        end
        return false, { error = "invalid_task_brief", message = "say please" }
      end)
      s:root(function(root)
        results[1] = root:spawn_agent("r", "please", { id = "c" })
        results[2] = select(2, root:spawn_agent("r", scene.brief()))
      end)
    end })
    scene.tell(s, "root")
    assert.equal("c", results[1].id)
    assert.same({ objective = "asked nicely" }, s:agent("c").brief)
    assert.equal("say please", results[2].message)
  end)
end)
