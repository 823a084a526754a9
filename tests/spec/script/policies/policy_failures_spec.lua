-- Policies that raise, loop or return nonsense, for every question: the default answer is
-- used, and the failure is reported once.
--
-- Covers: core/script/answers/answers.c, core/script/policies/policy_set.c
-- Covers: core/script/turns/thread.c
-- Slow: every fault for every question.

local json = require("society.json")
local scene = require("scene")
local ASK = require("policy_questions")
local tree = require("tree")

local read = tree.read

-- The questions of core/script/policies/kinds.h: { kind, usual, name }.
local function read_questions()
  local source, folders, list = read("core/script/policies/kinds.h"), {}, {}
  for tag, folder, usual in source:gmatch('K%((%u[%u_]*), "([%l_]+)", "([%l_]+)"') do
    folders[tag] = { kind = folder, usual = usual }
  end
  for tag, name in source:gmatch('Q%([%u_]+, (%u[%u_]*), "([%l_]+)",') do
    local folder = assert(folders[tag])
    list[#list + 1] = { kind = folder.kind, usual = folder.usual, name = name }
  end
  return list
end

-- Asked when a turn has committed, or outside of any: no rollback affects the question.
local AFTER_TURNS = {
  ["supervision.children"] = true, ["gatekeeper.route"] = true, ["deadlock.victim"] = true,
  ["delivery.rung"] = true, ["hosts.accept"] = true,
}

local function make(question)
  local seen = { answers = {} }
  local acts = {
    a = function(agent, message) return seen.act and seen.act(agent, message) end,
    b = function() end,
  }
  setmetatable(acts, { __index = function() return seen.others end })
  local peers = question.kind == "hosts" and { beta = function() end } or nil
  local s
  s, seen.fleet = scene.troupe(acts, { policies = { contacts = "strict" }, peers = peers })
  return s, seen
end

-- A policy of the kind in which `act` answers the question; the kind's other functions
-- exist and return nonsense as well.
local function policy_of(question, act)
  local policy = { kind = question.kind, version = 1 }
  for _, other in ipairs(read_questions()) do
    if other.kind == question.kind then
      policy[other.name] = act
    end
  end
  return policy
end

local function failures(s)
  local list = {}
  for _, row in ipairs(s:activity({ type = "policy_failed" })) do
    list[#list + 1] = assert(json.decode(row.detail))
  end
  return list
end

local function is_nonsense(value)
  return function() return value end
end

local FAULTS = {
  { name = "raises", times = 1000, act = function() error("on purpose") end },
  { name = "raises no text", times = 100, act = function() error({}) end },
  { name = "loops", times = 10, act = function() while true do end end },
  { name = "catches its own end", times = 4, act = function()
    while true do pcall(function() while true do end end) end
  end, in_file = true },
  { name = "answers a function", times = 1000, act = is_nonsense(print) },
  { name = "answers not a number", times = 100, act = is_nonsense(0 / 0) },
  { name = "answers below zero", times = 100, act = is_nonsense(-1) },
}

local SOURCE = [[
local function act() while true do pcall(function() while true do end end) end end
return setmetatable({ kind = "%s", version = 1, %s }, nil)
]]

-- Only a policy in a file has the sandbox's own pcall.
local function write_policy(question)
  local functions = {}
  for name in pairs(policy_of(question, print)) do
    if name ~= "kind" and name ~= "version" then
      functions[#functions + 1] = name .. " = act"
    end
  end
  return scene.files({
    ["p.lua"] = SOURCE:format(question.kind, table.concat(functions, ", ")),
  }) .. "/p.lua"
end

for _, question in ipairs(read_questions()) do
  describe(("%s.%s of a policy that"):format(question.kind, question.name), function()
    after_each(scene.close)

    local ask = ASK[question.kind .. "." .. question.name]

    it("can be asked by this spec", function()
      assert(ask, "say in tests/support/policy_questions.lua how this question comes to be asked")
    end)

    -- What the default answers when it is asked so often, without any fault.
    local answers = {}
    local function usual_answers(times)
      if not answers[times] then
        local s, seen = make(question)
        ask(s, seen, times)
        answers[times] = seen.answers
      end
      return answers[times]
    end

    for _, fault in ipairs(ask and FAULTS or {}) do
      it(fault.name .. " is answered by the default and reported once", function()
        local s, seen = make(question)
        s:policy(question.kind,
          fault.in_file and write_policy(question) or policy_of(question, fault.act))
        ask(s, seen, fault.times)
        assert.same(usual_answers(fault.times), seen.answers)
        assert(#seen.answers * 4 >= fault.times)
        local reported = failures(s)
        assert.equal(1, #reported)
        assert.equal(question.kind, reported[1].kind)
        assert.is_string(reported[1].reason)
        assert.equal(1, scene.count(s:transcript(), " policy_failed "))
      end)
    end

    it("fails is reported again after a swap", function()
      local s, seen = make(question)
      for _ = 1, 3 do
        s:policy(question.kind, policy_of(question, FAULTS[1].act))
        ask(s, seen, 4)
        ask(s, seen, 4)
      end
      assert.equal(3, #failures(s))
      assert.equal("app", failures(s)[1].hash)
      s:policy(question.kind, question.usual)
      ask(s, seen, 4)
      assert.equal(3, #failures(s))
    end)

    if AFTER_TURNS[question.kind .. "." .. question.name] then
      return
    end

    it("fails in a turn that is rolled back is still reported", function()
      local s, seen = make(question)
      s:policy(question.kind, policy_of(question, FAULTS[1].act))
      ask(s, seen, 4)
      local act = seen.act
      seen.act = function(agent, message)
        act(agent, message)
        error("and now all of it is taken back")
      end
      s:policy(question.kind, policy_of(question, FAULTS[1].act))
      scene.tell(s, "a")
      s:crash()
      s:recover()
      assert.equal(2, #failures(s))
    end)
  end)
end
