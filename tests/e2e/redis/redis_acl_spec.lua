-- The ACL users of docs/redis.md, as they are printed: each can do its work and nothing else.

local json = require("society.json")
local program = require("program")
local redis = require("redis_server")
local tree = require("tree")

local function acl_lines()
  local file = assert(io.open(tree.path("docs/redis.md")))
  local page = file:read("a")
  file:close()
  return assert(page:match("```text\n(user default off\n.-)```"))
end

describe("the ACL users of docs/redis.md", function()
  local place, server, society

  after_each(function()
    if society and not society:code() then
      society:kill("KILL")
    end
    server:close()
    place:remove()
  end)

  it("let the society and its clients work, and nobody read beyond their keys", function()
    place = program.place()
    place:write("users.acl", acl_lines())
    server = redis.open(place, "--aclfile users.acl", "office:change-me-1")
    society = place:start_ready(("run %s --state st --quiet --redis %s"):format(
      program.quote(tree.path("examples/redis/office.lua")),
      server.url:gsub("://", "://office:change-me-1@")), "st")
    society:expect("the office is open")
    local asker = server:as("asker:change-me-3")
    asker:push("HUNTER", { correlation_id = "c1", content = "Ada" })
    assert.equal("Ada", asker:reply("c1").customer)
    local codex = server:as("codex:change-me-2")
    codex:add("agent:Codex:outbox", { payload = "TASK-1" })
    assert.equal("TASK-1", codex:find("agent:Codex:inbox", function(message)
      return message.type == "task"
    end).payload.task_id)
    for _, command in ipairs({ "GET society:office:door:owner", "FLUSHALL",
      "XADD agent:HUNTER:outbox * message {}", "PUBLISH agent:HUNTER:inbox {}",
      "XADD agent:Codex:inbox * message {}" }) do
      assert.matches("NOPERM", codex:call(command), 1, true)
    end
    assert.matches("NOPERM", asker:call("XRANGE agent:Codex:inbox - +"), 1, true)
    program.wait_for("the status", function()
      local all = asker:json("HGETALL helix:agent:status")
      return all and all.HUNTER and json.decode(all.HUNTER).agent == "HUNTER"
    end)
    society:kill("TERM")
    local ended = society:wait()
    assert.equal(0, ended.code)
    assert.not_matches("change-me", ended.err .. ended.out, 1, true)
    assert.not_matches("NOPERM", ended.err, 1, true)
  end)
end)
