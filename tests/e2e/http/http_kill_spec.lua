-- Slow: kill -9 while clients post under keys and listen.
--
-- Whatever was answered is there after the restart, each key has made one message, and a
-- stream that resumes has every line of the log once. HTTP_KILLS=100 in make soak.

local program = require("program")
local tree = require("tree")

local KILLS = tonumber(os.getenv("HTTP_KILLS") or "") or 5
local SEED = tonumber(os.getenv("SEED") or "") or 1

local APP = [[
local society = require("society")
society.root(function(root, message)
  root.state.count = (root.state.count or 0) + 1
end)
society.main(function() end)
]]

describe("kill -9 under HTTP", function()
  it("loses no answer, doubles no key and leaves no gap in a stream", function()
    local place = program.place()
    place:write("app.lua", APP)
    local result = place:shell(("python3 %s %s app.lua .society %d %d"):format(
      program.quote(tree.path("tests/support/http_kills.py")), program.quote(place.program), KILLS,
      SEED))
    assert.equal("", result.err)
    local seen = program.rows(result)[1]

    local ids, count = {}, 0
    for _, row in ipairs(program.rows(place:run("inspect messages --json"))) do
      if row.to == "root" then
        local key = row.payload.text
        assert.is_nil(ids[key], "two messages under " .. key)
        ids[key] = row.id
      end
    end
    for key, id in pairs(seen.answers) do
      count = count + 1
      assert.equal(id, ids[key], key)
    end
    assert.is_true(count > KILLS, "too few were answered: " .. count)

    local rows = program.rows(place:run("inspect activity --json"))
    assert.equal(#rows, #seen.lines)
    for index, row in ipairs(rows) do
      assert.same(row, seen.lines[index])
    end
    if os.getenv("HTTP_KILLS") then
      print(("# %d kills, %d keys, %d lines"):format(seen.kills, count, #rows))
    end
    place:remove()
  end)
end)
