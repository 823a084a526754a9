-- The first app that somebody sees, in either README and from `society init`, keeps what the
-- README says of it: under injected faults, seed after seed, the checker finds nothing.
--
-- Covers: lua/society/command/init.lua

local program = require("program")

local function first_app(page)
  local file = assert(io.open(page, "rb"))
  local text = file:read("a")
  file:close()
  return assert(text:match("\n```lua\n(%-%- app: hello\n.-)```\n"), page .. " has no first app")
end

describe("the first app passes under injected faults", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  local function passes(words)
    local result = place:run("sim " .. words)
    assert.equal(0, result.code, result.err)
  end

  for _, page in ipairs({ "README.md", "README.zh.md" }) do
    it("as " .. page .. " prints it, for the seeds that it names", function()
      place:write("hello.lua", first_app(page))
      passes("hello.lua --seeds 1..500")
    end)
  end

  it("as society init writes it", function()
    assert.equal(0, place:run("init greetings").code)
    passes("greetings/app.lua --seeds 1101..1200") -- 1126 is the first that needs the time-outs
  end)
end)
