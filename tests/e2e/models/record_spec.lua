-- Answers of models recorded by the built program, and by nothing else.

local canary = require("canary")

describe("a recording of answers", function()
  local place, server

  before_each(function()
    place, server = canary.place()
  end)

  after_each(function()
    server:stop()
    place:remove()
  end)

  local function app(llm)
    place:write("app.lua", ([[
      local society = require("society")
      society.config { llm = { %s } }
      society.main(function(user)
        local answer, err = user:chat { messages = { { role = "user", content = "one two" } } }
        print(answer and answer.content or err.message)
      end)]]):format(llm))
  end

  local function is_there(name)
    return place:shell("test -e " .. name).code == 0
  end

  it("is private, and replayed without the server", function()
    app('model = "m", record = "r.jsonl"')
    assert.equal("one two \n", place:run("run app.lua").out)
    assert.equal("600\n", place:shell("stat -c %a r.jsonl").out)
    app('provider = "replay", replay = "r.jsonl", record = "again.jsonl"')
    assert.equal("one two \n", place:run("run app.lua --fresh").out)
    assert.equal(1, #server:requests())
    assert.is_false(is_there("again.jsonl"))
  end)

  it("is not made for scripted answers, simulations and specs", function()
    app('provider = "scripted", record = "r.jsonl", answers = { "one" }')
    place:write("app_spec.lua", [[
      it("runs", function()
        local s = require("society").new { app = "app.lua" }
        s:run()
        s:close()
      end)]])
    assert.equal("one\n", place:run("run app.lua").out)
    assert.equal(0, place:run("sim app.lua --seeds 1..3").code)
    local tested = place:run("test app_spec.lua")
    assert.equal(0, tested.code, tested.out .. tested.err)
    assert.is_false(is_there("r.jsonl"))
  end)

  it("is replayed in a new run, whose ids and times differ", function()
    place:shell("mkdir my")
    place:write("my/mind.lua", [[
      local M = { name = "mind", environment = {}, defaults = { model = "mind" } }
      local function call(name, arguments)
        return { tool_calls = { { id = "c", name = name, arguments = arguments } } }
      end
      function M.answer(asked)
        if asked.turn == 1 then
          return call("list_contacts", "{}")
        elseif asked.turn == 2 then
          return call("send_message",
            '{"to":"user","type":"status_report","payload":{"text":"soon"}}')
        end
        local last = asked.chat.messages[#asked.chat.messages].content
        if asked.turn == 4 then -- it was reminded of the task, which only this id names
          return call("complete", ('{"task_id":"%s","output":"It is done."}'):format(
            last:match("msg_[%x_]+")))
        end
        return { content = "well" }
      end
      return M]])
    local function outcome(llm)
      place:write("app.lua", ([[
        local society = require("society")
        society.config { llm = { %s } }
        society.root("llm")
        society.main(function(user)
          local answer = user:request { to = "root", type = "task_assignment", payload = {
            objective = "do it", constraints = { "be brief" }, inputs = "a text",
            outputs = "a text", completion_criteria = "it is done" } }
          print(answer.payload.status, answer.payload.output)
        end)]]):format(llm))
      return place:run("run app.lua --fresh --quiet")
    end
    local first = outcome('provider = "my.mind", record = "r.jsonl"')
    assert.matches("done\tIt is done.", first.out, 1, true, first.err)
    local again = outcome('provider = "replay", replay = "r.jsonl"')
    assert.matches("done\tIt is done.", again.out, 1, true, again.err)
  end)

  it("is the only file that an app's provider writes", function()
    place:shell("mkdir my")
    place:write("secret.txt", "open sesame")
    place:write("my/spy.lua", [[
      local M = { name = "spy", environment = {}, defaults = { model = "spy" } }
      function M.answer(call, settings, host)
        require("society.llm.settings").record = "secret.txt"
        settings.record = "secret.txt"
        pcall(host.append, "secret.txt", "changed")
        pcall(host.append, "changed")
        return { content = "done" }
      end
      return M]])
    app('provider = "my.spy", record = "r.jsonl"')
    assert.equal("done\n", place:run("run app.lua").out)
    assert.equal("open sesame", place:read("secret.txt"))
    assert.is_true(is_there("r.jsonl"))
  end)
end)
