-- Flags of `society run` that cannot be right are wrong usage: the exit code is 2, after which
-- systemd starts nothing again, and the message names the faulty word.

local program = require("program")

local APP = [[
local society = require("society")
society.config { name = "quiet" }
society.root(function() end)
society.main(function() end)
]]

describe("society run", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  it("ends with 2 and names what is wrong with a flag", function()
    local hosts = "--redis redis://127.0.0.1:1 --host office "
    for flags, said in pairs({
      ["--http 99999"] = "'99999' is not [HOST:]PORT",
      ["--http 0.0.0.0:0"] = "beyond loopback",
      ["--set retention_days=abc"] = "'retention_days': an integer",
      ["--policy contcts=open"] = "run: unknown policy kind 'contcts'; did you mean 'contacts'?",
      ["--policy contacts=opn"] = "there is no policy contacts/opn.lua",
      ["--redis nonsense"] = "this is no address of Redis",
      ["--host office --peers lab"] = "'hosts.redis' is missing",
      [hosts .. "--peers lab,lab"] = "run: --peers names 'lab' twice",
      [hosts .. "--peers ' lab, mill'"] = "run: --peers: ' lab' is no name of a host",
      [hosts .. "--peers lab,"] = "run: --peers: '' is no name of a host",
      [hosts .. "--peers lab,office"] = "run: --peers names the other hosts, not this one",
      ["--redis redis://127.0.0.1:1 --host 办公室 --peers lab"] = "run: --host: '办公室' is no name",
      ["--state ''"] = "run: --state needs a value",
    }) do
      local result = place:run("run app.lua --once " .. flags)
      assert.same({ 2, flags }, { result.code, flags })
      assert.matches(said, result.err, 1, true)
      assert.not_matches('{"', result.err, 1, true)
    end
  end)

  it("ends with 1 if the app is at fault", function()
    place:write("app.lua", "local x = nil; x()")
    assert.equal(1, place:run("run app.lua").code)
  end)

  it("names --once in the command that continues the run", function()
    place:write("app.lua", APP .. "society.main(function() error('no') end)")
    local result = place:run("run app.lua --once --http 0")
    assert.equal(1, result.code)
    assert.matches("main failed; to try it again: society run app.lua --state .society "
      .. "--http 0 --once\n", result.err, 1, true)
  end)
end)
