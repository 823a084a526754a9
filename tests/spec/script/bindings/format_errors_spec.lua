-- Every invalid_message_format says of which type, what is missing and what else is wrong.
--
-- Covers: core/kernel/refusal.c

local json = require("society.json")
local scene = require("scene")

describe("invalid_message_format", function()
  after_each(scene.close)

  local function check(err, type)
    assert.equal("invalid_message_format", err.error)
    assert.equal(type, err.message_type)
    assert.is_table(err.missing_fields)
    assert.is_true(#err.details > 0)
  end

  it("always has message_type, missing_fields and details", function()
    local s = scene.troupe({ a = function() end, b = function() end })
    local function try(options)
      options.to = options.to or "b"
      return select(2, s:send("a", options))
    end
    check(try({ payload = "\xff" }), "general")
    check(try({ type = "query", payload = { query = "\xff" } }), "query")
    check(try({ payload = { [print] = 1 } }), "general")
    check(try({ payload = { self_introduction = 7 } }), "general")
    check(try({ type = "status_report", payload = { self_introduction = 7 } }), "status_report")
    check(try({ type = "a b", payload = "x" }), "a b")
    check(try({ payload = { message_type = json.array({}) } }), "general")
  end)
end)
