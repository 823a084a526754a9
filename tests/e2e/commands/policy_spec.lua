-- Covers: core/embed/policy_watch.c

local json = require("society.json")
local program = require("program")

-- Answers with the refusal of the contacts policy in force.
local APP = [[
local society = require("society")
society.policy("contacts", "mine")
society.role { id = "worker", behaviour = function() end }
society.root(function(root)
  if not root.state.child then
    local brief = { objective = "-", constraints = {}, inputs = "-", outputs = "-",
      completion_criteria = "-" }
    root.state.child = assert(root:spawn_agent("worker", brief)).id
  end
  local sent, err = root:send_message { to = root.state.child, payload = "x" }
  return { text = sent and "allowed" or err.hint }
end)
]]

local MINE = [[
local M = { kind = "contacts", version = 1 }
function M.may_send(request)
  return request.from ~= nil and request.from.id == "user", "%s"
end
M.examples = { { ask = "may_send", given = { {} }, expect = false } }
return M
]]

local PATH = "policies/contacts/mine.lua"

describe("a policy of a running society", function()
  local place, running

  before_each(function()
    place = program.place()
    place:shell("mkdir -p policies/contacts")
    place:write("app.lua", APP)
    place:write(PATH, MINE:format("first"))
    running = place:start_ready("run app.lua")
  end)

  after_each(function()
    running:kill("KILL")
    running:wait()
    place:remove()
  end)

  local function ask()
    return place:run("send --to root --wait x").out
  end

  local function events(name)
    local list = {}
    for line in place:run("inspect activity --json --type " .. name).out:gmatch("[^\n]+") do
      list[#list + 1] = assert(json.decode(assert(json.decode(line)).detail))
    end
    return list
  end

  -- Waits until there are so many events of that name.
  local function expect_events(name, count)
    return program.wait_for(count .. " " .. name, function()
      local list = events(name)
      return #list == count and list
    end)
  end

  it("is swapped by saving its file, in place or by a rename over it", function()
    assert.equal("first\n", ask())
    place:write(PATH, MINE:format("second"))
    local list = expect_events("policy_swapped", 1)
    assert.equal("second\n", ask())
    assert.same({ "contacts", "file", "mine", "mine" },
      { list[1].kind, list[1].by, list[1].from.name, list[1].to.name })
    assert.not_equal(list[1].from.hash, list[1].to.hash)
    place:write("policies/contacts/mine.lua~", MINE:format("third"))
    place:shell("mv policies/contacts/mine.lua~ " .. PATH)
    assert.equal(list[1].to.hash, expect_events("policy_swapped", 2)[2].from.hash)
    assert.equal("third\n", ask())
    place:shell("rm " .. PATH)
    place:write(PATH, MINE:format("fourth"))
    expect_events("policy_swapped", 3)
    assert.equal("fourth\n", ask())
    place:shell("mv policies away && mkdir policies && mv away/contacts policies")
    place:write(PATH, MINE:format("fifth"))
    expect_events("policy_swapped", 4)
    assert.equal("fifth\n", ask())
  end)

  it("is swapped by saving a text it names", function()
    place:shell("mkdir -p policies/prompts")
    place:write("policies/prompts/own.txt", "one")
    place:write("policies/prompts/own.lua", [[
      local M = { kind = "prompts", version = 1, texts = { own = "own.txt" } }
      function M.system() return M.texts.own end
      return M]])
    assert.equal(0, place:run("policy prompts=own").code)
    expect_events("policy_swapped", 1)
    place:write("policies/prompts/own.txt", "two")
    local list = expect_events("policy_swapped", 2)
    assert.same({ "prompts", "file" }, { list[2].kind, list[2].by })
    assert.equal(list[1].to.hash, list[2].from.hash)
    assert.not_equal(list[2].from.hash, list[2].to.hash)
  end)

  it("of messages prints missing fields and details below a refusal, a line each", function()
    local result = place:run([[send --to root --type result --json-payload '{"status":7}']])
    assert.equal(1, result.code)
    assert.matches("^society: invalid_message_format: [^\n]+\n  missing_fields: task_id\n"
      .. "  details: status must be a string; task_id is missing\n$", result.err)
    assert.matches("^society: agent_not_found: [^\n]+\n$", place:run("send --to no x").err)
  end)

  it("of messages is one of several: added, saved, and kept if the new one is broken", function()
    local orders = 'return { kind = "messages", version = 1, types = { %s = {} } }'
    local function send(type)
      return place:run("send --to root --type " .. type .. " x").code
    end
    place:write("orders.lua", orders:format("order"))
    assert.equal(1, send("order"))
    assert.equal(0, place:run("policy messages=./orders.lua").code)
    local list = expect_events("policy_swapped", 1)
    assert.same({ "messages", "command", "orders" },
      { list[1].kind, list[1].by, list[1].to.name })
    assert.is_nil(list[1].from)
    assert.equal(0, send("order"))
    place:write("orders.lua", orders:format("bill"))
    assert.equal("file", expect_events("policy_swapped", 2)[2].by)
    assert.same({ 1, 0, 0 }, { send("order"), send("bill"), send("general") })
    place:write("orders.lua", (orders:format("dish"):gsub("{}", "{ fields = 1 }")))
    assert.matches("dish: fields must be a table", expect_events("policy_refused", 1)[1].reason, 1,
      true)
    assert.same({ 0, 1 }, { send("bill"), send("dish") })
  end)

  it("stays while its file is broken, which is reported once", function()
    local patient = 'return { kind = "supervision", version = %d, retry_after = function() end }'
    place:write("patient.lua", patient:format(1))
    assert.equal(0, place:run("policy supervision=patient.lua").code)
    place:write(PATH, "local M = {\n  kind = = 1 }\n")
    running:expect("policies/contacts/mine.lua:2: ")
    local list = expect_events("policy_refused", 1)
    assert.matches("^%./policies/contacts/mine%.lua:2: ", list[1].reason)
    assert.same({ "contacts", "mine", "file" }, { list[1].kind, list[1].name, list[1].by })
    assert.equal("first\n", ask())
    place:write("patient.lua", patient:format(2))
    expect_events("policy_swapped", 2) -- so all files were read again
    assert.equal(1, #events("policy_refused"))
    place:write(PATH, (MINE:format("x"):gsub("expect = false", "expect = true")))
    assert.matches("mine%.lua:5: example 1: expected true, got false",
      expect_events("policy_refused", 2)[2].reason)
    local _, lines = running:err():gsub("policy_refused", "")
    assert.equal(2, lines)
    assert.equal("first\n", ask())
    place:write(PATH, MINE:format("mended"))
    expect_events("policy_swapped", 3)
    assert.equal("mended\n", ask())
  end)

  it("is swapped by the command, by name and by path", function()
    local result = place:run("policy contacts=open supervision=backoff")
    assert.equal(0, result.code)
    assert.matches("^contacts: open %x+\nsupervision: backoff %x+\n$", result.out)
    assert.equal("allowed\n", ask())
    place:write("own.lua", MINE:format("own"))
    assert.equal(0, place:run("policy contacts=own.lua").code)
    assert.equal("own\n", ask())
    place:write("own.lua", MINE:format("own again"))
    local list = expect_events("policy_swapped", 4)
    assert.equal("own again\n", ask())
    assert.same({ "command", "command", "command", "file" },
      { list[1].by, list[2].by, list[3].by, list[4].by })
    local row = assert(json.decode(place:run("policy --json").out:match("[^\n]+")))
    assert.same({ "contacts", "own", list[4].to.hash }, { row.kind, row.name, row.hash })
    assert.matches("/own%.lua$", row.path)
  end)

  it("that the command names changes nothing if it is rejected", function()
    place:write("own.lua", "return {}\n")
    local result = place:run("policy contacts=own.lua briefs=lenient")
    assert.equal(1, result.code)
    assert.matches('own%.lua:1: kind must be "contacts"', result.err)
    assert.equal("", result.out)
    assert.equal("first\n", ask())
    assert.equal("command", events("policy_refused")[1].by)
    assert.matches("did you mean 'contacts'", place:run("policy contact=open").err)
    assert.equal(1, place:run("policy contacts=./nowhere.lua").code)
    assert.equal(2, place:run("policy contacts").code)
  end)

  it("is listed, also after the end; the command then says what to do", function()
    assert.matches("\ncontacts +mine ", "\n" .. place:run("policy").out)
    place:run("policy contacts=open")
    assert.equal(place:run("policy").out, place:run("inspect policies").out)
    running:kill("INT")
    assert.equal(130, running:wait().code)
    assert.matches("\ncontacts +open ", place:run("inspect policies").out)
    local result = place:run("policy contacts=open")
    assert.equal(1, result.code)
    assert.matches("no society is running in .society; .*run APP.lua %-%-policy KIND=NAME",
      result.err)
  end)

  -- The name of the policy in force of a kind.
  local function in_force(kind)
    return json.decode(place:run("call policy_kind " .. program.quote(json.encode({ kind = kind })))
      .out).active[1].name
  end

  it("is swapped with others, or none of them is", function()
    place:write("own.lua", "return {}\n")
    place:write("words.lua", "return { kind = 'messages', version = 1, types = { word = {} } }")
    for _, words in ipairs({ "briefs=lenient contacts=own.lua", "briefs=lenient zork=x",
      "briefs=lenient messages=words.lua supervision=nobody", "briefs=lenient messages=nobody" }) do
      local result = place:run("policy " .. words)
      assert.same({ 1, "" }, { result.code, result.out }, words)
      assert.same({ "mine", "strict" }, { in_force("contacts"), in_force("briefs") }, words)
      assert.equal(1, place:run("send --to root --type word x").code, words)
    end
    assert.same({}, events("policy_swapped"))
    local twice = place:run("policy contacts=open contacts=strict")
    assert.same({ code = 2, out = "", err = "society: policy: contacts is given twice\n" }, twice)
    assert.equal(0, place:run("policy briefs=lenient messages=words.lua contacts=open").code)
    assert.same({ "open", "lenient" }, { in_force("contacts"), in_force("briefs") })
    assert.equal(0, place:run("send --to root --type word x").code)
  end)

  it("stays in force after kill -9, before --policy and the app, until it is released", function()
    place:write("words.lua", "return { kind = 'messages', version = 1, types = { word = {} } }")
    place:write("own.lua", MINE:format("own"))
    assert.equal(0, place:run("policy contacts=own.lua briefs=lenient messages=words.lua").code)
    running:kill("KILL")
    running:wait()
    running = place:start_ready("run app.lua --policy contacts=strict")
    assert.equal("own\n", ask())
    assert.equal("lenient", in_force("briefs"))
    assert.equal(0, place:run("send --to root --type word x").code)
    running:expect("contacts: " .. place:shell("pwd -P").out:gsub("\n", "")
      .. "/own.lua was swapped in while the society ran and stays in force", "err")
    assert.equal(3, #events("policy_swapped")) -- the start has changed nothing
    -- A swap that follows replaces it; an empty name gives the choice back at the next start.
    assert.equal(0, place:run("policy contacts=open messages=").code)
    running:kill("KILL")
    running:wait()
    running = place:start_ready("run app.lua --policy contacts=strict")
    assert.equal("open", in_force("contacts"))
    assert.equal(1, place:run("send --to root --type word x").code)
    assert.equal(0, place:run("policy contacts= briefs=").code)
    assert.same({ "open", "lenient" }, { in_force("contacts"), in_force("briefs") })
    assert.equal(1, place:run("policy contact=").code)
    running:kill("KILL")
    running:wait()
    running = place:start_ready("run app.lua --policy contacts=strict")
    assert.same({ "strict", "strict" }, { in_force("contacts"), in_force("briefs") })
  end)

  it("is reported if it was swapped in and cannot be loaded at the next start", function()
    place:write("own.lua", MINE:format("own"))
    assert.equal(0, place:run("policy contacts=own.lua").code)
    running:kill("KILL")
    running:wait()
    place:shell("rm own.lua")
    running = place:start_ready("run app.lua")
    assert.equal("mine", in_force("contacts"))
    local refused = events("policy_refused")[1]
    assert.same({ "start", "contacts" }, { refused.by, refused.kind })
    assert.matches("own%.lua", refused.reason)
  end)
end)
