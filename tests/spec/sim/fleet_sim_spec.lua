-- A fleet by seed: every verb that crosses hosts, under the faults of the carrier and crashes, with
-- books over all stores; the same bytes twice.
--
-- FLEET_SPEC_SEEDS is the number of seeds (25).

local play = require("society.fleet_play").play
local all = require("society.fleet_play").faults
local scene = require("scene")
local story = require("fleet_story")

local SEEDS = tonumber(os.getenv("FLEET_SPEC_SEEDS") or "25")

local function apps()
  local hosts = {}
  for _, name in ipairs({ "alpha", "beta", "gamma" }) do
    hosts[name] = { app = story(name), policies = {
      messages = { "any" }, contacts = "open",
    } }
  end
  return hosts
end

describe("a fleet under faults", function()
  after_each(scene.close)

  it("loses, doubles and reorders nothing, and every story ends", function()
    local faults = {}
    for seed = 1, SEEDS do
      local fault = play({ seed = seed, hosts = apps(), faults = all, quiet = true })
      if fault then
        faults[#faults + 1] = ("seed %d: %s"):format(seed, fault)
      end
    end
    assert.same({}, faults)
  end)

  it("is the same twice, byte for byte", function()
    for seed = 1, 3 do
      local _, transcripts, log, dumps = play({ seed = seed, hosts = apps(), faults = all })
      local _, again, log_again, dumps_again = play({ seed = seed, hosts = apps(), faults = all })
      assert.same(transcripts, again)
      assert.same(log, log_again)
      assert.same(dumps, dumps_again)
    end
  end)
end)
