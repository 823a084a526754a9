-- society.dispatch, decide, redeliver and drop act for the person: in `main`, as recorded
-- effects.
-- That they raise elsewhere is in api_spec.lua.
--
-- Covers: core/script/bindings/bind_orders.c

local scene = require("scene")

describe("in main", function()
  after_each(scene.close)

  it("society.dispatch is a request of the person, also across a crash", function()
    local s = scene.new({ app = scene.app([[
      local society = require("society")
      society.root(function(root, message)
        root.state.asked = (root.state.asked or 0) + 1
        if message.payload.text == "three" then
          root:sleep(1000)
        end
        root.state.last = message.payload.text
        return "echo " .. message.payload.text
      end)
      society.main(function(user)
        local one = society.dispatch("root", "one").payload.text
        user:sleep(100)
        local two = society.dispatch(nil, "two").payload.text
        local _, err = society.dispatch("root", "three", { timeout_ms = 5 })
        user:send_message({ to = "root", type = "general",
          payload = one .. ", " .. two .. ", " .. err.error })
      end)
    ]]) })
    s:advance(50)
    s:crash()
    s:recover()
    s:run()
    local state = s:agent("root").state
    assert.same({ "echo one, echo two, timeout", 4 }, { state.last, state.asked })
  end)

  it("society.decide decides once, as an effect", function()
    local s = scene.new({ app = scene.app([[
      local society = require("society")
      society.root(function(root, message)
        if message.payload.text == "go" then
          root.state.decision = root:escalate({ title = "may I?" }).decision
        else
          root.state.again = message.payload.text
        end
      end)
      society.main(function(user)
        user:send_message({ to = "root", payload = "go" })
        user:sleep(10)
        local item = society.inbox()[1].id
        assert(society.decide(item, { decision = "approve" }))
        user:sleep(10)
        local _, err = society.decide(item, { decision = "reject" })
        user:send_message({ to = "root", payload = err.error })
      end)
    ]]) })
    s:advance(15)
    s:crash()
    s:recover()
    s:run()
    assert.same({ "approve", "already_decided" },
      { s:agent("root").state.decision, s:agent("root").state.again })
  end)
end)

describe("in main, dead letters", function()
  after_each(scene.close)

  -- Each message has an agent of its own, which raises at the first attempt.
  local HEAD = [[
    local society = require("society")
    society.role({ id = "clumsy", prompt = "p", behaviour = function(agent, message)
      agent.state.seen = message.attempt
      if message.attempt == 1 then
        error("no", 0)
      end
    end })
    society.root(function(root, message)
      for i = 1, message.payload.count or 0 do
        assert(root:spawn_agent("clumsy", { objective = "o", constraints = {}, inputs = "i",
          outputs = "o", completion_criteria = "c" }, { id = "a" .. i, message = "try" }))
      end
    end)
    local function bury(user, count)
      user:send_message({ to = "root", payload = { count = count } })
      repeat
        user:sleep(5000)
      until #society.dead_letters() == count
    end
  ]]

  local function run(story, crash_ms)
    local s = scene.new({ app = scene.app(HEAD .. story), faults = {} })
    if crash_ms then
      s:advance(crash_ms)
      s:crash()
      s:recover()
    end
    s:run()
    return s
  end

  local function attempts(s, count)
    local list = {}
    for i = 1, count do
      list[i] = (s:agent("a" .. i).state or {}).seen or 0
    end
    return list
  end

  it("are redelivered and dropped by id, once, also across a crash", function()
    local s = run([[
      society.main(function(user)
        bury(user, 3)
        local letters = society.dead_letters()
        assert(society.redeliver(letters[1].id) == true)
        assert(society.drop(letters[2].id) == true)
        user:sleep(100)
        local _, err = society.drop(letters[2].id)
        print(err.error, #society.dead_letters())
      end)
    ]], 5050)
    assert.matches("message_not_found\t1", s:transcript(), 1, true)
    assert.same({ 1, 1 }, { scene.counts(s).dead, scene.counts(s).dropped })
    assert.same({ 2, 0, 0 }, attempts(s, 3))
    assert.is_true(scene.law_holds(s))
  end)

  it("are redelivered by a filter, with their number", function()
    local s = run([[
      society.main(function(user)
        bury(user, 4)
        local _, err = society.redeliver({ from = "root" }, { expected = 9 })
        print(err.error, err.count)
        print(society.redeliver({ from = "root" }, { expected = 4 }).count)
        user:sleep(1000)
        print(society.drop({}, { expected = 0 }).count)
      end)
    ]])
    local shown = s:transcript()
    for _, line in ipairs({ "count_differs\t4", "4", "0" }) do
      assert.matches(line, shown, 1, true)
    end
    assert.same({ 2, 2, 2, 2 }, attempts(s, 4))
  end)

  it("are redelivered once, wherever a crash cuts the journal", function()
    for seed = 1, 40 do
      local s = scene.new({ app = scene.app(HEAD .. [[
        society.main(function(user)
          bury(user, 12)
          for _, letter in ipairs(society.dead_letters()) do
            assert(society.redeliver(letter.id))
          end
          user.state.left = #society.dead_letters()
        end)
      ]]), seed = seed, faults = { "crash", "lag" } })
      s:run()
      for _, attempt in ipairs(attempts(s, 12)) do
        assert.equal(2, attempt, "seed " .. seed)
      end
      assert.equal(0, s:agent("user").state.left)
      s:close()
    end
  end)

  it("are refused with a structured error, and bad arguments raise", function()
    local s = run([[
      society.main(function()
        print(select(2, society.redeliver("msg_20260101_000000_1")).error)
        print(pcall(society.redeliver))
        print(pcall(society.drop, {}))
        print(pcall(society.drop, { limit = 1 }))
      end)
    ]])
    local shown = s:transcript()
    for _, text in ipairs({ "message_not_found", "a message's id or a table of filters",
      "an empty filter means all dead letters", "filter 'limit' does not apply" }) do
      assert.matches(text, shown, 1, true)
    end
  end)
end)
