-- What stops the link between two real hosts, what is said of it, and what starts it again.
--
-- Covers: core/bridge/links/links.c, core/bridge/links/looks.c

local hosts_pair = require("hosts_pair")
local program = require("program")
local redis = require("redis")

describe("a link between two hosts", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, pair

  before_each(function()
    place = program.place()
    pair = hosts_pair.open(place)
  end)

  after_each(function()
    pair:close()
    place:remove()
  end)

  local function begin()
    pair:start("beta")
    pair:start("alpha")
    pair:wait_for("up", "up")
    pair:send("alpha", 1)
    pair:send("beta", 1)
    pair:arrives("beta", 1)
    pair:arrives("alpha", 1)
  end

  it("stops at a new directory under a known name, until it is reset by command", function()
    begin()
    pair:kill("beta")
    place:shell("mv beta before")
    pair:start("beta")
    pair:wait_for("peer_replaced", "not_recognized")
    pair:send("beta", 7)
    assert.equal(1, pair:alerts("alpha", "peer_replaced", "beta"))
    assert.equal(1, pair:alerts("beta", "not_recognized", "alpha"))
    assert.is_nil(pair:root("beta").last)

    local reset = place:run("link reset beta --state alpha")
    assert.equal(0, reset.code, reset.err)
    assert.equal("beta: this end was reset; reset the other end as well, unless that is done\n",
      reset.out)
    pair:wait_for("up", "up")
    assert.equal(1, pair:alerts("beta", "link_resumed", "alpha"))
    pair:arrives("alpha", 7)
    local refused = place:run("link reset alpha --state beta")
    assert.equal(1, refused.code)
    assert.matches("already_up: the link is up; a reset would stop it", refused.err, 1, true)
    assert.equal("up", pair:link("beta").state)
    local again = place:run("link reset alpha --state beta --force --json")
    assert.equal(0, again.code, again.err)
    pair:wait_for("peer_replaced", "not_recognized")
    place:run("link reset beta --state alpha")
    pair:wait_for("up", "up")
  end)

  it("goes on by itself when a new directory under a known name has gone", function()
    begin()
    pair:kill("beta")
    place:shell("mv beta real")
    pair:start("beta")
    pair:wait_for("peer_replaced", "not_recognized")
    pair:send("alpha", 2)
    pair:kill("beta")
    place:shell("mv beta impostor && mv real beta")
    pair:start("beta")
    pair:wait_for("up", "up")
    pair:arrives("beta", 2)
    assert.equal(1, pair:alerts("alpha", "link_resumed", "beta"))
  end)

  it("stops at an older database of the sender, and takes nothing either way", function()
    begin()
    pair:stop("alpha")
    place:shell("mkdir old && cp alpha/society.db* old/")
    pair:start("alpha")
    pair:send("alpha", 2)
    pair:arrives("beta", 2)
    pair:kill("alpha")
    place:shell("rm alpha/society.db* && cp old/society.db* alpha/")
    pair:start("alpha")
    pair:wait_for("state_rolled_back", "peer_rolled_back")
    pair:send("alpha", 3)
    pair:send("beta", 2)
    local heard = pair:link("alpha").heard_at
    program.wait_for("more frames", function()
      return pair:link("alpha").heard_at ~= heard and pair:link("beta").heard_at > heard
    end)
    pair:wait_for("state_rolled_back", "peer_rolled_back")
    assert.same({ 2, 1 }, { pair:root("beta").last, pair:root("alpha").last })
    assert.same({ 1, 1 }, { pair:alerts("alpha", "state_rolled_back", "beta"),
      pair:alerts("beta", "peer_rolled_back", "alpha") })

    assert.equal(0, place:run("link reset beta --state alpha").code)
    assert.equal(0, place:run("link reset alpha --state beta").code)
    pair:wait_for("up", "up")
    pair:arrives("beta", 3)
    pair:arrives("alpha", 2)
    assert.is_nil(pair:root("beta").fault)
  end)

  it("cannot be reset under a name that is no host's", function()
    begin()
    for _, name in ipairs({ "alpha", "gamma", "Beta", "root@beta", "''", "'a b'", "99" }) do
      local result = place:run(("link reset %s --state alpha"):format(name))
      assert.are_not.equal(0, result.code, name)
      assert.equal("", result.out)
      assert.matches("%S", result.err)
    end
    for _, words in ipairs({ "", "reset", "forget beta", "reset beta alpha" }) do
      local result = place:run(("link %s --state alpha"):format(words))
      assert.equal(2, result.code, words)
    end
    assert.equal("up", pair:link("alpha").state)
    pair:send("alpha", 2)
    pair:arrives("beta", 2)
  end)

  it("is blocked while a key holds something else, as often as that is so", function()
    begin()
    for round = 1, 2 do
      pair.server:call("DEL society:duo:{beta}:from:alpha")
      pair.server:call("SET society:duo:{beta}:from:alpha x")
      pair:wait_for("stream_blocked", "stream_blocked")
      assert.equal(round, pair:alerts("beta", "stream_blocked", "alpha"))
      assert.equal(round, pair:alerts("alpha", "stream_blocked", "beta"))
      pair:send("alpha", round + 1)
      pair.server:call("DEL society:duo:{beta}:from:alpha")
      pair:wait_for("up", "up")
      pair:arrives("beta", round + 1)
      assert.equal(0, pair:alerts("alpha", "carrier_lost") + pair:alerts("beta", "carrier_lost"))
    end
  end)

  it("shows what it has carried and when it was heard", function()
    local before = os.date("!%Y-%m-%dT%H:%M:%S")
    begin()
    program.wait_for("the acks", function() return pair:link("alpha").acked == 1 end)
    local alpha, beta = pair:link("alpha"), pair:link("beta")
    assert.same({ "beta", "up", 1, 1, 0, 1, 32768 }, { alpha.host, alpha.state, alpha.sent,
      alpha.acked, alpha.waiting, alpha.taken, alpha.window })
    assert.same({ alpha.epoch, alpha.peer_epoch }, { beta.peer_epoch, beta.epoch })
    for _, at in ipairs({ alpha.acked_at, alpha.heard_at }) do
      assert.is_true(at >= before, at)
      assert.is_true(at <= os.date("!%Y-%m-%dT%H:%M:%S", os.time() + 1), at)
    end
    pair:kill("beta")
    for number = 2, 4 do
      pair:send("alpha", number)
    end
    program.wait_for("the mail", function() return pair:link("alpha").window == 32768 - 3 end)
    assert.same({ 4, 1, 3 }, { pair:link("alpha").sent, pair:link("alpha").acked,
      pair:link("alpha").waiting })
    pair:start("beta")
    pair:arrives("beta", 4)
    pair:wait_for("up", "up")
    program.wait_for("the acks", function() return pair:link("alpha").window == 32768 end)
    assert.is_true(pair:link("alpha").peer_epoch > alpha.peer_epoch)
    assert.equal(alpha.epoch, pair:link("alpha").epoch)
  end)

  it("is said to stop when an older copy is restored or imported", function()
    local alone = "society: new is the host alpha, and beta may know what it did later"
    begin()
    assert.equal(0, place:run("backup old.backup --state alpha").code)
    place:shell("rm -rf new")
    local restored = place:run("restore old.backup --state new --json")
    assert.equal(0, restored.code, restored.err)
    assert.equal(alone, restored.err:sub(1, #alone))
    assert.matches("society link reset HOST", restored.err, 1, true)
    local row = program.rows(restored)[1]
    assert.same({ "alpha", { "beta" } }, { row.host, row.peers })
    pair:send("alpha", 2)
    pair:arrives("beta", 2)
    pair:stop("alpha")
    pair:start("alpha", "new")
    program.wait_for("the stop", function()
      return pair:link("new").state == "state_rolled_back"
        and pair:link("beta").state == "peer_rolled_back"
    end)
    assert.equal(1, pair:alerts("new", "state_rolled_back", "beta"))
    assert.equal(1, pair:alerts("beta", "peer_rolled_back", "alpha"))
    pair:stop("new")

    place:shell("mv new first")
    assert.equal(0, place:shell(('"%s" export jsonl --state first > rows.jsonl'):format(
      place.program)).code)
    local imported = place:run("import rows.jsonl --state new")
    assert.equal(0, imported.code, imported.err)
    assert.equal(alone, imported.err:sub(1, #alone))
  end)

  it("is not spoken of when a host that never joined is restored", function()
    place:write("single.lua", [[
local society = require("society")
society.main(function() end)
]])
    assert.equal(0, place:run("run single.lua --state single --once").code)
    assert.equal(0, place:run("backup single.backup --state single").code)
    local restored = place:run("restore single.backup --state new --json")
    assert.same({ 0, "" }, { restored.code, restored.err })
    assert.is_nil(program.rows(restored)[1].peers)
  end)
end)
