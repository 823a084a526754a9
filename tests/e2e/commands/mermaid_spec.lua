-- export mermaid: its text, and that the real mermaid parses it.

local npm = require("npm")
local program = require("program")
local tree = require("tree")

local APP = [[
local society = require("society")
local TEXTS = { "plain", "end", "a;b#c%%{init: {}}%%", "two\nlines", "<b>&amp;</b>", "a->>b: c",
  "\"quotes\" 'and' `ticks`", "loop alt opt par note over", "中文：消息",
  "\\ [x] (y) {z}", "", "wrap: x", ("long "):rep(100) }
society.role { id = "end", name = "end", behaviour = function(agent, message)
  return { text = message.payload.text, and_more = { 1, 2 } }
end }
society.root(function(root)
  local brief = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
    completion_criteria = "c" }
  for _, id in ipairs({ "end", "participant", "a-b.c" }) do
    root:spawn_agent("end", brief, { id = id })
    for _, text in ipairs(TEXTS) do
      root:request { to = id, payload = { text = text } }
    end
  end
  root:send_message { to = "end", payload = { n = 1 }, ttl_seconds = 0.001, delay_ms = 50 }
end)
society.main(function(user) user:send_message { to = "root", payload = "go" } end)
]]

describe("export mermaid", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    assert.equal(0, place:run("run app.lua --quiet").code)
  end)

  after_each(function() place:remove() end)

  it("draws who said what to whom", function()
    local text = place:run("export mermaid").out
    assert.matches("^sequenceDiagram\n  participant p1 as user\n  participant p2 as root\n", text)
    assert.matches("  p1->>p2: general go\n", text, 1, true)
    assert.matches("  p3-->>p2: general plain\n", text, 1, true)
    assert.matches("a#59;b#35;c#37;#37;{init", text, 1, true)
    assert.matches("two<br/>lines", text, 1, true)
    assert.matches("  p2-xp3: ", text, 1, true)
    assert.matches("…\n", text, 1, true)
  end)

  it("is parsed by mermaid itself", function()
    local folder, reason = npm.folder({ "mermaid@11", "jsdom@24" })
    if not folder then
      pending(reason)
      return
    end
    place:run("export mermaid")
    local result = place:shell(("society export mermaid >d.mmd; node %s %s <d.mmd"):format(
      program.quote(tree.path("tests/support/mermaid.mjs")), program.quote(folder)))
    assert.equal("sequence\n", result.out, result.err)
  end)
end)
