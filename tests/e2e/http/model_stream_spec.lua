-- What a model says while it speaks reaches those who listen, without an id.

local canary = require("canary")
local json = require("society.json")
local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.config { llm = { model = "m" } }
society.root(function(root, message)
  local answer, err = root:chat { messages = { { role = "user", content = message.payload.text } } }
  return { text = answer and answer.content or err.error }
end)
society.main(function() end)
]]

describe("model.delta", function()
  it("is heard by those who want it, and by them alone", function()
    local place, server = canary.place()
    place:write("app.lua", APP)
    local door = web.start(place, "run app.lua --http 0 --log none")
    local function hold(file, query)
      place:shell(("(timeout 250 curl -sSN -H 'Authorization: Bearer %s' "
        .. "'%s/api/v1/events%s' > %s) & true"):format(door.token, door.url, query, file))
      program.wait_for("the stream", function()
        return (place:read(file) or ""):find("^:\n\n")
      end)
    end
    hold("all", "")
    hold("summary", "?summary=1")
    hold("words", "?events=model.*")
    hold("others", "?agent=user&events=model.*,order")
    local answer = door:post("/api/v1/intake", { text = "one two three", wait_ms = 60000 })
    assert.equal("one two three ", answer.json.reply.payload.text)

    local text = ""
    program.wait_for("the words", function()
      text = ""
      for block in (place:read("words") or ""):gmatch("(.-)\n\n") do
        local data = block:match("^event: model%.delta\ndata: (.*)$")
        text = text .. (data and json.decode(data).text or "")
        assert.is_nil(block:find("id:", 1, true))
      end
      return #text >= #"one two three "
    end)
    assert.equal("one two three ", text)
    assert.matches('"agent":"root"', place:read("words"), 1, true)
    program.wait_for("the same among the lines", function()
      local all = place:read("all")
      return all:find("event: model.delta", 1, true)
        and all:find("event: message.processed", 1, true)
    end)
    assert.is_nil(place:read("summary"):find("model.delta", 1, true))
    assert.is_nil(place:read("others"):find("model.delta", 1, true))
    door:stop()
    server:stop()
    place:remove()
  end)
end)
