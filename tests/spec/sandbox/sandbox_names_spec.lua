-- The names of the sandbox, as the documents and the linter list them.

local scene = require("scene")
local tree = require("tree")

local read = tree.read

local function sorted(names)
  local list = {}
  for name in pairs(names) do
    list[#list + 1] = name
  end
  table.sort(list)
  return list
end

-- What an app finds: { globals, os }, as sets.
local function found()
  local s = scene.new({ app = scene.app([[
    require("society").root(function()
      local globals, of_os = {}, {}
      for name in pairs(_G) do globals[name] = true end
      for name in pairs(os) do of_os[name] = true end
      return { globals = globals, os = of_os }
    end)
  ]]) })
  return assert(s:dispatch("root", "x")).payload
end

-- What docs/lua-api.md says: "Scripts have `…`, … and of `os` `…`, ….".
local function documented()
  local plain, of_os = read("docs/lua-api.md"):match("\nScripts have (.-), and of `os` (.-)%.%s")
  local names, os_names = {}, {}
  for name in plain:gmatch("[%w_]+") do
    names[name] = true
  end
  for name in of_os:gmatch("`(%w+)`") do
    os_names[name] = true
  end
  return names, os_names
end

describe("the sandbox", function()
  after_each(scene.close)

  it("has exactly the names that the documents list", function()
    local got = found()
    local names, os_names = documented()
    names.os = true
    for _, name in ipairs({ "_G", "_VERSION", "arg" }) do
      got.globals[name] = nil
    end
    assert.same(sorted(names), sorted(got.globals))
    assert.same(sorted(os_names), sorted(got.os))
  end)

  it("has every name that the linter lets scripts use", function()
    local got = found()
    local rules = { stds = {}, files = {} }
    assert(load(read(".luacheckrc"), ".luacheckrc", "t", rules))()
    for _, std in ipairs({ "policy", "script" }) do
      for key, name in pairs(rules.stds[std].read_globals) do
        local is_library = type(name) == "table"
        assert.is_true(got.globals[is_library and key or name], tostring(name))
      end
    end
    for _, name in ipairs(rules.stds.script.read_globals.os.fields) do
      assert.is_true(got.os[name], "os." .. name)
    end
  end)
end)
