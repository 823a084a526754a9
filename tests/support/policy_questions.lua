--- policy_questions: how each question to a policy is triggered.
--
-- M["kind.question"](s, seen, times) triggers it `times` times in a society of actors a and
-- b, who do as seen.act says, others as seen.others, and puts the outcome into
-- seen.answers, for comparison.

local scene = require("scene")

local M = {}

M["contacts.may_send"] = function(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      seen.answers[#seen.answers + 1] = a:can_send("b").allowed
      a:can_send("user")
    end
  end
  scene.tell(s, "a")
end

M["contacts.may_broadcast"] = function(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      seen.answers[#seen.answers + 1] = select(2, a:broadcast({ payload = "x" })).error
    end
  end
  scene.tell(s, "a")
end

M["briefs.check"] = function(s, seen, times)
  seen.act = function(a)
    for i = 1, times do
      local ok, err = a:spawn_agent("actor", { objective = "o" }, { id = "c" .. i })
      seen.answers[#seen.answers + 1] = ok or err.missing_fields
    end
  end
  scene.tell(s, "a")
end

-- Root asks back every asker: each question closes a cycle.
M["deadlock.victim"] = function(s, seen, times)
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

M["introductions.answer"] = function(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      local _, err = a:request_introduction({ to = "root", reason = "-",
        required_capability = "deep sea diving" })
      seen.answers[#seen.answers + 1] = err.reason
    end
  end
  scene.tell(s, "a")
end

M["introductions.takes_unsolicited"] = function(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      local _, err = a:send_message({ to = "root", type = "introduction_response",
        payload = { target_agent = { id = "root" } } })
      seen.answers[#seen.answers + 1] = err.error
    end
  end
  scene.tell(s, "a")
end

M["presentation.message"] = function(s, seen, times)
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

M["presentation.brief"] = ask_context
M["presentation.contacts"] = ask_context
M["prompts.system"] = ask_context

M["supervision.retry_after"] = function(s, seen, times)
  seen.act = function() error("on purpose") end
  local tries = math.ceil(times / 4) -- three more tries, and the question that gives up
  for _ = 1, tries do
    scene.tell(s, "a")
    s:advance(60001) -- it must not fail for good
  end
  for _, letter in ipairs(s:dead_letters()) do
    seen.answers[#seen.answers + 1] = letter.attempt
  end
end

M["supervision.is_failed"] = function(s, seen, times)
  seen.act = function() error("on purpose") end
  for _ = 1, math.ceil(times / 4) do
    scene.tell(s, "a")
    seen.answers[#seen.answers + 1] = s:agent("a").status
    s:resume("a")
  end
end

-- Each time a new parent has children and stops.
M["supervision.children"] = function(s, seen, times)
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

M["gatekeeper.route"] = function(s, seen, times)
  for _ = 1, times do
    local _, err = s:dispatch(nil, "hello", { timeout_ms = 1 })
    seen.answers[#seen.answers + 1] = err.to
  end
end

-- Gives itself tasks, and fails them: three more tries, and the question that ends it.
M["tasks.retry_after"] = function(s, seen, times)
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

M["context.keep"] = function(s, seen, times)
  seen.act = function(a)
    for _ = 1, times do
      seen.answers[#seen.answers + 1] = a:choose({
        { first = 1, last = 1, tokens = 10, role = "user" },
        { first = 2, last = 2, tokens = 10, role = "assistant" },
      }, 100)
    end
  end
  scene.tell(s, "a")
end

-- Each time a new outside agent, who acks nothing.
M["delivery.rung"] = function(s, seen, times)
  seen.workers = (seen.workers or 0) + 1
  local id = "w" .. seen.workers
  seen.act = function(a)
    assert(a:spawn_agent("actor", scene.brief(), { id = id, behaviour = "external" }))
    for _ = 1, times do
      a:send_message({ to = id, payload = "x", requires_ack = true })
    end
  end
  scene.tell(s, "a")
  s:advance(5000)
  for _, row in ipairs(s:activity({ agent = id, type = "ack_timeout" })) do
    seen.answers[#seen.answers + 1] = row.event
  end
end

M["tasks.limit"] = function(s, seen, times)
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

M["hosts.place"] = function(s, seen, times)
  seen.act = function(a)
    for i = 1, times do
      local child, err = a:spawn_agent("actor", scene.brief(), { id = "placed" .. i })
      seen.answers[#seen.answers + 1] = child and child.id or err.error
    end
  end
  scene.tell(s, "a")
end

M["hosts.accept"] = function(s, seen, times)
  seen.act = function()
    seen.answers[#seen.answers + 1] = "taken"
  end
  for _ = 1, times do
    assert(seen.fleet.beta:send("user", { to = "a@alpha", payload = "x" }))
  end
  s:run()
end

return M
