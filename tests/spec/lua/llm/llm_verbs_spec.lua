-- Verbs that a model has only if the app chooses them.

local json = require("society.json")
local scene = require("scene")
local thinkers = require("thinkers")
local usage = require("society.llm.usage")
local verbs = require("society.llm.verbs")
local words = { zh = require("society.llm.words.zh"), en = require("society.llm.words.en") }

local DEFAULT = { "create_role", "spawn_agent", "send_message", "request", "list_contacts",
  "request_introduction", "introduce", "decline", "escalate", "complete", "fail" }
local EXTRA = { "reply", "receive", "broadcast", "checkpoint", "run_lua", "cancel", "terminate",
  "pause", "resume", "resolve", "stop", "knows", "can_send", "add_contact", "remove_contact",
  "load", "wait" }

-- What the model of ann reads about each of its calls { name, arguments }, and its society.
-- Arguments may be a function of what was read before.
local function told(calls, options)
  options = options or {}
  local results, chosen = {}, json.array({})
  for index, each in ipairs(calls) do
    chosen[index] = each[1]
  end
  options.llm = { verbs = chosen }
  options.policies = options.policies or { contacts = "open" }
  local number = 0
  local s = thinkers.think(function(request)
    if request.agent ~= "ann" then
      return "fine"
    end
    local entry = thinkers.last(request.messages)
    if entry.role == "tool" then
      results[number] = json.decode(entry.content)
    end
    number = number + 1
    local each = calls[number]
    if not each then
      return "done"
    end
    return thinkers.call(each[1], type(each[2]) == "function" and each[2](results) or each[2])
  end, options)
  thinkers.ask(s, nil, options.message)
  return results, s
end

local SPAWN = { "spawn_agent", { roleId = "thinker", taskBrief = scene.brief() } }

local function child(results)
  return { id = results[1].id }
end

describe("the verbs of a model", function()
  after_each(scene.close)

  it("are few unless the app chooses", function()
    local names
    thinkers.ask(thinkers.think(function(request)
      names = {}
      for _, tool in ipairs(request.tools) do
        names[#names + 1] = tool.name
      end
      return "ok"
    end))
    assert.same(DEFAULT, names)
  end)

  it("have a description and a schema in both languages", function()
    local names = {}
    for language, texts in pairs(words) do
      names = {}
      for _, verb in ipairs(verbs.of(language)) do
        names[#names + 1] = verb.name
        assert.equal(texts.verbs[verb.name], verb.description)
        assert.is_string(verb.description)
        for name, part in pairs(verb.parameters.properties) do
          assert(part.description, verb.name .. "." .. name)
        end
      end
    end
    local all = table.move(DEFAULT, 1, #DEFAULT, 1, {})
    assert.same(table.move(EXTRA, 1, #EXTRA, #all + 1, all), names)
  end)

  it("run a script that the model wrote and get its result, or what ended it", function()
    local results = told({
      { "run_lua", { script = "print('adds') return values[1] + values[2]", values = { 3, 4 } } },
      { "run_lua", { script = "return os.execute('true')" } },
      { "run_lua", { script = "while true do end" } } })
    assert.equal(7, results[1].result)
    assert.matches("adds", results[1].printed, 1, true)
    assert.equal("script_error", results[2].error)
    assert.equal("budget_exceeded", results[3].error)
  end)

  it("can pause, resume and terminate a child", function()
    local results, s = told({ SPAWN, { "pause", child }, { "resume", child },
      { "terminate", child } })
    for number = 2, 4 do
      assert.is_nil(results[number].error)
    end
    assert.is_nil(s:agent(results[1].id))
  end)

  it("cannot terminate, pause or resume whom the agent may not", function()
    for _, name in ipairs({ "terminate", "pause", "resume" }) do
      local results = told({ { name, { id = "bob" } } }, { ids = { "ann", "bob" } })
      assert.equal("forbidden", results[1].error)
      scene.close()
    end
  end)

  it("can cancel a task that the agent gave, and no other", function()
    local results, s = told({ SPAWN, { "send_message", function(given)
      return { to = given[1].id, type = "task", payload = { task_id = "T1" }, delay_ms = 60000 }
    end }, { "cancel", { task_id = "T1", reason = "no need" } }, { "cancel", { task_id = "T9" } } })
    assert.equal("cancelled", results[3].state)
    assert.equal("cancelled", s:tasks({ task = "T1" })[1].state)
    assert.is_string(results[4].error)
  end)

  it("can broadcast, and ask for a checkpoint", function()
    local results = told({ { "broadcast", { payload = "hear" } },
      { "checkpoint", { agents = { "root" }, timeout_ms = 1000 } } },
      { root = function() return "ready" end, policies = { contacts = "open" } })
    assert.equal(2, results[1].count)
    assert.equal("ready", results[2].responses.root.text)
  end)

  it("can remove a contact", function()
    local results, s = told({ { "remove_contact", { id = "root" } },
      { "remove_contact", { id = "user" } } })
    assert.equal("forbidden", results[1].error)
    assert.is_nil(results[2].error)
    assert.equal(1, #s:contacts("ann"))
  end)

  it("can look at contacts and add one", function()
    local results, s = told({ { "knows", { id = "bob" } }, { "can_send", { id = "bob" } },
      { "add_contact", { id = "bob" } }, { "knows", { id = "bob" } } }, { ids = { "ann", "bob" } })
    assert.is_false(results[1].inRegistry)
    assert.is_true(results[2].allowed)
    assert.equal("manual", results[3].source)
    assert.is_true(results[4].inRegistry)
    assert.equal("manual", s:contacts("ann")[#s:contacts("ann")].source)
  end)

  it("can stop the agent itself", function()
    local results, s = told({ { "stop", { reason = "done" } } })
    assert.equal("ann", results[1].id)
    assert.is_nil(s:agent("ann"))
  end)

  it("read the timeout of a receive", function()
    local results = told({ { "receive", { timeout_ms = 1000 } } })
    assert.equal("timeout", results[1].error)
  end)

  it("decide about an outside agent that does not respond", function()
    local results, s = told({
      { "spawn_agent", { roleId = "remote", taskBrief = scene.brief() } },
      { "send_message", function(given)
        return { to = given[1].id, type = "task_assign", payload = { task_id = "T1" } }
      end },
      { "wait", { ms = 20000 } },
      { "resolve", function(given) return { id = given[1].id, action = "skip" } end },
    }, { roles = function(society)
      society:role({ id = "remote", name = "remote", behaviour = "external" })
    end, policies = { contacts = "open", messages = { "society", "workflow", "helix" } } })
    assert.same({ agent = results[1].id, action = "skip", messages = 1 }, results[4])
    assert.equal("unresponsive", s:dead_letters()[1].error.error)
  end)

  it("are described in the prompt where the app has chosen them", function()
    for _, language in ipairs({ "zh", "en" }) do
      local function prompt(chosen)
        local s = thinkers.think(function() return "fine" end,
          { llm = { verbs = chosen }, policies = { prompts = language } })
        local text = s:context("ann")
        scene.close()
        return text
      end
      local usual = prompt(nil)
      for _, name in ipairs(DEFAULT) do
        assert.matches("\n### " .. name .. "\n", usual, 1, true)
      end
      for _, name in ipairs(EXTRA) do
        assert.is_nil(usual:find("\n### " .. name .. "\n", 1, true), name)
        local own = prompt({ name, "send_message" })
        assert.matches("\n### " .. name .. "\n", own, 1, true)
        assert.matches("\n### send_message\n", own, 1, true)
        assert.is_nil(own:find("\n### escalate\n", 1, true), name)
      end
    end
  end)

  it("need a prompt that speaks of them alone: for send and escalate about a quarter", function()
    for _, language in ipairs({ "zh", "en" }) do
      local sizes, texts = {}, {}
      for index, chosen in ipairs({ DEFAULT, { "send_message", "escalate" } }) do
        local s = thinkers.think(function() return "fine" end,
          { llm = { verbs = chosen }, policies = { prompts = language } })
        texts[index] = s:context("ann")
        sizes[index] = usage.estimate(texts[index])
        scene.close()
      end
      assert.is_true(sizes[2] < 0.28 * sizes[1], sizes[2] .. " of " .. sizes[1])
      for _, word in ipairs({ "spawn_agent", "request_introduction", "task_assignment", "decline",
        "complete", "<!--" }) do
        assert.is_nil(texts[2]:find(word, 1, true), word)
        assert.equal(word ~= "<!--", texts[1]:find(word, 1, true) ~= nil, word)
      end
      assert.is_nil(texts[2]:find("\n\n\n"))
    end
  end)

  it("may differ by role: the tools, and the prompt that speaks of them", function()
    local function names_of(lists)
      local names = {}
      local s = thinkers.think(function(request)
        names = {}
        for _, tool in ipairs(request.tools) do
          names[#names + 1] = tool.name
        end
        return "fine"
      end, { llm = { verbs = lists } })
      thinkers.ask(s)
      local prompt = s:context("ann")
      scene.close()
      return names, prompt
    end
    local leaf = { "send_message", "escalate" }
    local names, prompt = names_of({ thinker = leaf, default = DEFAULT })
    assert.same({ leaf, nil }, { names, prompt:find("spawn_agent", 1, true) })
    assert.same({ leaf }, { (names_of({ other = { "fail" }, default = leaf })) })
    names, prompt = names_of({ other = leaf })
    assert.same(DEFAULT, names)
    assert.is_number(prompt:find("spawn_agent", 1, true))
    assert.same({}, (names_of({ thinker = {}, other = leaf })))
  end)

  it("read the society's errors of resolve and reply", function()
    local results = told({ { "resolve", { id = "root", action = "skip" } },
      { "reply", { message_id = "msg_x", payload = "y" } } })
    assert.is_string(results[1].error)
    assert.equal("message_not_found", results[2].error)
  end)

  it("can see a load and wait", function()
    local results, s = told({ { "load", {} }, { "wait", { ms = 5000 } } })
    assert.equal("ann", results[1].agent)
    assert.equal(5000, results[2].waited_ms)
    assert.is_true(s:now() - 1767225600000 >= 5000)
  end)

  it("wait for the ack of a send", function()
    local results = told({
      { "send_message", { to = "root", payload = "x", wait_ack = "processed" } },
      { "send_message", { to = "root", payload = "x", wait_ack = "soon" } },
    })
    assert.equal("processed", results[1].ack)
    assert.matches("'wait_ack' must be received or processed", results[2].message, 1, true)
  end)

  it("set priority, TTL and delay of a send", function()
    local results, s = told({ { "send_message", { to = "root", payload = "x", priority = "high",
      ttl_seconds = 60, delay_ms = 1000 } } })
    local message
    for _, each in ipairs(s:messages({ agent = "root" })) do
      message = each.id == results[1].messageId and each or message
    end
    assert.equal("high", message.priority)
    assert.equal(60, message.ttl_seconds)
    assert.is_string(message.deliver_at)
  end)
end)
