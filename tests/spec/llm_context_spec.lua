-- What of a conversation goes to a model: inside the window, and never a call of a tool
-- without its answers.

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

-- A piece: 0 a message, 1 an answer, 2 and more calls of tools; `answered` says how many of
-- the calls have an answer, as when an activation was given up half-way.
local function piece(random)
  return { kind = random:between(0, 5), answered = random:chance(85) and 9 or random:between(0, 3),
    size = random:between(0, 400) }
end

local function generate(random)
  return { pieces = random:list(1, 30, function() return piece(random) end),
    tokens_max = random:between(1, 1500), first = random:between(0, 4) }
end

local function entries_of(pieces)
  local entries, number = {}, 0
  for _, part in ipairs(pieces) do
    local text = ("x"):rep(part.size)
    if part.kind < 2 then
      entries[#entries + 1] = { role = part.kind == 0 and "user" or "assistant", content = text }
    else
      local calls, answers = {}, {}
      for index = 1, part.kind - 1 do
        number = number + 1
        calls[index] = { id = "c" .. number, name = "t", arguments = "{}" }
        if index <= part.answered then
          answers[#answers + 1] = { role = "tool", tool_call_id = "c" .. number, content = text }
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
  local entries = entries_of(case.pieces)
  local talk = talks.open({ recall = function() return entries end, remember = function() end },
    { text = "the message at hand", id = "m", from = "user" })
  local units = talk:units()
  local kept = policy.keep({ units = units, tokens_max = case.tokens_max }, { first = case.first })
  local messages, tokens = {}, 0
  for _, number in ipairs(kept) do
    tokens = tokens + units[number].tokens
  end
  for _, range in ipairs(window.ranges(units, kept)) do
    for index = range[1], range[2] do
      messages[#messages + 1] = talk.entries[index]
    end
  end
  return messages, tokens, #kept
end

describe("of any conversation", function()
  for name, policy in pairs(policies) do
    it(("the policy %s parts no call from its answers, and the last message is shown"):format(name),
      function()
        property.check({ cases = 2000, seed = 15 }, generate, function(case)
          local messages, tokens, count = shown(case, policy)
          local fault = fault_of(messages)
          if fault then
            return false, fault
          elseif last(messages).content ~= "the message at hand" then
            return false, "the last message is missing"
          elseif name == "recent" and count > 1 and tokens > case.tokens_max then
            return false, tokens .. " tokens"
          end
          return true
        end)
      end)
  end
end)

describe("the window", function()
  after_each(scene.close)

  it("holds the prompt and the tools besides what was said", function()
    local most, fewest = 0, math.huge
    local s = think(function(request)
      local json = require("society.json")
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

  it("that the prompt alone fills leaves the last message", function()
    local seen
    local s = think(function(request)
      seen = #request.messages
      return "done"
    end, { llm = { context_tokens = 10 } })
    ask(s)
    assert.equal("done", last(ask(s)).payload.text)
    assert.equal(1, seen)
  end)
end)
