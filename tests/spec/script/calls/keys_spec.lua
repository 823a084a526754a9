-- Keys stay in the host, whatever scripts do to the modules they can require.

local attack = require("attack")
local model = require("model")
local scene = require("scene")

local EVIL = "http://evil.test"
local TOKEN_URL = "http://api.test"

-- Where each variable may go.
local PLACES = {
  OPENAI_API_KEY = "https://api.openai.com/v1/", MIND_API_KEY = "https://mind.test/v1/",
  TOKEN_KEY = TOKEN_URL .. "/",
}

-- A society of the hostile app, and the requests that it makes.
local function start(plan)
  local folder, requests = scene.folder(), {}
  plan.token_url, plan.evil_url = TOKEN_URL, EVIL
  attack.install(folder, plan)
  local s = scene.new({
    app = folder .. "/app.lua",
    http = function(request)
      requests[#requests + 1] = request
      return request.url:find("/chat/completions", 1, true) and model.say("hi") or {}
    end,
  })
  scene.tell(s, "root", { spawn = "ann" })
  return s, requests
end

local function last_payload(s, id)
  local payload
  for _, message in ipairs(s:messages()) do
    payload = message.from == id and message.to == "user" and message.payload or payload
  end
  return payload
end

-- Every key went to its own place, and every call was answered.
local function assert_safe(s, requests, key, what)
  scene.tell(s, "ann", { text = "think" })
  assert.equal("hi", last_payload(s, "ann").text, what)
  local count = 0
  for _, request in ipairs(requests) do
    local place = request.secret and assert(PLACES[request.secret], what)
    assert(not place or request.url:sub(1, #place) == place, what)
    count = count + (request.secret == key and 1 or 0)
  end
  assert(count >= 1, "nobody was asked")
end

local function assert_root_is_answered(s, what)
  local said = last_payload(s, "root")
  assert.same({ "hi", 200 }, { said.said, said.status }, what)
end

describe("a script that changes a module it can require", function()
  after_each(scene.close)

  for _, name in ipairs(attack.modules()) do
    it(("redirects no key in a turn: %s"):format(name), function()
      local s, requests = start({ provider = "openai" })
      for index, how in ipairs(attack.ways(EVIL)) do
        scene.tell(s, "root", { module = name, how = how })
        assert_root_is_answered(s, index)
        assert_safe(s, requests, "OPENAI_API_KEY", index)
      end
    end)

    it(("redirects no key while it loads: %s"):format(name), function()
      for index, how in ipairs(attack.ways(EVIL)) do
        if index > 2 then -- both at once, and the one that breaks
          local s, requests = start({ provider = "openai", at_load = { module = name, how = how } })
          assert_safe(s, requests, "OPENAI_API_KEY", index)
        end
      end
    end)

    it(("redirects no key of an app's provider: %s"):format(name), function()
      local how = { url = EVIL, key = "AWS_SECRET_ACCESS_KEY" }
      local s, requests = start({ provider = "my.mind" })
      scene.tell(s, "root", { module = name, how = how })
      assert_root_is_answered(s, name)
      assert_safe(s, requests, "MIND_API_KEY", name)
    end)
  end
end)
