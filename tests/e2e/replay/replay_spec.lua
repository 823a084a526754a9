-- Replay: kept history is rerun, and every difference reported.
--
-- Covers: core/main/cmd_replay.c, core/script/history/rerun.c

local json = require("society.json")
local program = require("program")
local recorded = require("recorded")

describe("replay", function()
  local place

  local function replay(arguments)
    return recorded.replay(place, arguments)
  end

  local function assert_same(arguments)
    return recorded.assert_same(place, arguments)
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", recorded.APP)
    place:write("helper.lua", recorded.HELPER)
  end)

  after_each(function()
    place:remove()
  end)

  it("finds no difference under the same scripts and policies, from the record alone", function()
    local result = place:run("run app.lua --quiet -- one two")
    assert.equal("hello from 职员; false; help with hello\none two\n", result.out)
    place:shell("rm app.lua helper.lua; mv .society moved")
    local before = place:shell("sha256sum moved/society.db").out
    local totals = assert_same("--state moved")
    assert.is_true(totals.runs >= 8)
    assert.is_true(totals.effects >= 20)
    assert.is_true(totals.questions >= 15)
    assert.equal(before, place:shell("sha256sum moved/society.db").out)
    assert.matches("0 differences\n$", place:run("replay --state moved").out)
  end)

  it("finds the effect where a changed script differs", function()
    place:run("run app.lua --quiet")
    place:write("app.lua", (recorded.APP:gsub('payload = "lost"', 'payload = "gone"')))
    assert_same()
    local _, differences, result = replay("--app app.lua")
    assert.equal(1, result.code)
    assert.equal(1, #differences)
    local found = differences[1]
    assert.same({ "effect", "Clerk", 1 }, { found.difference, found.agent, found.effect })
    assert.same({ { payload = "lost", to = "nobody" } }, found.recorded.arguments)
    assert.same({ { payload = "gone", to = "nobody" } }, found.now.arguments)
    assert.matches("^msg_", found.message)
    assert.matches('Clerk msg_%S+ effect 1: recorded send%(%b{}%), now send%(%b{}%)\n',
      place:run("replay --app app.lua").out)
  end)

  it("finds an extra effect, a missing one, another state, result and error", function()
    place:run("run app.lua --quiet")
    local changes = {
      { 'agent.state.at = agent:now()', 'agent.state.at = agent:now() agent:now()',
        "effect", '{"end":"done"}', '{"effect":"now","arguments":[]}' },
      { 'agent.state.at = agent:now()', '', "effect", '{"effect":"now","arguments":[]}',
        '{"end":"done"}' },
      { 'agent.brief.objective', '"lazy"', "state" },
      { '" from "', '" of "', "result" },
      { '"dropped it"', '"lost it"', "end" },
    }
    for _, change in ipairs(changes) do
      local app = recorded.APP
      local first, last = app:find(change[1], 1, true)
      place:write("app.lua", app:sub(1, first - 1) .. change[2] .. app:sub(last + 1))
      local _, differences, result = replay("--app app.lua")
      assert.equal(1, result.code, change[1])
      assert.equal(change[3], differences[1].difference, change[1])
      if change[4] then
        assert.same(json.decode(change[4]), differences[1].recorded)
        assert.same(json.decode(change[5]), differences[1].now)
      end
    end
  end)

  it("finds the question that another policy answers differently", function()
    place:run("run app.lua --quiet")
    local _, differences, result = replay("--policy contacts=open")
    assert.equal(1, result.code)
    assert.equal(1, #differences)
    assert.equal("Stranger", differences[1].agent)
    assert.equal(1, differences[1].effect)
    assert.matches("^contacts.may_send", differences[1].asked)
    assert.is_false(differences[1].recorded[1])
    assert.is_true(differences[1].now[1])
    _, differences = replay("--policy presentation=en")
    assert.equal(1, #differences)
    assert.matches("^presentation.message", differences[1].asked)
    place:write("mine.lua", [[
      return { kind = "briefs", version = 1, defaults = {}, examples = {},
        check = function(brief) return #brief.constraints > 1, { "two constraints" } end }
    ]])
    _, differences = replay("--policy briefs=./mine.lua")
    assert.equal(4, #differences)
    assert.equal("root", differences[1].agent)
    assert.is_false(differences[1].now[1])
    _, differences = replay("--policy messages=any,")
    assert.same({}, differences)
  end)

  it("reports a policy that fails, although the default answer is the recorded one", function()
    place:run("run app.lua --quiet")
    local function write(body)
      place:write("mine.lua", [[
        return { kind = "contacts", version = 1, defaults = {}, examples = {},
          may_send = function() ]] .. body .. [[ end }
      ]])
    end
    for body, text in pairs({ ['error("oops")'] = "oops", ["return 42"] = "may_send answered" }) do
      write(body)
      local _, differences, result = replay("--policy contacts=./mine.lua")
      assert.equal(1, result.code, body)
      assert.is_true(#differences > 0, body)
      assert.matches("^contacts.may_send", differences[1].asked)
      assert.matches("the policy fails: ", differences[1].now, 1, true)
      assert.matches(text, differences[1].now, 1, true)
    end
    place:write("words.lua", [[
      return { kind = "messages", version = 1, defaults = { mode = "reject" }, types = {},
        examples = {}, default = { check = function() error("oops") end } }
    ]])
    local _, differences = replay("--policy messages=./words.lua,")
    assert.is_true(#differences > 0)
    assert.matches("the policy fails: .*oops", differences[1].now)
    -- What failed then as well is no difference.
    write('error("oops")')
    assert.matches("policy_failed",
      place:run("run app.lua --fresh --policy contacts=./mine.lua").err, 1, true)
    assert_same()
    local two = place:run("replay --policy contacts")
    assert.same({ 2, "" }, { two.code, two.out })
    assert.matches("replay: --policy expects KIND=NAME, not 'contacts'", two.err, 1, true)
  end)

  it("keeps policies and their settings, also the app's and swapped ones", function()
    place:shell("mkdir -p policies/contacts")
    place:write("policies/contacts/mine.lua", [[
      return { kind = "contacts", version = 1, defaults = { open = false }, examples = {},
        may_send = function(question, settings)
          return question.is_known or settings.open, { hint = "mine" }
        end }
    ]])
    place:write("app.lua", recorded.APP .. [[
      society.policy("contacts", "mine", { open = true })
      society.policy("supervision", function(question)
        if question.failures < 3 then return 5 end
      end)
    ]])
    assert.matches("; true; ", place:run("run app.lua --quiet --policy deadlock=latest").out)
    place:shell("rm -r policies app.lua")
    assert_same()
    local _, differences = replay("--policy supervision=backoff")
    assert.is_true(#differences >= 1)
    assert.matches("^supervision.retry_after", differences[1].asked)
    _, differences = replay("--policy contacts=strict")
    local refused = {}
    for _, found in ipairs(differences) do
      refused[#refused + 1] = found.recorded[1] and not found.now[1] and found.agent or nil
    end
    assert.same({ "Stranger" }, refused)
  end)
end)
