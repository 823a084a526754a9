-- agent:chat and kill -9: an answered call is never paid for again.

local model = require("model")
local scene = require("scene")

local ask, say = model.ask, model.say

describe("agent:chat after a crash", function()
  after_each(scene.close)

  it("is not paid for again if it was answered", function()
    local count = 0
    local s = scene.troupe({
      root = function(root)
        local answer = root:chat({ messages = { { role = "user", content = "x" } } })
        root:sleep(5000)
        root.state.said = answer.content
      end,
    }, { http = function() count = count + 1 return say("answer " .. count) end,
      config = { llm = { model = "test-model" } } })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(100)
    s:crash() s:recover() s:run()
    assert.equal(1, count)
    assert.matches('"said":"answer 1"', s:dump(), 1, true)
    assert.equal(10, s:usage()[1].input_tokens)
    assert.equal(1, s:usage()[1].calls)
  end)

  it("is repeated once under the same id if it was in flight", function()
    local s, seen = ask(function(_, n)
      return n == 1 and { delay_ms = 50000 } or say("again")
    end)
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(100)
    s:crash() s:recover() s:run()
    assert.equal(2, #seen.requests)
    assert.equal(seen.requests[1].call, seen.requests[2].call)
    assert.equal(seen.requests[1].body, seen.requests[2].body)
    assert.equal("again", seen.results[1].answer.content)
    assert.equal(1, #s:usage())
    assert.equal(1, s:usage()[1].calls)
  end)

  it("has the same outcome wherever it crashes", function()
    for steps = 1, 14 do
      local s, seen = ask(function() return say("hi") end)
      assert(s:send("user", { to = "root", payload = "go" }))
      for _ = 1, steps do
        s:step()
      end
      s:crash() s:recover() s:run()
      assert.equal(1, s:usage()[1].calls)
      assert.is_true(#seen.requests <= 2)
      scene.close()
    end
  end)
end)
