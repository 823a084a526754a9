-- A thinking agent: messages that come meanwhile, and crashes anywhere.
--
-- Covers: core/script/bindings/bind_chat.c, core/script/bindings/bind_choose.c

local json = require("society.json")
local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask, last, memory =
  thinkers.think, thinkers.call, thinkers.ask, thinkers.last, thinkers.memory

describe("a message that comes while the model thinks", function()
  after_each(scene.close)

  local function run(on_message)
    local seen = {}
    local s = think(function(request)
      seen[#seen + 1] = #request.messages
      return { content = "answer to " .. last(request.messages).content:match("[^\n]+$"),
        delay_ms = 5000 }
    end, { llm = { on_message = on_message } })
    assert(s:send("user", { to = "ann", payload = { text = "first" } }))
    s:advance(1000)
    assert(s:send("user", { to = "ann", payload = { text = "second" } }))
    s:run()
    local replies = {}
    for _, message in ipairs(s:messages({ agent = "ann" })) do
      if message.from == "ann" then
        replies[#replies + 1] = message.payload.text
      end
    end
    return seen, replies, s
  end

  it("waits", function()
    local seen, replies = run("wait")
    assert.same({ 1, 3 }, seen)
    assert.same({ "answer to first", "answer to second" }, replies)
  end)

  it("interrupts, if configured, and both are answered together", function()
    local seen, replies, s = run("interrupt")
    assert.same({ 1, 2 }, seen)
    assert.same({ "answer to second" }, replies)
    assert.is_true(scene.law_holds(s))
    assert.equal(1, s:usage({ agent = "ann" })[1].calls)
  end)
end)

describe("a thinking agent that crashes", function()
  after_each(scene.close)

  local function answers()
    return {
      ann = {
        call("send_message", { to = "root", payload = { text = "begin" } }),
        { tool_calls = { { name = "list_contacts", arguments = {} },
          { name = "send_message", arguments = { to = "root", payload = { text = "again" } } } } },
        { content = "done", delay_ms = 500 },
      },
    }
  end

  local function story(s)
    local lines = {}
    for _, message in ipairs(s:messages()) do
      lines[#lines + 1] = ("%s>%s %s"):format(message.from, message.to,
        json.encode(message.payload))
    end
    for _, entry in ipairs(memory(s, "ann")) do
      lines[#lines + 1] = entry.role .. ":" .. (entry.content or "")
    end
    -- Ids contain the time and a counter; the story is the same without them.
    return (table.concat(lines, "\n"):gsub("msg_%w+_%w+_%w+", "ID"):gsub('"addedAt":"[^"]*"', ""))
  end

  it("has the same outcome as one that does not, wherever it crashes", function()
    local plain = think(answers())
    ask(plain)
    local expected = story(plain)
    assert.matches("assistant:done", expected, 1, true)
    for steps = 1, 30 do
      local s = think(answers())
      assert(s:send("user", { to = "ann", payload = { text = "hello" } }))
      for _ = 1, steps do
        s:step()
      end
      s:crash() s:recover() s:run()
      assert.equal(expected, story(s))
      assert.equal(3, s:usage({ agent = "ann" })[1].calls)
      scene.close()
    end
  end)

  it("has the same outcome when models are busy, by the seed of a simulation", function()
    local tried = 0
    for seed = 1, 20 do
      local s = think(answers(), { seed = seed, faults = { "model", "crash", "evict" } })
      ask(s)
      assert.equal("assistant:done", story(s):match("[^\n]+$"))
      assert.equal(3, s:usage({ agent = "ann" })[1].calls)
      tried = tried + (s:now() - 1767225600000 > 1000 and 1 or 0)
      scene.close()
    end
    assert.is_true(tried > 3) -- some had to wait
  end)
end)
