-- Covers: core/main/program_system.c, core/main/program.c

local program = require("program")

local RANDOM = [[
local society = require("society")
society.main(function(user)
  user:sleep(60000)
  print(user:random(1, 1000000))
end)
]]

describe("the other commands", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  it("sim gives the same transcript for the same seed, and another for another", function()
    place:write("app.lua", RANDOM)
    local first = place:run("sim app.lua --seed 7")
    assert.equal(0, first.code)
    assert.matches("^%d+\n$", first.out)
    assert.same(first, place:run("sim app.lua --seed 7"))
    assert.not_equal(first.out, place:run("sim app.lua --seed 8").out)
    assert.not_equal(0, place:shell("test -e .society").code)
  end)

  it("sim runs many seeds and prints how to repeat the first that fails", function()
    place:write("app.lua", [[
      local society = require("society")
      society.main(function(user)
        assert(user:random(1, 4) ~= tonumber(arg[1]), "unlucky")
      end)
    ]])
    local fine = place:run("sim app.lua --seeds 1..20 -- 9")
    assert.equal(0, fine.code)
    assert.equal("", fine.out)
    assert.matches("20 of 20 seeds, [%d.]+ seeds/s\n$", fine.err)
    local failing = place:run("sim app.lua --seeds 1..200 -- 3")
    assert.equal(1, failing.code)
    assert.matches("unlucky", failing.err, 1, true)
    local command = failing.err:match("repeat it with: ([^\n]+)\n$")
    assert.matches(" sim app.lua %-%-seed %d+ %-%-faults default %-%- 3$", command)
    assert.equal(1, (command:find(place.program, 1, true))) -- as it was called
    local repeated = place:shell(command)
    assert.equal(1, repeated.code)
    assert.matches("unlucky", repeated.out, 1, true)
    assert.equal(2, place:run("sim app.lua --seeds 5..1").code)
    assert.equal(2, place:run("sim app.lua --seed 1 --seeds 1..2").code)
  end)

  it("sim prints who waits when nothing can happen any more", function()
    place:write("app.lua", [[
      local society = require("society")
      society.main(function(user) user:receive {} end)
    ]])
    local result = place:run("sim app.lua")
    assert.equal(1, result.code)
    assert.matches('"agent":"user","kind":"receive"', result.err, 1, true)
  end)

  it("check reports roles and main, and errors with file and line", function()
    place:write("app.lua", [[
      local society = require("society")
      society.role { id = "a", name = "a", prompt = "", behaviour = function() end }
      -- society.nothing() in a comment is no call
      society.main(function() end)
    ]])
    assert.same({ code = 0, out = "ok: 1 role, main\n", err = "" }, place:run("check app.lua"))
    place:write("app.lua", 'require("society").root(function() end)')
    assert.same({ code = 0, out = "ok: 0 roles, no main\n", err = "" }, place:run("check app.lua"))
    place:write("app.lua", 'print("no society")')
    assert.same({ code = 0, out = "ok: 0 roles, no main\n", err = "app.lua: warning: this app "
      .. "declares nothing: no role, no root and no main\n" }, place:run("check app.lua"))
    place:write("app.lua", 'local society = require("society")\n\nsociety.rule {}\n')
    assert.equal(1, place:run("check app.lua").code)
    place:write("app.lua", [[
local society = require("society")
society.root(function() return society.agnets() end)
]])
    local result = place:run("check app.lua")
    assert.equal(1, result.code)
    assert.equal("app.lua:2: society.agnets does not exist\n", result.err)
    place:write("app.lua", "\nthis is no Lua\n")
    assert.matches("^society: app.lua:2: ", place:run("check app.lua").err)
  end)

  it("check says how long the prompts of models are", function()
    local function check(verbs)
      place:write("thinks.lua", ([[
        local society = require("society")
        society.config { language = "en", llm = { verbs = %s, model = "m" } }
        society.role { id = "thinker", name = "t", prompt = "p", behaviour = "llm" }
        society.role { id = "worker", behaviour = function() end }
      ]]):format(verbs))
      local result = place:run("check thinks.lua")
      assert.equal(0, result.code, result.err)
      local tokens = result.out:match("^ok: 2 roles, no main\n"
        .. "prompt of thinker: about (%d+) tokens\n$")
      return tonumber(tokens) or error(result.out)
    end
    local all = check("nil")
    assert.is_true(all > 2000)
    assert.is_true(check('{ "send_message", "escalate" }') < 0.28 * all)
  end)

  it("check accepts a policy that needs the program's modules or its own texts", function()
    place:write("own.lua", [[
      local template = require("society.template")
      local M = { kind = "prompts", version = 1, texts = { base = "own.txt" } }
      function M.system(request) return template.fill(M.texts.base, { id = request.agent.id }) end
      M.examples = { { ask = "system", given = { { agent = { id = "x" } } }, expect = "I am x" } }
      return M]])
    assert.matches("the text 'own.txt' cannot be opened", place:run("check own.lua").err, 1, true)
    place:write("own.txt", "I am {{idd}}")
    assert.matches("{{idd}} has no value", place:run("check own.lua").err, 1, true)
    place:write("own.txt", "I am {{id}}")
    assert.equal("ok: a policy of the kind prompts, 1 example\n", place:run("check own.lua").out)
  end)

  it("check accepts a policy that requires the program's modules, and a vocabulary", function()
    place:write("brief.lua", [[
      local rules = require("society.brief")
      return { kind = "briefs", version = 1, check = function() return #rules.REQUIRED > 0 end }
    ]])
    place:write("orders.lua", [[
      return { kind = "messages", version = 1, types = { order = { fields = { n = "integer" } } },
        examples = { { type = "order", payload = { n = 1.5 } } } }
    ]])
    assert.matches("^ok: a policy of the kind briefs", place:run("check brief.lua").out)
    local result = place:run("check orders.lua")
    assert.equal(1, result.code)
    assert.matches("example 1: a order was refused: \"n must be an integer\"", result.err, 1, true)
  end)

  it("sim accepts vocabularies by name, to add or as the whole set", function()
    place:write("app.lua", [[
      local society = require("society")
      society.main(function(user)
        for _, type in ipairs({ "general", "news", "query" }) do
          local sent, err = user:send_message { to = "user", type = type, payload = {} }
          print(type, sent and "sent" or err.error)
        end
      end)
    ]])
    local refused = "invalid_message_format"
    for options, expected in pairs({
      [""] = { "sent", refused, refused },
      ["--policy messages=any"] = { "sent", "sent", refused },
      ["--policy messages=any,"] = { "sent", "sent", "sent" },
      ["--policy messages=workflow,helix"] = { refused, refused, refused },
    }) do
      local result = place:run("sim app.lua " .. options)
      assert.equal(0, result.code)
      for index, type in ipairs({ "general", "news", "query" }) do
        assert.matches(type .. "\t" .. expected[index], result.out, 1, true)
      end
    end
  end)

  it("check recognises a policy", function()
    place:write("mine.lua", [[
      return { kind = "contacts", version = 1, may_send = function() return true end }
    ]])
    assert.matches("^ok: .*contacts", place:run("check mine.lua").out)
    place:write("mine.lua", [[return { kind = "contacts", version = 1 }]])
    assert.equal(1, place:run("check mine.lua").code)
    place:write("mine.lua", [[return { kind = "weather", version = 1 }]])
    assert.equal(1, place:run("check mine.lua").code)
  end)

  it("init makes an app that runs and whose spec passes", function()
    assert.equal(0, place:run("init first").code)
    assert.equal("hello, Ada\n", place:shell("cd first && society run app.lua --quiet -- Ada").out)
    local tested = place:shell("cd first && society test -o TAP")
    assert.equal(0, tested.code)
    assert.matches("1..2\n", tested.out, 1, true)
    assert.equal(".society/\n", place:read("first/.gitignore"))
    local again = place:run("init first")
    assert.equal(1, again.code)
    assert.matches("^society: first already exists[^\n]*\n$", again.err)
    assert.equal(0, place:shell("mkdir empty && society init empty").code)
  end)

  it("init writes the language of the locale", function()
    for name, case in pairs({
      plain = { "LC_ALL=C", "en" }, none = { "LANG=", "en" },
      chinese = { "LANG=zh_CN.UTF-8", "zh" },
      first = { "LC_ALL=en_GB.UTF-8 LANG=zh_CN.UTF-8", "en" },
      messages = { "LC_MESSAGES=zh LANG=de_DE", "zh" }, other = { "LANG=zha_XX", "en" },
    }) do
      assert.equal(0, place:shell(("unset LC_ALL LC_MESSAGES LANG; %s society init %s"):format(
        case[1], name)).code)
      assert.matches(('language = "%s"'):format(case[2]), place:read(name .. "/app.lua"), 1, true)
    end
  end)

  it("init gives each app its own name", function()
    for _, name in ipairs({ "one", "two/", "'_a b\"%s'" }) do
      assert.equal(0, place:run("init " .. name).code)
    end
    assert.equal(0, place:shell("mkdir three && cd three && society init .").code)
    assert.equal("hello, world\n", place:run("run one/app.lua --quiet").out)
    local other = place:run("run two/app.lua --quiet")
    assert.equal(1, other.code)
    assert.matches("the state belongs to the app 'one'", other.err, 1, true)
    assert.matches('name = "two"', place:read("two/app.lua"), 1, true)
    assert.matches('name = "three"', place:read("three/app.lua"), 1, true)
    assert.matches("# three\n", place:read("three/README.md"), 1, true)
    assert.equal("hello, world\n",
      place:shell("cd '_a b\"%s' && society run app.lua --quiet").out)
  end)

  it("init prints a command that works as it is", function()
    for _, name in ipairs({ "plain", "'two words'", "\"it's\"", "'$HOME'" }) do
      local said = place:run("init " .. name).out:match("now: (.*)\n")
      assert.equal("hello, world\n", place:shell(said .. " --quiet").out, name)
    end
  end)

  it("test exits with 1 when a spec fails, and provides the society's modules", function()
    place:shell("mkdir spec")
    place:write("spec/one_spec.lua", [[
      describe("a spec", function()
        it("has the modules", function()
          assert.equal("[1]", require("society.json").encode({ 1 }))
          assert.is_function(require("society").new)
        end)
        it("fails", function() assert.equal(1, 2) end)
      end)
    ]])
    local result = place:run("test -o TAP")
    assert.equal(1, result.code)
    assert.matches("ok 1 - a spec has the modules", result.out, 1, true)
    assert.matches("not ok 2 - a spec fails", result.out, 1, true)
    assert.equal(0, place:run("test -o TAP --filter modules").code)
  end)

  it("test prints TAP and JUnit like busted", function()
    place:shell("mkdir spec")
    place:write("spec/one_spec.lua", [[
      describe("a <spec>", function()
        it("passes", function()
          local s = require("society").new({})
          assert.equal(2, #s:agents())
          s:close()
        end)
        it("fails", function() assert.equal(1, 2) end)
        it("raises", function() error("oh & no") end)
        pending("waits")
      end)
    ]])
    local tap = place:run("test -o TAP")
    assert.equal(1, tap.code)
    assert.matches("^ok 1 %- a <spec> passes\nnot ok 2 %- a <spec> fails\n", tap.out)
    assert.matches("\n1..4\n$", tap.out)
    assert.equal(1, place:run("test -o junit -Xoutput out.xml").code)
    local xml = place:read("out.xml")
    assert.matches("<testcase [^>]*name='a &lt;spec&gt; passes'", xml)
    assert.matches("<failure>", xml, 1, true)
    assert.matches("oh &amp; no", xml, 1, true)
    assert.matches("<skipped/>", xml, 1, true)
    assert.matches("<testsuites [^>]*tests='4'", xml)
    assert.equal(0, place:run("test -o junit -Xoutput out.xml --filter passes").code)
  end)
end)
