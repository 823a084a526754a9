-- Tokens, codes and cookies appear nowhere but where they are meant to be.

local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.config { history = "full" }
society.root(function(_, message) return { text = message.payload.text } end)
society.main(function() end)
]]

describe("a secret of the door", function()
  it("is in no output, log, answer or stored file", function()
    local place = program.place()
    place:write("app.lua", APP)
    local door = web.start(place, "run app.lua --http 0 --json --log debug")
    local guest = place:run("token add guest --scope read,write,decide,operate").out:match("%S+")
    local path = place:run("open --print").out:match("(/login%S+)")
    local code = path:match("code=(%S+)")
    local cookie = door:curl(path, false).headers["set-cookie"]:match("=([^;]+)")

    local answers = {}
    for _, token in ipairs({ door.token, guest, guest .. "x" }) do
      for _, route in ipairs({ "/api/v1/agents", "/api/v1/activity", "/api/v1/messages", "/metrics",
        "/openapi.json", "/nothing", "/api/v1/agents/" .. token, "/api/v1/activity?agent=x",
        "/api/v1/policies" }) do
        local answer = door:curl(route, token)
        if not route:find(token, 1, true) then
          answers[#answers + 1] = answer.body
        end
      end
      answers[#answers + 1] = door:post("/api/v1/intake", { text = "hello", wait_ms = 1000 },
        token).body
    end
    answers[#answers + 1] = door:curl("-b society_" .. door.port .. "=" .. cookie
      .. " /api/v1/agents", false).body
    for _, command in ipairs({ "token list", "token list --json", "inspect activity --json",
      "inspect messages --json", "open --state nowhere", "token add guest --scope read" }) do
      local result = place:run(command)
      answers[#answers + 1] = result.out .. result.err
    end
    local ended = door:stop()
    answers[#answers + 1] = ended.out .. ended.err

    local all = table.concat(answers, "\n")
    for name, secret in pairs({
      owner = door.token, guest = guest, code = code, cookie = cookie,
    }) do
      assert.is_nil(all:find(secret, 1, true), name .. " was printed")
      local found = place:shell("grep -rlF " .. secret .. " .society").out
      assert.equal(name == "owner" and ".society/http.token\n" or "", found)
    end
    place:remove()
  end)
end)
