-- A newsroom that talks for some minutes: `society demo` runs it and shows the page.
--
-- Two desks make stories out of rumours. Their models are scripted, so it needs no key and
-- no network. Now and then an editor needs the person; without an answer she goes on by
-- herself after a while. Printers break, so that there is something to mend.

local society = require("society")

local STORIES = tonumber((...)) or 20 -- of each desk
local PATIENCE_MS = 60 * 1000
local PRINTING_MS = 12 * 1000 -- long enough to be seen at work, or cancelled
local DESKS = { "city", "sports" }
local STAFF = { "researcher", "writer", "critic", "translator", "printer" }

local RUMOURS = {
  "The harbour line opens on Friday", "The old bridge is to be painted green",
  "The library lends out bicycles", "The town clock has stopped at noon",
  "A bakery gives bread away at night", "The mayor has learned to juggle",
}

local FACTS = {
  "Two sources say so, one of them by name.", "The town's website has had it since Monday.",
  "Only one source, but she was there.", "The records of the council confirm it.",
}

local CRITIQUES = {
  "Clear. The second sentence could go.", "Who says so? Name the source.",
  "Good opening, dull end.", "A tired reader would understand this.",
}

local function pick(list, number)
  return list[(number - 1) % #list + 1]
end

-- What each model says, by how often it was asked.
local function answer(call)
  local texts = {
    researcher = pick(FACTS, call.number),
    writer = ("It is true: %s. People who live there have seen it coming for weeks, and most "
      .. "of them are glad."):format((pick(RUMOURS, call.number):gsub("^The", "the"))),
    critic = pick(CRITIQUES, call.number),
    translator = "属实：居民们已经期待了好几个星期。",
  }
  return {
    content = texts[call.role] or "Noted.",
    delay_ms = 600 + call.number * 370 % 1700,
    usage = { input_tokens = 800 + call.number * 37 % 400, output_tokens = 60 + call.number % 30 },
  }
end

society.config {
  name = "newsroom",
  history = "full", -- so that the page can run it again under another policy
  llm = {
    provider = "scripted", model = "scripted", answers = answer, verbs = {},
    prices = { scripted = { input = 0.6, output = 2.4 } }, limits = { society_cost = 1 },
  },
}
society.policy("prompts", "en")
society.policy("presentation", "en")

local function brief(objective, outputs)
  return {
    objective = objective, constraints = { "nothing that is not so", "plain words" },
    inputs = "what the editor says", outputs = outputs,
    completion_criteria = "the editor has what she needs",
  }
end

for _, role in ipairs({
  { "researcher", "finds out what is so" }, { "writer", "writes the story" },
  { "critic", "reads as a tired reader would" }, { "translator", "writes it in Chinese" },
}) do
  society.role { id = role[1], name = role[1], behaviour = "llm",
    prompt = "You are the " .. role[1] .. " of a newsroom: " .. role[2] .. "." }
end

-- The printer has no paper for every third story and fails.
society.role { id = "printer", name = "printer", behaviour = {
  task = function(agent, message)
    agent:sleep(PRINTING_MS)
    if message.payload.story % 3 == 0 then
      return agent:fail(message, "the paper tray is empty")
    end
    agent:complete(message, { copies = 1000 })
  end,
  general = function()
    error("the printer has jammed")
  end,
} }

local function ask(agent, role, text)
  local reply = agent:request { to = agent.id .. "-" .. role, payload = { text = text },
    timeout_ms = 60000 }
  return reply and reply.payload.text or "no answer"
end

-- A person is asked about every second story; without an answer the editor decides herself.
local function choose_headline(editor, number, rumour)
  local plain, warm = rumour .. ".", "Have you heard? " .. rumour .. "!"
  if number % 2 == 1 then
    return plain
  end
  local verdict = editor:escalate {
    title = ("Which headline for story %d?"):format(number),
    body = "The plain one is shorter. The warm one was the writer's idea.",
    options = { plain, warm }, priority = number % 4 == 0 and "high" or "normal",
    timeout_ms = PATIENCE_MS,
  }
  return verdict and verdict.choice or plain
end

local function print_story(editor, number, headline)
  local printer = editor.id .. "-printer"
  editor:send_message {
    to = printer, type = "task",
    payload = { task_id = ("%s-%03d"):format(editor.id, number), story = number,
      headline = headline, requirement = "print 1,000 copies" },
  }
  if number % 4 == 1 then -- a question that the printer cannot answer: a dead letter
    editor:send_message { to = printer, payload = { text = "How much paper is left?" } }
  end
end

local function make_story(editor, number, rumour)
  local facts = ask(editor, "researcher", "Is this so? " .. rumour)
  local text = ask(editor, "writer", ("Write about: %s. Known: %s"):format(rumour, facts))
  ask(editor, "critic", text)
  if number % 3 == 1 then
    ask(editor, "translator", text)
  end
  local headline = choose_headline(editor, number, rumour)
  print_story(editor, number, headline)
  editor.state.stories = (editor.state.stories or 0) + 1
  return headline
end

society.role { id = "editor", name = "editor", behaviour = {
  result = function(editor, message)
    editor:milestone(("%s is %s"):format(message.payload.task_id, message.payload.status))
  end,
  general = function(editor, message)
    if not editor.state.has_staff then
      for _, role in ipairs(STAFF) do
        assert(editor:spawn_agent(role, brief("help to make stories", role .. "'s work"),
          { id = editor.id .. "-" .. role }))
      end
      editor.state.has_staff = true
    end
    local number = message.payload.story
    return { text = make_story(editor, number, message.payload.text), story = number }
  end,
} }

local function send_story(root, desk, number)
  assert(root:send_message { to = desk, delay_ms = number == 1 and 0 or 2000,
    payload = { story = number, text = pick(RUMOURS, number + #desk) } })
end

-- Each desk gets its next story when it has told the last.
society.root(function(root, message)
  local told = message.payload.story
  if message.from == "user" then
    for _, desk in ipairs(DESKS) do
      assert(root:spawn_agent("editor", brief("make stories out of rumours", "stories"),
        { id = desk }))
      send_story(root, desk, 1)
    end
  elseif told and told < STORIES then
    send_story(root, message.from, told + 1)
  end
end)

society.main(function(user)
  user:send_message { to = "root", payload = "Make stories out of what people say." }
end)
