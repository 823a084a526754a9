-- society.new{ faults = … }: faults injected by seed, and the checker that watches.
--
-- Covers: core/world/witness.c, core/world/world_run.c, core/sim/simulate.c

local scene = require("scene")
local society = require("society")

local STANDARD = "tests/scenarios/standard.lua"

describe("society.new with faults", function()
  local open = {}

  local function new(options)
    local s = society.new(options)
    open[#open + 1] = s
    return s
  end

  after_each(function()
    for _, s in ipairs(open) do
      s:close()
    end
    open = {}
    scene.close()
  end)

  it("runs the standard scenario to its end, whatever happens", function()
    for seed = 1, 12 do
      local s = new({ app = STANDARD, seed = seed, faults = "default", quiet = true })
      s:run()
      assert.same({ true }, { s:check() })
      local stats = s:stats()
      assert.equal(0, stats.pending)
      assert.matches("print user: sum 147\thandled %d+\n", s:transcript())
    end
  end)

  for _, name in ipairs({ "evict", "crash", "lag", "raise", "slow", "jump", "fold", "power", "full",
    "io" }) do
    it("accepts the fault " .. name, function()
      for seed = 1, 3 do
        local s = new({ app = STANDARD, seed = seed, faults = { name }, quiet = true })
        s:run()
        assert.is_true(s:check())
      end
    end)
  end

  it("gives the same transcript and rows for the same seed", function()
    local function run(seed)
      local s = new({ app = STANDARD, seed = seed, faults = { "crash", "lag", "evict", "raise" } })
      s:run()
      return s:transcript(), s:dump()
    end
    local transcript, dump = run(8)
    assert.same({ transcript, dump }, { run(8) })
    assert.not_equal(transcript, (run(9)))
  end)

  it("continues after a restart while time is advanced", function()
    local s = new({ app = STANDARD, seed = 3, faults = { "crash", "lag" }, quiet = true })
    for _ = 1, 50 do
      s:advance(100)
    end
    s:run()
    assert.is_true(s:check())
    s:crash():recover()
    assert.is_true(s:check())
  end)

  it("only watches if the list is empty", function()
    local s = new({ app = STANDARD, seed = 3, faults = {} })
    s:run()
    assert.is_true(s:check())
    assert.matches("print user: sum 147\thandled 448\n", s:transcript(), 1, true)
  end)

  it("raises with the seed when the history breaks a law", function()
    local s = new({
      seed = 77, faults = {},
      app = function(t)
        t:root({ default = function(root, message)
          if message.payload.text == "go" then
            root:send_message({ to = "root", payload = { once = "a" } })
            root:send_message({ to = "root", payload = { once = "a" } })
          end
        end })
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    local ok, err = pcall(s.run, s)
    assert.is_false(ok)
    assert.matches("seed 77: root sent twice what it must send once: a", err, 1, true)
    assert.same({ nil, "root sent twice what it must send once: a" }, { s:check() })
  end)

  it("reports a main that raised or can never finish, as sim does", function()
    local function check(main)
      local s = new({ seed = 4, faults = "default", app = function(t)
        t:root(function() return "x" end)
        t:main(main)
      end })
      s:run()
      return s:check()
    end
    assert.is_true(check(function(user)
      user:sleep(10)
      user:request({ to = "root", payload = "x", timeout_ms = 1000000000 })
    end))
    local fine, text = check(function() error("oh no") end)
    assert.is_nil(fine)
    assert.matches("^main raised: .*oh no", text)
    fine, text = check(function(user) user:receive() end)
    assert.is_nil(fine)
    assert.matches("nothing is left to run and main has not finished; waiting: [{", text,
      1, true)
    assert.matches('"user"', text, 1, true)
  end)

  it("does not report a main that still has something to wait for", function()
    local s = new({ seed = 4, faults = {}, app = function(t)
      t:root(function() end)
      t:main(function(user)
        user:sleep(1000)
        user:receive({ timeout_ms = 1000 })
      end)
    end })
    assert.is_true(s:check())
    s:step()
    assert.is_true(s:check())
    s:advance(1500)
    assert.is_true(s:check())
    s:run()
    assert.is_true(s:check())
  end)

  it("accepts large seeds, and none below 0", function()
    local s = new({ seed = math.maxinteger, faults = {}, app = function(t)
      t:root(function(root)
        root:send_message({ to = "user", payload = { once = "a" } })
        root:send_message({ to = "user", payload = { once = "a" } })
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    local _, err = pcall(s.run, s)
    assert.matches("seed 9223372036854775807: root sent twice", err, 1, true)
    local ok
    ok, err = pcall(society.new, { seed = -1 })
    assert.is_false(ok)
    assert.matches("society.new: 'seed' must be an integer of at least 0", err, 1, true)
  end)

  it("refuses anything but a list of faults", function()
    for _, bad in ipairs({ 1, true, { 7 }, { "earthquake" }, "crash,", "", print }) do
      assert.is_false(pcall(society.new, { faults = bad }), tostring(bad))
    end
    assert.is_false(pcall(society.new, { faults = { "power" }, store = scene.folder() .. "/s" }))
    assert.is_false(pcall(function() return new({}):check() end))
  end)

  -- Somebody asks a broker for a cook, whom it or the host names; everybody counts what its
  -- script handles.
  local function introduce(policy, faults, seed)
    local function count(agent)
      agent.state.handled = (agent.state.handled or 0) + 1
    end
    return new({
      seed = seed, faults = faults, quiet = true,
      policies = { messages = { "any" }, introductions = policy },
      app = function(s)
        s:role({ id = "cook", name = "cook", prompt = "p", behaviour = count, interface_spec = {
          services = "cooking", input_format = "x", output_format = "y" } })
        s:role({ id = "guest", name = "guest", prompt = "p", behaviour = function(agent, message)
          count(agent)
          if message.payload.text == "look" then
            local found = agent:request_introduction({ to = "broker", reason = "hungry",
              required_capability = "cooking", timeout_ms = 1000000000 })
            assert(found.id == "cook1")
          end
        end })
        local function answer(agent, message)
          count(agent)
          assert(agent:introduce(message, { target = "cook1", usage_hint = "ask" }))
        end
        s:role({ id = "broker", name = "broker", prompt = "p", behaviour = {
          introduction_request = policy == "agent" and answer or nil, default = count,
        } })
        s:root({ default = function(root, message)
          count(root)
          if message.payload.text ~= "go" then
            return
          end
          local known = { { agentId = "cook1", role = "cook", description = "cooks" } }
          assert(root:spawn_agent("cook", scene.brief(), { id = "cook1" }))
          local broker = scene.brief({ collaborators = policy == "agent" and known or nil })
          assert(root:spawn_agent("broker", broker, { id = "broker" }))
          local guest = scene.brief({ collaborators = {
            { agentId = "broker", role = "broker", description = "knows people" } } })
          assert(root:spawn_agent("guest", guest, { id = "guest" }))
          root:send_message({ to = "guest", payload = "look" })
        end })
      end,
    })
  end

  it("counts introductions for the one that answers them: the host, or the agent itself", function()
    for _, policy in ipairs({ "capability", "agent" }) do
      for seed = 1, 6 do
        local s = introduce(policy, seed == 1 and {} or { "crash", "lag", "evict" }, seed)
        assert(s:send("user", { to = "root", payload = "go" }))
        s:run()
        assert.same({ true }, { s:check() })
        local met = {}
        for _, contact in ipairs(s:contacts("guest")) do
          met[contact.id] = true
        end
        assert.is_true(met.cook1)
      end
    end
  end)
end)
