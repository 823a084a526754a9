-- Which part of a conversation a model is sent: within the window, and never a tool call
-- without its results.

local json = require("society.json")
local property = require("property")
local scene = require("scene")
local talks = require("society.llm.talk")
local thinkers = require("thinkers")
local usage = require("society.llm.usage")
local window = require("society.llm.window")

local think, call, ask, last = thinkers.think, thinkers.call, thinkers.ask, thinkers.last

local policies = {}
for _, name in ipairs({ "recent", "all" }) do
  policies[name] = assert(loadfile("policies/context/" .. name .. ".lua"))()
end

-- A piece: 0 a message, 1 an answer, 2 and more tool calls; `answered` says how many of the
-- calls have a result, as when an activation was given up half-way.
local function piece(random)
  return { kind = random:between(0, 5), answered = random:chance(85) and 9 or random:between(0, 3),
    size = random:between(0, 400) }
end

local function generate(random)
  return { pieces = random:list(1, 30, function() return piece(random) end),
    done = random:list(0, 20, function()
      return { kind = random:between(2, 5), answered = 9, size = random:between(0, 400) }
    end),
    tokens_max = random:between(1, 1500), first = random:between(0, 4) }
end

local function entries_of(pieces, prefix)
  local entries, number = {}, 0
  for _, part in ipairs(pieces) do
    local text = ("x"):rep(part.size)
    if part.kind < 2 then
      entries[#entries + 1] = { role = part.kind == 0 and "user" or "assistant", content = text }
    else
      local calls, answers = {}, {}
      for index = 1, part.kind - 1 do
        number = number + 1
        calls[index] = { id = prefix .. number, name = "t", arguments = "{}" }
        if index <= part.answered then
          answers[#answers + 1] = { role = "tool", tool_call_id = prefix .. number, content = text }
        end
      end
      entries[#entries + 1] = { role = "assistant", content = "", tool_calls = calls }
      for _, answer in ipairs(answers) do
        entries[#entries + 1] = answer
      end
    end
  end
  return entries
end

-- What is wrong with a list of messages for a model; nil if nothing is.
local function fault_of(messages)
  local open = {}
  for _, message in ipairs(messages) do
    if message.role == "tool" then
      if not open[message.tool_call_id] then
        return "an answer without its call"
      end
      open[message.tool_call_id] = nil
    elseif next(open) then
      return "something between a call and its answer"
    end
    for _, each in ipairs(message.tool_calls or {}) do
      open[each.id] = true
    end
  end
  return next(open) and "a call without its answer" or nil
end

local function shown(case, policy)
  local entries = entries_of(case.pieces, "c")
  local talk = talks.open({ recall = function() return entries end, remember = function() end },
    { text = "the message at hand", id = "m", from = "user" }, case.tokens_max)
  for _, entry in ipairs(entries_of(case.done, "d")) do
    talk:say(entry)
  end
  local units = talk:units()
  local kept = window.whole(units,
    policy.keep({ units = units, tokens_max = case.tokens_max }, { first = case.first }))
  local messages, tokens = {}, 0
  for _, number in ipairs(kept) do
    tokens = tokens + units[number].tokens
  end
  for _, range in ipairs(window.ranges(units, kept)) do
    for index = range[1], range[2] do
      messages[#messages + 1] = talk.entries[index]
    end
  end
  local least = units[#units].tokens
  for _, unit in ipairs(units) do
    least = least + (unit.is_at_hand and unit ~= units[#units] and unit.tokens or 0)
  end
  return messages, tokens, least, talk.entries
end

local function holds(messages, text)
  for _, message in ipairs(messages) do
    if message.content and message.content:find(text, 1, true) then
      return true
    end
  end
  return false
end

describe("in any conversation", function()
  for name, policy in pairs(policies) do
    it(("the policy %s keeps calls with their results, and the current message"):format(name),
      function()
        property.check({ cases = 2000, seed = 15 }, generate, function(case)
          local messages, tokens, least, entries = shown(case, policy)
          local fault = fault_of(messages)
          if fault then
            return false, fault
          elseif not holds(messages, "the message at hand") then
            return false, "the message at hand is missing"
          elseif last(messages) ~= last(entries) then
            return false, "what came last is missing"
          elseif messages[1].role ~= "user" then
            return false, "it does not begin with a message"
          elseif name == "recent" and tokens > math.max(case.tokens_max, least) then
            return false, tokens .. " tokens"
          end
          return true
        end)
      end)
  end
end)

describe("the window", function()
  after_each(scene.close)

  it("holds the prompt and the tools besides the conversation", function()
    local most, fewest = 0, math.huge
    local s = think(function(request)
      local tokens = usage.of_chat(request, json.encode(request.tools))
      most, fewest = math.max(most, tokens), math.min(fewest, #request.messages)
      assert.is_nil(fault_of(request.messages))
      return last(request.messages).role == "tool" and "done" or call("list_contacts")
    end, { llm = { context_tokens = 8000 } })
    for _ = 1, 60 do
      assert.equal("done", last(ask(s, ("word "):rep(100))).payload.text)
    end
    assert.is_true(most <= 8000 and most > 7000, most .. " tokens")
    assert.equal(1, fewest)
  end)

  it("that the prompt alone fills still includes the last message", function()
    local seen
    local s = think(function(request)
      seen = #request.messages
      return "done"
    end, { llm = { context_tokens = 10 } })
    ask(s)
    assert.equal("done", last(ask(s)).payload.text)
    assert.equal(1, seen)
  end)

  -- Ann reads pages for a question, after another message; returns the requests.
  local function read_pages(rounds, llm)
    local read, seen = 0, { lost = 0, bad = 0, most = 0 }
    llm.tools = { { name = "read", run = function() return ("page text "):rep(3200) end } }
    local s = think(function(request)
      if last(request.messages).content:find("first", 1, true) then
        return "hello"
      end
      read = read + 1
      seen.lost = seen.lost + (holds(request.messages, "QUESTION-2") and 0 or 1)
      seen.bad = seen.bad + (request.messages[1].role == "user" and 0 or 1)
      seen.most = math.max(seen.most, usage.of_chat(request, json.encode(request.tools)))
      return read > rounds and "end" or call("read", { page = read })
    end, { llm = llm })
    ask(s, "first")
    assert.equal("end", last(ask(s, "QUESTION-2: summarise")).payload.text)
    return seen
  end

  it("keeps the current message however much is done for it", function()
    local seen = read_pages(20, {})
    assert.same({ 0, 0 }, { seen.lost, seen.bad })
    assert.is_true(seen.most <= 100000, seen.most .. " tokens")
  end)

  it("keeps it even with a policy that does not", function()
    local seen
    local s = think(function(request)
      seen = request.messages
      return #seen < 8 and call("list_contacts", { n = #seen }) or "end"
    end, { policies = { context = { kind = "context", version = 1, keep = function(request)
      return { #request.units }
    end } }, llm = { guards = { rounds = 9 } } })
    ask(s, "QUESTION-2")
    assert.matches("QUESTION-2", seen[1].content, 1, true)
    assert.equal(3, #seen)
  end)

  it("includes a message that is larger than itself, cut", function()
    local seen
    local s = think(function(request)
      seen = request
      return #request.messages < 20 and call("list_contacts", { n = #request.messages }) or "end"
    end, { llm = { context_tokens = 14000 } })
    assert.equal("end", last(ask(s, "QUESTION-2 " .. ("x"):rep(60000))).payload.text)
    assert.matches("QUESTION-2", seen.messages[1].content, 1, true)
    assert.matches("the rest is left out", seen.messages[1].content, 1, true)
    assert.is_true(usage.of_chat(seen, json.encode(seen.tools)) <= 14000)
  end)

  it("has room for the results of many concurrent tools", function()
    local most, longest = 0, 0
    local s = think(function(request)
      most = math.max(most, usage.of_chat(request, json.encode(request.tools)))
      local entry = last(request.messages)
      longest = math.max(longest, entry.role == "tool" and #entry.content or 0)
      local calls = {}
      for index = 1, 20 do
        calls[index] = { name = "read", arguments = { page = index } }
      end
      return entry.role == "tool" and "end" or { tool_calls = calls }
    end, { llm = { context_tokens = 20000, tools = { { name = "read", run = function(_, given)
      return given.page < 16 and "short" or ("page text "):rep(3200)
    end } } } })
    assert.equal("end", last(ask(s)).payload.text)
    assert.is_true(most <= 20000, most .. " tokens")
    assert.is_true(longest > 3000, "what others leave is for those who need it")
  end)

  it("keeps all interrupting messages", function()
    local seen
    local s = think(function(request)
      seen = request
      return { content = "end", delay_ms = 1000 }
    end, { llm = { context_tokens = 14000, on_message = "interrupt" } })
    for index = 1, 6 do
      assert(s:send("user", { to = "ann",
        payload = { text = ("QUESTION-%d "):format(index) .. ("x"):rep(60000) } }))
      s:advance(100)
    end
    s:run()
    for index = 1, 6 do
      assert.is_true(holds(seen.messages, "QUESTION-" .. index), "question " .. index)
    end
    assert.is_true(usage.of_chat(seen, json.encode(seen.tools)) <= 14000)
  end)
end)
