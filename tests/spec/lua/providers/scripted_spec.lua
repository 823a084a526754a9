-- The scripted provider: always the same answers, and loud on a mismatch.
--
-- Covers: core/script/calls/chat_settings.c

local scene = require("scene")

local function ask(answers, count, options)
  local results = {}
  options = options or {}
  options.config = { llm = { provider = "scripted", answers = answers } }
  local s = scene.troupe({
    root = function(root, message)
      local answer, err = root:chat({ system = "you are root",
        messages = { { role = "user", content = message.payload.text } } })
      results[#results + 1] = answer or err
    end,
    a = function(a)
      results[#results + 1] = (a:chat({ messages = { { role = "user", content = "?" } } }))
    end,
  }, options)
  for n = 1, count or 1 do
    scene.tell(s, "root", "question " .. n)
  end
  return results, s
end

describe("the scripted provider", function()
  after_each(scene.close)

  it("answers from a list, in order", function()
    local results = ask({ "one", { content = "two" },
      { tool_calls = { { name = "f", arguments = { x = 1 } } } } }, 3)
    assert.equal("one", results[1].content)
    assert.equal("two", results[2].content)
    assert.same({ { id = "call_3_1", name = "f", arguments = '{"x":1}' } }, results[3].tool_calls)
    assert.equal("tool_calls", results[3].finish_reason)
  end)

  it("answers by agent or role, and by a function", function()
    local results, s = ask({ root = { "r1", "r2" }, actor = { "a1" } }, 2)
    scene.tell(s, "a")
    assert.same({ "r1", "r2", "a1" },
      { results[1].content, results[2].content, results[3].content })
    local said = ask(function(request)
      return ("%s %d: %s"):format(request.agent, request.turn, request.messages[1].content)
    end, 2)
    assert.equal("root 2: question 2", said[2].content)
  end)

  it("fails loudly where a call does not match, and shows both", function()
    local MEANT = { unexpected_calls = true }
    local results = ask({ { expect = "question 7", content = "never" } }, 1, MEANT)
    assert.equal("script_mismatch", results[1].error)
    assert.matches('last holds "question 7"', results[1].message, 1, true)
    assert.matches('last = "question 1"', results[1].message, 1, true)
    assert.is_false(results[1].retryable)
    local others = ask({ { expect = { agent = "bob" }, content = "never" },
      { expect = { system = "you are root", last = "2" }, content = "fits" } }, 2, MEANT)
    assert.matches("agent = bob", others[1].message, 1, true)
    assert.equal("fits", others[2].content)
  end)

  it("fails loudly when the script is over", function()
    local results = ask({ "only one" }, 2, { unexpected_calls = true })
    assert.equal("script_mismatch", results[2].error)
    assert.matches("no further call", results[2].message, 1, true)
  end)

  it("reports what is wrong with an answer as it is written", function()
    for text, answer in pairs({
      ["the answer is a number; it is a text or { content?, tool_calls?, … }"] = 7,
      ["the answer has an unknown field 'contents'"] = { contents = "x" },
      ["the answer: 'content' is a number, not a string"] = { content = 7 },
      ["the answer: 'delay_ms' is a string, not a number"] = { content = "x", delay_ms = "1" },
      ["the answer: 'error' is a boolean, not a string"] = { error = true },
      ["usage must be { input_tokens, output_tokens }"] = { content = "x", usage = { input = 1 } },
      ["expect has an unknown field 'lasst'"] = { content = "x", expect = { lasst = "never" } },
      ["expect: 'last' is a number, not a string"] = { content = "x", expect = { last = 1 } },
      ["'expect' is a number; it is a text or"] = { content = "x", expect = 1 },
      ["tool_calls is no list"] = { tool_calls = { name = "f" } },
      ["tool call 1 must be { name, arguments?, id? }"] = { tool_calls = { { arguments = {} } } },
      ["tool call 1 has an unknown field 'argument'"] = {
        tool_calls = { { name = "f", argument = {} } } },
    }) do
      local results = ask({ answer }, 1, { unexpected_calls = true })
      assert.equal("script_mismatch", results[1].error)
      assert.matches(text, results[1].message, 1, true)
      scene.close()
    end
  end)

  it("fails the test that did not expect the call, and shows it", function()
    local ok, err = pcall(ask, { { expect = "question 7", content = "never" } })
    assert.is_false(ok)
    assert.matches("root made an unexpected model call", err, 1, true)
    assert.matches('last holds "question 7"', err, 1, true)
    assert.matches('last = "question 1"', err, 1, true)
    local s = scene.troupe({ root = function(root)
      root:chat({ messages = { { role = "user", content = "?" } } })
    end })
    assert(s:send("user", { to = "root", payload = "x" }))
    ok, err = pcall(s.advance, s, 1000)
    assert.is_false(ok)
    assert.matches("no_network", err, 1, true)
    s:run() -- reported once
  end)

  it("shows the question of an unscripted call, cut between characters", function()
    for said, shown in pairs({
      ["how much is 6 * 7?"] = "it asked: how much is 6 * 7?",
      [""] = "it asked: ",
      [("界"):rep(200)] = "it asked: " .. ("界"):rep(133) .. "…",
    }) do
      local s = scene.troupe({ root = function(root)
        root:chat({ messages = { { role = "user", content = "before" },
          { role = "user", content = said } } })
      end })
      assert(s:send("user", { to = "root", payload = "x" }))
      local ok, err = pcall(s.advance, s, 1000)
      assert.is_false(ok)
      assert.equal(shown, err:match("\n(it asked: .*)$"))
      scene.close()
    end
  end)

  it("shows the question of a thinking agent", function()
    local s = scene.new({ app = function(s) s:root("llm") end })
    assert(s:send("user", { to = "root", payload = "what time is it?" }))
    local ok, err = pcall(s.run, s)
    assert.is_false(ok)
    assert.matches("root made an unexpected model call", err, 1, true)
    assert.matches("it asked: .*what time is it?", err)
  end)

  it("fails a test that dispatches, even with a crash in between", function()
    local llm = { provider = "scripted", answers = { { expect = "one", content = "1" } } }
    local function root(agent, message)
      local answer, err = agent:chat({ messages = { { role = "user",
        content = message.payload.text } } })
      return answer and answer.content or err.error
    end
    local s = scene.new({ config = { llm = llm }, app = function(s) s:root(root) end })
    local ok, err = pcall(s.dispatch, s, "root", "two")
    assert.is_false(ok)
    assert.matches("root made an unexpected model call", err, 1, true)
    assert.matches('last = "two"', err, 1, true)
    s = scene.new({ config = { llm = llm }, unexpected_calls = true,
      app = function(t) t:root(root) end })
    assert.equal("script_mismatch", s:dispatch("root", "two").payload.text)
    for seed = 1, 20 do -- some of them crash after the call
      s = scene.new({ config = { llm = llm }, seed = seed, faults = { "crash" },
        app = function(t) t:root(root) end })
      assert(s:send("user", { to = "root", payload = "two" }))
      ok, err = pcall(s.run, s)
      assert.is_false(ok, "seed " .. seed)
      assert.matches("made an unexpected model call", err, 1, true)
      scene.close()
    end
  end)

  it("reports an app's function that raises", function()
    local results = ask(function() error("oh no") end)
    assert.equal("provider_failed", results[1].error)
    assert.matches("oh no", results[1].message, 1, true)
  end)

  it("finds its place again after a crash", function()
    local results, s = ask({ "one", "two", "three" }, 2)
    s:crash() s:recover()
    scene.tell(s, "root", "third")
    assert.equal("three", results[3].content)
  end)

  it("lists the answers that nobody asked for", function()
    local _, s = ask({ "one", "two", { content = "three" } }, 1)
    assert.same({ { turn = 2, answer = "two" }, { turn = 3, answer = { content = "three" } } },
      s:unused_answers())
    scene.tell(s, "root", "second")
    s:crash() s:recover()
    assert.same({ { turn = 3, answer = { content = "three" } } }, s:unused_answers())
    scene.tell(s, "root", "third")
    assert.same({}, s:unused_answers())
  end)

  it("lists them for each agent and role", function()
    local _, s = ask({ root = { "r1", "r2" }, actor = { "a1", "a2" }, nobody = { "n1" } }, 1)
    scene.tell(s, "a")
    assert.same({ { of = "actor", turn = 2, answer = "a2" },
      { of = "nobody", turn = 1, answer = "n1" }, { of = "root", turn = 2, answer = "r2" } },
      s:unused_answers())
    local said = select(2, ask(function() return "x" end))
    assert.same({}, said:unused_answers())
    assert.same({}, scene.new():unused_answers())
  end)

  it("remembers the answers given to agents that have terminated", function()
    local s = scene.new({
      config = { llm = { provider = "scripted", answers = { actor = { "one", "two" } } } },
      app = function(s)
        s:role({ id = "actor", behaviour = function(agent)
          agent:chat({ messages = { { role = "user", content = "x" } } })
          agent:stop()
        end })
        s:root(function(root)
          root:spawn_agent("actor", scene.brief(), { id = "a" })
          root:send_message({ to = "a", payload = "go" })
        end)
      end,
    })
    scene.tell(s, "root", "go")
    assert.is_nil(s:agent("a"))
    for _ = 1, 2 do
      assert.same({ { of = "actor", turn = 2, answer = "two" } }, s:unused_answers())
      s:crash() s:recover()
    end
  end)

  it("is the same for the same seed", function()
    local function run()
      local _, s = ask({ "one", { error = "model_unavailable", retryable = true }, "three" }, 3)
      return s:transcript() .. s:dump()
    end
    assert.equal(run(), run())
  end)

  it("requires a provider that exists", function()
    local err = select(2, scene.play(function(root)
      return root:chat({ provider = "nobody", messages = { { role = "user", content = "x" } } })
    end))
    assert.equal("no_provider", err.error)
  end)

  it("requires settings that exist", function()
    for name, value in pairs({ model = 1, concurrency = 0, surprise = true, answers = 5,
      limits = { agent_tokens = "many" }, prices = 3 }) do
      assert.has_error(function() scene.new({ config = { llm = { [name] = value } } }) end)
    end
    assert.has_error(function() scene.new({ config = { llm = { limits = { cents = 1 } } } }) end)
  end)
end)

describe("an agent's conversation", function()
  after_each(scene.close)

  local function talk(s)
    return scene.tell(s, "root", "more")
  end

  local function new(raises)
    local seen = {}
    local s = scene.troupe({
      root = function(root, message)
        root:remember({ role = "user", content = message.payload.text })
        seen.before = #root:recall()
        root:sleep(10)
        if raises and raises() then
          root:remember({ role = "assistant", content = "lost" })
          error("once more")
        end
        root:remember({ role = "assistant", content = "yes" })
        seen.all = root:recall()
      end,
    })
    return s, seen
  end

  it("is appended to and kept", function()
    local s, seen = new()
    talk(s) talk(s)
    assert.same({ "user", "assistant", "user", "assistant" }, { seen.all[1].role,
      seen.all[2].role, seen.all[3].role, seen.all[4].role })
    s:crash() s:recover()
    talk(s)
    assert.equal(6, #seen.all)
    assert.equal(5, seen.before)
  end)

  it("is replayed to a rerun activation", function()
    local s, seen = new()
    talk(s)
    assert(s:send("user", { to = "root", payload = "more" }))
    s:advance(5)
    s:crash() s:recover() s:run()
    assert.equal(3, seen.before)
    assert.equal(4, #seen.all)
  end)

  it("does not keep what a failed turn said", function()
    local count = 0
    local s, seen = new(function() count = count + 1 return count == 1 end)
    talk(s)
    assert.same({ "user", "assistant" }, { seen.all[1].role, seen.all[2].role })
    assert.equal("yes", seen.all[2].content)
  end)
end)
