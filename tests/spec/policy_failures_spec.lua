-- Policies that raise, loop or talk nonsense, for every question there is: the usual
-- answer holds, and it is reported once.

local json = require("society.json")
local scene = require("scene")

local ROOT = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") .. "/../.."

local function read(path)
  local file = assert(io.open(ROOT .. "/" .. path))
  local text = file:read("a")
  file:close()
  return text
end

-- The questions of core/script/questions.h: { kind, usual, name }.
local function read_questions()
  local source, folders, list = read("core/script/questions.h"), {}, {}
  for tag, folder, usual in source:gmatch('K%((%u[%u_]*), "([%l_]+)", "([%l_]+)"') do
    folders[tag] = { kind = folder, usual = usual }
  end
  for tag, name in source:gmatch('Q%([%u_]+, (%u[%u_]*), "([%l_]+)",') do
    local folder = assert(folders[tag])
    list[#list + 1] = { kind = folder.kind, usual = folder.usual, name = name }
  end
  return list
end

-- How each question comes to be asked: `ask` does it `times` times in a society of
-- actors a and b and returns what came of it, as something to compare.
local ASK = {}

ASK["contacts.may_send"] = function(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      seen.answers[#seen.answers + 1] = a:can_send("b").allowed
      a:can_send("user")
    end
  end
  scene.tell(s, "a")
end

ASK["briefs.check"] = function(s, seen, times)
  seen.act = function(a)
    for i = 1, times do
      local ok, err = a:spawn_agent("actor", { objective = "o" }, { id = "c" .. i })
      seen.answers[#seen.answers + 1] = ok or err.missing_fields
    end
  end
  scene.tell(s, "a")
end

-- Root asks back whoever asks it: each question closes a ring.
ASK["deadlock.victim"] = function(s, seen, times)
  seen.others = function(root)
    root:request({ to = "a", payload = "and you?" })
  end
  seen.act = function(a, message)
    for _ = 1, message.from == "user" and times or 0 do
      local _, err = a:request({ to = "root", payload = "?" })
      seen.answers[#seen.answers + 1] = err.cycle
    end
  end
  scene.tell(s, "a")
end

ASK["introductions.answer"] = function(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      local _, err = a:request_introduction({ to = "root", reason = "-",
        required_capability = "deep sea diving" })
      seen.answers[#seen.answers + 1] = err.reason
    end
  end
  scene.tell(s, "a")
end

ASK["introductions.takes_unsolicited"] = function(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      local _, err = a:send_message({ to = "root", type = "introduction_response",
        payload = { target_agent = { id = "root" } } })
      seen.answers[#seen.answers + 1] = err.error
    end
  end
  scene.tell(s, "a")
end

ASK["presentation.message"] = function(s, seen, times)
  seen.act = function(_, message)
    seen.answers[#seen.answers + 1] = message.text
  end
  for _ = 1, times do
    assert(s:send("user", { to = "a", payload = "hello" }))
  end
  s:run()
end

local function ask_context(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      seen.answers[#seen.answers + 1] = a:context()
    end
  end
  scene.tell(s, "a")
end

ASK["presentation.brief"] = ask_context
ASK["presentation.contacts"] = ask_context
ASK["prompts.system"] = ask_context

ASK["supervision.retry_after"] = function(s, seen, times)
  seen.act = function() error("on purpose") end
  local tries = math.ceil(times / 4) -- three tries more, and the question that gives up
  for _ = 1, tries do
    assert(s:send("user", { to = "a", payload = "hello" }))
  end
  s:run()
  for _, letter in ipairs(s:dead_letters()) do
    seen.answers[#seen.answers + 1] = letter.attempt
  end
end

-- A fresh parent each time has children and stops.
ASK["supervision.children"] = function(s, seen, times)
  seen.parents = (seen.parents or 0) + 1
  local parent = "p" .. seen.parents
  seen.others = function(agent)
    for i = 1, times do
      assert(agent:spawn_agent("actor", scene.brief(), { id = agent.id .. "_" .. i }))
    end
    agent:stop()
  end
  seen.act = function(a)
    a:spawn_agent("actor", scene.brief(), { id = parent })
    a:send_message({ to = parent, payload = "go" })
  end
  scene.tell(s, "a")
  for i = 1, times do
    seen.answers[#seen.answers + 1] = (s:agent(parent .. "_" .. i) or { status = "gone" }).status
  end
end

ASK["gatekeeper.route"] = function(s, seen, times)
  for _ = 1, times do
    local _, err = s:dispatch(nil, "hello", { timeout_ms = 1 })
    seen.answers[#seen.answers + 1] = err.to
  end
end

-- Gives itself tasks, and fails those: three tries more, and the question that ends it.
ASK["tasks.retry_after"] = function(s, seen, times)
  seen.act = function(a, message)
    if message.type == "task" then
      a:fail(message, "on purpose", { retryable = true })
    end
    for _ = 1, message.type == "general" and math.ceil(times / 4) or 0 do
      a:send_message({ to = "a", type = "task", payload = "x" })
    end
  end
  scene.tell(s, "a")
  for _, task in ipairs(s:tasks()) do
    seen.answers[#seen.answers + 1] = task.tries
  end
end

ASK["tasks.limit"] = function(s, seen, times)
  seen.act = function(a, message)
    for _ = 1, message.type == "general" and times or 0 do
      a:send_message({ to = "root", type = "task", payload = "x" })
    end
  end
  scene.tell(s, "a")
  s:advance(30 * 60000)
  for _, row in ipairs(s:activity({ type = "task_alert" })) do
    seen.answers[#seen.answers + 1] = row.event
  end
end

-- Asked when a turn has committed, or outside of any: none can take the question back.
local AFTER_TURNS = {
  ["supervision.children"] = true, ["gatekeeper.route"] = true, ["deadlock.victim"] = true,
}

local function make()
  local seen = { answers = {} }
  local acts = {
    a = function(agent, message) return seen.act and seen.act(agent, message) end,
    b = function() end,
  }
  setmetatable(acts, { __index = function() return seen.others end })
  local s = scene.troupe(acts, { policies = { contacts = "strict" } })
  return s, seen
end

-- A policy of the kind in which `act` answers the question; the kind's other
-- functions are there and answer nothing sensible either.
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
  { name = "loops", times = 100, act = function() while true do end end },
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

-- Only in a file has a policy the sandbox's own pcall.
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
      assert(ask, "say in ASK how this question comes to be asked")
    end)

    for _, fault in ipairs(ask and FAULTS or {}) do
      it(fault.name .. " is answered as usual and reported once", function()
        local usual, usual_seen = make()
        ask(usual, usual_seen, fault.times)
        local s, seen = make()
        s:policy(question.kind,
          fault.in_file and write_policy(question) or policy_of(question, fault.act))
        ask(s, seen, fault.times)
        assert.same(usual_seen.answers, seen.answers)
        assert(#seen.answers * 4 >= fault.times)
        local reported = failures(s)
        assert.equal(1, #reported)
        assert.equal(question.kind, reported[1].kind)
        assert.is_string(reported[1].reason)
        assert.equal(1, scene.count(s:transcript(), " policy_failed "))
      end)
    end

    it("fails is reported again after a swap", function()
      local s, seen = make()
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

    it("fails in a turn that is taken back is reported all the same", function()
      local s, seen = make()
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
