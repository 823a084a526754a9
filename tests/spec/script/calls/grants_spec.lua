-- What isolated agents may reach: no server, no secret and no model, but for what the app grants
-- their role.
--
-- Covers: core/script/calls/grants.c

local fleets = require("fleets")
local scene = require("scene")

-- Does one step, which names a call by its member.
local function do_step(agent, step)
  if step.spawn then
    return agent:spawn_agent(step.spawn, scene.brief(), { id = step.id })
  elseif step.chat then
    return agent:chat { messages = { { role = "user", content = "?" } } }
  elseif step.create then
    return agent:create_role(step.create)
  elseif step.stop then
    return agent:stop()
  end
  return agent:http(step)
end

-- Does the steps in the payload, and answers with their outcomes.
local function obey(agent, message)
  local outcomes, said = {}, nil
  for i, step in ipairs(message.payload.steps or {}) do
    local got, err = do_step(agent, step)
    outcomes[i] = got and (got.body or got.content or got.id or true) or err.error
    if err and err.error == "forbidden" then
      said = err.message
    end
  end
  return { got = outcomes, said = said }
end

describe("an isolated agent", function()
  local asked

  before_each(function()
    asked = {}
  end)

  after_each(scene.close)

  -- A society with these values of `isolated` by role; root spawns one agent of each.
  local function start(roles, options)
    options = options or {}
    options.http = options.http or function(request)
      asked[#asked + 1] = request.url .. (request.secret and " " .. request.secret or "")
      return { body = "served" }
    end
    options.config = options.config or {}
    options.config.secrets = { KEY = "https://api.example.com", OTHER = "https://api.example.com" }
    options.config.llm = { provider = "scripted", answers = { "thought", "thought", "thought" } }
    options.policies = { contacts = "open" }
    options.app = function(s)
      for id, isolated in pairs(roles) do
        s:role { id = id, isolated = isolated, behaviour = obey }
      end
      s:role { id = "thinker", behaviour = "llm" }
      s:policy("supervision", "backoff", { children = "adopt" })
      s:root(function(root)
        for id in pairs(roles) do
          assert(root:spawn_agent(id, scene.brief(), { id = id }))
        end
      end)
    end
    local s = scene.new(options)
    scene.tell(s, "root")
    return s
  end

  -- What agent `id` answers to these steps.
  local function outcomes(s, id, ...)
    assert(s:send("user", { to = id, payload = { steps = { ... } } }))
    s:run()
    local payload
    for _, message in ipairs(s:messages({ agent = id })) do
      payload = message.from == id and message.to == "user" and message.payload or payload
    end
    return assert(payload).got, payload.said
  end

  local URL = "https://api.example.com/v1/users"

  it("reaches no server, secret or model unless its role is granted it", function()
    local s = start({ guest = true, own = false })
    local got = outcomes(s, "guest", { url = URL }, { url = "http://127.0.0.1:80/" },
      { url = URL, secret = "KEY" }, { url = URL, secret = "UNKNOWN" }, { chat = true })
    assert.same({ "forbidden", "forbidden", "forbidden", "forbidden", "forbidden" },
      { got[1], got[2], got[3], got[4], got[5] })
    assert.same({}, asked)
    local _, said = outcomes(s, "guest", { url = URL })
    assert.matches('society.role{ id = "guest", isolated = { http = {', said, 1, true)
    _, said = outcomes(s, "guest", { chat = true })
    assert.matches("isolated = { chat = true }", said, 1, true)
    got = outcomes(s, "own", { url = URL, secret = "KEY" }, { chat = true })
    assert.same({ "served", "thought" }, { got[1], got[2] })
  end)

  it("reaches the URLs that begin as its role is granted, and no others", function()
    local s = start({ guest = { http = { "https://api.example.com/v1", "https://b.org:8443/" } } })
    local refused = { "https://api.example.com/v2", "https://api.example.com/v1x",
      "https://api.example.com/v1/../v2", "https://api.example.com/v1/%2e%2e/v2",
      "https://api.example.com/v1/..%2fv2", "https://api.example.com/v1/..;/v2",
      "https://api.example.com/v1/..%5cv2", "http://api.example.com/v1",
      "https://api.example.com.evil.org/v1", "https://evil.org/https://api.example.com/v1",
      "https://api.example.com@evil.org/v1", "https://b.org/", "https://b.org:84430/",
      "https://localhost/v1" }
    for _, url in ipairs(refused) do
      assert.equal("forbidden", outcomes(s, "guest", { url = url })[1], url)
    end
    assert.same({}, asked)
    for _, url in ipairs({ "https://api.example.com/v1", URL, URL .. "?q=../x#y",
      "https://b.org:8443/x" }) do
      assert.equal("served", outcomes(s, "guest", { url = url })[1], url)
    end
    assert.equal(4, #asked)
  end)

  it("is granted secrets one by one, and only where they may go", function()
    local s = start({
      guest = { http = { "https://api.example.com", "https://b.org" }, secrets = { "KEY" } },
      none = { http = { "https://api.example.com" } },
    })
    local got = outcomes(s, "guest", { url = URL, secret = "KEY" },
      { url = "https://b.org/", secret = "KEY" }, { url = URL, secret = "OTHER" })
    local _, said = outcomes(s, "guest", { url = URL, secret = "OTHER" })
    assert.same({ "served", "no_secret", "forbidden" }, { got[1], got[2], got[3] })
    assert.matches('isolated = { secrets = { "OTHER" } }', said, 1, true)
    got = outcomes(s, "none", { url = URL, secret = "KEY" }, { url = URL })
    assert.same({ "forbidden", "served" }, { got[1], got[2] })
    assert.same({ URL .. " KEY", URL }, asked)
  end)

  it("cannot hide a second request behind one that is granted", function()
    local s = start({ guest = { http = { "https://api.example.com/v1" }, secrets = { "KEY" } } })
    local function send(name)
      return outcomes(s, "guest", { url = URL, headers = { [name] = "x" } },
        { url = URL, secret = { env = "KEY", header = name, prefix = "0, " } })
    end
    for _, name in ipairs({ "Host", "content-length", "Transfer-Encoding", "Connection",
      "Proxy-Authorization" }) do
      assert.same({ "forbidden", "forbidden" }, send(name), name)
    end
    assert.same({ "served", "served" }, send("X-Key"))
  end)

  it("hands its grants to children of its own role alone, also when it has ended", function()
    local web = { http = { "https://api.example.com" }, chat = true }
    local s = start({ guest = true, web = web })
    outcomes(s, "guest", { spawn = "web", id = "fetcher" }, { spawn = "thinker", id = "thinker" })
    assert.matches("an isolated agent spawned this agent",
      select(2, outcomes(s, "fetcher", { url = URL })), 1, true)
    assert.equal("forbidden", outcomes(s, "fetcher", { chat = true })[1])
    assert.equal("spawned", outcomes(s, "web", { spawn = "web", id = "spawned" })[1])
    local got = outcomes(s, "spawned", { url = URL }, { chat = true })
    assert.same({ "served", "thought" }, { got[1], got[2] })
    outcomes(s, "web", { spawn = "guest", id = "lesser" }, { spawn = "own", id = "x" })
    assert.equal("forbidden", outcomes(s, "lesser", { url = URL })[1])
    outcomes(s, "fetcher", { spawn = "web", id = "again" })
    assert(s:send("user", { to = "guest", payload = { steps = { { stop = true } } } }))
    s:run()
    s:crash()
    s:recover()
    asked = {}
    for _, id in ipairs({ "fetcher", "again" }) do
      assert.equal("forbidden", outcomes(s, id, { url = URL })[1], id)
    end
    assert.same({}, asked)
    assert.equal("served", outcomes(s, "spawned", { url = URL })[1])
  end)

  it("gets no model by way of an agent that thinks", function()
    local s = start({ guest = true, web = { chat = true } })
    outcomes(s, "guest", { create = { id = "mine", name = "m", prompt = "p", behaviour = "llm" } },
      { spawn = "mine", id = "mine" }, { spawn = "thinker", id = "one" })
    outcomes(s, "web", { spawn = "thinker", id = "two" })
    for _, id in ipairs({ "mine", "one", "two" }) do
      assert(s:send("user", { to = id, payload = "think" }))
    end
    s:run()
    local by = {}
    for _, message in ipairs(s:messages({})) do
      if message.to == "user" and message.payload.text == "thought" then
        by[message.from] = true
      end
    end
    assert.same({ two = true }, by)
  end)

  it("is denied everything by other hosts, where an isolated agent has it born", function()
    local function app(s)
      s.config { http = function() return { body = "x" } end,
        llm = { provider = "scripted", answers = { "thought", "thought" } } }
      s.role { id = "web", isolated = { http = { "https://api.example.com" }, chat = true },
        behaviour = function(agent, message)
          if message.payload.host then
            local child = assert(agent:spawn_agent("web", scene.brief(), message.payload)).id
            return assert(agent:request { to = child, payload = "go" }).payload
          end
          local _, err = agent:http { url = URL }
          local _, chat = agent:chat { messages = { { role = "user", content = "?" } } }
          return { http = err and err.error or "served", chat = chat and chat.error or "thought" }
        end }
    end
    local _, got = fleets.act(function(root)
      local there = assert(root:spawn_agent("web", scene.brief(), { host = "beta" })).id
      local got = assert(root:request { to = there, payload = "go" }).payload
      local child = assert(root:request { to = there, payload = { host = "gamma" } }).payload
      local guest = assert(root:spawn_agent("guest", scene.brief())).id
      return { got, child, assert(root:request { to = guest, payload = "go" }).payload }
    end, { beta = app, gamma = app }, {
      alpha = function(s)
        s.role { id = "guest", isolated = true, behaviour = function(agent)
          local child = assert(agent:spawn_agent("web", scene.brief(), { host = "beta" })).id
          return assert(agent:request { to = child, payload = "go" }).payload
        end }
      end,
    })
    assert.same({ { http = "served", chat = "thought" }, { http = "forbidden", chat = "forbidden" },
      { http = "forbidden", chat = "forbidden" } }, got)
  end)

  it("is granted nothing that is not spelled right", function()
    for _, isolated in ipairs({ { https = {} }, { http = "https://a.org" }, { http = {} },
      { http = { "*" } }, { http = { "https://" } }, { http = { "https://a@b" } },
      { http = { "https://a/?x" } }, { secrets = { "not a name" } }, { chat = 1 } }) do
      assert.has_error(function() start({ guest = isolated }) end)
    end
  end)
end)
