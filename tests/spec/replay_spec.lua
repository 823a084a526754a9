-- Real answers, recorded once, given again; and loud when they do not fit.

local scene = require("scene")

local function run(llm, texts)
  local results = {}
  local s = scene.troupe({
    root = function(root, message)
      local answer, err = root:chat({ messages = { { role = "user",
        content = message.payload.text } } })
      results[#results + 1] = answer and answer.content or err
    end,
  }, { unexpected_calls = true, config = { llm = llm } })
  for _, text in ipairs(texts) do
    scene.tell(s, "root", text)
  end
  return results
end

describe("a recording", function()
  after_each(scene.close)

  local path

  before_each(function()
    path = scene.folder() .. "/answers.jsonl"
    local count = 0
    assert.same({ "answer 1", "answer 2" }, run({ provider = "scripted", record = path,
      answers = function()
        count = count + 1
        return "answer " .. count
      end }, { "one", "two" }))
  end)

  it("gives the same answers again", function()
    assert.same({ "answer 1", "answer 2" },
      run({ provider = "replay", replay = path }, { "one", "two" }))
  end)

  it("fails loudly where a call does not fit, and shows both", function()
    local results = run({ provider = "replay", replay = path }, { "one", "other", "third" })
    assert.equal("answer 1", results[1])
    assert.equal("script_mismatch", results[2].error)
    assert.matches('last = "two"', results[2].message, 1, true)
    assert.matches('last = "other"', results[2].message, 1, true)
    assert.matches("no such call was recorded", results[3].message, 1, true)
  end)

  it("says so when there is none", function()
    local results = run({ provider = "replay", replay = path .. ".gone" }, { "one" })
    assert.equal("no_recording", results[1].error)
    assert.matches("No such file", results[1].message, 1, true)
  end)

  it("counts as it was made the last time", function()
    run({ provider = "scripted", record = path, answers = { "better" } }, { "one" })
    assert.same({ "better" }, run({ provider = "replay", replay = path }, { "one" }))
  end)
end)
