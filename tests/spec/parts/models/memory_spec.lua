-- Long conversations: the latest part is kept, and a rerun activation gets what it got
-- before.

local scene = require("scene")

local KB = 1024
local KEPT = 8 * 1024 * KB

-- A root that remembers `count` entries of 100 KB for each message, and shows what it has.
local function talker(count, options)
  local seen = {}
  local s = scene.troupe({
    root = function(root, message)
      local entries, first = root:recall()
      for index = 1, count do
        root:remember({ role = "user", content = ("%s %d "):format(message.payload.text, index)
          .. ("x"):rep(100 * KB) })
        if options and options.sleeps and index == count // 2 then
          root:sleep(1000)
        end
      end
      local again, first_again = root:recall()
      seen[#seen + 1] = { entries = entries, first = first, again = again,
        first_again = first_again }
    end,
  }, { store = options and options.store })
  return s, seen
end

local function name(entry)
  return entry.content:match("^(%S+ %d+)")
end

local function bytes(entries)
  local sum = 0
  for _, entry in ipairs(entries) do
    sum = sum + #entry.content
  end
  return sum
end

describe("a long conversation", function()
  after_each(scene.close)

  it("keeps its latest part, with its numbers", function()
    local s, seen = talker(50)
    for round = 1, 6 do
      scene.tell(s, "root", "r" .. round)
    end
    local last = seen[6]
    assert.equal(1, seen[1].first)
    assert.same({}, seen[1].entries)
    assert.is_true(bytes(last.entries) <= KEPT)
    assert.is_true(bytes(last.entries) >= KEPT // 2)
    assert.equal(250, last.first + #last.entries - 1) -- none is missing at the end
    assert.equal("r5 50", name(last.entries[#last.entries]))
    assert.equal(("r%d %d"):format((last.first - 1) // 50 + 1, (last.first - 1) % 50 + 1),
      name(last.entries[1]))
    assert.is_true(bytes(last.again) <= KEPT)
    assert.equal(300, last.first_again + #last.again - 1)
  end)

  it("is the same after a crash and after a restart", function()
    local s, seen = talker(40, { store = scene.folder() })
    for round = 1, 5 do
      scene.tell(s, "root", "r" .. round)
      s:crash() s:recover()
    end
    local last = seen[#seen]
    assert.equal(200, last.first_again + #last.again - 1)
    assert.equal("r5 40", name(last.again[#last.again]))
    assert.equal("r4 40", name(last.entries[#last.entries]))
    assert.is_true(scene.law_holds(s))
  end)

  it("is the same for a rerun activation, wherever it crashes", function()
    local s, seen = talker(60, { sleeps = true })
    for round = 1, 4 do
      assert(s:send("user", { to = "root", payload = "r" .. round }))
      s:advance(500) -- half of it is remembered, and there is more than is kept
      if round % 2 == 0 then
        s:crash() s:recover()
      end
      s:run()
    end
    assert.equal(4, #seen)
    for round = 1, 4 do
      local entries = seen[round].entries
      assert.equal((round - 1) * 60, seen[round].first + #entries - 1)
      assert.equal(round * 60, seen[round].first_again + #seen[round].again - 1)
    end
    assert.same({}, s:dead_letters())
    assert.is_true(scene.law_holds(s))
  end)

  it("is shown to a model by its numbers, without what was discarded", function()
    local results = {}
    local s = scene.troupe({
      root = function(root, message)
        if message.payload.text == "fill" then
          for index = 1, 100 do
            root:remember({ role = "user", content = index .. " " .. ("y"):rep(100 * KB) })
          end
          return
        end
        local _, first = root:recall()
        local ok, err = pcall(root.chat, root, { history = { { first - 1, first } } })
        results.first, results.gone = first, not ok and tostring(err)
        results.answer = assert(root:chat({ history = { { first, first }, { 100, 100 } } }))
      end,
    }, { config = { llm = { provider = "scripted", answers = function(request)
      results.shown = request.messages
      return "seen"
    end } } })
    scene.tell(s, "root", "fill")
    scene.tell(s, "root", "ask")
    assert.is_true(results.first > 20)
    assert.matches("entries that do not exist", results.gone, 1, true)
    assert.equal(2, #results.shown)
    assert.equal(tostring(results.first), results.shown[1].content:match("^%d+"))
    assert.equal("100", results.shown[2].content:match("^%d+"))
  end)

  it("takes at most 64 MB while one message is handled", function()
    local err, number
    local s = scene.troupe({
      root = function(root)
        for _ = 1, 80 do
          number, err = root:remember({ role = "user", content = ("z"):rep(1000 * KB) })
          if err then
            return
          end
        end
      end,
    })
    scene.tell(s, "root")
    assert.is_nil(number)
    assert.equal("too_large", err.error)
    scene.tell(s, "root") -- with the next message it takes some again
    assert.same({}, s:dead_letters())
  end)
end)
