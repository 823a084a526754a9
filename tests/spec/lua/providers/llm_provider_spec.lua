-- A faulty provider affects only its own call.

local engine = require("society.llm.engine")

describe("a faulty provider", function()
  -- An engine that lets one call go at a time, with a provider of the spec's.
  local function start(reader, settings)
    settings = settings or {}
    settings.concurrency, settings.provider = 1, "own"
    local e = engine.new(settings, {
      random = function() return 0 end, now = function() return 0 end,
      trouble = function() end, getenv = function() end,
      append = function() error("the disk is full") end,
    })
    local good = {
      head = function() end, put = function() return "" end,
      finish = function() return { role = "assistant", content = "fine" } end,
    }
    e.providers.own = { settings = {}, provider = {
      defaults = {}, environment = {}, request = function() return {} end,
      reader = function(chat)
        if chat.is_bad and type(reader) == "function" then
          return reader()
        end
        return setmetatable(chat.is_bad and reader or {}, { __index = good })
      end,
    } }
    local first = e:begin({ id = "bad", agent = "a", chat = { is_bad = true, messages = {} } })
    assert.same({}, e:begin({ id = "next", agent = "a", chat = { messages = {} } }))
    return e, first
  end

  -- The error of the first call; the next must have been released.
  local function fault(actions)
    assert.same({ "answer", "bad" }, { actions[1][1], actions[1][2] })
    assert.is_nil(actions[1][3])
    assert.same({ "send", "next" }, { actions[2][1], actions[2][2] })
    return actions[1][4]
  end

  local function raise() error("a fault in it") end

  for _, method in ipairs({ "head", "put", "finish" }) do
    it(("that raises in %s fails the call and releases the next one"):format(method), function()
      local e, first = start({ [method] = raise })
      assert.same({ "send", "bad" }, { first[1][1], first[1][2] })
      e:head("bad", 200, {})
      assert.equal("", e:body("bad", "one"))
      assert.equal("", e:body("bad", "two"))
      local err = fault(e:done("bad"))
      assert.equal("provider_failed", err.error)
      assert.equal("a fault in it", err.message) -- and not where on this machine
    end)
  end

  it("that has no reader fails the call", function()
    local e, first = start(raise)
    assert.same({ "wake", "bad" }, { first[1][1], first[1][2] })
    assert.equal("provider_failed", fault(e:due("bad")).error)
  end)

  it("that returns nonsense fails the call", function()
    for _, results in ipairs({ {}, { 7 }, { nil, "no" }, { nil, {} }, { { usage = 7 } },
      { { usage = { input_tokens = "many" } } } }) do
      local e = start({ finish = function() return results[1], results[2] end })
      e:head("bad", 200, {})
      assert.equal("provider_failed", fault(e:done("bad")).error)
    end
  end)

  it("is distinct from a recording that cannot be written, which also fails the call", function()
    local e = start({}, { record = "full" })
    e:head("bad", 200, {})
    local err = fault(e:done("bad"))
    assert.equal("provider_failed", err.error)
    assert.matches("the disk is full", err.message, 1, true)
  end)

  it("that is dropped half-way leaves its slot to the next", function()
    local e = start({})
    local action = e:cancel("bad")[1]
    assert.same({ "send", "next" }, { action[1], action[2] })
  end)
end)

describe("a recording", function()
  -- Lets a provider that asks no server answer a call; returns what was recorded.
  local function recorded(name, provider)
    local lines, now = {}, 0
    local e = engine.new({ provider = name, record = "file", answers = { "written" } }, {
      random = function() return 0 end, now = function() return now end,
      trouble = function() end, getenv = function() end,
      append = function(text) lines[#lines + 1] = text end,
      read = function() return '{"agent":"a","turn":1,"last":"","answer":{"content":"old"}}' end,
    })
    if provider then
      e.providers[name] = { settings = {}, provider = provider }
    end
    local chat = { messages = { { role = "user", content = "" } } }
    local woken = e:begin({ id = "one", agent = "a", turn = 1, number = 1, chat = chat })[1]
    now = woken[3]
    local answer = e:due("one")[1]
    assert.same({ "answer", "one" }, { answer[1], answer[2] })
    assert.is_table(answer[3])
    return lines
  end

  it("contains only answers of a model, not scripted or replayed ones", function()
    assert.same({}, recorded("scripted"))
    assert.same({}, recorded("replay"))
    assert.equal(1, #recorded("own", { defaults = {}, environment = {},
      answer = function() return { content = "mine" } end }))
  end)
end)
