-- The property helper: it must find a counterexample and shrink it.

local property = require("property")

describe("property", function()
  local function numbers(random)
    return random:list(0, 30, function() return random:between(0, 1000) end)
  end

  it("passes a law that holds, over all cases", function()
    local cases = 0
    property.check({ cases = 500, seed = 3 }, numbers, function(list)
      cases = cases + 1
      table.sort(list)
      return true
    end)
    assert.equal(500, cases)
  end)

  it("gives the same numbers for the same seed and others for another", function()
    local function first(seed)
      local random = property.random(seed)
      return { random:between(1, 1000000), random:between(1, 1000000), random:pick({ 1, 2, 3 }) }
    end
    assert.same(first(7), first(7))
    assert.not_same(first(7), first(8))
  end)

  it("shrinks a counterexample to the smallest there is", function()
    local _, err = pcall(property.check, { cases = 500, seed = 1 }, numbers, function(list)
      for _, number in ipairs(list) do
        if number >= 100 then
          return false, "too large"
        end
      end
      return true
    end)
    assert.matches("too large", err, 1, true)
    assert.matches("smallest: [100]", err, 1, true)
  end)

  it("shrinks inside nested data, and treats a raised error as a failure", function()
    local smallest, why = property.shrink({
      { kind = "send", n = 9 }, { kind = "crash", n = 7 }, { kind = "send", n = 5 },
    }, function(ops)
      for _, op in ipairs(ops) do
        assert(op.kind ~= "crash" or op.n < 3, "broken")
      end
      return true
    end, 400)
    assert.same({ { kind = "crash", n = 3 } }, smallest)
    assert.matches("broken", why, 1, true)
  end)

  it("shrinks a choice to the first that still fails", function()
    local WORDS = { "plain", "odd", "broken", "worse" }
    local _, err = pcall(property.check, { cases = 200, seed = 2 }, function(random)
      return { words = random:list(0, 9, function() return random:number_of(WORDS) end) }
    end, function(case)
      for _, number in ipairs(case.words) do
        local word = property.at(WORDS, number)
        assert(word == "plain" or word == "odd", word)
      end
      return true
    end)
    assert.matches('broken\nsmallest: {"words":[2]}', err, 1, true)
    assert.equal("plain", property.at(WORDS, #WORDS))
  end)
end)
