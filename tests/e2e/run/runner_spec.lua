-- The runner of specs (tests/run_spec): what a spec leaves running is ended, also after a
-- time-out and in a session of its own; those that measure time run last, alone.

local program = require("program")
local tree = require("tree")

local SPEC = [[
%s
describe("it", function()
  it("works", function()
    os.execute("%s")
  end)
end)
]]

describe("the runner of specs", function()
  local place

  before_each(function()
    place = program.place()
    place:shell("mkdir folder")
  end)

  after_each(function()
    place:remove()
  end)

  local function run(environment)
    return place:shell(("%s %s %s results folder"):format(environment or "",
      program.quote(tree.path("tests/run_spec")), program.quote(place.program)))
  end

  -- Is the process whose id is in this file gone, or dead and only not collected?
  local function is_gone(name)
    local state = place:shell(("ps -o stat= -p $(cat %s)"):format(name)).out
    return state == "" or state:sub(1, 1) == "Z"
  end

  it("ends what a spec has left running, in whichever session", function()
    place:write("folder/a_spec.lua", SPEC:format("", "cd " .. place.path ..
      " && { setsid sleep 600 & echo $! > far; sleep 600 & echo $! > near; } >/dev/null 2>&1"))
    local result = run()
    assert.equal(0, result.code, result.out)
    assert.matches("folder: 1 passed, 0 failed", result.out, 1, true)
    assert.is_true(is_gone("far"))
    assert.is_true(is_gone("near"))
  end)

  it("ends what a spec has started that is ended by its time-out", function()
    place:write("folder/a_spec.lua", SPEC:format("", "cd " .. place.path ..
      " && { trap '' TERM; setsid sleep 600 & echo $! > far; } && sleep 600"))
    local result = run("SPEC_SECONDS=2")
    assert.equal(1, result.code)
    assert.matches("ended early with status 124", result.out, 1, true)
    assert.is_true(is_gone("far"))
  end)

  it("runs those that measure time last, and alone", function()
    for index, name in ipairs({ "a", "b", "c", "d" }) do
      place:write(("folder/%s_spec.lua"):format(name), SPEC:format(
        index <= 2 and "-- Quiet: it measures time." or "--",
        ("cd %s && echo begin %s >> log && sleep 0.3 && echo end %s >> log"):format(place.path,
          name, name)))
    end
    assert.equal(0, run("JOBS=4").code)
    local quiet = place:read("log"):match("[cd]\n(begin [ab].*)$")
    assert.matches("^begin (%w)\nend %1\nbegin (%w)\nend %2\n$", quiet)
  end)
end)
