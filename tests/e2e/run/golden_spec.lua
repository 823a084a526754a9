-- State directories that earlier versions of the program have left behind: each is opened,
-- upgraded and run to its end. golden/tablesN.tar.gz is a society of golden/app.lua, stopped
-- where it waits for the person, with the version N of the tables.
--
-- A version of the program that changes the tables adds the state of the version before.

local program = require("program")
local tree = require("tree")

local function versions()
  local list = {}
  local pipe = assert(io.popen(("ls %q"):format(tree.path("tests/e2e/golden"))))
  for name in pipe:lines() do
    list[#list + 1] = name:match("^tables(%d+)%.tar%.gz$")
  end
  pipe:close()
  return list
end

describe("the state directory of a society with tables of version", function()
  local place

  before_each(function()
    place = program.place()
    place:shell("cp " .. program.quote(tree.path("tests/e2e/golden/app.lua")) .. " .")
  end)

  after_each(function()
    place:remove()
  end)

  local function rows(subject)
    return program.rows(place:run("inspect " .. subject .. " --json"))
  end

  it("8 and others is there", function()
    assert.is_true(#versions() >= 2)
  end)

  for _, version in ipairs(versions()) do
    it(version .. " is upgraded and goes on where it waited", function()
      assert.equal(0, place:shell("mkdir -m 700 .society && tar -C .society -xzf "
        .. program.quote(tree.path("tests/e2e/golden/tables" .. version .. ".tar.gz"))).code)
      local running = place:start_ready("run app.lua --quiet")
      local letter = rows("dead-letters")[1]
      assert.same({ "clerk", "too much" }, { letter.to, letter.payload.text })
      assert.equal("clerk", rows("agents")[3].id)
      for index, row in ipairs(rows("activity")) do
        assert.equal(index, row.line)
      end
      local item = rows("inbox")[1]
      assert.same({ "Which colour?", "clerk" }, { item.title, item.agent })
      assert.equal(0, place:run("decide " .. item.id .. " --choice blue").code)
      local ended = running:wait()
      assert.equal(0, ended.code, ended.err)
      assert.matches("it is blue", ended.out, 1, true)
      assert.no.matches("the clerk asks", ended.out, 1, true)
      for _, task in ipairs(rows("tasks")) do
        assert.equal("completed", task.state)
      end
      assert.equal(0, place:run("verify").code)
    end)
  end
end)
