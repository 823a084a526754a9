-- Traffic: numbered jobs for many workers, each of which must count exactly once.
--
--     society run traffic.lua -- STEPS     main hands out JOBS_PER_STEP jobs in each
--
-- A job is handled in one of several ways, by its number: immediately, with a sleep in the
-- middle, a request, a receive, a query of the store, a child. What it counts also depends
-- on chance, so that worker and collector agree only if neither lost a job nor did one
-- twice.

local json = require("society.json")
local society = require("society")

society.policy("messages", "any")
-- Bad luck (below) may strike a job again and again, and one worker often. The policy must
-- not give up on either by chance: a dead letter here is always a bug of the host.
society.policy("supervision", "backoff", { retries_max = 1000, factor = 1, failures_max = 1000 })

local WORKERS, JOBS_PER_STEP = 20, 12
local PATIENCE_MS = 3600000 -- kills and slow machines take long
local steps = tonumber(arg[1]) or 10

local function brief(collaborators)
  return {
    objective = "work", constraints = {}, inputs = "numbered jobs", outputs = "reports",
    completion_criteria = "none", collaborators = collaborators,
  }
end

local function collaborator(id)
  return { agentId = id, role = "colleague", description = "works here too" }
end

local function add(agent, name, amount)
  agent.state[name] = (agent.state[name] or 0) + amount
end

-- A partner has a lower number, so no two wait for each other.
local function partner_of(agent)
  local number = tonumber(agent.id:match("%d+$"))
  return number > 1 and "worker" .. number - 1 or nil
end

local function ask(agent, job)
  local answer = assert(agent:request({ to = partner_of(agent), type = "question", payload = job,
    timeout_ms = PATIENCE_MS }))
  return answer.payload.worth
end

local function exchange(agent, job)
  local partner = partner_of(agent)
  assert(agent:send_message({ to = partner, type = "letter", payload = job }))
  if job.number % 2 == 0 then
    agent:sleep(4) -- it is there already when it is wanted
  end
  local letter = assert(agent:receive({ from = partner, type = "letter_back",
    timeout_ms = PATIENCE_MS }))
  agent:sleep(4)
  return letter.payload.worth
end

local function delegate(agent, job)
  local helper = assert(agent:spawn_agent("helper", brief(), { id = "helper" .. job.number }))
  agent:sleep(1)
  return assert(agent:request({ to = helper.id, type = "question", payload = job,
    timeout_ms = PATIENCE_MS })).payload.worth
end

-- What the job is worth beyond chance, by the way it is handled.
local function handle(agent, job)
  local number = job.number
  if number % 3 == 0 then
    agent:sleep(1 + number % 5)
  end
  if number % 11 == 0 then
    assert(#society.messages({ type = "job", limit = 3 }) == 3)
  end
  if number % 13 == 0 then
    return delegate(agent, job)
  elseif partner_of(agent) and number % 5 == 0 then
    return ask(agent, job)
  elseif partner_of(agent) and number % 7 == 0 then
    return exchange(agent, job)
  end
  return number * 2
end

local function answer_question(agent, message)
  add(agent, "questions", 1)
  return { worth = message.payload.number * 2 }
end

society.role({ id = "helper", name = "helper", behaviour = { question = answer_question } })

society.role({
  id = "worker", name = "worker",
  behaviour = {
    job = function(agent, message)
      local job = message.payload
      local chance = agent:random(1, 1000)
      add(agent, "jobs", 1)
      add(agent, "worth", job.number)
      add(agent, "chance", chance)
      local twice = handle(agent, job)
      if job.number % 4 == 0 then
        assert(agent:random(1, 50) > 1, "bad luck: the turn is tried again")
      end
      if job.number % 10 == 0 then
        print("job " .. job.number)
      end
      assert(agent:send_message({
        to = "collector", type = "report",
        payload = { number = job.number, worth = twice - job.number, chance = chance },
      }))
    end,
    question = answer_question,
    books = function(agent)
      return agent.state
    end,
    letter_back = function(agent) -- the agent that waits for it takes it out of the mailbox
      add(agent, "strays", 1)
    end,
    letter = function(agent, message)
      add(agent, "letters", 1)
      assert(agent:send_message({
        to = message.from, type = "letter_back", payload = { worth = message.payload.number * 2 },
      }))
    end,
  },
})

society.role({
  id = "collector", name = "collector",
  behaviour = {
    report = function(agent, message)
      local report = message.payload
      local seen = agent.state.seen or {}
      local key = tostring(report.number)
      seen[key] = (seen[key] or 0) + 1
      agent.state.seen = seen
      add(agent, "jobs", 1)
      add(agent, "worth", report.worth)
      add(agent, "chance", report.chance)
      if seen[key] > 1 then
        add(agent, "duplicates", 1)
      end
    end,
    books = function(agent)
      return agent.state
    end,
  },
})

society.root({
  begin = function(root)
    add(root, "begins", 1)
    assert(root:spawn_agent("collector", brief(), { id = "collector" }))
    for i = 1, WORKERS do
      local collaborators = { collaborator("collector") }
      if i > 1 then
        collaborators[2] = collaborator("worker" .. i - 1)
      end
      assert(root:spawn_agent("worker", brief(collaborators), { id = "worker" .. i }))
    end
    return "ready"
  end,
})

local function books_of(user, id)
  return assert(user:request({ to = id, type = "books", payload = "show",
    timeout_ms = PATIENCE_MS })).payload
end

local function hand_out(user)
  local number = 0
  for step = 1, steps do
    for _ = 1, JOBS_PER_STEP do
      number = number + 1
      local worker = "worker" .. (number - 1) % WORKERS + 1
      assert(user:send_message({ to = worker, type = "job", payload = { number = number } }))
    end
    print(("step %d sent %d"):format(step, number))
    user:sleep(20)
  end
  return number
end

society.main(function(user)
  assert(user:request({ to = "root", type = "begin", payload = "go", timeout_ms = PATIENCE_MS }))
  assert(user:add_contact({ id = "collector" }))
  for i = 1, WORKERS do
    assert(user:add_contact({ id = "worker" .. i }))
  end
  local count = hand_out(user)
  local collector
  local pause_ms = 5
  repeat
    user:sleep(pause_ms)
    pause_ms = math.min(2 * pause_ms, 1000) -- a slow machine must not use up the effects
    collector = books_of(user, "collector")
  until (collector.jobs or 0) >= count
  for i = 1, WORKERS do
    print(("books worker%d %s"):format(i, json.encode(books_of(user, "worker" .. i))))
  end
  print("books collector " .. json.encode(collector))
  print(("result %d %d %d"):format(collector.worth, collector.jobs, collector.duplicates or 0))
end)
