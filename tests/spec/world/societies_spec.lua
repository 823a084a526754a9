-- Several societies, societies on disk, and reproducibility by seed.
--
-- Covers: core/script/script.c

local scene = require("scene")
local society = require("society")

local BUSY = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role{ id = "w", name = "w", behaviour = function(agent, message)
  agent.state.luck = math.random(1, 1000000)
  agent.state.at = os.time()
  agent:sleep(agent:random(1, 3))
  agent:send_message{ to = "root", type = "done", payload = { luck = agent.state.luck } }
end }
society.root{
  done = function(root, message)
    root.state.order = root.state.order or {}
    table.insert(root.state.order, message.from)
  end,
  default = function(root)
    for i = 1, 6 do
      root:spawn_agent("w", BRIEF, { id = "w" .. i, message = "go" })
    end
  end,
}
society.main(function(user)
  user:send_message{ to = "root", payload = "go" }
  user:sleep(2)
  print("main", os.date("!%H:%M:%S"), math.random(100))
end)
]]

describe("the same seed", function()
  after_each(scene.close)

  local function play(app, seed)
    local s = scene.new({ app = app, seed = seed })
    s:run()
    return s:transcript(), s:dump(), s
  end

  it("gives the same transcript and the same dump, byte for byte", function()
    local app = scene.app(BUSY)
    for seed = 1, 20 do
      local transcript, dump = play(app, seed)
      local again, dump_again = play(app, seed)
      assert.equal(transcript, again)
      assert.equal(dump, dump_again)
    end
  end)

  it("gives the same with crashes in the same places", function()
    local app = scene.app(BUSY)
    local function with_crashes()
      local s = scene.new({ app = app, seed = 4 })
      for steps = 1, 5 do
        for _ = 1, steps do
          s:step()
        end
        s:crash()
        s:recover()
      end
      s:run()
      return s:transcript() .. s:dump()
    end
    assert.equal(with_crashes(), with_crashes())
  end)

  it("gives the same beside another busy society", function()
    local app = scene.app(BUSY)
    local transcript, dump = play(app, 5)
    local s, other = scene.new({ app = app, seed = 5 }), scene.new({ app = app, seed = 6 })
    while s:step() do
      other:step()
    end
    s:run()
    assert.equal(dump, s:dump())
    assert.equal(transcript, s:transcript())
  end)

  it("and another seed differ in the order of concurrent agents", function()
    local app = scene.app(BUSY)
    local orders, dumps = {}, {}
    for seed = 1, 10 do
      local _, dump, s = play(app, seed)
      orders[table.concat(s:agent("root").state.order, " ")] = true
      dumps[dump] = true
    end
    local count = 0
    for _ in pairs(orders) do
      count = count + 1
    end
    assert.is_true(count > 3)
    count = 0
    for _ in pairs(dumps) do
      count = count + 1
    end
    assert.equal(10, count)
  end)
end)

describe("the seeded scheduler", function()
  after_each(scene.close)

  it("runs ready agents in another order for another seed", function()
    local orders, count = {}, 0
    for seed = 1, 10 do
      local order = {}
      local function act(agent) order[#order + 1] = agent.id end
      local s = scene.troupe({ a = act, b = act, c = act, d = act }, { seed = seed })
      for _, id in ipairs({ "a", "b", "c", "d" }) do
        assert(s:send("user", { to = id, payload = "x" }))
      end
      s:run()
      local text = table.concat(order)
      count = count + (orders[text] and 0 or 1)
      orders[text] = true
    end
    assert.is_true(count > 3)
  end)
end)

describe("three societies in one Lua state", function()
  after_each(scene.close)

  it("do not affect each other, and one may crash", function()
    local acts = {
      a = function(a)
        a.state.n = (a.state.n or 0) + 1
        a:sleep(10)
      end,
    }
    local all = { scene.troupe(acts), scene.troupe(acts), scene.troupe(acts) }
    for i, s in ipairs(all) do
      for _ = 1, i do
        assert(s:send("user", { to = "a", payload = "x" }))
      end
      s:step()
    end
    all[2]:crash()
    all[1]:run()
    all[3]:run()
    assert.is_false(pcall(all[2].run, all[2]))
    all[2]:recover()
    all[2]:run()
    for i, s in ipairs(all) do
      assert.same({ n = i }, s:agent("a").state)
      assert.equal(i + 1, s:stats().processed)
    end
  end)

  it("keep their scripts' globals apart", function()
    local app = scene.app([[
      count = 0
      require("society").root(function() count = count + 1 return { count = count } end)
    ]])
    local one, two = scene.new({ app = app }), scene.new({ app = app })
    assert.equal(1, one:dispatch("root", "x").payload.count)
    assert.equal(2, one:dispatch("root", "x").payload.count)
    assert.equal(1, two:dispatch("root", "x").payload.count)
    one:crash()
    one:recover()
    assert.equal(1, one:dispatch("root", "x").payload.count)
    assert.is_nil(rawget(_G, "count"))
  end)
end)

describe("a state directory", function()
  after_each(scene.close)

  local APP = [[
    local society = require("society")
    society.root(function(root) root.state.n = (root.state.n or 0) + 1 return "x" end)
    society.main(function(user)
      user:request{ to = "root", payload = "x" }
      print("main was here")
    end)
  ]]

  it("keeps a society from one opening to the next; main runs once", function()
    local folder, app = scene.folder() .. "/state", scene.app(APP)
    local s = scene.new({ app = app, store = folder })
    s:run()
    local dump = s:dump()
    assert.equal(1, scene.count(s:transcript(), "main was here"))
    s:close()
    s = scene.new({ app = app, store = folder })
    s:run()
    assert.equal(0, scene.count(s:transcript(), "main was here"))
    assert.same({ n = 1 }, s:agent("root").state)
    assert.equal(dump, s:dump())
    assert.equal("x", s:dispatch("root", "x").payload.text)
    assert.same({ n = 2 }, s:agent("root").state)
  end)

  it("gives the same as memory, byte for byte", function()
    local app = scene.app(BUSY)
    local memory = scene.new({ app = app, seed = 3 })
    local disk = scene.new({ app = app, seed = 3, store = scene.folder() .. "/state" })
    memory:run()
    disk:run()
    assert.equal(memory:dump(), disk:dump())
    assert.equal(memory:transcript(), disk:transcript())
  end)

  it("crashes and recovers like memory", function()
    local s = scene.troupe({
      a = function(a)
        a.state.n = (a.state.n or 0) + 1
        a:sleep(5)
      end,
    }, { store = scene.folder() .. "/state" })
    for _ = 1, 5 do
      assert(s:send("user", { to = "a", payload = "x" }))
      s:step()
      s:crash()
      s:recover()
    end
    s:run()
    assert.same({ n = 5 }, s:agent("a").state)
    assert.equal(6, s:stats().processed)
  end)

  it("belongs to one app", function()
    local folder = scene.folder() .. "/state"
    scene.new({ store = folder, config = { name = "one" } }):close()
    local ok, err = pcall(society.new, { store = folder, config = { name = "two" } })
    assert.is_false(ok)
    assert.matches("one", tostring(err), 1, true)
  end)

  it("belongs to one society at a time", function()
    local folder = scene.folder() .. "/state"
    scene.new({ store = folder })
    assert.is_false(pcall(society.new, { store = folder }))
  end)
end)

describe("society.new", function()
  after_each(scene.close)

  it("raises on unknown options, settings and policies and names them", function()
    local function fault(options)
      local ok, err = pcall(society.new, options)
      assert.is_false(ok)
      return tostring(err)
    end
    assert.matches("unknown option 'sed'", fault({ sed = 1 }), 1, true)
    assert.matches("'colour'", fault({ config = { colour = 1 } }), 1, true)
    assert.matches("'kitchen'", fault({ policies = { kitchen = "strict" } }), 1, true)
    assert.matches("contacts/nosuch", fault({ policies = { contacts = "nosuch" } }), 1, true)
    assert.matches("no_such_app.lua", fault({ app = "no_such_app.lua" }), 1, true)
    assert.matches("app.lua:1", fault({ app = scene.app("this is no Lua") }), 1, true)
    assert.matches("told so", fault({ app = scene.app("error('told so')") }), 1, true)
  end)

  it("cannot be used after crash without recover, nor after close", function()
    local s = scene.troupe({})
    s:crash()
    assert.matches("recover", select(2, pcall(s.run, s)), 1, true)
    s:recover()
    s:run()
    s:close()
    assert.is_false(pcall(s.run, s))
    assert.is_false(pcall(s.recover, s))
    s:close()
  end)

  it("cannot be driven from inside one of its own turns", function()
    local errors = {}
    local s
    s = scene.troupe({
      a = function()
        for _, name in ipairs({ "send", "run", "step", "advance", "crash", "dispatch", "recover",
          "close" }) do
          local ok, err = pcall(s[name], s, "user", { to = "a", payload = "x" })
          errors[#errors + 1] = ok and name .. " ran" or nil
          assert(err)
        end
      end,
    })
    scene.tell(s, "a")
    assert.same({}, errors)
    assert.equal(0, s:stats().dead)
  end)
end)
