-- A server whose Retry-After is longer than the call may last.

local scene = require("scene")

describe("a Retry-After that is longer than the call may last", function()
  after_each(scene.close)

  local HOUR_MS = 3600000

  -- The outcome of a call whose server has a Retry-After, after how many ms, and how often
  -- it was tried.
  local function refused(after_ms, chat)
    local got, took_ms, tries = nil, nil, 0
    local s = scene.troupe({ root = function(root)
      local began_ms = root:now()
      chat.messages = { { role = "user", content = "x" } }
      got = select(2, root:chat(chat))
      took_ms = root:now() - began_ms
    end }, { config = { llm = { provider = "scripted", retries_max = 1, answers = function()
      tries = tries + 1
      return { error = "rate_limited", retryable = true, retry_after_ms = after_ms }
    end } } })
    scene.tell(s, "root")
    return got, took_ms, tries
  end

  it("is not waited for", function()
    for _, case in ipairs({ { HOUR_MS, {} }, { 600000, {} }, { 30000, { timeout_ms = 30000 } } }) do
      local err, took_ms, tries = refused(case[1], case[2])
      assert.equal("rate_limited", err.error)
      assert.equal(case[1], err.retry_after_ms)
      assert.equal(1, tries)
      assert.is_true(took_ms < 1000, took_ms .. " ms")
      scene.close()
    end
  end)

  it("is waited for if it is a little shorter", function()
    local err, took_ms, tries = refused(590000, {})
    assert.same({ "rate_limited", 2 }, { err.error, tries })
    assert.is_true(took_ms >= 590000, took_ms .. " ms")
  end)

  it("also ends the calls that wait behind the brake", function()
    local ends = {}
    local function act(agent)
      local _, err = agent:chat({ messages = { { role = "user", content = "x" } } })
      ends[#ends + 1] = err
    end
    local s = scene.troupe({ a = act, b = act, c = act }, { config = { llm = {
      provider = "scripted", concurrency = 1, brake_after = 1, answers = function()
        return { error = "rate_limited", retryable = true, retry_after_ms = HOUR_MS }
      end } } })
    local began_ms = s:now()
    for _, id in ipairs({ "a", "b", "c" }) do
      assert(s:send("user", { to = id, payload = "go" }))
    end
    s:run()
    assert.equal(3, #ends)
    for _, err in ipairs(ends) do
      assert.equal("rate_limited", err.error)
      assert.is_true(err.retry_after_ms > HOUR_MS - 1000)
    end
    assert.is_true(s:now() - began_ms < 5000)
  end)
end)
