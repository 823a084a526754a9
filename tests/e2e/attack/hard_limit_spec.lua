-- The hard limit of memory, which ends the program: nothing is lost, and the next start parks
-- the activation that met it.
-- Covers: core/kernel/turns/halt.c, core/lualib/lua_heap.c

local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
local function explode()
  local s = ("x"):rep(30000000)
  local all = ]] .. ("s.."):rep(29) .. [[s
  print("survived with " .. #all)
end
society.role({ id = "bomb", name = "b", behaviour = function(agent, message)
  if message.payload.text == "later" then
    agent:send_message({ to = "root", type = "status_report", payload = "committed" })
    agent:sleep(1)
  end
  agent:send_message({ to = "root", type = "status_report", payload = "never" })
  pcall(explode)
  while true do pcall(explode) end
end })
society.role({ id = "bystander", name = "b", behaviour = function() return "alive" end })
society.root(function(root, message)
  if message.type == "status_report" then
    print("report: " .. message.payload.text)
    return
  end
  assert(root:spawn_agent("bomb", BRIEF, { id = "bomb" }))
  assert(root:spawn_agent("bystander", BRIEF, { id = "bystander" }))
  print("asking")
  local reply, err = root:request({ to = "bomb", payload = message.payload.text })
  print(reply and "replied" or err.error)
  print(root:request({ to = "bystander", payload = "there?" }).payload.text)
  return "done"
end)
society.main(function(user)
  if arg[1] == "main" then
    print("before")
    user:sleep(1)
    explode()
  end
  print(assert(user:request({ to = "root", payload = arg[1] })).payload.text)
end)
]]

describe("one operation beyond the hard limit of memory", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  for _, when in ipairs({ "at once", "later" }) do
    it("ends the program, and the next start parks what asked for it: " .. when, function()
      local first = place:run(("run app.lua -- '%s'"):format(when))
      assert.equal(1, first.code)
      assert.matches("asked for too much memory, which ends the program", first.err, 1, true)
      assert.not_matches("survived", first.out, 1, true)
      assert.equal(0, place:run("verify").code)
      local second = place:run(("run app.lua -- '%s'"):format(when))
      assert.equal(0, second.code, second.err)
      local out = first.out .. second.out
      assert.not_matches("never", out, 1, true)
      assert.equal(when == "later" and 1 or 0, select(2, out:gsub("report: committed", "")))
      assert.equal(1, select(2, out:gsub("asking", "")))
      assert.matches("receiver_failed\n", second.out, 1, true)
      assert.matches("alive\n", second.out, 1, true)
      assert.matches("done\n", second.out, 1, true)
      local dead = program.rows(place:run("inspect dead-letters --json"))
      assert.equal(1, #dead)
      assert.equal("bomb", dead[1].to)
      assert.equal("budget_exceeded", dead[1].error.error)
      assert.equal("memory", dead[1].error.which)
      assert.equal(67108864, dead[1].error.limit)
    end)
  end

  it("does the same to main, which fails at the next start and may be tried again", function()
    local first = place:run("run app.lua -- main")
    assert.equal(1, first.code)
    local second = place:run("run app.lua -- main")
    assert.equal(1, second.code)
    assert.equal("before\n", first.out .. second.out)
    assert.matches("asked for more memory than a turn may ever have", second.err, 1, true)
    local said = "ends the program; nothing that was committed is lost"
    assert.not_matches(said, second.err, 1, true)
    assert.matches(said, place:run("run app.lua -- main").err, 1, true)
    assert.matches(said, place:run("run app.lua --retry-main -- main").err, 1, true)
  end)
end)
