-- The newsroom of `society demo`, in virtual time: it talks for minutes, asks the person, goes
-- on without an answer, and leaves something to mend.

local society = require("society")

local MINUTE_MS = 60 * 1000

describe("the demo", function()
  local s

  before_each(function() s = society.new({ app = "examples/demo/newsroom.lua" }) end)
  after_each(function() s:close() end)

  it("talks for some minutes without anybody's help, and ends", function()
    s:advance(3 * MINUTE_MS)
    local sent = s:stats().sent
    assert.is_true(sent > 50)
    s:advance(30 * MINUTE_MS)
    assert.is_true(s:stats().sent > sent)
    assert.same({}, s:waits())
    assert.equal(20, #s:inbox()) -- those asked stay open
    assert.is_true(s:stats().dead > 0)
  end)

  it("asks the person, and prints what was chosen", function()
    s:advance(MINUTE_MS // 2)
    local item = assert(s:inbox()[1])
    assert.matches("Which headline", item.title)
    s:decide(item.id, { choice = item.options[2] })
    s:advance(1000)
    local task
    for _, message in ipairs(s:messages({ type = "task" })) do
      task = message.payload.headline == item.options[2] and message or task
    end
    assert.is_truthy(task)
  end)
end)
