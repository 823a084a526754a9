-- society.config{ files = {…} }: what it accepts and refuses. No file is opened: these
-- societies are simulated.
--
-- Covers: core/script/bindings/settings.c

local scene = require("scene")

describe("the settings of the file door", function()
  after_each(scene.close)

  local function refusal(files)
    local ok, err = pcall(scene.new, { config = { files = files } })
    return not ok and tostring(err)
  end

  it("are accepted with every group of the protocol, and create no file", function()
    local s = scene.new({ config = { files = {
      dir = "no/such/place",
      polling = { interval_ms = 10, max_wait_ms = 10, backoff_multiplier = 2, force = true },
      heartbeat = { interval_ms = 10, timeout_ms = 20 },
      ack = { required_types = { "abort" }, timeout_ms = 100, max_retries = 2 },
      cleanup = { enabled = true, max_messages = 10, keep_ms = 0,
        archive_after_workflow = false },
      buffers = { message_buffer = 1, ack_cache_ttl = 1, heartbeat_cache = false },
    } } })
    s:run()
    assert.is_nil(io.open("no/such/place"))
  end)

  it("are checked, and the error names what is wrong", function()
    for _, case in ipairs({
      { "yes", "config: 'files': a table expected" },
      { { dir = 7 }, "config: 'files.dir': a path expected" },
      { { dirs = "x" }, "unknown setting 'files.dirs'" },
      { { polling = { interval_ms = -1 } }, "'files.polling.interval_ms': an integer from 1" },
      { { ack = { timeout_ms = "5s" } }, "'files.ack.timeout_ms': an integer from 1" },
      { { ack = { required_types = { "dance" } } }, "dance" },
      { { cleanup = { keep_ms = -1 } }, "'files.cleanup.keep_ms': an integer from 0" },
      { { cleanup = true }, "'files.cleanup': a table expected" },
      { { dir = print }, "files" },
    }) do
      local err = refusal(case[1])
      assert.is_string(err, case[2])
      assert.matches(case[2], err, 1, true)
    end
  end)

  it("about acks go to the delivery policy", function()
    local s = scene.new({
      config = { files = { ack = { timeout_ms = 100, retry_delay_ms = 10, max_retries = 2 } } },
      app = function(s)
        s:role({ id = "worker", behaviour = "external" })
        s:root(function(root, message)
          if message.from ~= "user" then
            return
          end
          root:spawn_agent("worker", {
            objective = "o", constraints = {}, inputs = "i", outputs = "o",
            completion_criteria = "c",
          }, { id = "w" })
          root:send_message({ to = "w", payload = "x", requires_ack = true })
        end)
      end,
    })
    s:send("user", { to = "root", payload = "go" })
    s:advance(1000)
    local handed = s:outside("w")
    assert.equal(2, #handed)
    assert.equal(110, handed[2].at - handed[1].at)
    assert.equal("unresponsive", s:agent("w").status)
  end)

  it("about heartbeats apply to the society", function()
    local s = scene.new({ config = { files = { heartbeat = { timeout_ms = 500 } } } })
    s:role({ id = "worker", behaviour = "external" })
    s:root(function(root)
      root:spawn_agent("worker", {
        objective = "o", constraints = {}, inputs = "i", outputs = "o", completion_criteria = "c",
      }, { id = "w" })
    end)
    s:send("user", { to = "root", payload = "go" })
    s:advance(499)
    assert.equal("idle", s:agent("w").status)
    s:advance(2)
    assert.equal("unresponsive", s:agent("w").status)
  end)
end)
