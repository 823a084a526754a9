-- /metrics is text that Prometheus reads.
--
-- A strict parser of our own reads it always, `promtool check metrics` where it is installed.
-- Covers: core/bridge/http/metrics.c

local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.root(function(_, message) return { text = message.payload.text } end)
society.main(function() end)
]]

local TYPES = { counter = true, gauge = true }

-- Reads the lines of a family: its HELP, its TYPE, then samples that are all its own.
local function parse(text)
  local samples, types, helps, last = {}, {}, {}, nil
  assert(text:sub(-1) == "\n", "the last line has no end")
  for line in text:gmatch("([^\n]*)\n") do
    local name, rest = line:match("^# HELP ([%a_:][%w_:]*) (.+)$")
    if name then
      assert(not helps[name], "HELP twice: " .. name)
      helps[name], last = rest, name
    elseif line:find("^# TYPE ") then
      name, rest = line:match("^# TYPE ([%a_:][%w_:]*) (%a+)$")
      assert(name == last and TYPES[rest] and not types[name], line)
      assert((rest == "counter") == (name:find("_total$") ~= nil), line)
      types[name] = rest
    else
      local labels, value
      name, labels, value = line:match("^([%a_:][%w_:]*)(%b{}) (%-?%d+)$")
      if not name then
        name, value = line:match("^([%a_:][%w_:]*) (%-?%d+)$")
        labels = ""
      end
      assert(name and name == last and types[name], "no sample: " .. line)
      assert(labels == "" or labels:find('^{[%a_][%w_]*="[^"\\\n]*"}$'), line)
      assert(not samples[name .. labels], "twice: " .. line)
      samples[name .. labels] = tonumber(value)
    end
  end
  return samples
end

describe("/metrics", function()
  local place, door

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  it("counts what happens", function()
    local answer = door:curl("/metrics")
    assert.equal("text/plain; version=0.0.4; charset=utf-8", answer.headers["content-type"])
    -- Whoever asked before may have left a moment ago.
    local before = program.wait_for("nobody else", function()
      local samples = parse(door:curl("/metrics").body)
      return samples.society_http_connections == 1 and samples
    end)
    door:post("/api/v1/intake", { text = "x", wait_ms = 60000 })
    door:curl("/api/v1/agents", "wrong")
    local after = parse(door:curl("/metrics").body)
    assert.equal(before.society_messages_sent_total + 2, after.society_messages_sent_total)
    assert.equal(before.society_http_wrong_tokens_total + 1, after.society_http_wrong_tokens_total)
    assert.equal(after['society_http_responses_total{class="4xx"}'],
      before['society_http_responses_total{class="4xx"}'] + 1)
    assert.equal(2, after.society_agents)
    local ended = 0
    for _, outcome in ipairs({ "processed", "expired", "dead", "dropped", "cancelled" }) do
      ended = ended + after[('society_messages_ended_total{outcome="%s"}'):format(outcome)]
    end
    assert.equal(after.society_messages_sent_total, ended + after.society_messages_pending)
  end)

  it("is accepted by promtool", function()
    if place:shell("command -v promtool").code ~= 0 then
      pending("promtool is not here")
      return
    end
    place:write("metrics.txt", door:curl("/metrics").body)
    local result = place:shell("promtool check metrics < metrics.txt")
    assert.equal("", result.out .. result.err)
    assert.equal(0, result.code)
  end)

  it("needs a token that may read", function()
    assert.equal(401, door:curl("/metrics", false).status)
    local token = place:run("token add writer --scope write").out:match("%S+")
    assert.equal(403, door:curl("/metrics", token).status)
  end)
end)
