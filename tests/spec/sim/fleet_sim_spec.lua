-- A fleet by seed: every verb that crosses hosts, under the faults of the carrier and all those of
-- a single host, with books over all stores and frames; the same bytes twice.
--
-- Covers: core/world/fleet_faults.c, core/world/fleet_books.c
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
      local fault, _, _, _, acks = play({ seed = seed, hosts = apps(), faults = all,
        within = "default", quiet = true })
      assert.is_true(acks > 50)
      if fault then
        faults[#faults + 1] = ("seed %d: %s"):format(seed, fault)
      end
    end
    assert.same({}, faults)
  end)

  it("strikes each host with the faults of a single one", function()
    local struck = {}
    for _, name in ipairs({ "crash", "evict", "slow", "jump", "fold", "power", "full", "io",
      "raise" }) do
      struck[name] = 0
      for seed = 1, 12 do
        local fault, transcripts = play({ seed = seed, hosts = apps(), faults = {},
          within = { name } })
        assert.is_nil(fault)
        for _, host in ipairs({ "alpha", "beta", "gamma" }) do
          local _, count = transcripts[host]:gsub("fault[^\n]-: " .. name .. ": ", "")
          struck[name] = struck[name] + count
        end
      end
      assert.is_true(struck[name] > 0, name)
    end
  end)

  -- A slow disk says nothing of itself: the same seed goes another way with it, for each host.
  it("makes the disk of each host slow", function()
    local changed = { alpha = 0, beta = 0, gamma = 0 }
    for seed = 1, 12 do
      local _, before = play({ seed = seed, hosts = apps(), faults = {}, within = {} })
      local fault, after = play({ seed = seed, hosts = apps(), faults = {}, within = { "lag" } })
      assert.is_nil(fault)
      for host in pairs(changed) do
        changed[host] = changed[host] + (before[host] ~= after[host] and 1 or 0)
      end
    end
    for host, count in pairs(changed) do
      assert.is_true(count > 0, host)
    end
  end)

  it("is the same twice, byte for byte", function()
    -- All faults, and those of a disk, which few seeds draw.
    for seed, within in ipairs({ "default", "default", "default", { "power", "full", "io", "lag" },
      { "power", "full", "io", "lag", "crash", "jump" } }) do
      local options = { seed = seed, hosts = apps(), faults = all, within = within }
      local _, transcripts, log, dumps = play(options)
      local _, again, log_again, dumps_again = play(options)
      assert.same(transcripts, again)
      assert.same(log, log_again)
      assert.same(dumps, dumps_again)
    end
  end)
end)
