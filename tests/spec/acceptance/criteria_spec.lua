-- Every acceptance criterion and every correctness property has its test, as the table
-- tests/criteria.lua says.

local titles = require("titles")
local tree = require("tree")

local table_of = dofile(tree.path("tests/criteria.lua"))

-- How many criteria each requirement has, in order.
local COUNTS = { 5, 8, 8, 4, 7, 5, 6, 5, 5, 6 }

local loaded = {}

local function tests_in(file)
  loaded[file] = loaded[file] or titles.of(tree.find("tests/spec", file))
  return loaded[file]
end

-- Visits the criteria of the table: number, requirement, the text after the number.
local function each_criterion(visit)
  for number, requirement in ipairs(table_of.requirements) do
    for index, text in ipairs(requirement.criteria) do
      visit(("%d.%d"):format(number, index), requirement, text)
    end
  end
end

describe("the criteria", function()
  it("are all in the table, and no others", function()
    local counts = {}
    for number, requirement in ipairs(table_of.requirements) do
      counts[number] = #requirement.criteria
    end
    assert.same(COUNTS, counts)
  end)

  it("each have the test that the table names", function()
    local count = 0
    each_criterion(function(number, requirement, text)
      local name = ("%s %s %s"):format(requirement.title, number, text)
      count = count + 1
      assert(tests_in(requirement.file)[name], requirement.file .. " has no test " .. name)
    end)
    assert.equal(59, count)
  end)

  it("have further tests under exactly the names in the table", function()
    local is_criterion = {}
    each_criterion(function(number) is_criterion[number] = true end)
    for _, requirement in ipairs(table_of.requirements) do
      for _, each in ipairs(requirement.further) do
        local number, file, name = table.unpack(each)
        assert(is_criterion[number], number .. " is no criterion")
        assert(tests_in(file)[name], ("%s: %s has no test %q"):format(number, file, name))
      end
    end
  end)

  it("are covered by every test that bears a number", function()
    local expected = {}
    each_criterion(function(number, requirement, text)
      expected[("%s %s %s"):format(requirement.title, number, text)] = requirement.file
    end)
    local files = assert(io.popen(("ls %q"):format(tree.path("tests/spec/acceptance"))))
    for file in files:lines() do
      if file:find("^acceptance_.*_spec%.lua$") then
        for name in pairs(tests_in(file)) do
          assert(expected[name] == file, name .. " is in no table")
        end
      end
    end
    files:close()
  end)
end)

describe("the fifteen seams", function()
  -- Whether a spec below tests/FOLDER has a test of that name, or whose own title it is.
  local function is_there(folder, file, name)
    for full, title in pairs(titles.of(tree.find("tests/" .. folder, file))) do
      if full == name or (folder == "e2e" and title == name) then
        return true
      end
    end
    return false
  end

  it("each have tests under exactly the names in the table", function()
    local seams = dofile(tree.path(table_of.seams))
    assert.equal(15, #seams)
    for _, seam in ipairs(seams) do
      assert.is_string(seam.holds)
      assert.is_true(#seam > 0, seam.holds)
      for _, test in ipairs(seam) do
        local file = test[1]:gsub("^e2e:", "")
        local folder = file == test[1] and "spec" or "e2e"
        assert(is_there(folder, file, test[2]), ("%s: %s has no test %q"):format(seam.holds,
          test[1], test[2]))
      end
    end
  end)
end)

describe("the ten properties", function()
  it("have their tests under their numbers", function()
    assert.equal(10, #table_of.properties)
    for number, property in ipairs(table_of.properties) do
      assert(tests_in(property.file)[property.name], "there is no test " .. property.name)
      assert.equal(number, tonumber(property.name:match("^Property (%d+): ")))
    end
  end)

  it("validate existing criteria, over at least 1,000 cases each", function()
    local is_criterion = {}
    each_criterion(function(number) is_criterion[number] = true end)
    local checks = {}
    for _, property in ipairs(table_of.properties) do
      for _, number in ipairs(property.validates) do
        assert(is_criterion[number], number .. " is no criterion")
      end
      local file = assert(io.open(tree.find("tests/spec", property.file)))
      for cases, seed in file:read("a"):gmatch("{ cases = (%d+), seed = (%d+) }") do
        assert.is_true(tonumber(cases) >= 1000)
        checks[seed] = true
      end
      file:close()
    end
    for number = 101, 110 do -- each has its own seed
      assert(checks[tostring(number)], "no check has the seed " .. number)
    end
  end)
end)

describe("titles", function()
  it("are those busted gives, without pending tests", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write([[describe("a", function()
      it("b", function() error("run") end)
      pending("c", function() end)
      describe("d", function() for _, x in ipairs({ 1, 2 }) do it("e" .. x, function() end) end end)
      local text = "it('f', function() end)" -- it("g", function() end)
    end)]])
    file:close()
    local found = titles.of(path)
    os.remove(path)
    assert.same({ ["a b"] = "b", ["a d e1"] = "e1", ["a d e2"] = "e2" }, found)
  end)
end)
