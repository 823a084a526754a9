-- Roles and spawning.
--
-- Covers: core/script/bindings/bind_people.c, core/kernel/agents.c, core/kernel/registry.c
-- Covers: core/script/turns/behaviour.c

local json = require("society.json")
local scene = require("scene")

describe("spawn_agent", function()
  after_each(scene.close)

  it("returns id, roleId and roleName", function()
    local made = scene.play(function(root)
      return root:spawn_agent("actor", scene.brief(), { id = "Ada.1-x_y" })
    end)
    assert.same({ id = "Ada.1-x_y", roleId = "actor", roleName = "演员" }, made)
  end)

  it("generates an id, never the same twice", function()
    local ids = scene.play(function(root)
      local seen = {}
      for i = 1, 20 do
        seen[i] = assert(root:spawn_agent("actor", scene.brief())).id
      end
      return seen
    end)
    local known = {}
    for _, id in ipairs(ids) do
      assert.is_nil(known[id])
      assert.matches("^[A-Za-z0-9][A-Za-z0-9_.-]*$", id)
      assert.is_true(#id <= 64)
      known[id] = true
    end
  end)

  it("shows an Interface Spec without examples with an empty list", function()
    local spec = { services = "s", input_format = "i", output_format = "o", examples = {} }
    local s = scene.new({ app = function(s)
      s:role({ id = "able", interface_spec = spec, behaviour = function() end })
      s:root(function(root)
        root:create_role({ id = "late", name = "late", prompt = "p", interface_spec = spec })
        root:spawn_agent("able", scene.brief(), { id = "a" })
        root:spawn_agent("late", scene.brief(), { id = "b" })
      end)
    end })
    scene.tell(s, "root")
    for _, contact in ipairs({ s:contacts("root")[2], s:contacts("root")[3] }) do
      assert.equal('{"examples":[],"input_format":"i","output_format":"o","services":"s"}',
        json.encode(contact.interfaceSpec))
    end
  end)

  it("refuses an unknown role and names it", function()
    local made, err = scene.play(function(root)
      return root:spawn_agent("nosuch", scene.brief())
    end)
    assert.is_nil(made)
    assert.equal("unknown_role", err.error)
    assert.equal("nosuch", err.roleId)
    assert.is_string(err.message)
  end)

  it("refuses an id that is taken or invalid", function()
    local errors = scene.play(function(root)
      local list = {}
      for _, id in ipairs({ "root", "user", "system", "orchestrator", "All", "", "a b", "a@b", "_x",
        ("x"):rep(65) }) do
        local made, err = root:spawn_agent("actor", scene.brief(), { id = id })
        assert(not made, id)
        list[#list + 1] = err
      end
      return list
    end)
    for i = 1, 5 do
      assert.equal("already_exists", errors[i].error)
      assert.matches(i <= 2 and "exists or existed" or "is reserved", errors[i].message, 1, true)
    end
    for i = 6, #errors do
      assert.equal("invalid_id", errors[i].error)
    end
  end)

  it("raises on an unknown option and on a role that is not a text", function()
    assert.matches("'colour'", scene.raised(function(root)
      root:spawn_agent("actor", scene.brief(), { colour = "red" })
    end), 1, true)
    assert.is_string(scene.raised(function(root) root:spawn_agent({}, scene.brief()) end))
  end)

  it("with a message sends a first task_assignment, atomically", function()
    local got
    local s = scene.troupe({
      root = function(root)
        root:spawn_agent("actor", scene.brief(), { id = "c", message = { text = "start", n = 1 } })
      end,
      c2 = function() end,
    })
    s:role({ id = "actor", name = "actor", behaviour = function(_, message) got = message end })
    scene.tell(s, "root")
    assert.equal("task_assignment", got.type)
    assert.equal("root", got.from)
    assert.same({ text = "start", n = 1, task_brief = scene.brief() }, got.payload)
  end)

  it("with a message that is refused leaves no agent behind", function()
    local err, known, again
    local s = scene.troupe({
      root = function(root)
        local _
        _, err = root:spawn_agent("actor", scene.brief(), { id = "c", message = { f = print } })
        known = root:knows("c").inRegistry
        again = root:spawn_agent("actor", scene.brief(), { id = "c" })
      end,
    })
    scene.tell(s, "root")
    assert.equal("spawn_failed", err.error)
    assert.is_string(err.message)
    assert.is_false(known)
    assert.equal("c", again.id)
    assert.equal(3, s:stats().agents)
    assert.equal(2, s:stats().sent)
    s:crash()
    s:recover()
    assert.equal(3, s:stats().agents)
    assert.equal(1, s:agent("root").children)
  end)

  it("builds a tree: each agent knows its parent", function()
    local s = scene.troupe({
      a = function(a) a:spawn_agent("actor", scene.brief(), { id = "a1" }) end,
    })
    scene.tell(s, "a")
    assert.equal("a", s:agent("a1").parent)
    assert.equal("root", s:agent("a").parent)
    assert.is_nil(s:agent("root").parent)
    assert.equal(1, s:agent("a").children)
  end)
end)

describe("society.role", function()
  after_each(scene.close)

  local function fault(role)
    local s = scene.new()
    local ok, err = pcall(s.role, s, role)
    assert.is_false(ok)
    return tostring(err)
  end

  it("raises on an invalid role", function()
    assert.matches("role: unknown option 'colour'; the options are id, ",
      fault({ id = "x", colour = 1 }), 1, true)
    assert.matches("behaviour", fault({ id = "x", behaviour = 7 }), 1, true)
    assert.matches("'name'", fault({ id = "x", name = 7 }), 1, true)
    assert.is_string(fault({ id = "no id", name = "x", behaviour = function() end }))
    assert.is_string(fault({}))
    assert.matches("nosuchmodule", fault({ id = "x", behaviour = "nosuchmodule" }), 1, true)
  end)

  it("raises on a bad interface_spec", function()
    for _, spec in ipairs({ "text", {}, { services = "s", input_format = "i" },
      { services = 1, input_format = "i", output_format = "o" } }) do
      assert.matches("invalid_interface_spec",
        fault({ id = "x", behaviour = function() end, interface_spec = spec }), 1, true)
    end
  end)

  it("runs sense, think and act in that order, each with the result of the last", function()
    local s = scene.new()
    s:root({
      sense = function(_, message) return message.payload.n + 1 end,
      think = function(agent, sensed)
        agent:sleep(5)
        return sensed * 2
      end,
      act = function(_, thought) return { n = thought } end,
    })
    assert.same({ n = 8 }, s:dispatch("root", { n = 3 }).payload)
  end)

  it("accepts the name of a module beside the app", function()
    local folder = scene.files({
      ["app.lua"] = [[require("society").root("manners")]],
      ["manners.lua"] = [[return { default = function() return "well behaved" end }]],
    })
    local s = scene.new({ app = folder .. "/app.lua" })
    assert.equal("well behaved", s:dispatch("root", "x").payload.text)
  end)
end)

describe("create_role inside a turn", function()
  after_each(scene.close)

  local function create(role)
    return scene.play(function(root) return root:create_role(role) end)
  end

  it("returns id and name", function()
    assert.same({ id = "fresh", name = "新" },
      create({ id = "fresh", name = "新", prompt = "p", behaviour = "actor" }))
  end)

  it("raises on a function, which could not survive a restart", function()
    assert.matches("restart", scene.raised(function(root)
      root:create_role({ id = "x", name = "x", behaviour = function() end })
    end), 1, true)
  end)

  it("refuses an id that is taken", function()
    local made, err = create({ id = "actor", name = "x", behaviour = "actor" })
    assert.is_nil(made)
    assert.equal("already_exists", err.error)
  end)

  it("refuses a bad interface_spec", function()
    local made, err = create({ id = "x", name = "x", behaviour = "actor", interface_spec = {} })
    assert.is_nil(made)
    assert.equal("invalid_interface_spec", err.error)
  end)

  it("accepts rolePrompt for prompt, and generates a missing id", function()
    local made = create({ name = "painter", rolePrompt = "paints", behaviour = "actor" })
    assert.equal("painter", made.name)
    assert.is_string(made.id)
    made = create({ name = "画家", prompt = "paints", behaviour = "actor" })
    assert.equal("画家", made and made.name)
  end)

  it("behaves as the module or the role it names, also after a crash", function()
    local folder = scene.files({
      ["app.lua"] = [[
        local society = require("society")
        local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
          completion_criteria = "c" }
        society.role{ id = "echo", name = "echo", behaviour = function(_, message)
          return "echo " .. message.payload.text
        end }
        society.root(function(root)
          assert(root:create_role{ id = "r1", name = "r1", prompt = "p", behaviour = "shout" })
          assert(root:create_role{ id = "r2", name = "r2", prompt = "p", behaviour = "echo" })
          root:spawn_agent("r1", BRIEF, { id = "a1" })
          root:spawn_agent("r2", BRIEF, { id = "a2" })
        end)
      ]],
      ["shout.lua"] = [[return function(_, message) return message.payload.text:upper() end]],
    })
    local s = scene.new({ app = folder .. "/app.lua" })
    scene.tell(s, "root")
    for _ = 1, 2 do
      assert.equal("HI", s:dispatch("a1", "hi").payload.text)
      assert.equal("echo hi", s:dispatch("a2", "hi").payload.text)
      s:crash()
      s:recover()
    end
    assert.equal("r1", s:agent("a1").role.name)
  end)
end)
